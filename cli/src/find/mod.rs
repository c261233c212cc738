//! `portent find`: races, deadlocks and atomicity violations, without a property.

mod baseline;
mod html;
mod json;
mod suppress;
mod text;
mod trace;

use portent_answer::{Paint, text::numbers::counted};
use portent_findings::{Finder, Hunt, Model, Options};
use std::{io, path::PathBuf, process::ExitCode};

use crate::{
    failure::Failure,
    reading::ReadOptions,
    report::ReportFormat,
    terminal::{self, Colour},
};
pub(crate) use baseline::{EarlierFind, FindBaseline};
pub(crate) use html::extra as html_extra;
pub(crate) use json::Findings;
pub(crate) use suppress::Suppress;
pub(crate) use text::render as render_text;
pub(crate) use trace::{Found, Origin};

const SEARCH: &str = "How to search";
const REPORT: &str = "What to report";

/// Find data races, deadlocks and blocks that are not atomic, without a property
///
/// Each finding is labelled: observed (in this run), shown (in another run of the same program, which is printed
/// and was checked independently) or possible (a cycle of lock orders for which no run is known).
///
/// Exit code 0: nothing observed or shown; 1: at least one finding; 2: bad input. Possible findings do not
/// affect the exit code.
#[derive(clap::Args)]
pub(crate) struct Find {
    /// The traces to search; `-` is standard input
    #[arg(required = true, value_name = "TRACE")]
    traces: Vec<PathBuf>,
    /// What to look for: races, deadlocks, atomicity, or several of these separated by commas; by default everything
    #[arg(long, value_name = "KINDS", help_heading = SEARCH)]
    only: Option<Hunt>,
    /// Which other orders count as the same computation
    #[arg(long, value_name = "MODEL", default_value = "happens-before", help_heading = SEARCH)]
    causality: Causality,
    /// How many cycles of lock orders to examine, shortest first; the report says when there are more
    #[arg(long, value_name = "N", default_value_t = Options::default().max_patterns, help_heading = SEARCH)]
    max_patterns: usize,
    #[command(flatten)]
    reading: ReadOptions,
    #[command(flatten)]
    suppress: Suppress,
    /// Report only findings that are not in this earlier report (from `--format json`)
    #[arg(long, value_name = "FILE", help_heading = REPORT)]
    baseline: Option<PathBuf>,
    /// Show every witness in full; by default only their last events are shown
    #[arg(long, help_heading = REPORT)]
    all: bool,
    /// Treat warnings as errors: exit with code 2 if there are any
    #[arg(long, help_heading = REPORT)]
    strict: bool,
    /// What to print; JSON is one object, or one per line for several runs; HTML is one page
    #[arg(long, value_name = "FORMAT", default_value = "text", help_heading = REPORT)]
    format: ReportFormat,
    /// Write to a file instead of standard output
    #[arg(long, short, value_name = "FILE", help_heading = REPORT)]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Causality {
    /// Events may be reordered as far as program order, synchronisation and conflicts allow
    HappensBefore,
    /// A thread may also go on without a critical section, or an unread write, of another
    Strong,
}

impl Find {
    pub(crate) fn run(&self, colour: Colour) -> Result<ExitCode, Failure> {
        self.look_at_paths()?;
        let finder = Finder::new(self.options()).without(self.suppress.read()?);
        let baseline = self
            .baseline
            .as_deref()
            .map(FindBaseline::read)
            .transpose()?;
        let (mut found, mut failures) = (Vec::new(), Vec::new());
        for path in &self.traces {
            let looked = { self.reading.open(path) }
                .and_then(|mut reader| trace::find(&mut reader, &finder, &mut found));
            failures.extend(looked.err());
        }
        for one in &mut found {
            if let Some(baseline) = &baseline {
                baseline.remove_known(one);
            }
        }
        if !found.is_empty() {
            self.deliver(&found, colour)?;
        }
        for failure in &failures {
            failure.report(colour);
        }
        let warnings: usize = found.iter().map(|one| one.warnings.len()).sum();
        let too_many_warnings = self.strict && warnings > 0;
        if too_many_warnings {
            let warnings = counted(warnings as u64, "warning");
            eprintln!("error: {warnings}, and --strict treats warnings as errors");
        }
        let is_bad = !failures.is_empty() || too_many_warnings;
        let is_certain = found.iter().any(|one| one.report.is_certain());
        Ok(ExitCode::from(if is_bad {
            2
        } else {
            u8::from(is_certain)
        }))
    }

    fn options(&self) -> Options {
        let usual = Options::default();
        usual
            .model(self.model())
            .hunt(self.only.unwrap_or(Hunt::ALL))
            .max_patterns(self.max_patterns)
            .witness_rows(if self.all {
                usize::MAX
            } else {
                usual.witness_rows
            })
    }

    fn model(&self) -> Model {
        match self.causality {
            Causality::HappensBefore => Model::HappensBefore,
            Causality::Strong => Model::Strong,
        }
    }

    /// Refuses obvious mistakes: standard input twice, or a report that would overwrite an input.
    fn look_at_paths(&self) -> Result<(), Failure> {
        let inputs = self
            .traces
            .iter()
            .chain(self.suppress.file())
            .chain(&self.baseline);
        crate::reading::look_at_paths(&self.traces, inputs, self.output.as_deref())
    }

    fn deliver(&self, found: &[Found], colour: Colour) -> Result<(), Failure> {
        let file = self.output.as_deref();
        match self.format {
            ReportFormat::Json => {
                let several = self.traces.len() > 1 || found.len() > 1;
                terminal::deliver_with(file, |out| json::write(out, found, several))
            }
            ReportFormat::Html => terminal::deliver(file, &html::render(found)?),
            ReportFormat::Text => {
                let on = match self.output {
                    Some(_) => matches!(colour, Colour::Always),
                    None => colour.on(&io::stdout()),
                };
                let texts: Vec<String> = { found.iter() }
                    .map(|one| text::head(one, Paint { on }) + &text::render(one, Paint { on }))
                    .collect();
                terminal::deliver(file, &texts.join("\n"))
            }
        }
    }
}
