//! `portent demo`: a small built-in run, its prediction, and where to go next.

mod picture;

use portent_lattice::{Counting, Options, Report, report::Row};
use portent_monitor_dsl::{Monitor, Property};
use portent_trace::TraceReader;
use std::{io, process::ExitCode};

use crate::{
    check::{
        progress::Progress,
        trace::{self, Outcome},
    },
    failure::Failure,
    paint::Paint,
    terminal::{self, Colour},
    text::{self, replay, run::Run},
};

const SPEC: &str = include_str!("../../demo/reservoir.portent");
const TRACE: &str = include_str!("../../demo/reservoir.jsonl");

const NEXT: &str = "\
Where to go next
  portent synth --property 'always (x >= y)'        the monitor of a property of yours
  portent check --property '...' run.jsonl          your own trace: one JSON object a line, as
      {\"t\": \"T1\", \"op\": \"write\", \"var\": \"x\", \"val\": 3}
  portent convert --from std --to native a.std -    a trace that another tool recorded
  portent help cookbook                             questions from real programs, with answers
  portent help                                      all commands and topics
";

/// Show a small built-in run, what is predicted from it, and where to go next
#[derive(clap::Args)]
pub(crate) struct Demo {}

impl Demo {
    pub(crate) fn run(&self, colour: Colour) -> Result<ExitCode, Failure> {
        let paint = Paint {
            on: colour.on(&io::stdout()),
        };
        let monitors: Vec<Monitor> = Property::parse_file("reservoir.portent", SPEC)?
            .iter()
            .map(Property::monitor)
            .collect::<Result<_, _>>()?;
        let mut reader = TraceReader::new(
            "reservoir.jsonl",
            TRACE.as_bytes(),
            &portent_trace::Options::default(),
        )?;
        let options = Options::default();
        let (mut outcomes, progress) = (Vec::new(), Progress::hidden());
        trace::check(&mut reader, &monitors, &options, &progress, &mut outcomes)?;
        terminal::print(&render(&outcomes, &monitors, paint)?).map_err(Failure::Print)?;
        Ok(ExitCode::SUCCESS)
    }
}

fn render(outcomes: &[Outcome], monitors: &[Monitor], paint: Paint) -> Result<String, Failure> {
    let mut page = format!("{}\n\n{}\n", paint.bold("A property"), indented(SPEC));
    if let ([outcome], [monitor]) = (outcomes, monitors) {
        let observed = observed(&outcome.report);
        let replay = replay::replay(monitor, &outcome.initial, observed.iter().copied())?;
        let run = Run {
            monitor,
            rows: &observed,
            moments: &replay.moments,
            earlier: &[],
            violated_at: None,
        };
        page += &format!("{}\n\n", paint.bold("A run that was observed; it is fine"));
        page += &format!("{}\n", run.render(paint, "    "));
        page += &format!("{}\n\n", paint.bold("All runs that are equivalent to it"));
        page += &picture::draw(monitor, &outcome.initial, &observed, paint)?;
        page.push('\n');
    }
    page += &format!("{}\n\n", paint.bold("What `portent check` says"));
    let style = text::Style {
        paint,
        complete: false,
        stats: false,
        maximal: false,
        lookahead: None,
        engine: None,
        counting: Counting::Auto,
        all: false,
    };
    page += &text::report(outcomes, monitors, style);
    Ok(page + "\n" + NEXT)
}

/// The steps of the first property in observed order; its witness has them all.
fn observed(report: &Report) -> Vec<&Row> {
    let property = report.properties.first();
    let witness = property.and_then(|property| property.predicted.witness.as_deref());
    let mut rows: Vec<&Row> = witness.unwrap_or_default().iter().collect();
    rows.sort_by_key(|row| row.event);
    rows
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("    {line}\n")).collect()
}
