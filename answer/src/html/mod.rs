//! The answer as a page: one HTML file that needs nothing else, not even a network.
//!
//! The page is made of the files next to this one: a document, its style, and scripts that draw what
//! the data say. The data are JSON in a script element that is not run. Whatever a trace holds gets
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
/// The scripts that other pages draw lanes with, too.
pub const ELEMENTS: &str = include_str!("elements.js");
/// And what they measure with.
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
/// The page itself: what comes before only draws.
const REPORT: &str = include_str!("report.js");

/// A longer sentence is clipped: a trace may have names of any length.
const SENTENCE: usize = 3000;
/// This many findings of a trace are listed.
const LISTED: usize = 3000;

/// How much a page has room for.
#[derive(Clone, Copy, Serialize)]
pub struct PageRoom {
    /// Whether every witness was asked for.
    all: bool,
    /// This many instances of a property are drawn, violated ones first.
    pictures: usize,
    /// And no more when the data of all drawings take this many bytes.
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
    /// A browser still opens such a page at once.
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

    /// How many pictures of each property are to be made; more if a baseline may take some away.
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
    /// What the page calls options.
    switches: &'static Switches,
    /// By their names.
    properties: BTreeMap<String, Property>,
    traces: Vec<Trace>,
    /// What was found without a property, if that was looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<serde_json::Value>,
}

/// What else a page shows: data, and the script whose `drawFoundTraces` draws them.
pub struct Extra {
    /// What to draw.
    pub data: serde_json::Value,
    /// How.
    pub script: &'static str,
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
    /// What a baseline had already.
    known: Option<String>,
    /// Those that the observed run violates first, then other violated ones.
    findings: Vec<Entry>,
    /// How many findings are not listed, and how many of those are violated.
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

/// The document with its style, some data, and scripts that draw them.
pub fn assemble(page: &impl Serialize, script: &[&str]) -> String {
    let data = inert(&serde_json::to_string(page).expect("a page is plain data"));
    let head = head("Portent report", "script-src 'unsafe-inline'; ", &STYLE);
    let script = uncommented(&script.concat());
    head + &filled(DOCUMENT, &[("/*data*/", &data), ("/*script*/", &script)])
}

/// The head of a document: what it may do besides having a style, and that style.
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

/// A script without the lines that are comments: they are for whoever changes it, not for every page.
fn uncommented(script: &str) -> String {
    let is_comment = |line: &&str| {
        ["//", "/*", "* ", "*/"]
            .iter()
            .any(|sign| line.trim_start().starts_with(sign))
    };
    let code = script.lines().filter(|line| !is_comment(line));
    code.flat_map(|line| [line, "\n"]).collect()
}

/// JSON that can stand in a script element: nothing in it ends the element or begins another.
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

/// The traces, with as much of their findings as there is room for. What matters most gets it first, in whichever
/// trace it is.
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

/// What the page has so far.
struct Contents {
    room: PageRoom,
    /// What its drawings take.
    bytes: usize,
    /// How many findings are described.
    described: usize,
    /// How many instances of each property are drawn.
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

/// Something to know before trusting the answer, as a sentence.
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
