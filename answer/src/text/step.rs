//! The text about a step of a run.

use portent_lattice::report::Row;

use super::printable;

/// What an event did: `login("bob")`, `w = 31`.
pub fn label(row: &Row) -> String {
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

/// Other information on the line of an event: its location, its text, keys unknown to
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
