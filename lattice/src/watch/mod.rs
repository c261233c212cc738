//! Online: events arrive one by one while the program runs, and what they make possible is reported at once.
//!
//! | file | its notion |
//! |---|---|
//! | [`property`] | one property: its steps, and the bindings of its parameters |
//! | [`track`] | one binding: its observed run, and what was found |
//! | [`plan`] | the automaton of a property, for streaming |
//! | [`stream`] | the search of one binding, step by step |
//! | [`rest`] | the same until its next step, if there are very many |
//! | [`live`] | the search of one binding, level by level |
//! | [`kept`], [`steps`], [`log`] | steps, as long as a search needs them, and their order |
//! | [`delivery`] | events that arrive before what they come after |
//!
//! A search is a *stream* of symbolic nodes (`engine::streaming`): exact at every step, without enumeration or delay. Levels are
//! made where a lookahead asks for them, where a run is violated only because it ended, and where comparisons of several
//! variables leave no small automaton.
//!
//! A level is complete when every event that can extend it is known. A thread that is silent, or
//! that nobody has heard of yet, may still do something that is unordered with everything so far;
//! only a lookahead closes a level before the end of the run. The oldest event that is missing in a
//! cut of k steps comes no later than the step after the first k that were observed. So L events of
//! the run after that step, whoever they belong to, the level is complete, the next one is made, and
//! the answer is the same as offline with a lookahead of L.

mod delivery;
mod kept;
mod live;
mod log;
mod plan;
mod property;
mod rest;
mod steps;
mod stream;
mod track;

use portent_monitor_core::{CausalRelease, Event, Stamp, Symbols, Value};
use portent_monitor_dsl::Monitor;

use self::{
    delivery::{Held, Missing},
    property::Watched,
};
use crate::{
    engine::Limit,
    error::Error,
    intake::{Arrival, Intake, IntakeLimits},
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
/// use portent_monitor_core::{Action, Event, Value};
/// use portent_monitor_dsl::Property;
///
/// let property = "property file(f) { event open(f), read(f), close(f)  ere: (open read* close)* }";
/// let monitor = Property::parse(property)?.monitor()?;
/// let mut watch = Watch::new([monitor], |_| None, Options::default())?;
///
/// // What the program does, as the thread that watches receives it: T1 reads a file that T2 has
/// // opened, and nothing makes it wait for that.
/// let mut predicted = Vec::new();
/// for (thread, name, file) in [
///     ("T2", "open", "a"),
///     ("T1", "read", "a"),
///     ("T2", "close", "a"),
///     ("T1", "open", "b"),
///     ("T1", "close", "b"),
/// ] {
///     let symbols = watch.symbols_mut();
///     let thread = symbols.threads.intern(thread)?;
///     let action = Action::new(symbols.names.intern(name)?).args([file]);
///     for found in watch.take(&Event::new(thread, action))? {
///         println!("{} {:?} can be violated", found.name, found.binding);
///         predicted.push(found);
///     }
/// }
/// assert_eq!(predicted.len(), 1);
/// assert_eq!(predicted[0].binding, [("f".to_owned(), Value::from("a"))]);
/// // Known with the second event: the read could have come first. What was observed is fine so far.
/// assert_eq!(predicted[0].relevant, 2);
/// assert_eq!(predicted[0].observed.verdict.as_str(), "pending");
///
/// let report = watch.finish("today")?;
/// assert_eq!(report.properties.len(), 2); // the files a and b
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # When something is known
///
/// With the event that completes it. That the observed run is violated is reported with the event that does it, always, whatever the
/// bounds; and so is that another order of the events so far is. A binding is reported once. The run that is shown is one
/// that is violated, not always one that is violated after the fewest steps. At the end the answer is that of a
/// [`Checker`](crate::Checker): predicted or not, exhaustive or not. Runs are not counted.
///
/// Two kinds of questions wait for the end of the run: whether a run is violated because it ended
/// ([`complete`](Options::complete)), and comparisons of several variables with each other (`x >= y`), for which every cut is
/// visited. With a [lookahead](Options::lookahead) these too are answered while the program runs: a prediction is made at most
/// that many events of the run after the one that completes it, whichever properties and bindings these belong to, and the
/// answer is that of a `Checker` with the same lookahead, window and [no reductions](crate::Reductions::NONE).
///
/// # What is left out
///
/// Nothing, as long as the threads of the program learn of each other now and then. The order of the last 1024 steps of a binding (fewer
/// if there are very many bindings) is kept in any case; what is older is taken to come before all that will come. If then
/// something comes that need not have waited, as after the long silence of a thread, the search is no longer exhaustive, and
/// says so ([`Limit::History`](crate::Limit::History)). A thread that nobody forked is expected only at the
/// beginning of a run. Where a property can alternate for ever in a way that matters, or has many stages, only the most
/// promising few hundred symbolic nodes are kept; from the first that is dropped, the search says
/// [`Limit::Nodes`](crate::Limit::Nodes). What is predicted is real in any case.
///
/// # Events that arrive in any order
///
/// Several processes, or threads with a queue each, rarely agree on an order. With [causal delivery](Options::causal_delivery) events
/// that bring a clock, their own ([`Op::Stamped`](portent_monitor_core::Op::Stamped)) or a [`Stamp`], may arrive in any order that keeps
/// each thread's own: each is held back until everything that its clock counts has come, so every counted event must be given.
/// What is predicted is the same in any such order of arrival (where concurrent events write the same variable, the
/// order in which they are released orders them).
///
/// ```
/// use portent_lattice::{Options, Watch};
/// use portent_monitor_core::{Action, Event, Op, Stamped};
/// use portent_monitor_dsl::Property;
///
/// let monitor = Property::parse("always (logout -> once login)")?.monitor()?;
/// let mut watch = Watch::new([monitor], |_| None, Options::default().causal_delivery(true))?;
/// let symbols = watch.symbols_mut();
/// let (a, b) = (symbols.threads.intern("a")?, symbols.threads.intern("b")?);
/// let mut event = |thread, name, clock: &[_]| {
///     let action = Action::new(symbols.names.intern(name).unwrap());
///     Event::new(thread, Op::Stamped(Box::new(Stamped::new(action, clock.to_vec()))))
/// };
/// let login = event(a, "login", &[(a, 1)]);
/// let logout = event(b, "logout", &[(a, 1), (b, 1)]);
///
/// assert!(watch.take(&logout)?.is_empty());
/// assert_eq!(watch.held(), 1); // its clock counts an event of `a` that has not come
/// assert!(watch.take(&login)?.is_empty());
/// assert_eq!(watch.held(), 0);
/// assert!(!watch.finish("today")?.is_violated());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// An event that never comes holds back all that come after it. What still waits at the end was not looked at: the report says
/// so in a warning, and no search is exhaustive ([`Limit::Missing`](crate::Limit::Missing)).
///
/// # What is kept
///
/// What is kept does not grow with the run: for each binding the nodes, the steps whose order matters, and of the others those that a
/// witness shows: at least the last [`history`](Options::history), at most about twice as many (of very many bindings, the last few).
/// Events that are [held](Watch::held) back come on top. With a lookahead it is at most four times the lookahead more. A witness whose beginning was forgotten says how many steps that
/// were, in [`forgotten`](crate::report::Predicted::forgotten): there is an order of them that leads to where it begins, but
/// which one is no longer known, and values are shown only for variables that were written since. Rarely a step that is forgotten
/// comes after one that is not; then there is no witness to show. A witness ends with the last event that was known when it
/// was found; then all events of that binding are forgotten.
///
/// For the questions that wait for the end, without a lookahead every step is kept until then.
///
/// Some things grow with what the program does, not with how long it does it: its names, a clock for every
/// variable, lock and thread, and a search for every binding of parameters. There may be
/// [`max_bindings`](Options::max_bindings) of these, and here also those that are not full count, as
/// any of them may become part of a full one. One thing does grow with the run, if slowly: a clock
/// for every message that was sent, as anybody may still receive it (and, where events bring
/// clocks of their own, for every event that another may refer to). Beyond that many bindings the first ones are watched, and the report
/// says so.
/// [`memory`](Options::memory) bounds the levels of each binding.
#[derive(Clone, Debug)]
pub struct Watch {
    intake: Intake,
    properties: Vec<Watched>,
    /// Events that arrived before what they come after, if that may be.
    held: Option<CausalRelease<Held>>,
    options: Options,
}

/// Then the order of sixteen events is left.
const MOST_NARROWED: u32 = 6;

impl Watch {
    /// Begins to watch; `initial` gives initial values by the names of variables.
    ///
    /// # Errors
    ///
    /// [`Error::NoInitialValue`], [`Error::WrongType`]; [`Error::OnlineModel`].
    pub fn new(
        monitors: impl IntoIterator<Item = Monitor>,
        initial: impl FnMut(&str) -> Option<Value>,
        mut options: Options,
    ) -> Result<Watch, Error> {
        if options.causality != Model::HappensBefore {
            return Err(Error::OnlineModel);
        }
        if options.lookahead.is_some() {
            // The level, and the two that witnesses may begin at.
            options.memory /= 3;
        }
        let intake = Intake::new(monitors, initial, options.admitted, IntakeLimits::NONE)?;
        Ok(Watch {
            properties: begin(&intake, &options)?,
            intake,
            held: options.causal_delivery.then(CausalRelease::default),
            options,
        })
    }

    /// The names of the run, and of those before it.
    pub fn symbols(&self) -> &Symbols {
        self.intake.symbols()
    }

    /// The names, to make events with: every event that is taken has its ids from here. Names stay when a run has
    /// ended, and keep their ids. Other symbols may be put in the place of these **only before the first
    /// event of a run**, be it the very first one or the next after [`finish`](Self::finish).
    ///
    /// Where the events are made with symbols that others need as well, these
    /// [catch up](Symbols::catch_up) with them.
    pub fn symbols_mut(&mut self) -> &mut Symbols {
        self.intake.symbols_mut()
    }

    /// Takes the next event, which was made with [`symbols_mut`](Self::symbols_mut). Gives the properties, with their bindings, of
    /// which it is now known that an equivalent run of what has happened is violated; each of them once.
    ///
    /// # Errors
    ///
    /// As [`Checker::take`](crate::Checker::take), and in debug builds [`Error::BadWitness`]. With
    /// [causal delivery](Options::causal_delivery) it may be about an event that was held back until now; those that wait
    /// behind it are released with the next one.
    pub fn take(&mut self, event: &Event) -> Result<Vec<PropertyReport>, Error> {
        self.take_any(event, None)
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
    ) -> Result<Vec<PropertyReport>, Error> {
        self.take_any(event, Some(stamp))
    }

    fn take_any(
        &mut self,
        event: &Event,
        stamp: Option<&Stamp>,
    ) -> Result<Vec<PropertyReport>, Error> {
        let mut news = Vec::new();
        let Some(held) = &mut self.held else {
            self.release(event, stamp, &mut news)?;
            return Ok(news);
        };
        // Not only when it is released: others would be refused for what is wrong with this one.
        self.intake.check_names(event)?;
        held.push(Held {
            event: event.clone(),
            stamp: stamp.cloned(),
        });
        while let Some(next) = self.held.as_mut().and_then(CausalRelease::pop) {
            self.release(&next.event, next.stamp.as_ref(), &mut news)?;
        }
        Ok(news)
    }

    /// Takes an event whose past was taken.
    fn release(
        &mut self,
        event: &Event,
        stamp: Option<&Stamp>,
        news: &mut Vec<PropertyReport>,
    ) -> Result<(), Error> {
        let arrival = match stamp {
            Some(stamp) => self.intake.take_stamped(event, stamp)?,
            None => self.intake.take(event)?,
        };
        if let Some(arrival) = arrival {
            follow(&mut self.properties, &arrival, &self.options, news)?;
        }
        self.close_levels(news)
    }

    /// How many events are held back, as something that their clocks count has not come yet.
    pub fn held(&self) -> usize {
        self.held.as_ref().map_or(0, CausalRelease::len)
    }

    /// Makes all levels that are complete with the event that was just taken.
    fn close_levels(&mut self, news: &mut Vec<PropertyReport>) -> Result<(), Error> {
        let symbols = self.intake.symbols();
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

    /// Whether there were more bindings than [allowed](Options::max_bindings), so that only the first ones are watched.
    pub fn leaves_out_bindings(&self) -> bool {
        self.properties.iter().any(Watched::is_cut)
    }

    /// Why the search of some binding is not exhaustive any more, if one is not. It looks at all bindings.
    ///
    /// ```
    /// use portent_lattice::{Options, Watch};
    /// use portent_monitor_dsl::Property;
    ///
    /// let monitor = Property::parse("always (logout -> once login)")?.monitor()?;
    /// let watch = Watch::new([monitor], |_| None, Options::default())?;
    /// assert_eq!(watch.limit(), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn limit(&self) -> Option<Limit> {
        self.properties.iter().find_map(Watched::limit)
    }

    /// Keeps half as much of the order from here on, and half as many nodes of the search: for one who cannot keep up with a program. What
    /// is observed is still told with its event. Gives whether there was anything left to halve. If something is left out by that,
    /// [`limit`](Self::limit) says so.
    ///
    /// ```
    /// use portent_lattice::{Options, Watch};
    /// use portent_monitor_dsl::Property;
    ///
    /// let monitor = Property::parse("always (logout -> once login)")?.monitor()?;
    /// let mut watch = Watch::new([monitor], |_| None, Options::default())?;
    /// assert!(watch.narrow());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn narrow(&mut self) -> bool {
        let can_be = self.options.narrowed < MOST_NARROWED;
        self.options.narrowed += u32::from(can_be);
        can_be
    }

    /// The run has ended: makes the remaining levels, and reports; `name` stands for the file. Then it is ready for another
    /// run that begins with the same values. Names keep their ids.
    ///
    /// # Errors
    ///
    /// As [`Checker::finish`](crate::Checker::finish).
    pub fn finish(&mut self, name: &str) -> Result<Report, Error> {
        let begun = begin(&self.intake, &self.options)?;
        let properties = std::mem::replace(&mut self.properties, begun);
        let report = self.report(properties, name);
        self.intake.restart();
        self.held = self.held.as_ref().map(|_| CausalRelease::default());
        report
    }

    fn report(&self, properties: Vec<Watched>, name: &str) -> Result<Report, Error> {
        self.intake.check_end()?;
        let symbols = self.intake.symbols();
        let mut report = Report::new(name, self.intake.events(), self.intake.threads());
        let held = self.held.as_ref();
        let missing = held.and_then(|held| Missing::at_end(held, symbols));
        for (mut property, viewer) in properties.into_iter().zip(self.intake.viewers()) {
            let mut found = property.finish(viewer, symbols, &self.options)?;
            if missing.is_some() {
                for instance in &mut found {
                    instance.lattice.limit.get_or_insert(Limit::Missing);
                    instance.lattice.exhaustive = false;
                    instance.predicted.shortest = false;
                }
            }
            let fit = Fit {
                unchecked: property.is_cut().then_some(self.options.max_bindings),
                refused: None,
                viewer,
                names: self.intake.names(),
                symbols,
            };
            report.add(&fit, found);
        }
        report.add_waits(self.intake.waits(), symbols);
        if let Some(missing) = missing {
            report.add_missing(missing.waiting, missing.example.as_deref());
        }
        Ok(report)
    }
}

/// Gives an event to the properties that it is a step of.
fn follow(
    properties: &mut [Watched],
    arrival: &Arrival<'_>,
    options: &Options,
    news: &mut Vec<PropertyReport>,
) -> Result<(), Error> {
    for property_step in arrival.property_steps() {
        let property = &mut properties[property_step.property.index()];
        property.take(arrival, &property_step, options, news)?;
    }
    Ok(())
}

/// The properties before the first event.
fn begin(intake: &Intake, options: &Options) -> Result<Vec<Watched>, Error> {
    let viewers = intake.viewers().iter();
    viewers
        .map(|viewer| Watched::new(viewer, options))
        .collect()
}
