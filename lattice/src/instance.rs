//! One instance of a property: its slice of the run, solved and reported.

use portent_monitor_core::{Symbols, ThreadId};
use portent_monitor_dsl::Stepper;

use crate::{
    ActionId, EventIndex, Poset, Problem, conjunctive,
    enumerate::Limit,
    error::Error,
    maximal::{self, Origin},
    options::{Counting, Options},
    picture::Album,
    product::Product,
    record::{Deed, Record},
    report::{Lattice, Observed, Predicted, PropertyReport, Row, Runs, Values},
    rows::{Doer, Narrator, swaps},
    slice::Slice,
    solve::{self, Solution},
    violation::Violation,
    witness,
};

/// The table of a product may have so many entries.
const MAX_ENTRIES: usize = 1 << 22;

/// What an engine gets.
pub(crate) enum Task {
    /// Events act on a table.
    Table(Box<Problem>),
    /// The table would be too large.
    Open(Poset, Vec<ActionId>, Box<Product>),
}

impl Task {
    fn new(record: &Record, slice: &Slice, poset: Poset, options: &Options) -> Task {
        let (actions, deeds) = slice.actions(record);
        let mut product = Product::new(record.monitor().clone(), record.initial());
        for deed in deeds {
            product.act(&record.deeds()[deed.0 as usize]);
        }
        match product.table(options.max_states, MAX_ENTRIES) {
            Some((automaton, numbers)) => Task::Table(Box::new(Problem {
                poset,
                actions: actions.iter().map(|a| numbers[a.0 as usize]).collect(),
                automaton,
            })),
            None => Task::Open(poset, actions, Box::new(product)),
        }
    }

    pub(crate) fn poset(&self) -> &Poset {
        match self {
            Task::Table(problem) => &problem.poset,
            Task::Open(poset, ..) => poset,
        }
    }
}

/// The run of one binding, with what is needed to speak of it.
pub(crate) struct Instance<'a> {
    pub(crate) record: &'a Record,
    pub(crate) slice: &'a Slice,
    pub(crate) symbols: &'a Symbols,
    /// The whole trace, under the maximal model.
    pub(crate) origin: Option<Origin<'a>>,
}

impl Instance<'_> {
    fn deed(&self, event: EventIndex) -> &Deed {
        let step = self.slice.steps[event.index()];
        let deed = self.slice.deed(self.record, step);
        &self.record.deeds()[deed.0 as usize]
    }

    pub(crate) fn start(&self) -> Result<Stepper, Error> {
        let monitor = self.record.monitor();
        let initial = |name: &str| {
            let variable = monitor.alphabet().variable(name)?;
            Some(self.record.initial()[variable.index()].clone())
        };
        Ok(monitor.start_with(initial)?)
    }

    pub(crate) fn report(
        &self,
        options: &Options,
        album: &mut Album,
    ) -> Result<PropertyReport, Error> {
        // Where the order does not fit in memory, the observed run is all that is looked at.
        let too_wide =
            !self.record.is_ordered() || self.slice.poset_bytes(self.record) > options.memory;
        let poset = match too_wide {
            true => self.slice.observed_order(),
            false => self.slice.poset(self.record),
        };
        let task = Task::new(self.record, self.slice, poset, options);
        let mut solution = self.solve(&task, options)?;
        if too_wide && solution.engine != maximal::NAME {
            solution.give_up(Limit::Memory);
        }
        let property = self.record.monitor().property();
        let names = property.parameters().iter().cloned();
        let saved = solution.saved;
        let lattice = Lattice {
            engine: solution.engine,
            levels: self.slice.steps.len() as u64 + 1,
            cuts: solution.shape.map(|shape| shape.cuts),
            widest: solution.shape.map(|shape| shape.widest),
            nodes: solution.nodes,
            exhaustive: solution.limit.is_none(),
            dropped: solution.dropped,
            limit: solution.limit,
            frontier: solution.peak,
            saved,
        };
        Ok(PropertyReport {
            name: property.name().to_owned(),
            binding: names.zip(self.slice.binding.iter().cloned()).collect(),
            kind: property.kind(),
            states: self.record.monitor().states(),
            relevant: self.slice.steps.len() as u64,
            observed: self.observed()?,
            runs: solution
                .runs
                .clone()
                .map(|counts| Runs::from(&options.goal.count(counts))),
            predicted: self.predicted(task.poset(), &solution, options)?,
            lattice,
            text: property.full_text().to_owned(),
            picture: match !too_wide && album.takes(solution.violation.is_some()) {
                true => Some(Box::new(self.picture(&task, &solution, options)?)),
                false => None,
            },
        })
    }

    /// Happens-before first; then, if that is asked for and nothing was found, the maximal model.
    fn solve(&self, task: &Task, options: &Options) -> Result<Solution, Error> {
        let conjunctions = || conjunctive::trajectories(self.record, self.slice, task.poset());
        let Some(origin) = &self.origin else {
            return Ok(solve::solve_task(task, conjunctions, options));
        };
        let uncounted = Options {
            counting: Counting::Never,
            ..options.clone()
        };
        let mut solution = solve::solve_task(task, conjunctions, &uncounted);
        // The size of one lattice says nothing of what is feasible.
        solution.shape = None;
        if let Some(violation) = &mut solution.violation {
            // Other feasible runs may be violated sooner.
            violation.is_shortest &= violation.violated_at <= 1;
            return Ok(solution);
        }
        let widened = maximal::widen(task, origin, options).map_err(|why| self.bad_witness(why))?;
        let nodes = solution.nodes;
        solution = Solution::new(maximal::NAME, widened);
        solution.nodes += nodes;
        Ok(solution)
    }

    fn bad_witness(&self, why: String) -> Error {
        Error::BadWitness {
            property: self.record.monitor().property().name().to_owned(),
            why,
        }
    }

    pub(crate) fn observed(&self) -> Result<Observed, Error> {
        let mut stepper = self.start()?;
        for event in 0..self.slice.steps.len() as u32 {
            let deed = self.deed(EventIndex(event));
            stepper.step(deed.event, deed.writes.iter().cloned())?;
            if stepper.verdict().is_final() {
                break;
            }
        }
        Ok(Observed {
            verdict: stepper.verdict(),
            step: stepper.decided_after(),
        })
    }

    fn predicted(
        &self,
        poset: &Poset,
        solution: &Solution,
        options: &Options,
    ) -> Result<Predicted, Error> {
        let Some(violation) = &solution.violation else {
            return Ok(Predicted::default());
        };
        if cfg!(debug_assertions) {
            self.examine(poset, violation, options)
                .map_err(|why| self.bad_witness(why))?;
        }
        let left_out = self.left_out(&violation.run);
        let whole: Vec<EventIndex> = violation
            .run
            .iter()
            .copied()
            .chain(left_out.iter().map(|row| EventIndex(row.event)))
            .collect();
        let (swaps, swaps_omitted) = swaps(&[], &whole);
        Ok(Predicted {
            violated: true,
            witness: Some(self.rows(&violation.run, |_| true)),
            left_out,
            violated_at: Some(violation.violated_at as u64),
            swaps,
            swaps_omitted,
            shortest: violation.is_shortest,
            forgotten: 0,
        })
    }

    /// Checks a witness again, trusting nothing that found it.
    fn examine(
        &self,
        poset: &Poset,
        violation: &Violation,
        options: &Options,
    ) -> Result<(), String> {
        // What is feasible was examined where it was found.
        if self.origin.is_none() {
            witness::examine_order(poset, &vec![0; poset.width()], &violation.run)?;
        }
        witness::examine_verdict(
            &violation.run,
            self.record.monitor(),
            self.record.initial(),
            |event| self.deed(event),
            options.goal,
            violation.violated_at,
        )
    }

    /// The steps of the observed run that a witness does not come to.
    fn left_out(&self, run: &[EventIndex]) -> Vec<Row> {
        let all = 0..self.slice.steps.len() as u32;
        if run.len() == all.len() {
            return Vec::new();
        }
        let mut done = vec![false; all.len()];
        for event in run {
            done[event.index()] = true;
        }
        let mut rows = self.rows(&all.map(EventIndex).collect::<Vec<_>>(), |_| true);
        rows.retain(|row| !done[row.event as usize]);
        rows
    }

    /// The thread of an event.
    pub(crate) fn thread(&self, event: EventIndex) -> ThreadId {
        self.record.steps()[self.slice.steps[event.index()] as usize].thread
    }

    /// The values of the property's variables before anything happens.
    pub(crate) fn initial_values(&self) -> Values {
        self.narrator().values().clone()
    }

    fn narrator(&self) -> Narrator<'_> {
        Narrator::new(self.record.monitor(), self.record.initial(), self.symbols)
    }

    /// Follows a run, and tells of the steps (from 1) that are to be kept.
    pub(crate) fn rows(&self, run: &[EventIndex], keep: impl Fn(usize) -> bool) -> Vec<Row> {
        let mut narrator = self.narrator();
        let kept = (1..=run.len()).filter(|&step| keep(step)).count();
        let mut rows = Vec::with_capacity(kept);
        for (index, &event) in run.iter().enumerate() {
            let deed = self.deed(event);
            narrator.step(deed);
            if keep(index + 1) {
                let number = self.slice.steps[event.index()];
                let step = self.record.steps()[number as usize];
                let doer = Doer {
                    thread: step.thread,
                    line: step.line,
                    note: self.record.note(number, self.symbols),
                };
                rows.push(narrator.row(event.0, deed, doer));
            }
        }
        rows
    }
}
