//! Findings for people.

use portent_answer::{
    Paint,
    text::{
        numbers::{count, counted},
        printable,
        table::{self, Cell, Side},
    },
};
use portent_findings::{
    Model,
    report::{
        AtomicityCounts, DeadlockCounts, Finding, HeldLock, Kind, Label, Participant, PatternLimit,
        RaceCounts, Row, Witness,
    },
};

use super::trace::Found;

/// With more threads than this, a table is wider than a screen.
const THREADS: usize = 6;

/// The trace, and warnings to read before trusting its report.
pub(crate) fn head(found: &Found, paint: Paint) -> String {
    let execution = match &found.origin.execution {
        Some(name) => format!(" ({})", printable(name)),
        None => String::new(),
    };
    let mut text = format!(
        "{}{execution}: {}, {}\n",
        paint.bold(&printable(&found.origin.file)),
        counted(found.report.events, "event"),
        counted(found.report.threads, "thread"),
    );
    for warning in &found.warnings {
        let sentence = warning.sentence();
        text += &format!("{}: {}\n", paint.yellow("warning"), printable(&sentence));
    }
    text
}

/// The findings.
pub(crate) fn render(found: &Found, paint: Paint) -> String {
    let mut text = String::new();
    for finding in &found.report.findings {
        text += &render_finding(finding, paint);
    }
    if !found.report.findings.is_empty() {
        text += "\n";
    }
    text += &summary(found);
    text
}

/// One line for each kind searched for, and what was left out.
pub(super) fn summary(found: &Found) -> String {
    let report = &found.report;
    let mut text = String::new();
    if let Some(races) = &report.races {
        text += &races_line(races);
    }
    if let Some(deadlocks) = &report.deadlocks {
        text += &deadlocks_line(deadlocks);
    }
    if let Some(atomicity) = &report.atomicity {
        text += &atomicity_line(atomicity);
    }
    if found.suppressed > 0 {
        text += &format!("{} suppressed\n", counted(found.suppressed, "finding"));
    }
    if !found.known.is_empty() {
        let them = if found.known.len() == 1 { "it" } else { "them" };
        let known = counted(found.known.len() as u64, "known finding");
        text += &format!("{known} left out: the baseline has {them} already\n");
    }
    if found.is_asked_for_more {
        text += "under maximal, findings are those of strong: runs that reverse locks are not searched for them\n";
    }
    let is_possible = |finding: &Finding| finding.label == Label::Possible;
    if found.model == Model::HappensBefore && report.findings.iter().any(is_possible) {
        text += "--causality strong may show which of the possible ones can happen\n";
    }
    text
}

/// The prefix of a number that may be too low.
fn bound(exhaustive: bool) -> &'static str {
    if exhaustive { "" } else { "at least " }
}

fn races_line(races: &RaceCounts) -> String {
    if races.accesses == 0 {
        return "races: no variable is read or written in this trace\n".to_owned();
    }
    let bound = bound(races.exhaustive);
    let pairs = counted(races.location_pairs, "location pair");
    if races.location_pairs == 0 {
        return format!("races: {bound}{pairs}\n");
    }
    let events = counted(races.event_pairs, "pair");
    format!("races: {bound}{pairs}, {bound}{events} of events\n")
}

fn deadlocks_line(deadlocks: &DeadlockCounts) -> String {
    if deadlocks.acquires == 0 {
        return "deadlocks: no lock is taken in this trace\n".to_owned();
    }
    let certain = count(deadlocks.location_tuples);
    let mut text = format!(
        "deadlocks: {}{certain}",
        bound(deadlocks.locations_exhaustive)
    );
    if deadlocks.patterns > 0 {
        let patterns = counted(deadlocks.patterns, "cycle");
        text += &format!(", {}{patterns} of lock orders", bound(deadlocks.exhaustive));
    }
    match deadlocks.limit {
        Some(PatternLimit::Patterns) => text += "; `portent find --max-patterns` allows more",
        Some(PatternLimit::Steps) => {
            text += "; the search for longer ones was ended as it takes too many steps";
        }
        None => {}
    }
    text + "\n"
}

fn atomicity_line(atomicity: &AtomicityCounts) -> String {
    if atomicity.begun == 0 {
        return "atomicity: no block is marked in this trace\n".to_owned();
    }
    let blocks = counted(atomicity.blocks, "block");
    if atomicity.blocks == 0 {
        return format!("atomicity: {blocks}\n");
    }
    let transactions = counted(atomicity.transactions, "transaction");
    format!("atomicity: {blocks}, {transactions}\n")
}

/// A finding in one line.
pub(super) fn title(finding: &Finding) -> String {
    let names = |names: &[String]| names.join(", ");
    match finding.kind {
        Kind::Race => format!("race on {}", names(&finding.variables)),
        Kind::Deadlock => {
            let threads = counted(finding.participants.len() as u64, "thread");
            format!("deadlock of {threads} on {}", names(&finding.locks))
        }
        Kind::Atomicity => finding.not_atomic(),
    }
}

/// The action of each participant.
pub(super) fn lines(finding: &Finding) -> Vec<String> {
    match finding.kind {
        Kind::Race => finding.participants.iter().map(access).collect(),
        Kind::Deadlock => finding.participants.iter().map(acquire).collect(),
        Kind::Atomicity => { finding.participants.chunks(2) }
            .filter_map(|pair| match pair {
                [one, other] => {
                    let (one, other) = (event(&one.row), event(&other.row));
                    Some(format!("{one} comes before {other}"))
                }
                _ => None,
            })
            .collect(),
    }
}

/// The number of cases it represents.
pub(super) fn stands_for(finding: &Finding) -> String {
    let what = match finding.kind {
        Kind::Race => "pair",
        Kind::Deadlock => "choice",
        Kind::Atomicity => "transaction",
    };
    let of = match finding.kind {
        Kind::Race => " of events",
        Kind::Deadlock => " of acquires",
        Kind::Atomicity => " of this block",
    };
    let number = match finding.stands_for.parse() {
        Ok(number) => counted(number, what),
        Err(_) => format!("{} {what}s", finding.stands_for),
    };
    let bound = if finding.at_least { "at least " } else { "" };
    format!("stands for {bound}{number}{of}")
}

fn render_finding(finding: &Finding, paint: Paint) -> String {
    let label = finding.label.name().to_uppercase();
    let label = match finding.label {
        Label::Observed | Label::Shown => paint.red(&label),
        Label::Possible => paint.yellow(&label),
    };
    let mut text = format!("\n{label} {}\n", paint.bold(&printable(&title(finding))));
    for line in lines(finding) {
        text += &format!("  {}\n", printable(&line));
    }
    text += &format!("  {}\n", paint.dim(&stands_for(finding)));
    if let Some(witness) = &finding.witness {
        let words = match (finding.label, finding.kind) {
            (_, Kind::Atomicity) => "As observed:",
            (Label::Observed, _) => "A run that comes there, as the observed one does:",
            _ => "A run that comes there:",
        };
        text += &format!("  {words}\n");
        text += &run(witness, finding, paint);
    }
    text
}

/// The location of something in the source and in the trace.
fn place(loc: Option<&str>, line: Option<u64>) -> String {
    match (loc, line) {
        (Some(loc), Some(line)) => format!(" at {loc} (line {line})"),
        (Some(loc), None) => format!(" at {loc}"),
        (None, Some(line)) => format!(" in line {line}"),
        (None, None) => String::new(),
    }
}

fn label(row: &Row) -> String {
    match &row.object {
        Some(object) => format!("{} {object}", row.op),
        None => row.op.clone(),
    }
}

fn event(row: &Row) -> String {
    format!(
        "{}: {}{}",
        row.t,
        label(row),
        place(row.loc.as_deref(), row.line)
    )
}

fn held(held: &HeldLock) -> String {
    let shared = if held.shared { " (shared)" } else { "" };
    let taken = place(held.loc.as_deref(), held.line);
    format!("{}{shared}, taken{taken}", held.lock)
}

fn access(participant: &Participant) -> String {
    let mut text = event(&participant.row);
    for lock in &participant.holds {
        text += &format!("; holds {}", held(lock));
    }
    text
}

fn acquire(participant: &Participant) -> String {
    let row = &participant.row;
    let lock = row.object.as_deref().unwrap_or_default();
    let wants = place(row.loc.as_deref(), row.line);
    let holds: Vec<String> = participant.holds.iter().map(held).collect();
    format!("{} wants {lock}{wants}; holds {}", row.t, holds.join("; "))
}

/// The run as a table with one column per thread.
fn run(witness: &Witness, finding: &Finding, paint: Paint) -> String {
    let mut threads: Vec<&str> = Vec::new();
    for row in &witness.rows {
        if !threads.contains(&&*row.t) {
            threads.push(&row.t);
        }
    }
    threads.sort_unstable();
    let by_thread = threads.len() <= THREADS;
    let is_about = |row: &Row| {
        let mut participants = finding.participants.iter();
        participants.any(|one| one.row.event == row.event)
    };
    let columns: Vec<&str> = if by_thread {
        threads
    } else {
        vec!["thread", "event"]
    };
    let bold = |name: &&str| Cell::painted(&printable(name), |text| paint.bold(text));
    let mut rows = vec![
        { ["line"].iter() }
            .chain(&columns)
            .map(bold)
            .collect::<Vec<_>>(),
    ];
    for row in &witness.rows {
        let mut cells: Vec<Cell> =
            vec![row.line.map_or_else(String::new, |n| n.to_string()).into()];
        let text = printable(&label(row)).into_owned();
        let cell = || {
            if is_about(row) {
                Cell::painted(&text, |text| paint.red(text))
            } else {
                text.clone().into()
            }
        };
        if by_thread {
            cells.extend(columns.iter().map(|&thread| {
                if thread == row.t {
                    cell()
                } else {
                    String::new().into()
                }
            }));
        } else {
            cells.extend([printable(&row.t).into_owned().into(), cell()]);
        }
        rows.push(cells);
    }
    let mut sides = vec![Side::Right];
    sides.extend(vec![Side::Left; columns.len()]);
    let mut text = String::new();
    if witness.omitted > 0 {
        text += &format!("    ... after {}:\n", counted(witness.omitted, "event"));
    }
    text + &table::render(&sides, &rows, "    ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_told_by_its_own_name() {
        let line = |limit: Option<PatternLimit>| {
            deadlocks_line(&DeadlockCounts {
                acquires: 9,
                patterns: 3,
                location_tuples: 2,
                exhaustive: limit.is_none(),
                locations_exhaustive: limit.is_none(),
                limit,
                ..DeadlockCounts::default()
            })
        };
        assert_eq!(line(None), "deadlocks: 2, 3 cycles of lock orders\n");
        assert_eq!(
            line(Some(PatternLimit::Patterns)),
            "deadlocks: at least 2, at least 3 cycles of lock orders; `portent find --max-patterns` allows more\n"
        );
        assert_eq!(
            line(Some(PatternLimit::Steps)),
            "deadlocks: at least 2, at least 3 cycles of lock orders; the search for longer ones was ended as it takes too many steps\n"
        );
    }
}
