//! The rest of a run whose steps do not fit into memory: the observed run is still followed to its end.
//!
//! Only the first steps are kept, and other orders are examined only among these. A violation found this way is real, because a
//! violation in the middle of a run is final. The observed run needs no memory for its steps.

use std::num::NonZeroU64;

use portent_monitor_dsl::Stepper;

use super::{Observed, Predicted, PropertyReport};
use crate::{
    engine::Limit,
    error::Error,
    goal::Goal,
    intake::{Arrival, Record},
};

/// The observed run after the last kept step.
#[derive(Clone, Debug)]
pub(crate) struct Unkept {
    /// Each property, and the number of its steps.
    runs: Vec<(Stepper, u64)>,
    /// The line of the first event not kept.
    first: Option<NonZeroU64>,
}

impl Unkept {
    /// The states after the last kept step of all properties; `None` if a property has parameters, as it then has several
    /// observed runs.
    pub(crate) fn after<'a>(
        records: impl Iterator<Item = Record<'a>>,
    ) -> Result<Option<Unkept>, Error> {
        let mut runs = Vec::new();
        for record in records {
            let viewer = record.viewer;
            let monitor = viewer.monitor();
            if !monitor.property().parameters().is_empty() {
                return Ok(None);
            }
            let initial = |name: &str| {
                let variable = monitor.alphabet().variable(name)?;
                Some(viewer.initial()[variable.index()].clone())
            };
            let mut run = monitor.start_with(initial)?;
            for taken in record.steps() {
                if run.verdict().is_final() {
                    break;
                }
                let step = record.step(taken.step);
                run.step(step.event, step.writes.iter().cloned())?;
            }
            runs.push((run, record.steps().len() as u64));
        }
        Ok(Some(Unkept { runs, first: None }))
    }

    /// Takes the next event.
    pub(crate) fn take(&mut self, arrival: &Arrival<'_>) -> Result<(), Error> {
        self.first = self.first.or(arrival.event.line);
        for seen in arrival.property_steps() {
            let (run, steps) = &mut self.runs[seen.property.index()];
            *steps += 1;
            if !run.verdict().is_final() {
                run.step(seen.step.event, seen.step.writes.iter().cloned())?;
            }
        }
        Ok(())
    }

    /// The line of the first event not kept.
    pub(crate) fn first(&self) -> Option<NonZeroU64> {
        self.first
    }

    /// Adds the observed verdict to a report on a property that covers only the first steps.
    pub(crate) fn amend(&self, property: usize, report: &mut PropertyReport, goal: Goal) {
        let (run, steps) = &self.runs[property];
        report.relevant = *steps;
        report.observed = Observed {
            verdict: run.verdict(),
            step: run.decided_after(),
        };
        report.runs = None;
        let lattice = &mut report.lattice;
        lattice.exhaustive = false;
        lattice.limit.get_or_insert(Limit::Memory);
        (lattice.cuts, lattice.widest) = (None, None);
        if goal.is_bad(run.verdict(), true) && !report.predicted.violated {
            let violated_at = run.decided_after().or(Some(*steps));
            report.predicted = Predicted::without_witness(violated_at, false);
        }
    }
}
