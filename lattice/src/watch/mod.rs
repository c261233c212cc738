//! Online: events come one by one while the program runs, and levels are made as they become known.
//!
//! | file | its notion |
//! |---|---|
//! | [`property`] | one property: its steps, and the bindings of its parameters |
//! | [`track`] | one binding: its observed run, and what was found |
//! | [`live`] | the search of one binding while it goes on; what it lets go |
//!
//! A level is complete when every event that can extend it is known. A thread that is silent, or
//! that nobody has heard of yet, may still do something that is unordered with everything so far;
//! only a lookahead closes a level before the end of the run. The oldest event that is missing in a
//! cut of k steps comes no later than the step after the first k that were observed. So L events of
//! the run after that step, whoever they belong to, the level is complete, the next one is made, and
//! the answer is the same as offline with a lookahead of L.

mod kept;
mod live;
mod plan;
mod property;
mod stream;
mod track;

use portent_monitor_core::{Event, Stamp, Symbols, Value};
use portent_monitor_dsl::Monitor;

use self::property::Watched;
use crate::{
    error::Error,
    intake::{Arrival, Intake},
    options::{Model, Options},
    report::{Fit, PropertyReport, Report},
};

/// Watches a running program for some properties, with or without parameters.
///
/// It is given the events one by one, in observed order, and says what it predicts as soon as that
/// is known:
///
/// ```
/// use portent_lattice::{Options, Watch};
/// use portent_monitor_core::{Action, Event, Symbols, Value};
/// use portent_monitor_dsl::Property;
///
/// let property = "property file(f) { event open(f), read(f), close(f)  ere: (open read* close)* }";
/// let monitor = Property::parse(property)?.monitor()?;
/// let options = Options::default().lookahead(2);
/// let mut watch = Watch::new([monitor], |_| None, options)?;
///
/// // What the program does, as the thread that watches receives it: T2 closes a file that T1 has
/// // read, and nothing makes it wait for that.
/// let mut symbols = Symbols::default();
/// let mut predicted = Vec::new();
/// for (thread, name, file) in [
///     ("T2", "open", "a"),
///     ("T1", "read", "a"),
///     ("T2", "close", "a"),
///     ("T1", "open", "b"),
///     ("T1", "close", "b"),
/// ] {
///     let thread = symbols.threads.intern(thread)?;
///     let action = Action::new(symbols.names.intern(name)?).args([file]);
///     let event = Event::new(thread, action);
///     for found in watch.take(&event, &symbols)? {
///         println!("{} {:?} can be violated", found.name, found.binding);
///         predicted.push(found);
///     }
/// }
/// assert_eq!(predicted.len(), 1);
/// assert_eq!(predicted[0].binding, [("f".to_owned(), Value::from("a"))]);
/// assert_eq!(predicted[0].observed.verdict.as_str(), "ok");
///
/// let report = watch.finish("today", &symbols)?;
/// assert_eq!(report.properties.len(), 2); // the files a and b
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # When something is known
///
/// That the observed run is violated is reported with the event that does it, always. Of other runs
/// nothing is known before the end without a [lookahead](Options::lookahead), as a thread that is
/// silent may still do something that could have come first. With one, a prediction is made at most
/// that many events of the run after the one that completes it, whichever properties and bindings
/// these belong to. A binding is reported once; if the observed run was, the report at the end may
/// show another run that is violated sooner. At the end the answer is that of a
/// [`Checker`](crate::Checker) with the same lookahead, window and [no
/// reductions](crate::Reductions::NONE): predicted or not, after how many steps, exhaustive or not.
/// (Reductions that know which events will come are for runs that have ended. With them a
/// `Checker` may call a search exhaustive which a `Watch` does not, or see farther through a
/// window.) Runs are not counted.
///
/// # What is kept
///
/// Without a lookahead, every step until the end. With one, what is kept does not grow with the run:
/// for each binding the cuts of a level, and of the steps those that a witness shows: at least the
/// last [`history`](Options::history), at most about twice as many and four times the lookahead. A
/// witness whose beginning was forgotten says how many steps that were, in
/// [`forgotten`](crate::report::Predicted::forgotten): there is an order of them that leads to where
/// it begins, but which one is no longer known, and values are given only for variables that were
/// written since. A witness ends with the last event that was known when it was found; then all
/// events of that binding are forgotten.
///
/// Some things grow with what the program does, not with how long it does it: a clock for every
/// variable, lock and thread, and a search for every binding of parameters. There may be
/// [`max_bindings`](Options::max_bindings) of these, and here also those that are not full count, as
/// any of them may become part of a full one. One thing does grow with the run, if slowly: a clock
/// for every message that was sent, as anybody may still receive it (and, where events bring
/// clocks of their own, for every event that another may refer to).
/// [`memory`](Options::memory) bounds the levels of each binding.
#[derive(Clone, Debug)]
pub struct Watch {
    intake: Intake,
    properties: Vec<Watched>,
    options: Options,
}

impl Watch {
    /// Begins to watch; `initial` gives initial values by the names of variables.
    ///
    /// # Errors
    ///
    /// [`Error::NoInitialValue`], [`Error::WrongType`]; [`Error::MaximalOnline`].
    pub fn new(
        monitors: impl IntoIterator<Item = Monitor>,
        initial: impl FnMut(&str) -> Option<Value>,
        mut options: Options,
    ) -> Result<Watch, Error> {
        if options.causality == Model::Maximal {
            return Err(Error::MaximalOnline);
        }
        if options.lookahead.is_some() {
            // The level, and the two that witnesses may begin at.
            options.memory /= 3;
        }
        let intake = Intake::new(monitors, initial, options.admitted)?;
        let properties = { intake.viewers().iter() }
            .map(|viewer| Watched::new(viewer, &options))
            .collect::<Result<_, _>>()?;
        Ok(Watch {
            intake,
            properties,
            options,
        })
    }

    /// Takes the next event. Gives the properties, with their bindings, of which it is now known that
    /// an equivalent run of what has happened is violated; each of them once.
    ///
    /// # Errors
    ///
    /// As [`Checker::take`](crate::Checker::take); also [`Error::TooManyBindings`], after which the run
    /// cannot be watched any more, and in debug builds [`Error::BadWitness`].
    pub fn take(&mut self, event: &Event, symbols: &Symbols) -> Result<Vec<PropertyReport>, Error> {
        let mut news = Vec::new();
        if let Some(arrival) = self.intake.take(event, symbols)? {
            follow(
                &mut self.properties,
                &arrival,
                symbols,
                &self.options,
                &mut news,
            )?;
        }
        self.close_levels(symbols, &mut news)?;
        Ok(news)
    }

    /// Takes the next event, which brings its place in the causal order.
    ///
    /// # Errors
    ///
    /// As [`Checker::take_stamped`](crate::Checker::take_stamped) and [`take`](Self::take).
    pub fn take_stamped(
        &mut self,
        event: &Event,
        stamp: &Stamp,
        symbols: &Symbols,
    ) -> Result<Vec<PropertyReport>, Error> {
        let mut news = Vec::new();
        if let Some(arrival) = self.intake.take_stamped(event, stamp, symbols)? {
            follow(
                &mut self.properties,
                &arrival,
                symbols,
                &self.options,
                &mut news,
            )?;
        }
        self.close_levels(symbols, &mut news)?;
        Ok(news)
    }

    /// Makes all levels that are complete with the event that was just taken.
    fn close_levels(
        &mut self,
        symbols: &Symbols,
        news: &mut Vec<PropertyReport>,
    ) -> Result<(), Error> {
        let now = self.intake.events() - 1;
        let viewers = self.intake.viewers().iter();
        for (property, viewer) in self.properties.iter_mut().zip(viewers) {
            property.close_levels(now, viewer, symbols, &self.options, news)?;
        }
        Ok(())
    }

    /// How many steps are kept. One that several bindings need counts for each of them.
    pub fn kept(&self) -> usize {
        self.properties.iter().map(Watched::kept).sum()
    }

    /// The run has ended: makes the remaining levels, and reports; `name` stands for the file.
    ///
    /// # Errors
    ///
    /// In debug builds [`Error::BadWitness`].
    pub fn finish(self, name: &str, symbols: &Symbols) -> Result<Report, Error> {
        let mut report = Report::new(name, self.intake.events(), self.intake.threads());
        for (mut property, viewer) in self.properties.into_iter().zip(self.intake.viewers()) {
            let found = property.finish(viewer, symbols, &self.options)?;
            let fit = Fit {
                unchecked: None,
                viewer,
                names: self.intake.names(),
                symbols,
            };
            report.add(&fit, found);
        }
        Ok(report)
    }
}

/// Gives an event to the properties that it is a step of.
fn follow(
    properties: &mut [Watched],
    arrival: &Arrival<'_>,
    symbols: &Symbols,
    options: &Options,
    news: &mut Vec<PropertyReport>,
) -> Result<(), Error> {
    for sighting in arrival.sightings() {
        let property = &mut properties[sighting.property.index()];
        property.take(arrival, &sighting, symbols, options, news)?;
    }
    Ok(())
}
