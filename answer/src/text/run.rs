//! A run as a table with one column per thread.

use std::borrow::Cow;

use portent_lattice::report::{Moment, Row};
use portent_monitor_dsl::{Monitor, Verdict};

use super::{
    numbers::{count, counted},
    printable,
    step::{label, note},
    table::{self, Cell, Side},
};
use crate::Paint;

/// At most this many steps are shown before a violation, and after it.
const BEFORE: usize = 20;
const AFTER: usize = 3;
/// With more threads or variables than this, a table is wider than a screen.
const THREADS: usize = 6;
const VARIABLES: usize = 6;
/// A longer label is cut.
const LABEL: usize = 40;

/// The steps of a run, and the states before and after each: rows are those of this run.
pub struct Run<'a> {
    /// The property that it is shown for.
    pub monitor: &'a Monitor,
    /// The steps.
    pub rows: &'a [&'a Row],
    /// The state before the first step.
    pub start: &'a Moment,
    /// For each row, whether it comes earlier than observed.
    pub earlier: &'a [bool],
    /// The number of steps after which the run is violated, if it is.
    pub violated_at: Option<usize>,
}

impl Run<'_> {
    /// The relevant part of the run.
    pub fn render(&self, paint: Paint, indent: &str) -> String {
        let end = match self.violated_at {
            Some(step) => (step + AFTER).min(self.rows.len()),
            None => self.rows.len().min(BEFORE),
        };
        let start = match self.violated_at {
            Some(step) => step.saturating_sub(BEFORE),
            None => 0,
        };
        let shown = &self.rows[start..end];
        let mut threads: Vec<&str> = Vec::new();
        for row in shown {
            if !threads.contains(&&*row.t) {
                threads.push(&row.t);
            }
        }
        threads.sort_unstable();
        let columns = Columns {
            by_thread: threads.len() <= THREADS,
            lines: shown.iter().any(|row| row.line.is_some()),
            notes: shown.iter().any(|row| !note(row).is_empty()),
            threads,
            variables: match self.monitor.alphabet().variables().len() {
                few @ 0..=VARIABLES => few,
                _ => 0,
            },
        };
        let mut cells = vec![self.head(&columns, paint)];
        cells.push(self.row(start, None, &columns, paint));
        for (index, row) in shown.iter().enumerate() {
            cells.push(self.row(start + index + 1, Some(row), &columns, paint));
        }
        let mut text = String::new();
        if start > 0 {
            text += &format!("{indent}... after {}:\n", counted(start as u64, "step"));
        }
        text += &table::render(&columns.sides(), &cells, indent);
        if end < self.rows.len() {
            let more = counted((self.rows.len() - end) as u64, "more step");
            text += &format!("{indent}... and {more}\n");
        }
        text
    }

    fn head(&self, columns: &Columns<'_>, paint: Paint) -> Vec<Cell> {
        let mut names: Vec<Cow<'_, str>> = vec!["step".into()];
        names.extend(columns.lines.then_some(Cow::from("line")));
        if columns.by_thread {
            names.extend(columns.threads.iter().map(|thread| printable(thread)))
        } else {
            names.extend(["thread", "event"].map(Cow::from))
        }
        let variables = self.monitor.alphabet().variables();
        names.extend(
            variables[..columns.variables]
                .iter()
                .map(|v| Cow::from(v.name.as_str())),
        );
        names.extend(["state", "verdict"].map(Cow::from));
        if columns.notes {
            names.push("note".into());
        }
        let bold = |name: &Cow<'_, str>| Cell::painted(name, |text| paint.bold(text));
        names.iter().map(bold).collect()
    }

    /// The cells of the state after `step` steps, the last of which is `row`.
    fn row(
        &self,
        step: usize,
        row: Option<&Row>,
        columns: &Columns<'_>,
        paint: Paint,
    ) -> Vec<Cell> {
        let (values, state, reached) = match step.checked_sub(1).map(|index| self.rows[index]) {
            Some(row) => (&row.values, row.state, row.verdict),
            None => (&self.start.values, self.start.state, self.start.verdict),
        };
        let line = row.and_then(|row| row.line);
        let mut cells: Vec<Cell> = vec![count(step as u64).into()];
        if columns.lines {
            cells.push(line.map(|line| line.to_string()).unwrap_or_default().into());
        }
        let event = |row: &Row| {
            let earlier = self.earlier.get(step - 1) == Some(&true);
            let label = shorten(&label(row));
            if earlier {
                Cell::painted(&format!("{label} ↑"), |text| paint.yellow(text))
            } else {
                label.into()
            }
        };
        if columns.by_thread {
            cells.extend(columns.threads.iter().map(|thread| match row {
                Some(row) if *row.t == **thread => event(row),
                _ => String::new().into(),
            }))
        } else {
            cells.extend(match row {
                Some(row) => [printable(&row.t).into_owned().into(), event(row)],
                None => [String::new().into(), String::new().into()],
            })
        }
        let values = values.iter().take(columns.variables);
        cells.extend(values.map(|(_, value)| Cell::from(shorten(&value.to_string()))));
        cells.push(state.to_string().into());
        cells.push(Cell::painted(reached.as_str(), |text| {
            verdict(paint, reached, text)
        }));
        if columns.notes {
            let note = row.map(note).unwrap_or_default();
            cells.push(Cell::painted(&shorten(&note), |text| paint.dim(text)));
        }
        cells
    }
}

/// A verdict in its colour.
fn verdict(paint: Paint, verdict: Verdict, text: &str) -> String {
    match verdict {
        Verdict::Violated => paint.red(text),
        Verdict::Satisfied | Verdict::Ok => paint.green(text),
        Verdict::Pending | Verdict::Unknown => paint.yellow(text),
    }
}

struct Columns<'a> {
    by_thread: bool,
    /// Whether the run was read from lines.
    lines: bool,
    /// Whether some line has information that the property does not see.
    notes: bool,
    threads: Vec<&'a str>,
    variables: usize,
}

impl Columns<'_> {
    fn sides(&self) -> Vec<Side> {
        let mut sides = vec![Side::Right];
        sides.extend(self.lines.then_some(Side::Right));
        let events = if self.by_thread {
            self.threads.len()
        } else {
            2
        };
        sides.extend(vec![Side::Left; events]);
        sides.extend(vec![Side::Right; self.variables + 1]);
        sides.push(Side::Left);
        sides.extend(self.notes.then_some(Side::Left));
        sides
    }
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(LABEL) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
