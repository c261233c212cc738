//! A run that violates a property, for the message of a test that fails. The command and its page tell more.

use std::collections::HashMap;

use crate::{
    Report, Verdict,
    lattice::report::{PropertyReport, Row},
};

/// This many violations are told in full.
const IN_FULL: usize = 3;
/// At most this many steps are shown before a violation, and after it.
const BEFORE: usize = 20;
const AFTER: usize = 3;
/// At most this many events are said to move, and each past this many.
const MOVES: usize = 3;

/// What there is to say about all violations.
pub(super) fn tell(report: &Report, is_beyond: bool) -> String {
    let violated = report.properties.iter();
    let violated: Vec<&PropertyReport> = violated.filter(|one| one.predicted.violated).collect();
    let mut text = String::new();
    for property in violated.iter().take(IN_FULL) {
        text += &headline(property, is_beyond);
        text += &witness(property).unwrap_or_else(|| {
            "\n  A run that violates it was found, but it is too long to be shown.\n".to_owned()
        });
    }
    if let Some(more @ 1..) = violated.len().checked_sub(IN_FULL) {
        text += &format!("... and {more} more violated\n");
    }
    text
}

fn headline(property: &PropertyReport, is_beyond: bool) -> String {
    let values: Vec<String> = { property.binding.iter() }
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    let binding = match values.as_slice() {
        [] => String::new(),
        values => format!(" [{}]", values.join(", ")),
    };
    let kind = if is_beyond { "feasible" } else { "equivalent" };
    let share = match &property.runs {
        Some(runs) => format!("{} of {} {kind} runs", runs.violated, runs.total),
        None => format!("some {kind} run"),
    };
    let verb = match &property.runs {
        Some(runs) if runs.violated != "1" => "violate",
        _ => "violates",
    };
    let observed = property.observed.verdict;
    let observed = match observed {
        Verdict::Violated => "and so does the run that was".to_owned(),
        _ => format!("the run that was is {observed}"),
    };
    let name = &property.name;
    format!("`{name}`{binding}: {share} {verb} it; {observed}\n")
}

/// The run as a table, and the sentences below it.
fn witness(property: &PropertyReport) -> Option<String> {
    let predicted = &property.predicted;
    let rows = predicted.witness.as_deref()?;
    let violated_at = usize::try_from(predicted.violated_at?).ok()?;
    let moved: HashMap<u32, &Row> = { rows.iter().chain(&predicted.left_out) }
        .map(|row| (row.event, row))
        .collect();
    let is_earlier = predicted.comes_earlier();
    let is_other = is_earlier.iter().take(violated_at).any(|earlier| *earlier);
    let title = if is_other {
        "A run that violates it (↑ comes earlier than it did):"
    } else {
        "The run as it was, up to the violation:"
    };
    let mut text = format!(
        "\n  {title}\n\n{}\n",
        table(property, rows, violated_at, &is_earlier)
    );
    if is_other {
        let first = predicted.overtakings.len().saturating_sub(MOVES);
        for overtaking in &predicted.overtakings[first..] {
            let past = { overtaking.overtaken.iter() }.filter_map(|event| moved.get(event));
            let past: Vec<String> = past.take(MOVES).map(|row| spell(row)).collect();
            if let Some(row) = moved.get(&overtaking.event) {
                let (row, past) = (spell(row), past.join(" and "));
                text += &format!("  {row}\n  could have come before {past}.\n");
            }
        }
    }
    match &property.why.witness {
        Some(why) => text += &format!("  Why: {why}.\n"),
        None => text += &format!("  Why: it is violated after step {violated_at}.\n"),
    }
    Some(text)
}

fn table(
    property: &PropertyReport,
    rows: &[Row],
    violated_at: usize,
    is_earlier: &[bool],
) -> String {
    let start = violated_at.saturating_sub(BEFORE);
    let end = (violated_at + AFTER).min(rows.len());
    let mut cells = vec![line("step", "thread", "event", "values", "verdict", "at")];
    if start == 0 {
        let begin = &property.start;
        cells.push(line(
            "0",
            "",
            "",
            &values(&begin.values),
            begin.verdict.as_str(),
            "",
        ));
    }
    for (index, row) in rows.iter().enumerate().take(end).skip(start) {
        let mark = if is_earlier[index] && index < violated_at {
            " ↑"
        } else {
            ""
        };
        cells.push(line(
            &(index + 1).to_string(),
            &printable(&row.t),
            &(label(row) + mark),
            &values(&row.values),
            row.verdict.as_str(),
            place(row),
        ));
    }
    let mut text = String::new();
    if start > 0 {
        text += &format!("    ... after {start} steps:\n");
    }
    let width = |column: usize| {
        let widths = cells.iter().map(|row| row[column].chars().count());
        // A column of which there is only the head is left out.
        let is_used = cells[1..].iter().any(|row| !row[column].is_empty());
        widths.max().filter(|_| is_used)
    };
    let widths: [Option<usize>; 6] = std::array::from_fn(width);
    for row in &cells {
        let mut line = "  ".to_owned();
        for (cell, width) in row.iter().zip(widths) {
            if let Some(width) = width {
                line += &format!("  {cell:width$}");
            }
        }
        text += &format!("{}\n", line.trim_end());
    }
    if end < rows.len() {
        text += &format!("    ... and {} more steps\n", rows.len() - end);
    }
    text
}

fn line(
    step: &str,
    thread: &str,
    event: &str,
    values: &str,
    verdict: &str,
    at: &str,
) -> [String; 6] {
    [step, thread, event, values, verdict, at].map(str::to_owned)
}

fn values(values: &[(std::sync::Arc<str>, crate::Value)]) -> String {
    let values = values.iter();
    let values: Vec<String> = values
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    printable(&values.join(", "))
}

/// What an event did: `login("bob")`, `w = 31`.
fn label(row: &Row) -> String {
    let mut text = row.name.as_deref().unwrap_or_default().to_owned();
    if !row.args.is_empty() {
        let args: Vec<String> = row.args.iter().map(ToString::to_string).collect();
        text += &format!("({})", args.join(", "));
    }
    let writes = values(&row.set);
    if !text.is_empty() && !writes.is_empty() {
        text.push(' ');
    }
    printable(&(text + &writes))
}

fn place(row: &Row) -> &str {
    let note = row.note.as_ref();
    note.and_then(|note| note.loc.as_deref())
        .unwrap_or_default()
}

/// `` `T2: w = 31` (src/a.rs:10:5) ``.
fn spell(row: &Row) -> String {
    let (thread, label) = (printable(&row.t), label(row));
    match place(row) {
        "" => format!("`{thread}: {label}`"),
        place => format!("`{thread}: {label}` ({place})"),
    }
}

/// What would break the table is spelled out.
fn printable(text: &str) -> String {
    let spelled = text.chars().flat_map(|character| {
        let odd = character.is_control();
        let spelled = odd.then(|| character.escape_default());
        let plain = (!odd).then_some(character);
        spelled.into_iter().flatten().chain(plain)
    });
    spelled.collect()
}
