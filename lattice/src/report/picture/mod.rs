//! The data for a drawing of one instance in addition to its report: the observed run, its causal arrows, and
//! the lattice.
//!
//! A picture is made only if it is requested ([`Options::pictures`](crate::Options::pictures)), and it
//! is always small: of a run with a million events it has the steps that matter. Its content
//! is exact all the same, because values and states are followed from the first event on.

mod graph;
mod region;

pub use graph::{Cut, Edge, Graph, Widths, graph, widths};

use std::collections::BTreeSet;

pub use super::Moment;
use super::{Instance, PropertyReport, Row, budget::Rank};
use crate::{
    engine::{Solution, Task},
    options::Options,
    order::{EventIndex, covered},
    witness::RunSteps,
};
use region::Shifts;

/// A lattice with at most this many cuts is drawn cut by cut.
pub const DRAWN_CUTS: usize = 400;
/// At most this many steps of a run are shown. A drawn lattice has fewer levels.
pub const SHOWN_STEPS: usize = DRAWN_CUTS;
/// The levels of a larger lattice are plotted by at most this many bars.
const BARS: usize = 600;

/// One instance of a property, to be drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// The state before the first event.
    pub start: Moment,
    /// The observed run, at the steps that are shown.
    pub observed: Vec<Shown>,
    /// The witness, at the same steps as far as it goes; empty if there is none.
    pub witness: Vec<Shown>,
    /// The number of steps of the witness.
    pub witness_steps: u64,
    /// The pairs of shown events that are neighbours in the causal order, on different
    /// threads: the earlier one, then the later one.
    pub arrows: Vec<[u32; 2]>,
    /// The lattice.
    pub lattice: Drawing,
}

/// One step of a run that is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    /// The number of the step, from 1.
    pub step: u64,
    /// The event, and the state after it.
    pub row: Row,
    /// Whether the witness has the event before one that was observed earlier.
    pub earlier: bool,
    /// Whether the witness has the event after one that was observed later.
    pub later: bool,
}

/// A lattice, as far as it can be drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Drawing {
    /// Every cut.
    Graph(Graph),
    /// The number of cuts in each level.
    Widths(Widths),
    /// It is large, and its cuts were not counted.
    Uncounted,
}

/// Which instances of a property get a picture.
///
/// A picture is made when its instance is solved, before later instances are known. So it may later give way
/// to one of higher priority.
pub(crate) struct PictureBudget {
    limit: usize,
    /// The number of pictures of each rank.
    made: [usize; 3],
}

impl PictureBudget {
    pub(crate) fn new(options: &Options) -> PictureBudget {
        PictureBudget {
            limit: options.pictures,
            made: [0; 3],
        }
    }

    /// Whether to make another picture.
    pub(crate) fn takes(&mut self, rank: Rank) -> bool {
        let rank = rank as usize;
        let takes = self.made[..=rank].iter().sum::<usize>() < self.limit;
        self.made[rank] += usize::from(takes);
        takes
    }

    /// Removes pictures in excess, now that all instances of the property are known.
    pub(crate) fn trim(&self, ranked: &mut [(Rank, &mut PropertyReport)]) {
        let drawn = ranked
            .iter_mut()
            .filter(|(_, report)| report.picture.is_some());
        for (_, report) in drawn.skip(self.limit) {
            report.picture = None;
        }
    }
}

impl Instance<'_> {
    /// The picture of an instance that was solved.
    pub(crate) fn picture(&self, task: &Task, solution: &Solution, options: &Options) -> Picture {
        let poset = task.poset();
        let violation = solution.violation.as_ref();
        let order = violation.map_or(&[][..], |violation| &violation.run);
        let shifts = Shifts::new(order, poset.len());
        let violated_at = violation.map(|violation| violation.violated_at);
        let decided = self.observed().0.step;
        let steps = region::steps(poset.len(), order, &shifts, violated_at, decided);
        let observed: Vec<EventIndex> = (0..poset.len() as u32).map(EventIndex).collect();
        let observed = self.shown(&observed, &steps, &shifts);
        let witness = self.shown(order, &steps, &shifts);

        let events: BTreeSet<u32> = observed
            .iter()
            .chain(&witness)
            .map(|shown| shown.row.event)
            .collect();
        let mut arrows = Vec::new();
        for &event in &events {
            for before in covered(poset, EventIndex(event)) {
                let apart = self.thread(before) != self.thread(EventIndex(event));
                if apart && events.contains(&before.0) {
                    arrows.push([before.0, event]);
                }
            }
        }
        Picture {
            start: self.start(),
            observed,
            witness,
            witness_steps: order.len() as u64,
            arrows,
            lattice: drawing(task, solution, options),
        }
    }

    fn shown(&self, run: &[EventIndex], steps: &BTreeSet<usize>, shifts: &Shifts) -> Vec<Shown> {
        let rows = self.rows(run, |step| steps.contains(&step));
        let shown = steps.iter().zip(rows).map(|(&step, row)| Shown {
            step: step as u64,
            earlier: shifts.earlier[row.event as usize],
            later: shifts.later[row.event as usize],
            row,
        });
        shown.collect()
    }
}

fn drawing(task: &Task, solution: &Solution, options: &Options) -> Drawing {
    let graph = match task {
        Task::Table(problem) => graph(problem, DRAWN_CUTS),
        Task::Open(poset, actions, product) => {
            graph::explore(poset, actions, product.as_ref(), DRAWN_CUTS)
        }
    };
    if let Some(graph) = graph {
        return Drawing::Graph(graph);
    }
    // What was too large to count is not counted for a picture either.
    match solution.shape {
        Some(_) => Drawing::Widths(widths(task.poset(), BARS, options.parallel)),
        None => Drawing::Uncounted,
    }
}
