//! What an engine is given for one instance of a property: the order of its events and what they act on.

use rustc_hash::FxHashMap;

use super::Problem;
use crate::{
    automaton::{ActionId, Product},
    intake::{DeedId, Record, Slice},
    options::Options,
    order::Poset,
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
    pub(crate) fn new(record: &Record, slice: &Slice, poset: Poset, options: &Options) -> Task {
        let (actions, deeds) = actions(record, slice);
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

/// What each event does, as an action, and the deed behind each action.
fn actions(record: &Record, slice: &Slice) -> (Vec<ActionId>, Vec<DeedId>) {
    let mut deeds = Vec::new();
    let mut ids: FxHashMap<DeedId, ActionId> = FxHashMap::default();
    let steps = slice.steps.iter();
    let actions = steps
        .map(|&step| {
            let deed = slice.deed(record, step);
            *ids.entry(deed).or_insert_with(|| {
                deeds.push(deed);
                ActionId(deeds.len() as u32 - 1)
            })
        })
        .collect();
    (actions, deeds)
}
