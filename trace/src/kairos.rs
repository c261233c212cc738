//! The CSV files of the Kairos tool: `eid,processes,vc,props`, then a row an event, as in
//! `ev1,PA|PB,PA:1;PB:1,p|q`.
//!
//! The first line may be a comment that names all processes, `# system_processes: PA|PB`. The
//! columns may be in any order, and others are ignored. The meaning of a row is explained in
//! [`frontier`](crate::frontier).

use std::borrow::Cow;

use portent_monitor_core::{Symbols, ThreadId};
use rustc_hash::FxHashSet;

use crate::{
    decoder::{Decoded, Position},
    error::Fault,
    frontier::{Frontiers, Row},
    lines::{Line, Lines},
};

const COLUMNS: [&str; 4] = ["eid", "processes", "vc", "props"];

/// Whether a file that begins with this line is one of Kairos.
pub(crate) fn looks_like_kairos(line: &str) -> bool {
    line.starts_with("# system_processes:") || columns(line).is_some()
}

/// The positions of the columns, if this is the line that names them.
fn columns(header: &str) -> Option<[usize; 4]> {
    let names: Vec<Cow<'_, str>> = fields(header)?.into_iter().map(|(_, name)| name).collect();
    let mut columns = [0; 4];
    for (column, wanted) in columns.iter_mut().zip(COLUMNS) {
        *column = names.iter().position(|name| name.trim() == wanted)?;
    }
    Some(columns)
}

/// The fields of a line with their offsets, those in quotes without them; `None` if a quote is not
/// closed.
fn fields(line: &str) -> Option<Vec<(usize, Cow<'_, str>)>> {
    let mut fields = Vec::new();
    let mut start = 0;
    loop {
        let rest = &line[start..];
        let end = if let Some(quoted) = rest.strip_prefix('"') {
            let mut bytes = quoted.bytes().enumerate();
            // A quote within quotes is written twice.
            let close = loop {
                let (i, byte) = bytes.next()?;
                if byte == b'"' && quoted.as_bytes().get(i + 1) != Some(&b'"') {
                    break i;
                }
                if byte == b'"' {
                    bytes.next();
                }
            };
            fields.push((start + 1, quoted[..close].replace("\"\"", "\"").into()));
            let after = &quoted[close + 1..];
            start + close + 2 + after.find(',').unwrap_or(after.len())
        } else {
            let end = rest.find(',').unwrap_or(rest.len());
            fields.push((start, rest[..end].into()));
            start + end
        };
        if end >= line.len() {
            return Some(fields);
        }
        start = end + 1;
    }
}

/// The non-blank parts of a field.
fn parts(field: &str, separator: char) -> impl Iterator<Item = &str> {
    let parts = field.split(separator).map(str::trim);
    parts.filter(|part| !part.is_empty())
}

/// Reads the rows.
pub(crate) struct Kairos<'r> {
    lines: Lines<'r>,
    /// Known when the line that names them was read.
    columns: Option<[usize; 4]>,
    frontiers: Frontiers,
}

impl<'r> Kairos<'r> {
    pub(crate) fn new(lines: Lines<'r>) -> Self {
        Kairos {
            lines,
            columns: None,
            frontiers: Frontiers::default(),
        }
    }

    pub(crate) fn next(&mut self, symbols: &mut Symbols) -> Result<Option<Decoded>, Fault> {
        loop {
            if let Some(decoded) = self.frontiers.next() {
                return Ok(Some(decoded));
            }
            let Some(line) = self.lines.next()? else {
                return Ok(None);
            };
            if line.is_blank() || line.text.starts_with(b"#") {
                continue;
            }
            let text = line.utf8()?;
            let Some(columns) = self.columns else {
                self.columns = columns(text);
                if self.columns.is_some() {
                    continue;
                }
                let problem = format!("expected the names of the columns, {}", COLUMNS.join(","));
                return Err(Fault::new(line.number, line.text, 0..text.len(), problem));
            };
            let (row, clock) = row(&line, text, columns, symbols)?;
            let fault = |problem| Fault::new(line.number, line.text, 0..text.len(), problem);
            self.frontiers.put(row, clock, symbols).map_err(fault)?;
        }
    }
}

/// The row of a line, and the place of its clock.
fn row(
    line: &Line<'_>,
    text: &str,
    columns: [usize; 4],
    symbols: &mut Symbols,
) -> Result<(Row, Position), Fault> {
    let fault = |at: usize, length: usize, problem: &str| {
        Fault::new(line.number, line.text, at..at + length, problem)
    };
    let whole = || {
        fault(
            0,
            text.len(),
            "expected eid,processes,vc,props, as in ev1,PA|PB,PA:1;PB:1,p|q",
        )
    };
    let fields = fields(text).ok_or_else(whole)?;
    let field = |column: usize| fields.get(columns[column]).ok_or_else(whole);
    let ((_, name), (processes_at, processes), (clock_at, clock), (_, propositions)) =
        (field(0)?, field(1)?, field(2)?, field(3)?);
    let owned = |part: &str| part.to_owned();
    let owners: Vec<String> = parts(processes, '|').map(owned).collect();
    if owners.is_empty() {
        return Err(fault(
            *processes_at,
            processes.len(),
            "expected at least one process",
        ));
    }
    let mut components: Vec<(ThreadId, u32)> = Vec::new();
    let mut known = FxHashSet::default();
    for part in parts(clock, ';') {
        let component = part.rsplit_once(':').and_then(|(process, count)| {
            let count: u32 = count.trim().parse().ok()?;
            Some((process.trim(), count))
        });
        let Some((process, count)) = component else {
            let problem = "expected a clock, as in PA:1;PB:2";
            return Err(fault(*clock_at, clock.len(), problem));
        };
        let thread = symbols.threads.intern(process);
        let thread = thread.map_err(|error| fault(*clock_at, clock.len(), &error.to_string()))?;
        if !known.insert(thread) {
            let problem = format!("the component {process} is given twice");
            return Err(fault(*clock_at, clock.len(), &problem));
        }
        components.push((thread, count));
    }
    let row = Row {
        name: name.trim().to_owned(),
        processes: owners,
        propositions: parts(propositions, '|').map(owned).collect(),
        clock: components,
    };
    Ok((row, Position::new(line.number, line.text, *clock_at)))
}

#[cfg(test)]
mod tests {
    use super::fields;

    #[test]
    fn fields_of_a_line() {
        for (line, expected) in [
            ("", Some(vec![(0, "")])),
            ("a,b", Some(vec![(0, "a"), (2, "b")])),
            ("a,,", Some(vec![(0, "a"), (2, ""), (3, "")])),
            ("\"a,b\",c", Some(vec![(1, "a,b"), (6, "c")])),
            ("\"a\"\"b\"", Some(vec![(1, "a\"b")])),
            ("\"é\" x,c", Some(vec![(1, "é"), (7, "c")])),
            ("\"", None),
            ("a,\"\"\"", None),
        ] {
            let found = fields(line);
            let found: Option<Vec<(usize, &str)>> = found
                .as_ref()
                .map(|fields| fields.iter().map(|(at, text)| (*at, &**text)).collect());
            assert_eq!(found, expected, "{line}");
        }
    }
}
