//! The steps that a property's text implies, as an explicit automaton.
//!
//! What a write does to a monitor depends on what the other gauges show, so the state is the
//! monitor's together with the cells of all gauges. An action is an event that writes nothing, or
//! a write that leaves the gauges of one variable in certain cells.

use crate::{
    alphabet::{Alphabet, Letter, VariableId},
    automaton::{ActionId, Explored, explore},
    monitor::{Monitor, StateId},
};

/// A property with a larger product is not worth classifying: it will be enumerated.
const MAX_STATES: usize = 1 << 11;
/// Likewise with more entries in the table.
const MAX_ENTRIES: usize = 1 << 20;

/// The abstract automaton of a monitor.
pub(super) struct Product {
    pub(super) explored: Explored,
    steps: Vec<Step>,
}

impl Product {
    /// The actions, each with the variable that it writes.
    pub(super) fn actions(&self) -> impl Iterator<Item = (ActionId, Option<VariableId>)> + '_ {
        let actions = (0..self.steps.len() as u32).map(ActionId);
        actions.zip(self.steps.iter().map(|step| step.writes))
    }
}

/// What an action does to a letter.
struct Step {
    writes: Option<VariableId>,
    /// The bits of the letter for the event, or for its absence.
    event: u64,
    /// Gauges and the cells that they then show.
    cells: Vec<(usize, u32)>,
}

/// The product of a monitor with its gauges, unless a gauge reads several variables (then what a
/// write does depends on more than cells) or the product is too large.
pub(super) fn product(monitor: &Monitor) -> Option<Product> {
    let alphabet = monitor.alphabet();
    let steps = steps(alphabet)?;
    let places = alphabet.places();

    let initial: Vec<(StateId, u64)> = if alphabet.reads_variables() {
        let letters = alphabet.initial_letters();
        letters
            .map(|letter| {
                let state = monitor.next(monitor.initial(), letter);
                (state, letter.0 & !places[0].mask)
            })
            .collect()
    } else {
        vec![(monitor.initial(), 0)]
    };
    let take = |&(state, gauges): &(StateId, u64), action: ActionId| {
        let step = &steps[action.index()];
        let mut after = gauges;
        for &(gauge, cell) in &step.cells {
            let place = places[gauge + 1];
            after = (after & !place.mask) | place.code(cell);
        }
        let letter = Letter(after | step.event);
        (monitor.next(state, letter), after)
    };
    let verdict = |&(state, _): &(StateId, u64)| monitor.verdict(state);
    let limits = (MAX_STATES, MAX_ENTRIES);
    let explored = explore(initial, steps.len(), limits, take, verdict)?;
    Some(Product { explored, steps })
}

fn steps(alphabet: &Alphabet) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    for (event, _) in alphabet.iter_events() {
        steps.push(Step {
            writes: None,
            event: alphabet.event_code(Some(event))?,
            cells: Vec::new(),
        });
    }
    if alphabet
        .gauges()
        .iter()
        .any(|gauge| gauge.variables().len() > 1)
    {
        return None;
    }
    for (variable, _) in alphabet.iter_variables() {
        let event = alphabet.event_code(None)?;
        let mut combinations = vec![Vec::new()];
        for (gauge, reading) in alphabet.gauges().iter().enumerate() {
            if reading.variables() != [variable] {
                continue;
            }
            combinations = combinations
                .into_iter()
                .flat_map(|cells: Vec<(usize, u32)>| {
                    (0..reading.cells).map(move |cell| {
                        let mut cells = cells.clone();
                        cells.push((gauge, cell));
                        cells
                    })
                })
                .collect();
            if combinations.len() > MAX_STATES {
                return None;
            }
        }
        steps.extend(combinations.into_iter().map(|cells| Step {
            writes: Some(variable),
            event,
            cells,
        }));
    }
    Some(steps)
}
