//! The steps that a property's text implies: each event, and for each variable a write that leaves its gauges in any
//! of their cells. Runs begin with any cells.
//!
//! No values are needed for that, and no trace. Gauges of one variable are taken as independent, so some of these steps
//! may be such that no value does them; the class of a property is then worse than it could be, but never wrong.

use crate::{
    alphabet::VariableId,
    automaton::{ActionId, Explored, Product},
    monitor::Monitor,
};

/// A property with a larger product is not worth classifying: it will be enumerated.
const MAX_STATES: usize = 1 << 11;
/// Likewise with more entries in the table.
const MAX_ENTRIES: usize = 1 << 20;

/// What the steps do that a property's text implies.
pub(super) struct Implied {
    pub(super) explored: Explored,
    /// The actions, each with the variable that it writes.
    pub(super) actions: Vec<(ActionId, Option<VariableId>)>,
}

/// What the implied steps do, unless a gauge reads several variables (then what a write does depends on more than
/// cells) or there are too many states.
pub(super) fn implied(monitor: &Monitor) -> Option<Implied> {
    let alphabet = monitor.alphabet();
    let mut product;
    if alphabet.reads_variables() {
        product = Product::without_beginning(monitor.clone());
        for (count, letter) in alphabet.initial_letters().enumerate() {
            if count == MAX_STATES {
                return None;
            }
            product.begin_with(letter)?;
        }
    } else {
        product = Product::new(monitor.clone(), &[]);
    }
    for (event, _) in alphabet.iter_events() {
        product.act(Some(event), &[]);
    }
    for (variable, _) in alphabet.iter_variables() {
        product.write_each_class(variable);
    }
    let actions = (0..product.actions() as u32).map(ActionId);
    Some(Implied {
        explored: product.explore(MAX_STATES, MAX_ENTRIES)?,
        actions: actions
            .map(|action| (action, product.written_by(action)))
            .collect(),
    })
}
