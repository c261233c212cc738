//! The entry point for a whole trace: takes properties and events, and makes a report at the end.

use portent_monitor_core::{Discipline, Event, Stamp, Symbols, Value};
use portent_monitor_dsl::Monitor;

use crate::{
    engine::{
        maximal::{Rules, RulesReader, SliceInTrace},
        strong::{Guards, GuardsReader, LeavingOut},
    },
    error::Error,
    intake::{Arrival, History, Intake, IntakeLimits, Record, Slice, StepsTaken, slices},
    options::{Counting, Model, Options},
    order::Unlocked,
    report::{Fit, Instance, Origin, Report, ReportBudget, Unkept, Untried},
};

/// Checks properties on every run that is equivalent to the one whose events it is given.
///
/// It takes events one by one, in observed order, wherever they come from; a single pass serves all
/// properties.
///
/// ```
/// use portent_lattice::{Checker, Options};
/// use portent_monitor_core::{Event, Op, Value};
/// use portent_monitor_dsl::Property;
///
/// let monitor = Property::parse("always (x >= y)")?.monitor()?;
/// let mut checker = Checker::new([monitor], |_| Some(Value::from(0)), Options::default())?;
/// let names = checker.symbols_mut();
/// let (t1, t2) = (names.threads.intern("T1")?, names.threads.intern("T2")?);
/// let (x, y) = (names.vars.intern("x")?, names.vars.intern("y")?);
///
/// checker.take(&Event::new(t1, Op::Write(x, Some(Value::from(5)))))?;
/// checker.take(&Event::new(t2, Op::Write(y, Some(Value::from(2)))))?;
/// let report = checker.finish("run.jsonl")?;
///
/// let property = &report.properties[0];
/// assert_eq!(property.observed.verdict.as_str(), "ok");
/// assert!(property.predicted.violated);
/// assert_eq!(property.predicted.swaps, [[0, 1]]);
/// let runs = property.runs.as_ref().unwrap();
/// assert_eq!((runs.total.as_str(), runs.violated.as_str()), ("2", "1"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Checker {
    intake: Intake,
    history: History,
    /// The steps of each property.
    taken: Vec<StepsTaken>,
    /// The order without locks, under happens-before.
    unlocked: Option<Unlocked>,
    /// What the trace demands beyond happens-before. Where nobody asked for that, of short traces only.
    feasible: Option<Feasible>,
    /// Why nobody will look beyond happens-before, if that was to be tried.
    untried: Option<Untried>,
    /// The observed run, once its steps take too much memory to be kept.
    unkept: Option<Unkept>,
    options: Options,
}

/// This many bytes are kept of steps, however little memory there is.
const LEAST_KEPT: u64 = 8 << 20;
/// After this many steps the memory is looked at again.
const LOOKED_AT_EVERY: usize = 1024;
/// About what a binding takes while the trace is read, and the report on it.
const BINDING_BYTES: u64 = 4096;

/// What it may take to look beyond happens-before where nobody asked for that.
const TRIAL_MEMORY: u64 = 32 << 20;

/// What of the memory may be taken for what. The search has the rest, and at least a quarter.
struct Shares {
    intake: IntakeLimits,
    history_clocks: u64,
    notes: u64,
    unlocked: u64,
}

impl Shares {
    fn of(memory: u64, properties: usize) -> Shares {
        let bindings = memory / BINDING_BYTES / (properties as u64).max(1);
        let bindings = usize::try_from(bindings).unwrap_or(usize::MAX);
        Shares {
            intake: IntakeLimits {
                clocks: memory / 8,
                bindings: bindings.max(1),
                positions: false,
            },
            history_clocks: memory / 4,
            notes: memory / 8,
            unlocked: memory / 16,
        }
    }
}

/// What the models beyond happens-before need of a trace.
#[derive(Clone, Debug, Default)]
struct Feasible {
    rules: RulesReader,
    /// If something may be left out.
    guards: Option<GuardsReader>,
    /// Where the events of the history are in the trace.
    places: Vec<u32>,
    /// What can follow what by what events do, where they are in the order of their stamps.
    discipline: Discipline,
}

impl Feasible {
    fn new(options: &Options) -> Option<Feasible> {
        let model = options.causality;
        (model != Model::HappensBefore || options.trial_events > 0).then(|| Feasible {
            guards: (model != Model::Maximal).then(GuardsReader::default),
            ..Feasible::default()
        })
    }

    /// Whether an event can follow those before it.
    fn admits(&mut self, event: &Event, symbols: &Symbols) -> bool {
        self.discipline.admit(event, symbols).is_ok()
    }

    fn read(&mut self, event: &Event) -> Result<(), Error> {
        self.rules.read(event);
        if let Some(guards) = &mut self.guards {
            guards.read(event)?;
        }
        Ok(())
    }

    fn finish(self, memory: u64) -> FeasibleTrace {
        FeasibleTrace {
            rules: self.rules.finish(memory),
            guards: self.guards.map(GuardsReader::finish),
            places: self.places,
        }
    }
}

/// The same of a whole trace.
struct FeasibleTrace {
    rules: Rules,
    guards: Option<Guards>,
    places: Vec<u32>,
}

impl FeasibleTrace {
    /// Where the steps of a slice are in it.
    fn origin(&self, record: &Record<'_>, slice: &Slice, model: Model) -> Origin<'_> {
        let events = { slice.steps.iter() }
            .map(|&step| self.places[record.steps()[step as usize].event.index()])
            .collect();
        let slice = SliceInTrace {
            rules: &self.rules,
            events,
        };
        match &self.guards {
            None => Origin::Maximal(slice),
            Some(guards) if model == Model::Strong => Origin::Strong(LeavingOut { guards, slice }),
            Some(guards) => Origin::Trial(LeavingOut { guards, slice }),
        }
    }
}

impl Checker {
    /// A checker for these properties. `initial` gives the initial values that the trace tells, by
    /// the names of variables; for others the declaration's are taken.
    ///
    /// # Errors
    ///
    /// [`Error::NoInitialValue`], [`Error::WrongType`].
    pub fn new(
        monitors: impl IntoIterator<Item = Monitor>,
        initial: impl FnMut(&str) -> Option<Value>,
        options: Options,
    ) -> Result<Checker, Error> {
        let monitors: Vec<Monitor> = monitors.into_iter().collect();
        let shares = Shares::of(options.memory, monitors.len());
        let intake = Intake::new(monitors, initial, options.admitted, shares.intake)?;
        Ok(Checker {
            taken: vec![StepsTaken::default(); intake.viewers().len()],
            intake,
            history: History::new(shares.history_clocks, shares.notes),
            unlocked: (options.causality == Model::HappensBefore)
                .then(|| Unlocked::new(shares.unlocked)),
            feasible: Feasible::new(&options),
            untried: None,
            unkept: None,
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
    /// ```
    /// use portent_lattice::{Checker, Options};
    /// use portent_monitor_core::{Action, Event};
    /// use portent_monitor_dsl::Property;
    ///
    /// let monitor = Property::parse("always !error")?.monitor()?;
    /// let mut checker = Checker::new([monitor], |_| None, Options::default())?;
    /// for run in ["monday", "tuesday"] {
    ///     let names = checker.symbols_mut();
    ///     let (thread, name) = (names.threads.intern("T1")?, names.names.intern("error")?);
    ///     checker.take(&Event::new(thread, Action::new(name)))?;
    ///     assert!(checker.finish(run)?.is_violated());
    /// }
    /// assert_eq!(checker.symbols().threads.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn symbols_mut(&mut self) -> &mut Symbols {
        self.intake.symbols_mut()
    }

    /// Takes the next event of the run, which was made with [`symbols_mut`](Self::symbols_mut).
    ///
    /// # Errors
    ///
    /// An event that was made with other symbols ([`Error::UnknownSymbol`], as far as its ids tell), a value that does not fit its
    /// variable ([`Error::WrongType`], [`Error::BadText`], [`Error::NoValue`]), or an event that cannot follow those before it ([`Error::Causality`]; not
    /// looked for if they are known to be [admitted](Options::admitted)): no property has taken the event
    /// then, and the next one may be given. [`Error::MixedStamps`]. A number that does not fit 32 bits, or too
    /// many threads: the run cannot be checked.
    ///
    /// ```
    /// use portent_lattice::{Checker, Options};
    /// use portent_monitor_core::{Delivery, Event, Msg, Op};
    /// use portent_monitor_dsl::Property;
    ///
    /// let monitor = Property::parse("always !error")?.monitor()?;
    /// let mut checker = Checker::new([monitor], |_| None, Options::default())?;
    /// let names = checker.symbols_mut();
    /// let (t, c) = (names.threads.intern("T1")?, names.chans.intern("c")?);
    /// let early = checker.take(&Event::new(t, Op::Recv(c, Msg::Number(7), Delivery::Unordered)));
    /// assert_eq!(
    ///     early.unwrap_err().to_string(),
    ///     "thread T1 receives message 7 on channel c, which was not sent before",
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn take(&mut self, event: &Event) -> Result<(), Error> {
        self.take_next(event, None)
    }

    /// Takes the next event, in the order of its stamp if it has one.
    #[inline(always)]
    fn take_next(&mut self, event: &Event, stamp: Option<&Stamp>) -> Result<(), Error> {
        let number = self.intake.events();
        if self.is_trial() && number >= self.options.trial_events as u64 {
            self.end_trial(Untried::Events(self.options.trial_events as u64));
        }
        if self.feasible.is_some() && number >= u64::from(u32::MAX) {
            return Err(Error::TooManyEventsInAll);
        }
        if let Some(unlocked) = &mut self.unlocked
            && !self.intake.is_order_lost()
            && self.unkept.is_none()
        {
            match stamp {
                None => unlocked.prepare(event, self.intake.causality(), &self.history),
                Some(_) if self.options.trial_events > 0 => unlocked.prepare_given(),
                // Nobody has to give events that are no steps, so that nothing is known of locks.
                Some(_) => unlocked.give_up(),
            }
        }
        let arrival = match stamp {
            None => self.intake.take(event)?,
            Some(stamp) => self.intake.take_stamped(event, stamp)?,
        };
        let is_relevant = arrival.is_some();
        if let Some(unkept) = &mut self.unkept {
            return arrival.map_or(Ok(()), |arrival| unkept.take(&arrival));
        }
        if let Some(arrival) = arrival {
            keep(&arrival, &mut self.history, &mut self.taken)?;
            if let Some(feasible) = &mut self.feasible {
                feasible.places.push(arrival.number as u32);
            }
            self.look_at_memory()?;
        }
        if let Some(unlocked) = &mut self.unlocked {
            if self.intake.is_order_lost() {
                unlocked.end(true);
            } else {
                unlocked.take(event, is_relevant);
            }
        }
        if let Some(feasible) = &mut self.feasible {
            if stamp.is_some() && !feasible.admits(event, self.intake.symbols()) {
                self.forget_trial();
                return Ok(());
            }
            feasible.read(event)?;
        }
        Ok(())
    }

    /// What events do is not known well enough to look beyond the order that they have.
    #[cold]
    fn forget_trial(&mut self) {
        self.feasible = None;
        if let Some(unlocked) = &mut self.unlocked {
            unlocked.give_up();
        }
    }

    /// Whether nobody asked for a model beyond happens-before.
    fn is_trial(&self) -> bool {
        self.options.causality == Model::HappensBefore
    }

    /// Nobody looks beyond happens-before, unless nobody was to.
    fn end_trial(&mut self, why: Untried) {
        if self.feasible.take().is_some() {
            self.untried = Some(why);
        }
    }

    /// Takes the next event of the run, which brings its place in the causal order, as the events of a
    /// program that keeps clocks itself do. Events that are no steps of any property need not be
    /// given; clocks may count them all the same. Only where the model `strong` is [tried](Options::trial_events) all of them
    /// have to be given, in an order in which they can have happened: it goes by what they do.
    ///
    /// # Errors
    ///
    /// As [`take`](Self::take), but what the event does is not compared with what was done before it, only
    /// its stamp with theirs: [`Error::LateStamp`]. [`Error::StampedModel`] under another model than happens-before.
    pub fn take_stamped(&mut self, event: &Event, stamp: &Stamp) -> Result<(), Error> {
        if !self.is_trial() {
            return Err(Error::StampedModel);
        }
        self.take_next(event, Some(stamp))
    }

    /// Now and then, whether what is kept of the steps leaves room for an answer. If not, no more are kept.
    fn look_at_memory(&mut self) -> Result<(), Error> {
        let steps = self.history.len();
        let most = (self.options.memory / 4 * 3).max(LEAST_KEPT);
        if !steps.is_multiple_of(LOOKED_AT_EVERY) || self.kept() <= most {
            return Ok(());
        }
        if self.is_trial() {
            self.end_trial(Untried::Memory);
            self.unkept = Unkept::after(self.records())?;
        }
        if self.unkept.is_none() {
            return Err(Error::StepsBeyondMemory {
                steps: steps as u64,
                memory: self.options.memory,
            });
        }
        if let Some(unlocked) = &mut self.unlocked {
            unlocked.end(false);
        }
        Ok(())
    }

    /// What is kept of each property.
    fn records(&self) -> impl Iterator<Item = Record<'_>> {
        let properties = self.intake.viewers().iter().zip(&self.taken);
        properties.map(|(viewer, taken)| Record {
            viewer,
            taken,
            history: &self.history,
        })
    }

    /// About how many bytes are kept until the run has ended.
    fn kept(&self) -> u64 {
        let taken: u64 = self.taken.iter().map(StepsTaken::bytes).sum();
        let bindings = self.intake.viewers().iter();
        let bindings: u64 = bindings.map(|viewer| viewer.bindings().bytes()).sum();
        let unlocked = self.unlocked.as_ref().map_or(0, Unlocked::bytes);
        self.history.bytes() + taken + bindings + unlocked
    }

    /// How many steps each property has seen so far.
    pub fn steps(&self) -> impl Iterator<Item = usize> + '_ {
        self.taken.iter().map(StepsTaken::len)
    }

    /// The run has ended: searches, and reports. Then the checker is ready for another run that begins
    /// with the same values. Names keep their ids.
    ///
    /// # Errors
    ///
    /// [`Error::Causality`] if the run cannot end so, with a lock that two threads hold (not looked for if its events are
    /// known to be [admitted](Options::admitted)); in debug builds [`Error::BadWitness`]. The checker is ready for another
    /// run then, too.
    ///
    /// ```
    /// use portent_lattice::{Checker, Options};
    /// use portent_monitor_core::{Event, Op};
    /// use portent_monitor_dsl::Property;
    ///
    /// let monitor = Property::parse("always !error")?.monitor()?;
    /// let mut checker = Checker::new([monitor], |_| None, Options::default())?;
    /// let s = checker.symbols_mut();
    /// let (a, b, m) = (s.threads.intern("A")?, s.threads.intern("B")?, s.locks.intern("m")?);
    /// checker.take(&Event::new(a, Op::Lock(m)))?;
    /// checker.take(&Event::new(b, Op::Lock(m)))?; // A may be waiting for a condition
    /// let error = checker.finish("run").unwrap_err().to_string();
    /// assert!(error.starts_with("thread A holds lock m to the end, but B has taken it"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn finish(&mut self, file: &str) -> Result<Report, Error> {
        let is_order_lost = self.intake.is_order_lost();
        self.intake.forget_order();
        if let Some(unlocked) = &mut self.unlocked {
            unlocked.end(is_order_lost);
        }
        let memory = if self.is_trial() {
            self.options.memory.min(TRIAL_MEMORY)
        } else {
            self.options.memory
        };
        let can_end =
            |feasible: &Feasible| feasible.discipline.finish(self.intake.symbols()).is_ok();
        if !self.feasible.as_ref().is_none_or(can_end) {
            self.forget_trial();
        }
        let fresh = Feasible::new(&self.options);
        let feasible = std::mem::replace(&mut self.feasible, fresh);
        let feasible = feasible.map(|all| all.finish(memory));
        let report = self.report(file, feasible.as_ref());
        self.intake.restart();
        self.history.clear();
        (self.unkept, self.untried) = (None, None);
        if let Some(unlocked) = &mut self.unlocked {
            unlocked.clear();
        }
        self.taken.iter_mut().for_each(StepsTaken::clear);
        report
    }

    fn report(&self, file: &str, feasible: Option<&FeasibleTrace>) -> Result<Report, Error> {
        self.intake.check_end()?;
        let symbols = self.intake.symbols();
        let mut report = Report::new(file, self.intake.events(), self.intake.threads());
        let memory = self.options.memory;
        // The search has what is left.
        let left = memory.saturating_sub(self.kept()).max(memory / 4);
        let mut options = self.options.clone().memory(left);
        // What is kept does not end where the run does, so how many runs it has is no answer.
        options.goal.complete &= self.unkept.is_none();
        if self.unkept.is_some() {
            options = options.counting(Counting::Never);
        }
        let options = &options;
        let mut budget = ReportBudget::new(options);
        for (property, record) in self.records().enumerate() {
            let viewer = record.viewer;
            let slices = slices(&record, options.max_bindings);
            let mut found = Vec::with_capacity(slices.all.len());
            budget.begin_property(options);
            for slice in &slices.all {
                let model = self.options.causality;
                let origin = feasible.map(|trace| trace.origin(&record, slice, model));
                let origin = origin.or(self.untried.map(Origin::Untried));
                let instance = Instance {
                    record,
                    slice,
                    symbols,
                    unlocked: self.unlocked.as_ref(),
                    origin,
                };
                found.push(instance.report(options, &mut budget)?);
            }
            budget.end_property(options, &mut found);
            if let Some(unkept) = &self.unkept {
                for instance in &mut found {
                    unkept.amend(property, instance, self.options.goal);
                }
            }
            let fit = Fit {
                viewer,
                names: self.intake.names(),
                symbols,
                unchecked: (!slices.is_complete).then_some(options.max_bindings),
                refused: viewer.bindings().refused_beyond(),
            };
            report.add(&fit, found);
        }
        report.add_waits(self.intake.waits(), symbols);
        report.add_forks(self.intake.forks(), symbols);
        report.add_forgotten(&self.history);
        if let Some(unkept) = &self.unkept {
            report.add_unkept(self.history.len(), unkept);
        }
        Ok(report)
    }
}

/// Keeps an event until the run has ended.
fn keep(
    arrival: &Arrival<'_>,
    history: &mut History,
    taken: &mut [StepsTaken],
) -> Result<(), Error> {
    let event = history.keep(arrival)?;
    for property_step in arrival.property_steps() {
        taken[property_step.property.index()].keep(event, &property_step);
    }
    Ok(())
}
