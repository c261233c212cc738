//! Online checking: events arrive one by one while the program runs, and predictions are reported at once.
//!
//! | file | contents |
//! |---|---|
//! | [`property`] | one property: its steps, and the bindings of its parameters |
//! | [`track`] | one binding: its observed run, and what was found |
//! | [`plan`] | the automaton of a property, for streaming |
//! | [`stream`] | the search of one binding, step by step |
//! | [`rest`] | a stream that is packed until its next step, when there are very many bindings |
//! | [`live`] | the search of one binding, level by level |
//! | [`kept`], [`steps`], [`log`] | the steps that a search still needs, and their order |
//! | [`delivery`] | events that arrive before their predecessors |
//!
//! A search is a *stream* of symbolic nodes (`engine::streaming`): exact at every step, without enumeration or delay. Levels are
//! made if there is a lookahead, if a run can be violated only because it ended, and if comparisons of several variables leave
//! no small automaton.
//!
//! A level is complete when every event that can extend it is known. A silent thread, or one not seen yet, may still do
//! something that is unordered with everything so far; before the end of the run, only a lookahead closes a level. The oldest
//! event missing from a cut of k steps comes no later than the step after the first k observed ones. So L events of the run
//! after that step, whichever bindings they belong to, the level is complete and the next one is made; the answer is the same
//! as offline with a lookahead of L.

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
/// It takes the events one by one, in observed order, and reports each prediction as soon as it is
/// known:
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
/// # When predictions are reported
///
/// With the event that completes them. A violation of the observed run is always reported with the event that causes it,
/// whatever the bounds; so is a violation of another order of the events so far. A binding is reported once. The run that is
/// shown is violated, but not always after the fewest steps. At the end the answer is that of a [`Checker`](crate::Checker):
/// predicted or not, exhaustive or not. Runs are not counted.
///
/// Two kinds of questions wait for the end of the run: whether a run is violated because it ended
/// ([`complete`](Options::complete)), and comparisons of several variables with each other (`x >= y`), for which every cut is
/// visited. With a [lookahead](Options::lookahead) of L events, these too are answered while the program runs: a prediction is
/// made at most L events of the run after the one that completes it, whichever properties and bindings these belong to, and the
/// answer is that of a `Checker` with the same lookahead, window and [no reductions](crate::Reductions::NONE).
///
/// # What is left out
///
/// Nothing, as long as the threads of the program synchronise now and then. The order of the last 1024 steps of a binding
/// (fewer if there are very many bindings) is always kept; older steps are assumed to come before all future ones. If an event
/// then arrives that need not have come after them, as after the long silence of a thread, the search is no longer exhaustive,
/// and says so ([`Limit::History`](crate::Limit::History)). A thread that was not forked by another is expected only at the
/// beginning of a run. If a property can alternate for ever in a way that matters, or has many stages, only the most promising
/// few hundred symbolic nodes are kept; once one is dropped, the search reports [`Limit::Nodes`](crate::Limit::Nodes).
/// Predictions are real in any case.
///
/// # Events that arrive in any order
///
/// Several processes, or threads with a queue each, rarely agree on an order. With [causal delivery](Options::causal_delivery),
/// events that carry a clock, either inside ([`Op::Stamped`](portent_monitor_core::Op::Stamped)) or as a [`Stamp`], may arrive
/// in any order that keeps the order within each thread: each event is held back until everything that its clock counts has
/// arrived, so every counted event must be given. The predictions are the same for any such order of arrival (where concurrent
/// events write the same variable, the order in which they are released orders them).
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
/// An event that never arrives holds back all its successors. Events still waiting at the end were not examined: the report
/// says so in a warning, and no search is exhaustive ([`Limit::Missing`](crate::Limit::Missing)).
///
/// # What is kept
///
/// Memory does not grow with the run: for each binding there are the nodes, the steps whose order matters, and the other steps
/// that a witness shows: at least the last [`history`](Options::history), at most about twice as many (of very many bindings,
/// the last few). Events [held back](Watch::held) come on top. With a lookahead it is at most four times the lookahead more. A
/// witness whose beginning was forgotten gives the number of forgotten steps in
/// [`forgotten`](crate::report::Predicted::forgotten): some order of them leads to where the witness begins, but which one is
/// no longer known, and values are shown only for variables written since. Rarely a forgotten step comes after one that is
/// kept; then there is no witness to show. A witness ends with the last event known when it was found; after that, all events
/// of the binding are forgotten.
///
/// For the questions that wait for the end, every step is kept until then unless there is a lookahead.
///
/// Some data grows with the variety of what the program does, not with how long it runs: names, a clock for every variable,
/// lock and thread, and a search for every binding of parameters. [`max_bindings`](Options::max_bindings) limits the bindings,
/// including partial ones, because any of these may become part of a full one; beyond that, only the first ones are watched,
/// and the report says so. One thing does grow with the run, if slowly: a clock for every message sent, because any thread may
/// still receive it (and, where events carry clocks, for every event that another may refer to). [`memory`](Options::memory)
/// bounds the levels of each binding.
#[derive(Clone, Debug)]
pub struct Watch {
    intake: Intake,
    properties: Vec<Watched>,
    /// Events that arrived before their predecessors, with causal delivery.
    held: Option<CausalRelease<Held>>,
    options: Options,
}

/// After this, the order of only sixteen events is kept.
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
            // The current level, and the two at which witnesses may begin.
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

    /// The names of this run and of earlier ones.
    pub fn symbols(&self) -> &Symbols {
        self.intake.symbols()
    }

    /// The names, for making events: the ids in every event taken must come from here. Names and their ids stay when a run has
    /// ended. These symbols may be replaced by others **only before the first event of a run**, which is either the very first
    /// event or the next one after [`finish`](Self::finish).
    ///
    /// If the events are made with symbols that are shared with other code, these
    /// [catch up](Symbols::catch_up) with them.
    pub fn symbols_mut(&mut self) -> &mut Symbols {
        self.intake.symbols_mut()
    }

    /// Takes the next event, which was made with [`symbols_mut`](Self::symbols_mut). Returns the properties, with their
    /// bindings, for which an equivalent run of the events so far is now known to be violated; each is returned once.
    ///
    /// # Errors
    ///
    /// As [`Checker::take`](crate::Checker::take), and in debug builds [`Error::BadWitness`]. With
    /// [causal delivery](Options::causal_delivery) the error may concern an event that was held back until now; the events
    /// waiting behind it are released with the next one.
    pub fn take(&mut self, event: &Event) -> Result<Vec<PropertyReport>, Error> {
        self.take_any(event, None)
    }

    /// Takes the next event together with its place in the causal order.
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
        // Not only on release: an error in this event would then be reported for another one.
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

    /// Takes an event whose predecessors have all been taken.
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

    /// The number of events held back because something that their clocks count has not arrived yet.
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

    /// The number of steps kept. A step that several bindings need counts once for each.
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

    /// Keeps half as much of the order from here on, and half as many nodes of the search: for a watcher that cannot keep up
    /// with the program. Violations of the observed run are still reported with their event. Returns whether there was anything
    /// left to halve. If the search leaves something out because of it, [`limit`](Self::limit) says so.
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

    /// The run has ended: makes the remaining levels, and reports; `name` stands for the file. The watch is then ready for
    /// another run that begins with the same values. Names keep their ids.
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
