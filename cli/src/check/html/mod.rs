//! The answer to look at: one HTML file that needs nothing else, not even a network.
//!
//! The page is made of the files beside this one: a document, its style, and scripts that draw what
//! the data say. The data are JSON in a script element that is not run. Whatever a trace holds gets
//! into the page as text only.

mod automaton;
mod drawing;
mod entry;
mod origin;

use portent_monitor_dsl::Monitor;
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};

use super::{trace::Outcome, warning::Warning};
use crate::{
    failure::Failure,
    text::{
        Status, Style,
        finding::{Finding, formula},
        left_out_as_known,
        meaning::meanings,
    },
};
use entry::Entry;
use origin::Origin;

const DOCUMENT: &str = include_str!("report.html");
const STYLE: [&str; 2] = [include_str!("report.css"), include_str!("drawings.css")];
const SCRIPT: [&str; 10] = [
    include_str!("elements.js"),
    include_str!("geometry.js"),
    include_str!("threads.js"),
    include_str!("folding.js"),
    include_str!("runs.js"),
    include_str!("lattice.js"),
    include_str!("automaton.js"),
    include_str!("words.js"),
    include_str!("findings.js"),
    include_str!("report.js"),
];

/// This many instances of a property, violated ones and others, are drawn.
pub(crate) const PICTURES: usize = 24;
/// And no more when their data take this many bytes.
const DRAWN_BYTES: usize = 600_000;
/// A longer sentence is clipped: a trace may have names of any length.
const SENTENCE: usize = 3000;
/// This many instances are listed, and this many of them in full.
const LISTED: usize = 3000;
const IN_FULL: usize = 300;

#[derive(Serialize)]
struct Page {
    portent: u32,
    origin: Origin,
    /// Whether the runs are those of the maximal model.
    maximal: bool,
    /// By their names.
    properties: BTreeMap<String, Property>,
    traces: Vec<Trace>,
}

/// What all instances of a property have in common.
#[derive(Serialize)]
struct Property {
    formula: String,
    /// The names that it uses, and what they mean.
    definitions: Vec<(String, String)>,
    /// The file that it is from, if it is from one.
    spec: Option<String>,
}

impl Property {
    fn new(monitor: &Monitor) -> Property {
        let property = monitor.property();
        let clipped = |(name, meaning): (&str, String)| (clip(name, 200), clip(&meaning, SENTENCE));
        Property {
            formula: clip(&formula(property), SENTENCE),
            definitions: { meanings(property, property.text()).into_iter() }
                .map(clipped)
                .collect(),
            spec: property.file().map(|file| clip(file, 300)),
        }
    }
}

/// One execution.
#[derive(Serialize)]
struct Trace {
    file: String,
    execution: Option<String>,
    events: u64,
    threads: u64,
    /// What to know before trusting the answer.
    warnings: Vec<String>,
    /// Violated ones first.
    findings: Vec<Entry>,
    /// How many findings are not listed, and how many of those are violated.
    omitted: usize,
    omitted_violated: usize,
}

/// The page about some traces.
pub(crate) fn render(
    outcomes: &[Outcome],
    monitors: &[Monitor],
    style: Style,
) -> Result<String, Failure> {
    let mut shelf = Shelf {
        bytes: DRAWN_BYTES,
        in_full: IN_FULL,
        ids: HashSet::new(),
    };
    let page = Page {
        portent: 1,
        origin: Origin::here()?,
        maximal: style.maximal,
        properties: { monitors.iter() }
            .map(|monitor| (monitor.property().name().to_owned(), Property::new(monitor)))
            .collect(),
        traces: outcomes
            .iter()
            .map(|outcome| shelf.trace(outcome, monitors, style))
            .collect(),
    };
    let data = inert(&serde_json::to_string(&page).expect("a page is plain data"));
    let (head, rest) = cut(DOCUMENT, "/*style*/");
    let (body, rest) = cut(rest, "/*data*/");
    let (between, tail) = cut(rest, "/*script*/");
    let (style, script) = (STYLE.concat(), SCRIPT.concat());
    Ok([head, &style, body, &data, between, &script, tail].concat())
}

/// What comes before and after a mark of the document.
fn cut<'t>(text: &'t str, mark: &str) -> (&'t str, &'t str) {
    text.split_once(mark).expect("the document has its marks")
}

/// JSON that can stand in a script element: nothing in it ends the element or begins another.
fn inert(json: &str) -> String {
    json.replace('<', "\\u003c")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

/// The beginning of a text that may be long.
fn clip(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The room that is left on the page, and the names that are taken.
struct Shelf {
    bytes: usize,
    /// How many findings may still be listed in full.
    in_full: usize,
    ids: HashSet<String>,
}

impl Shelf {
    fn trace(&mut self, outcome: &Outcome, monitors: &[Monitor], style: Style) -> Trace {
        let report = &outcome.report;
        let mut findings = Finding::all(outcome, monitors, style);
        findings.sort_by_key(|finding| match finding.claim().0 {
            Status::Observed | Status::Predicted => 0,
            Status::Open => 1,
            Status::Holds => 2,
        });
        let rest = findings.split_off(findings.len().min(LISTED));
        Trace {
            file: clip(&report.trace.file, 300),
            execution: outcome.execution.as_deref().map(|name| clip(name, 300)),
            events: report.trace.events,
            threads: report.trace.threads,
            warnings: warnings(outcome),
            findings: findings.iter().map(|finding| self.entry(finding)).collect(),
            omitted: rest.len(),
            omitted_violated: rest
                .iter()
                .filter(|finding| finding.property.predicted.violated)
                .count(),
        }
    }

    fn entry(&mut self, finding: &Finding<'_>) -> Entry {
        let mut entry = Entry::new(finding, self.in_full > 0);
        self.in_full = self.in_full.saturating_sub(1);
        let bytes = serde_json::to_string(&entry.drawing).map_or(0, |json| json.len());
        match self.bytes.checked_sub(bytes) {
            Some(left) => self.bytes = left,
            None => entry.drawing = None,
        }
        let name = clip(&entry.title, 80);
        let mut id = name.clone();
        let mut number = 1;
        while !self.ids.insert(id.clone()) {
            number += 1;
            id = format!("{name} ({number})");
        }
        entry.id = id;
        entry
    }
}

/// What to know before trusting the answer, as sentences.
fn warnings(outcome: &Outcome) -> Vec<String> {
    let sentence = |warning: &Warning| {
        let text = warning.sentence();
        let (first, rest) = text.split_at(text.chars().next().map_or(0, char::len_utf8));
        clip(&format!("{}{rest}", first.to_uppercase()), 600)
    };
    let mut warnings: Vec<String> = outcome.warnings.iter().map(sentence).collect();
    if !outcome.known.is_empty() {
        warnings.push(left_out_as_known(&outcome.known));
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_in_a_page_is_inert_and_still_the_same() {
        let hostile = "</script><!--\u{2028}\u{2029}]]>&\"'";
        let json = serde_json::to_string(hostile).unwrap();
        let inert = inert(&json);
        assert!(!inert.contains(['<', '\u{2028}', '\u{2029}']));
        assert_eq!(serde_json::from_str::<String>(&inert).unwrap(), hostile);
    }

    #[test]
    fn long_texts_are_clipped_between_characters() {
        assert_eq!(clip("äöü", 3), "äöü");
        assert_eq!(clip("äöü", 2), "äö…");
    }
}
