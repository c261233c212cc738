//! The steps that a property's text implies, as an explicit automaton.
//!
//! What a write does to a monitor depends on what the other gauges show, so the state is the
//! monitor's together with the cells of all gauges. An action is an event that writes nothing, or
//! a write that leaves the gauges of one variable in certain cells.

use rustc_hash::FxHashMap;

use super::table::{Action, ActionTable, State};
use crate::{
    alphabet::{Alphabet, Letter, VariableId},
    monitor::{Monitor, StateId},
};

/// A property with a larger product is not worth classifying: it will be enumerated.
const MAX_STATES: usize = 1 << 13;
/// Likewise with more entries in the table.
const MAX_ENTRIES: usize = 1 << 20;

/// The abstract automaton of a monitor.
pub(super) struct Product {
    pub(super) table: ActionTable,
    steps: Vec<Step>,
}

impl Product {
    /// The actions, each with the variable that it writes.
    pub(super) fn actions(&self) -> impl Iterator<Item = (Action, Option<VariableId>)> + '_ {
        let actions = (0..self.steps.len() as u32).map(Action);
        actions.zip(self.steps.iter().map(|step| step.writes))
    }
}

/// What an action does to a letter.
struct Step {
    writes: Option<VariableId>,
    /// What the event, or its absence, adds to the letter.
    offset: u64,
    /// Gauges and the cells that they then show.
    cells: Vec<(usize, u64)>,
}

/// The product of a monitor with its gauges, unless a gauge reads several variables (then what a
/// write does depends on more than cells) or the product is too large.
pub(super) fn product(monitor: &Monitor) -> Option<Product> {
    let alphabet = monitor.alphabet();
    let steps = steps(alphabet)?;
    let strides = strides(alphabet);
    let events = alphabet.event_cells() as u64;

    let mut numbers: FxHashMap<(StateId, u64), State> = FxHashMap::default();
    let mut found: Vec<(StateId, u64)> = Vec::new();
    let mut number = |key: (StateId, u64), found: &mut Vec<(StateId, u64)>| {
        if let Some(&state) = numbers.get(&key) {
            return Some(state);
        }
        let state = State(found.len() as u32);
        found.push(key);
        numbers.insert(key, state);
        (found.len() <= MAX_STATES && found.len() * steps.len() <= MAX_ENTRIES).then_some(state)
    };

    let mut initial = Vec::new();
    if alphabet.reads_variables() {
        for letter in alphabet.initial_letters() {
            let state = monitor.next(monitor.initial(), letter);
            initial.push(number((state, letter.0 / events), &mut found)?);
        }
    } else {
        initial.push(number((monitor.initial(), 0), &mut found)?);
    }
    let mut next = Vec::new();
    let mut index = 0;
    while let Some(&(state, gauges)) = found.get(index) {
        for step in &steps {
            let mut after = gauges;
            for &(gauge, cell) in &step.cells {
                let (stride, cells) = strides[gauge];
                after = after - after / stride % cells * stride + cell * stride;
            }
            let letter = Letter(step.offset + after * events);
            next.push(number((monitor.next(state, letter), after), &mut found)?);
        }
        index += 1;
    }
    let verdicts = found
        .iter()
        .map(|&(state, _)| monitor.verdict(state))
        .collect();
    let table = ActionTable::new(initial, steps.len(), next, verdicts).ok()?;
    Some(Product { table, steps })
}

/// The stride and the number of cells of each gauge, in a letter without its event.
fn strides(alphabet: &Alphabet) -> Vec<(u64, u64)> {
    let mut stride = 1;
    let mut strides = Vec::new();
    for gauge in alphabet.gauges() {
        strides.push((stride, u64::from(gauge.cells)));
        stride *= u64::from(gauge.cells);
    }
    strides
}

fn steps(alphabet: &Alphabet) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    let events = (0..alphabet.events().len()).map(crate::alphabet::EventId::new);
    for event in events {
        steps.push(Step {
            writes: None,
            offset: alphabet.event_offset(Some(event))?,
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
    for variable in (0..alphabet.variables().len()).map(VariableId::new) {
        let offset = alphabet.event_offset(None)?;
        let mut combinations = vec![Vec::new()];
        for (gauge, reading) in alphabet.gauges().iter().enumerate() {
            if reading.variables() != [variable] {
                continue;
            }
            combinations = combinations
                .into_iter()
                .flat_map(|cells: Vec<(usize, u64)>| {
                    (0..u64::from(reading.cells)).map(move |cell| {
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
            offset,
            cells,
        }));
    }
    Some(steps)
}
