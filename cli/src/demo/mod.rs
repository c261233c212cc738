//! `portent demo`: a small built-in run, its prediction, and where to go next.

mod picture;

use portent_answer::{
    Paint,
    text::{Run, Style},
};
use portent_lattice::{Counting, Options, report::Row};
use portent_monitor_dsl::{Monitor, Property};
use portent_trace::TraceReader;
use std::{io, process::ExitCode};

use crate::{
    check::{
        self,
        progress::Progress,
        trace::{self, Outcome},
    },
    failure::Failure,
    terminal::{self, Colour},
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
        let options = Options::default().pictures(1);
        let (mut outcomes, progress) = (Vec::new(), Progress::hidden());
        trace::check(
            &mut reader,
            &monitors,
            &options,
            &progress,
            false,
            None,
            &mut outcomes,
        )?;
        terminal::print(&render(&outcomes, &monitors, paint)?).map_err(Failure::Print)?;
        Ok(ExitCode::SUCCESS)
    }
}

fn render(outcomes: &[Outcome], monitors: &[Monitor], paint: Paint) -> Result<String, Failure> {
    let mut page = format!("{}\n\n{}\n", paint.bold("A property"), indented(SPEC));
    if let ([outcome], [monitor]) = (outcomes, monitors)
        && let [property] = &outcome.report.properties[..]
    {
        let picture = property.picture.iter();
        let observed: Vec<&Row> = picture
            .flat_map(|picture| &picture.observed)
            .map(|shown| &shown.row)
            .collect();
        let run = Run {
            monitor,
            rows: &observed,
            start: &property.start,
            earlier: &[],
            violated_at: None,
        };
        page += &format!("{}\n\n", paint.bold("A run that was observed; it is fine"));
        page += &format!("{}\n", run.render(paint, "    "));
        page += &format!("{}\n\n", paint.bold("All runs that are equivalent to it"));
        page += &picture::draw(monitor, &outcome.header, &observed, paint)?;
        page.push('\n');
    }
    page += &format!("{}\n\n", paint.bold("What `portent check` says"));
    let style = Style {
        paint,
        complete: false,
        stats: false,
        feasible: false,
        lookahead: None,
        engine: None,
        counting: Counting::Auto,
        all: false,
        switches: &check::SWITCHES,
    };
    page += &check::report(outcomes, monitors, style);
    Ok(page + "\n" + NEXT)
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("    {line}\n")).collect()
}
