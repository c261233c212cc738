//! The answer as a page: one HTML file that needs no other files and no network.
//!
//! The page is made of the files next to this one: a document, its style, and scripts that draw the
//! data. The data are JSON in a script element that is not executed. The content of a trace gets
//! into the page as text only.

mod automaton;
mod drawing;
mod entry;
mod origin;
mod schedule;

use portent_monitor_dsl::Monitor;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap, HashSet};

use crate::{
    Answer, Switches, Warning,
    text::{Finding, Status, Style, formula, left_out_as_known, meanings},
};
use entry::Entry;
pub use origin::{Origin, quoted};
pub use schedule::{Schedule, ScheduledStep};

const HEAD: &str = include_str!("head.html");
const DOCUMENT: &str = include_str!("report.html");
/// Colours, cards and badges, for every page.
pub const PAGE_STYLE: &str = include_str!("report.css");
const STYLE: [&str; 2] = [PAGE_STYLE, include_str!("drawings.css")];
/// The scripts that other pages use to draw lanes, too.
pub const ELEMENTS: &str = include_str!("elements.js");
/// Their measurements.
pub const GEOMETRY: &str = include_str!("geometry.js");
/// Lanes and arrows.
pub const THREADS: &str = include_str!("threads.js");
/// Two runs as tables, row by row side by side.
pub const RUNS: &str = include_str!("runs.js");
/// The buttons and keys that step through them.
pub const STEPPER: &str = include_str!("stepper.js");
const SCRIPT: [&str; 10] = [
    ELEMENTS,
    GEOMETRY,
    THREADS,
    STEPPER,
    include_str!("folding.js"),
    RUNS,
    include_str!("lattice.js"),
    include_str!("automaton.js"),
    include_str!("words.js"),
    include_str!("findings.js"),
];
/// The page itself: the scripts before it only draw.
const REPORT: &str = include_str!("report.js");

/// A longer sentence is clipped: a trace may have names of any length.
const SENTENCE: usize = 3000;
/// At most this many findings of a trace are listed.
const LISTED: usize = 3000;

/// The limits of a page.
#[derive(Clone, Copy, Serialize)]
pub struct PageRoom {
    /// Whether every witness was requested.
    all: bool,
    /// This many instances of a property are drawn, violated ones first.
    pictures: usize,
    /// Drawing stops when the data of all drawings take this many bytes.
    bytes: usize,
    /// This many findings are described, not only named.
    described: usize,
}

impl PageRoom {
    const USUAL: PageRoom = PageRoom {
        all: false,
        pictures: 100,
        bytes: 600_000,
        described: 300,
    };
    /// Browsers still open a page of this size at once.
    const ALL: PageRoom = PageRoom {
        all: true,
        pictures: 1000,
        bytes: 6_000_000,
        described: LISTED,
    };

    /// With or without every witness.
    fn new(all: bool) -> PageRoom {
        if all { PageRoom::ALL } else { PageRoom::USUAL }
    }

    /// The number of pictures of each property to make; more if a baseline may remove some.
    pub fn pictures(all: bool, has_baseline: bool) -> usize {
        PageRoom::new(all || has_baseline).pictures
    }
}

#[derive(Serialize)]
struct Page {
    portent: u32,
    origin: Origin,
    /// Whether the runs are those of a model beyond happens-before.
    feasible: bool,
    room: PageRoom,
    /// The names of options on the page.
    switches: &'static Switches,
    /// The properties, by name.
    properties: BTreeMap<String, Property>,
    traces: Vec<Trace>,
    /// The findings without a property, if they were searched for.
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<serde_json::Value>,
}

/// Additional content of a page: data, and the script whose `drawFoundTraces` draws them.
pub struct Extra {
    /// The data to draw.
    pub data: serde_json::Value,
    /// The script that draws them.
    pub script: &'static str,
}

/// What all instances of a property have in common.
#[derive(Serialize)]
struct Property {
    formula: String,
    /// The names that it uses, with their definitions.
    definitions: Vec<(String, String)>,
    /// The file that it is from, if any.
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
    /// Warnings to read before trusting the answer.
    warnings: Vec<String>,
    /// The findings already in a baseline.
    known: Option<String>,
    /// The violated ones first: by the observed run, then by others.
    findings: Vec<Entry>,
    /// The number of findings not listed, and how many of those are violated.
    omitted: usize,
    omitted_violated: usize,
}

/// The page about some traces.
pub fn render(
    answers: &[Answer<'_>],
    monitors: &[Monitor],
    style: Style,
    origin: Origin,
    extra: Option<Extra>,
) -> String {
    let (found, script) = match extra {
        Some(extra) => (Some(extra.data), extra.script),
        None => (None, ""),
    };
    let room = PageRoom::new(style.all);
    let page = Page {
        portent: 1,
        origin,
        feasible: style.feasible,
        room,
        switches: style.switches,
        properties: { monitors.iter() }
            .map(|monitor| (monitor.property().name().to_owned(), Property::new(monitor)))
            .collect(),
        traces: traces(answers, monitors, style, room),
        found,
    };
    assemble(&page, &[&SCRIPT.concat(), script, REPORT])
}

/// The document with its style, data, and scripts that draw them.
pub fn assemble(page: &impl Serialize, script: &[&str]) -> String {
    let data = inert(&serde_json::to_string(page).expect("a page is plain data"));
    let head = head("Portent report", "script-src 'unsafe-inline'; ", &STYLE);
    let script = uncommented(&script.concat());
    head + &filled(DOCUMENT, &[("/*data*/", &data), ("/*script*/", &script)])
}

/// The head of a document: its permissions, and its style.
fn head(title: &str, policy: &str, style: &[&str]) -> String {
    let style = style.concat();
    let parts = [
        ("<!--policy-->", policy),
        ("<!--title-->", title),
        ("/*style*/", style.as_str()),
    ];
    filled(HEAD, &parts)
}

/// A document with its marks replaced, each once and in this order.
fn filled(document: &str, parts: &[(&str, &str)]) -> String {
    let mut page = String::new();
    let mut rest = document;
    for (mark, text) in parts {
        let (before, after) = rest.split_once(mark).expect("the document has its marks");
        page.push_str(before);
        page.push_str(text);
        rest = after;
    }
    page + rest
}

/// A script without comment lines, which are for its maintainers and not for every page.
fn uncommented(script: &str) -> String {
    let is_comment = |line: &&str| {
        ["//", "/*", "* ", "*/"]
            .iter()
            .any(|sign| line.trim_start().starts_with(sign))
    };
    let code = script.lines().filter(|line| !is_comment(line));
    code.flat_map(|line| [line, "\n"]).collect()
}

/// JSON that is safe in a script element: nothing in it ends the element or begins another.
fn inert(json: &str) -> String {
    json.replace('<', "\\u003c")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

/// The beginning of a text that may be long.
pub fn clip(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The traces, with as much of their findings as there is room for. The most important ones get it first, whichever
/// trace they are in.
fn traces(
    answers: &[Answer<'_>],
    monitors: &[Monitor],
    style: Style,
    room: PageRoom,
) -> Vec<Trace> {
    let mut contents = Contents {
        room,
        bytes: 0,
        described: 0,
        drawn: HashMap::new(),
        ids: HashSet::new(),
    };
    let mut found: Vec<Vec<(Status, Finding<'_>)>> = Vec::new();
    for &answer in answers {
        let findings = Finding::all(answer, monitors, style).into_iter();
        found.push(findings.map(|one| (one.claim().0, one)).collect());
    }
    let mut traces: Vec<Trace> = answers.iter().copied().map(Trace::new).collect();
    for status in Status::BY_WEIGHT {
        for (trace, found) in traces.iter_mut().zip(&found) {
            for (_, finding) in found.iter().filter(|(other, _)| *other == status) {
                if trace.findings.len() < LISTED {
                    trace.findings.push(contents.entry(finding));
                } else {
                    trace.omitted += 1;
                    trace.omitted_violated += usize::from(finding.property.predicted.violated);
                }
            }
        }
    }
    traces
}

impl Trace {
    /// Without its findings.
    fn new(answer: Answer<'_>) -> Trace {
        let report = answer.report;
        Trace {
            file: clip(&report.trace.file, 300),
            execution: answer.execution.map(|name| clip(name, 300)),
            events: report.trace.events,
            threads: report.trace.threads,
            warnings: answer.warnings.iter().map(warning).collect(),
            known: (!answer.known.is_empty()).then(|| left_out_as_known(answer.known)),
            findings: Vec::new(),
            omitted: 0,
            omitted_violated: 0,
        }
    }
}

/// The content of the page so far.
struct Contents {
    room: PageRoom,
    /// The size of its drawings.
    bytes: usize,
    /// The number of findings described.
    described: usize,
    /// The number of instances of each property drawn.
    drawn: HashMap<String, usize>,
    ids: HashSet<String>,
}

impl Contents {
    fn entry(&mut self, finding: &Finding<'_>) -> Entry {
        let mut entry = Entry::new(finding, self.described < self.room.described);
        self.described += 1;
        if let Some(drawing) = &entry.drawing {
            let bytes = serde_json::to_string(drawing).map_or(0, |json| json.len());
            let room = if finding.property.predicted.violated {
                self.room
            } else {
                PageRoom::USUAL
            };
            let drawn = self.drawn.entry(finding.property.name.clone()).or_default();
            if *drawn < self.room.pictures && self.bytes + bytes <= room.bytes {
                *drawn += 1;
                self.bytes += bytes;
            } else {
                entry.drawing = None;
            }
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

/// A warning to read before trusting the answer, as a sentence.
pub fn warning(warning: &Warning) -> String {
    let text = warning.sentence();
    let (first, rest) = text.split_at(text.chars().next().map_or(0, char::len_utf8));
    clip(&format!("{}{rest}", first.to_uppercase()), 600)
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
