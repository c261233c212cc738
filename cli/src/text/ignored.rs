//! Which steps of a run the monitor ignores: those that could be left out without bringing it to
//! another state after any other step.
//!
//! For a step that writes nothing that is so if it leaves the state as it was. A write may be seen
//! only later, so the run is followed with it and without it until both are the same again.

use portent_lattice::report::Row;
use portent_monitor_core::Value;
use portent_monitor_dsl::{EventId, Monitor, StateId, VariableId};

/// This many steps are followed twice, in all; then every write counts as one that matters.
const FOLLOWED: usize = 1_000_000;

/// For each step of a run that begins with these values whether the monitor ignores it. Those that
/// are ignored could all be left out together; those that are to be kept are not ignored.
pub(super) fn ignored(
    monitor: &Monitor,
    initial: &[Value],
    rows: &[&Row],
    kept: impl Fn(&Row) -> bool,
) -> Vec<bool> {
    let steps: Vec<Step> = rows.iter().map(|row| Step::new(monitor, row)).collect();
    let mut position = Position::start(monitor, initial);
    let mut budget = FOLLOWED;
    let mut ignored = Vec::with_capacity(steps.len());
    for (index, step) in steps.iter().enumerate() {
        let mut after = position.clone();
        after.take(monitor, step);
        let rest = &steps[index + 1..];
        let is_ignored =
            !kept(rows[index]) && is_same(monitor, &position, &after, rest, &mut budget);
        if !is_ignored {
            position = after;
        }
        ignored.push(is_ignored);
    }
    ignored
}

/// Whether the rest of a run has the same states from both positions.
fn is_same(
    monitor: &Monitor,
    one: &Position,
    other: &Position,
    rest: &[Step],
    budget: &mut usize,
) -> bool {
    let (mut one, mut other) = (one.clone(), other.clone());
    let mut rest = rest.iter();
    loop {
        if one.state != other.state {
            return false;
        }
        if one.values == other.values {
            return true;
        }
        let Some(step) = rest.next() else {
            return true;
        };
        if *budget == 0 {
            return false;
        }
        *budget -= 1;
        one.take(monitor, step);
        other.take(monitor, step);
    }
}

/// What the monitor sees of a row.
struct Step {
    event: Option<EventId>,
    writes: Vec<(VariableId, Value)>,
}

impl Step {
    fn new(monitor: &Monitor, row: &Row) -> Step {
        let alphabet = monitor.alphabet();
        let writes = row.set.iter();
        Step {
            event: row.name.as_deref().and_then(|name| alphabet.event(name)),
            writes: writes
                .filter_map(|(name, value)| Some((alphabet.variable(name)?, value.clone())))
                .collect(),
        }
    }
}

/// How things stand between two steps.
#[derive(Clone)]
struct Position {
    state: StateId,
    values: Vec<Value>,
}

impl Position {
    fn start(monitor: &Monitor, initial: &[Value]) -> Position {
        let alphabet = monitor.alphabet();
        let mut state = monitor.initial();
        if alphabet.reads_variables() {
            state = monitor.next(state, alphabet.letter(None, initial));
        }
        Position {
            state,
            values: initial.to_vec(),
        }
    }

    fn take(&mut self, monitor: &Monitor, step: &Step) {
        for (variable, value) in &step.writes {
            self.values[variable.index()] = value.clone();
        }
        let letter = monitor.alphabet().letter(step.event, &self.values);
        self.state = monitor.next(self.state, letter);
    }
}
