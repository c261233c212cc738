//! One instance of a property: its slice of the run, solved and reported.

use portent_monitor_core::{Symbols, ThreadId};
use portent_monitor_dsl::{Explanation, Monitor, Verdict};

use super::{
    Actor, Lattice, LeftOut, Moment, Observed, Predicted, PropertyReport, Row, Rows, Runs, Untried,
    Why,
    budget::{Rank, ReportBudget},
};
use crate::{
    engine::{
        self, Limit, Problem, Solution, Task, Violation, conjunctive,
        maximal::{self, FeasibleSearched, SliceInTrace},
        strong::{self, LeavingOut, StrongBudget},
    },
    error::Error,
    intake::{Record, Slice, Step},
    options::{Counting, Engine, Options},
    order::{EventIndex, Poset, Unlocked},
    witness::{self, Replay, RunSteps, minimize_swaps, overtakings, swaps},
};

/// The approximate size of a row in a report, without its texts.
const ROW_BYTES: u64 = size_of::<Row>() as u64;
/// A witness with at most this many rows is shown whatever the memory.
const FEW_ROWS: usize = 10_000;

/// Whether an engine looks beyond happens-before.
fn is_beyond(engine: Engine) -> bool {
    matches!(engine, Engine::Strong | Engine::Maximal)
}

/// The run of one binding, with the data needed to report it.
pub(crate) struct Instance<'a> {
    pub(crate) record: Record<'a>,
    pub(crate) slice: &'a Slice,
    pub(crate) symbols: &'a Symbols,
    /// The order without locks, under happens-before.
    pub(crate) unlocked: Option<&'a Unlocked>,
    /// The whole trace, for models beyond happens-before.
    pub(crate) origin: Option<Origin<'a>>,
}

/// A slice in the whole trace, and the model that it is searched under.
pub(crate) enum Origin<'a> {
    /// All feasible runs.
    Maximal(SliceInTrace<'a>),
    /// Also runs that leave something out.
    Strong(LeavingOut<'a>),
    /// Only happens-before, with a trial of leaving things out.
    Trial(LeavingOut<'a>),
    /// Only happens-before, without a trial.
    Untried(Untried),
}

impl RunSteps for Instance<'_> {
    fn step(&self, event: EventIndex) -> &Step {
        let number = self.slice.steps[event.index()];
        self.slice.step(&self.record, number)
    }

    fn thread(&self, event: EventIndex) -> ThreadId {
        self.record.thread(self.slice.steps[event.index()])
    }
}

impl Instance<'_> {
    fn monitor(&self) -> &Monitor {
        self.record.viewer.monitor()
    }

    /// The run from its beginning.
    pub(crate) fn replay(&self) -> Replay<'_> {
        Replay::new(self.monitor(), self.record.viewer.initial())
    }

    pub(crate) fn report(
        &self,
        options: &Options,
        budget: &mut ReportBudget,
    ) -> Result<PropertyReport, Error> {
        // The part of the order that does not fit in memory is taken to be as observed.
        let (poset, is_order_known) = Poset::of_slice(&self.record, self.slice, options.memory / 2);
        let task = Task::new(&self.record, self.slice, poset, options);
        let mut solution = self.solve(&task, options, budget)?;
        if !is_order_known && !is_beyond(solution.engine) {
            solution.give_up(Limit::Memory);
        }
        let property = self.monitor().property();
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
            ordered_by_locks: { self.unlocked.filter(|_| is_order_known) }.and_then(|unlocked| {
                unlocked.steps_ordered_by_locks(&self.record, self.slice, task.poset())
            }),
        };
        let left_out = self.try_leaving_out(&task, &solution, &lattice, options, budget)?;
        let (observed, followed) = self.observed();
        let rank = Rank::new(&observed, solution.violation.is_some(), options.goal);
        let (predicted, why_witness) =
            self.predicted(task.poset(), &solution, options, |rows| {
                let bytes = (rows as u64).saturating_mul(ROW_BYTES);
                let fits = rows <= FEW_ROWS || bytes <= options.memory;
                fits && budget.witnesses.takes(rank, rows)
            })?;
        let is_explained = predicted.witness.is_some() && observed.verdict == Verdict::Violated;
        let is_drawn = is_order_known && budget.pictures.takes(rank);
        Ok(PropertyReport {
            name: property.name().to_owned(),
            binding: names.zip(self.slice.binding.iter().cloned()).collect(),
            kind: property.kind(),
            states: self.monitor().states(),
            relevant: self.slice.steps.len() as u64,
            observed,
            runs: solution
                .runs
                .clone()
                .map(|counts| Runs::from(&counts.for_goal(options.goal))),
            predicted,
            under_strong: left_out,
            lattice,
            text: property.full_text().to_owned(),
            start: self.start(),
            why: Why {
                observed: is_explained.then(|| followed.explain()).flatten(),
                witness: why_witness,
            },
            picture: is_drawn.then(|| Box::new(self.picture(&task, &solution, options))),
        })
    }

    /// Searches happens-before first; then, if requested and nothing was found, the feasible runs beyond it.
    fn solve(
        &self,
        task: &Task,
        options: &Options,
        budget: &mut ReportBudget,
    ) -> Result<Solution, Error> {
        let conjunctions = || conjunctive::trajectories(&self.record, self.slice, task.poset());
        if let None | Some(Origin::Trial(_) | Origin::Untried(_)) = &self.origin {
            let mut solution =
                engine::solve_task(task, conjunctions, options, &mut budget.counting);
            minimize(&mut solution, task, options);
            return Ok(solution);
        }
        let uncounted = options.clone().counting(Counting::Never);
        let mut solution = engine::solve_task(task, conjunctions, &uncounted, &mut budget.counting);
        minimize(&mut solution, task, options);
        // The size of one lattice says nothing about what is feasible.
        solution.shape = None;
        if let Some(violation) = &mut solution.violation {
            // Other feasible runs may be violated sooner.
            violation.is_shortest &= violation.violated_at <= 1;
            return Ok(solution);
        }
        let nodes = solution.nodes;
        if let Some(Origin::Strong(origin)) = &self.origin {
            let searched = self.leave_out(task, origin, options, &mut budget.strong)?;
            solution = Solution::new(Engine::Strong, searched.found, options);
            solution.limit = searched.limit;
        }
        if let Some(Origin::Maximal(origin)) = &self.origin {
            let searched = maximal::find_feasible(task, origin, options, &mut budget.feasibility)
                .map_err(|why| self.bad_witness(why))?;
            solution = Solution::new(Engine::Maximal, searched.found, options);
            solution.limit = searched.limit;
        }
        solution.nodes += nodes;
        Ok(solution)
    }

    /// Looks for a violated run that leaves something out.
    fn leave_out(
        &self,
        task: &Task,
        origin: &LeavingOut<'_>,
        options: &Options,
        budget: &mut StrongBudget,
    ) -> Result<FeasibleSearched, Error> {
        let conjunctions = conjunctive::trajectories(&self.record, self.slice, task.poset());
        strong::find_leaving_out(task, origin, conjunctions, options, budget)
            .map_err(|why| self.bad_witness(why))
    }

    /// If happens-before finds no violation, partly because of the order of locks: whether leaving things out finds one, if
    /// that is cheap to determine.
    fn try_leaving_out(
        &self,
        task: &Task,
        solution: &Solution,
        lattice: &Lattice,
        options: &Options,
        budget: &mut ReportBudget,
    ) -> Result<Option<LeftOut>, Error> {
        let is_ordered_by_locks = lattice.ordered_by_locks.is_some_and(|steps| steps > 0);
        if solution.violation.is_some() || !is_ordered_by_locks {
            return Ok(None);
        }
        let origin = match &self.origin {
            Some(Origin::Trial(_)) if budget.trial.is_spent() => {
                return Ok(Some(LeftOut::untried(Untried::Spent)));
            }
            Some(Origin::Trial(origin)) => origin,
            Some(Origin::Untried(why)) => return Ok(Some(LeftOut::untried(*why))),
            _ => return Ok(None),
        };
        let options = &options.clone().memory(options.memory / 8);
        let searched = self.leave_out(task, origin, options, &mut budget.trial)?;
        let engine::Answer::Violated(violation) = searched.found.answer else {
            return Ok(Some(LeftOut {
                exhaustive: searched.limit.is_none(),
                ..LeftOut::default()
            }));
        };
        if cfg!(debug_assertions) {
            self.examine_verdict(&violation, options)
                .map_err(|why| self.bad_witness(why))?;
        }
        let is_short = self.slice.steps.len() <= FEW_ROWS;
        Ok(Some(LeftOut {
            violated: true,
            violated_at: Some(violation.violated_at as u64),
            witness: is_short.then(|| self.rows(&violation.run, |_| true)),
            left_out: if is_short {
                self.left_out(&violation.run)
            } else {
                Vec::new()
            },
            exhaustive: true,
            untried: None,
        }))
    }

    fn bad_witness(&self, why: String) -> Error {
        Error::BadWitness {
            property: self.monitor().property().name().to_owned(),
            why,
        }
    }

    /// The observed run, followed until its verdict is final.
    pub(crate) fn observed(&self) -> (Observed, Replay<'_>) {
        let mut replay = self.replay().remembering();
        for event in 0..self.slice.steps.len() as u32 {
            if replay.verdict().is_final() {
                break;
            }
            replay.step(self.step(EventIndex(event)));
        }
        let observed = Observed {
            verdict: replay.verdict(),
            step: replay.decided_after(),
        };
        (observed, replay)
    }

    fn predicted(
        &self,
        poset: &Poset,
        solution: &Solution,
        options: &Options,
        takes: impl FnOnce(usize) -> bool,
    ) -> Result<(Predicted, Option<Explanation>), Error> {
        let Some(violation) = &solution.violation else {
            return Ok((Predicted::default(), None));
        };
        if cfg!(debug_assertions) {
            let poset = (!is_beyond(solution.engine)).then_some(poset);
            self.examine(poset, violation, options)
                .map_err(|why| self.bad_witness(why))?;
        }
        let violated_at = Some(violation.violated_at as u64);
        if !takes(self.slice.steps.len()) {
            let predicted = Predicted::without_witness(violated_at, violation.is_shortest);
            return Ok((predicted, None));
        }
        let left_out = self.left_out(&violation.run);
        let whole: Vec<EventIndex> = violation
            .run
            .iter()
            .copied()
            .chain(left_out.iter().map(|row| EventIndex(row.event)))
            .collect();
        let (swaps, swaps_omitted) = swaps(&[], &whole);
        let (witness, followed) = self.follow(&violation.run, |_| true);
        let predicted = Predicted {
            violated: true,
            witness: Some(witness),
            left_out,
            violated_at,
            witness_omitted: false,
            swaps,
            swaps_omitted,
            overtakings: overtakings(&self.replay(), self, &whole, violation.violated_at),
            shortest: violation.is_shortest,
            forgotten: 0,
        };
        Ok((predicted, followed.explain()))
    }

    /// Checks a witness again, independently of the search that found it.
    fn examine(
        &self,
        poset: Option<&Poset>,
        violation: &Violation,
        options: &Options,
    ) -> Result<(), String> {
        // Runs beyond happens-before were checked where they were found.
        if let Some(poset) = poset {
            witness::examine_order(poset, &vec![0; poset.width()], &violation.run)?;
        }
        self.examine_verdict(violation, options)
    }

    fn examine_verdict(&self, violation: &Violation, options: &Options) -> Result<(), String> {
        witness::examine_verdict(
            &violation.run,
            self.monitor(),
            self.record.viewer.initial(),
            |event| self.step(event),
            options.goal,
            violation.violated_at,
        )
    }

    /// The steps of the observed run that a witness does not reach.
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

    /// The state before the first step.
    pub(crate) fn start(&self) -> Moment {
        Rows::new(self.replay(), self.symbols).moment()
    }

    /// Follows a run, and returns the rows of the steps (counted from 1) that are to be kept.
    pub(crate) fn rows(&self, run: &[EventIndex], keep: impl Fn(usize) -> bool) -> Vec<Row> {
        self.follow(run, keep).0
    }

    /// The same, together with the follower at the end of the run.
    fn follow(&self, run: &[EventIndex], keep: impl Fn(usize) -> bool) -> (Vec<Row>, Rows<'_>) {
        let mut following = Rows::new(self.replay().remembering(), self.symbols);
        let kept = (1..=run.len()).filter(|&step| keep(step)).count();
        let mut rows = Vec::with_capacity(kept);
        for (index, &event) in run.iter().enumerate() {
            let step = self.step(event);
            following.step(step);
            if keep(index + 1) {
                let number = self.slice.steps[event.index()];
                let actor = Actor {
                    thread: self.record.thread(number),
                    line: self.record.line(number),
                    note: self.record.note(number, self.symbols),
                };
                rows.push(following.row(event.0, step, actor));
            }
        }
        (rows, following)
    }
}

/// Removes unnecessary swaps from the violated run.
fn minimize(solution: &mut Solution, task: &Task, options: &Options) {
    let Some(violation) = &mut solution.violation else {
        return;
    };
    match task {
        Task::Table(problem) => {
            let Problem {
                poset,
                actions,
                automaton,
            } = problem.as_ref();
            minimize_swaps(violation, poset, actions, automaton, options.goal);
        }
        Task::Open(poset, actions, product) => {
            minimize_swaps(violation, poset, actions, product.as_ref(), options.goal);
        }
    }
}
