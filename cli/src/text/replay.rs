//! A run followed with the monitor, step by step.

use portent_lattice::report::Row;
use portent_monitor_core::Value;
use portent_monitor_dsl::{Explanation, Monitor, Verdict};

use super::printable;
use crate::check::trace::find;

/// Longer runs are not explained: an explanation looks at the whole run again and again.
const EXPLAINED: u64 = 100_000;

/// How things stand after a step.
pub(crate) struct Moment {
    pub(crate) values: Vec<Value>,
    pub(crate) state: usize,
    pub(crate) verdict: Verdict,
}

/// A run and how things stood in it: first the initial state, then the state after each step.
pub(crate) struct Replay {
    pub(crate) moments: Vec<Moment>,
    /// Why the verdict became final, if it did.
    pub(crate) explanation: Option<Explanation>,
}

/// Follows the steps in `rows`; `initial` are the values that the trace gives.
pub(crate) fn replay<'r>(
    monitor: &Monitor,
    initial: &[(String, Value)],
    rows: impl IntoIterator<Item = &'r Row>,
) -> Result<Replay, portent_monitor_dsl::Error> {
    let alphabet = monitor.alphabet();
    let mut values: Vec<Value> = Vec::new();
    for variable in alphabet.variables() {
        let value = find(initial, &variable.name).or_else(|| variable.initial.clone());
        values.extend(value);
    }
    let mut stepper = monitor
        .start_with(|name| find(initial, name))?
        .remembering();
    let mut moments = vec![Moment {
        values: values.clone(),
        state: stepper.state().index(),
        verdict: stepper.verdict(),
    }];
    for row in rows {
        let writes: Vec<_> = row
            .set
            .iter()
            .filter_map(|(name, value)| Some((alphabet.variable(name)?, value.clone())))
            .collect();
        for (variable, value) in &writes {
            values[variable.index()] = value.clone();
        }
        let event = row.name.as_deref().and_then(|name| alphabet.event(name));
        stepper.step(event, writes)?;
        moments.push(Moment {
            values: values.clone(),
            state: stepper.state().index(),
            verdict: stepper.verdict(),
        });
    }
    let explanation = match stepper.decided_after() {
        Some(step) if step <= EXPLAINED => stepper.explain(),
        _ => None,
    };
    Ok(Replay {
        moments,
        explanation,
    })
}

/// What an event did: `login("bob")`, `w = 31`.
pub(crate) fn label(row: &Row) -> String {
    let mut text = row.name.as_deref().unwrap_or_default().to_owned();
    if !row.args.is_empty() {
        let args: Vec<String> = row.args.iter().map(ToString::to_string).collect();
        text.push_str(&format!("({})", args.join(", ")));
    }
    let writes: Vec<String> = row
        .set
        .iter()
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    if !text.is_empty() && !writes.is_empty() {
        text.push(' ');
    }
    printable(&(text + &writes.join(", "))).into_owned()
}

/// What the line of an event tells beside that: its place, its text, keys that mean nothing to
/// Portent.
pub(crate) fn note(row: &Row) -> String {
    let Some(note) = &row.note else {
        return String::new();
    };
    let text = note.text.iter().map(|text| format!("{text:?}"));
    let extra = note.extra.iter();
    let extra = extra.map(|(key, value)| format!("{key}: {value}"));
    let loc = note.loc.iter().map(|loc| format!("at {}", printable(loc)));
    let parts: Vec<String> = loc.chain(text).chain(extra).collect();
    parts.join(", ")
}
