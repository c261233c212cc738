//! The way in: properties and events, and at the end a report.

use portent_monitor_core::{Event, Symbols, ThreadId, Value};
use portent_monitor_dsl::Monitor;
use rustc_hash::FxHashSet;

use crate::{
    engine::maximal::{Origin, RulesReader},
    error::Error,
    intake::{Names, Occurrence, Record, Seen, slices},
    options::{Model, Options},
    report::{Fit, Instance, Report, picture::PictureBudget},
};

/// Checks properties on every run that is equivalent to the one whose events it is given.
///
/// Events come from wherever they come from, one by one, in observed order; all properties are
/// served by the one pass.
///
/// ```
/// use portent_lattice::{Checker, Options};
/// use portent_monitor_core::{Event, Op, Symbols, Value};
/// use portent_monitor_dsl::Property;
///
/// let mut s = Symbols::default();
/// let (t1, t2) = (s.threads.intern("T1")?, s.threads.intern("T2")?);
/// let (x, y) = (s.vars.intern("x")?, s.vars.intern("y")?);
///
/// let monitor = Property::parse("always (x >= y)")?.monitor()?;
/// let mut checker = Checker::new([monitor], |_| Some(Value::from(0)), Options::default())?;
/// checker.take(&Event::new(t1, Op::Write(x, Some(Value::from(5)))), &s)?;
/// checker.take(&Event::new(t2, Op::Write(y, Some(Value::from(2)))), &s)?;
/// let report = checker.finish("run.jsonl", &s)?;
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
    records: Vec<Record>,
    /// Which names of each property have occurred, and all names of the run.
    occurrences: Vec<Occurrence>,
    names: Names,
    /// What the current event is to each of them; kept for its memory.
    seen: Vec<Option<Seen>>,
    /// Under the maximal model, what the trace demands and where in it the steps of each property
    /// are.
    feasible: Option<Feasible>,
    options: Options,
    events: u64,
    threads: FxHashSet<ThreadId>,
}

#[derive(Clone, Debug, Default)]
struct Feasible {
    rules: RulesReader,
    steps: Vec<Vec<u32>>,
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
        mut initial: impl FnMut(&str) -> Option<Value>,
        options: Options,
    ) -> Result<Checker, Error> {
        let records = monitors
            .into_iter()
            .map(|monitor| Record::new(monitor, &mut initial, options.memory))
            .collect::<Result<Vec<_>, _>>()?;
        let feasible = (options.causality == Model::Maximal).then(|| Feasible {
            steps: vec![Vec::new(); records.len()],
            ..Feasible::default()
        });
        Ok(Checker {
            occurrences: vec![Occurrence::default(); records.len()],
            names: Names::default(),
            records,
            seen: Vec::new(),
            feasible,
            options,
            events: 0,
            threads: FxHashSet::default(),
        })
    }

    /// Takes the next event of the run.
    ///
    /// # Errors
    ///
    /// A value that does not fit its variable ([`Error::WrongType`], [`Error::BadText`],
    /// [`Error::NoValue`]): no property has taken the event then, and the next one may be given.
    /// A number that does not fit 32 bits, or too many threads: the run cannot be checked.
    pub fn take(&mut self, event: &Event, symbols: &Symbols) -> Result<(), Error> {
        self.seen.clear();
        for record in &mut self.records {
            self.seen.push(record.see(event, symbols)?);
        }
        let number = self.events;
        self.events += 1;
        self.threads.insert(event.thread);
        self.names.note(event);
        let records = self.records.iter_mut().zip(&mut self.occurrences);
        for ((record, occurrence), seen) in records.zip(self.seen.drain(..)) {
            if let Some(seen) = &seen {
                occurrence.note(seen);
            }
            record.take(event, number, seen)?;
        }
        if let Some(feasible) = &mut self.feasible {
            let index = u32::try_from(self.events - 1).map_err(|_| Error::TooManyEventsInAll)?;
            for (record, steps) in self.records.iter().zip(&mut feasible.steps) {
                if record.steps().len() > steps.len() {
                    steps.push(index);
                }
            }
            feasible.rules.read(event);
        }
        Ok(())
    }

    /// How many steps each property has seen so far.
    pub fn steps(&self) -> impl Iterator<Item = usize> + '_ {
        self.records.iter().map(|record| record.steps().len())
    }

    /// The run has ended: searches, and reports.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyBindings`]; in debug builds [`Error::BadWitness`].
    pub fn finish(self, file: &str, symbols: &Symbols) -> Result<Report, Error> {
        let mut report = Report::new(file, self.events, self.threads.len());
        let feasible = self.feasible.map(|all| (all.rules.finish(), all.steps));
        for (number, record) in self.records.iter().enumerate() {
            let slices = slices(record, self.options.max_bindings)?;
            let mut found = Vec::with_capacity(slices.len());
            let mut budget = PictureBudget::new(&self.options);
            for slice in &slices {
                let origin = feasible.as_ref().map(|(rules, steps)| Origin {
                    rules,
                    events: slice.trace_events(&steps[number]),
                });
                let instance = Instance {
                    record,
                    slice,
                    symbols,
                    origin,
                };
                found.push(instance.report(&self.options, &mut budget)?);
            }
            let fit = Fit {
                monitor: record.monitor(),
                initial: record.initial(),
                steps: record.steps().len() as u64,
                bindings: record.bindings(),
                occurrence: &self.occurrences[number],
                names: &self.names,
                symbols,
            };
            report.add(&fit, found);
        }
        Ok(report)
    }
}
