//! The input of an engine for one instance of a property: the order of its events and what they act on.

use rustc_hash::FxHashMap;

use super::Problem;
use crate::{
    automaton::{ActionId, Product},
    intake::{Record, Slice, StepId},
    options::Options,
    order::Poset,
};

/// The table of a product may have at most this many entries.
const MAX_ENTRIES: usize = 1 << 22;

/// The input of an engine.
pub(crate) enum Task {
    /// Events act on a table.
    Table(Box<Problem>),
    /// The table would be too large.
    Open(Poset, Vec<ActionId>, Box<Product>),
}

impl Task {
    pub(crate) fn new(record: &Record<'_>, slice: &Slice, poset: Poset, options: &Options) -> Task {
        let viewer = record.viewer;
        let mut product = Product::new(viewer.monitor().clone(), viewer.initial());
        let actions = actions(record, slice, &mut product);
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

/// The action of each event on the product. A step is read once, however often it occurs.
fn actions(record: &Record<'_>, slice: &Slice, product: &mut Product) -> Vec<ActionId> {
    let mut ids: FxHashMap<StepId, ActionId> = FxHashMap::default();
    { slice.steps.iter() }
        .map(|&number| {
            let id = slice.step_id(record, number);
            *ids.entry(id).or_insert_with(|| {
                let step = record.step(id);
                product.act(step.event, &step.writes)
            })
        })
        .collect()
}
