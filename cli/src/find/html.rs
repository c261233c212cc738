//! Findings as a page: one HTML file, made of the same document, style and lanes as that of `check`.

use portent_answer::html::{self, Extra, Origin};
use portent_findings::report::{Finding, Participant, Witness};
use serde::Serialize;

use super::{text, trace::Found};
use crate::failure::Failure;

/// Draws findings, on any page.
const CARDS: &str = include_str!("cards.js");
const SCRIPT: [&str; 7] = [
    html::ELEMENTS,
    html::GEOMETRY,
    html::THREADS,
    html::STEPPER,
    html::RUNS,
    CARDS,
    include_str!("found.js"),
];
/// This many findings of a trace are on the page,
const LISTED: usize = 300;
/// and this many of the last events of a witness.
const ROWS: usize = 200;
/// A longer line is clipped: a trace may have names of any length.
const LINE: usize = 1000;

#[derive(Serialize)]
struct Page {
    portent: u32,
    origin: Origin,
    traces: Vec<Trace>,
}

#[derive(Serialize)]
struct Trace {
    file: String,
    execution: Option<String>,
    events: u64,
    threads: u64,
    warnings: Vec<String>,
    findings: Vec<Entry>,
    summary: Vec<String>,
}

#[derive(Serialize)]
struct Entry {
    kind: &'static str,
    label: &'static str,
    title: String,
    lines: Vec<String>,
    stands_for: String,
    participants: Vec<Participant>,
    witness: Option<Witness>,
}

impl Entry {
    fn new(finding: &Finding) -> Entry {
        let mut witness = finding.witness.clone();
        if let Some(witness) = &mut witness {
            let omitted = witness.rows.len().saturating_sub(ROWS);
            witness.rows.drain(..omitted);
            witness.omitted += omitted as u64;
            let clipped = witness.left_out.len().saturating_sub(ROWS);
            witness.left_out.drain(..clipped);
            witness.left_out_omitted += clipped as u64;
        }
        Entry {
            kind: finding.kind.name(),
            label: finding.label.name(),
            title: html::clip(&text::title(finding), LINE),
            lines: { text::lines(finding).into_iter() }
                .map(|line| html::clip(&line, LINE))
                .collect(),
            stands_for: text::stands_for(finding),
            participants: finding.participants.clone(),
            witness,
        }
    }
}

/// The page about some traces.
pub(crate) fn render(found: &[Found]) -> Result<String, Failure> {
    let page = Page {
        portent: 1,
        origin: Origin::here()?,
        traces: found.iter().map(Trace::new).collect(),
    };
    Ok(html::assemble(&page, &SCRIPT))
}

/// The same for a page that also shows properties.
pub(crate) fn extra<'f>(found: impl Iterator<Item = &'f Found>) -> Option<Extra> {
    let traces: Vec<Trace> = found.map(Trace::new).collect();
    let data = serde_json::to_value(&traces).expect("a page is plain data");
    (!traces.is_empty()).then_some(Extra {
        data,
        script: CARDS,
    })
}

impl Trace {
    fn new(one: &Found) -> Trace {
        let findings = &one.report.findings;
        let mut summary: Vec<String> = text::summary(one).lines().map(str::to_owned).collect();
        if findings.len() > LISTED {
            let more = findings.len() - LISTED;
            summary.push(format!(
                "{more} more findings are not on this page; --format json has them all"
            ));
        }
        Trace {
            file: html::clip(&one.origin.file, LINE),
            execution: one
                .origin
                .execution
                .as_deref()
                .map(|name| html::clip(name, LINE)),
            events: one.report.events,
            threads: one.report.threads,
            warnings: one.warnings.iter().map(html::warning).collect(),
            findings: findings.iter().take(LISTED).map(Entry::new).collect(),
            summary,
        }
    }
}
