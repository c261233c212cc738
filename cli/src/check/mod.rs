//! `portent check`: what the other interleavings of a run would have done.

mod baseline;
mod json;
mod news;
pub(crate) mod progress;
mod switches;
mod together;
pub(crate) mod trace;
pub(crate) mod warning;

use portent_answer::{
    Answer, Paint,
    html::{self, Origin},
    text,
};
use portent_findings::{Finder, Hunt};
use portent_lattice::{Counting, Engine, Model, Options, Stop};
use portent_monitor_dsl::{Config, Monitor};
use std::{io, num::NonZeroUsize, path::PathBuf, process::ExitCode, thread, time::Duration};

use crate::{
    duration,
    failure::Failure,
    find::{Suppress, html_extra, render_text},
    reading::ReadOptions,
    report::ReportFormat,
    size,
    spec::Spec,
    synthesis::SynthesisLimits,
    terminal::{self, Colour},
};
use baseline::CheckBaseline;
use progress::{Progress, When};
pub(crate) use switches::SWITCHES;
use together::Together;
use trace::Outcome;

/// The headings of the options in the help.
const SEARCH: &str = "How to search";
const REPORT: &str = "What to report";

/// Check properties on every run that is causally equivalent to a recorded one
///
/// Exit code 0: no violation, observed or predicted; 1: at least one; 2: bad input. If one of several
/// traces cannot be read, the others are still reported.
#[derive(clap::Args)]
pub(crate) struct Check {
    #[command(flatten)]
    spec: Spec,
    /// The traces to check; `-` is standard input, whose violations are printed as they become known
    #[arg(required = true, value_name = "TRACE")]
    traces: Vec<PathBuf>,
    /// The traces are from processes that ran together: treat them as one run, ordered by the clocks of its events
    #[arg(long)]
    together: bool,
    /// Which other orders count as the same computation
    #[arg(long, value_name = "MODEL", default_value = "happens-before", help_heading = SEARCH)]
    causality: Causality,
    /// Also look for races, deadlocks, atomicity, or several of these separated by commas, as `portent find` does; no
    /// property is needed then. Under `maximal` the findings are those of `strong`
    #[arg(long, value_name = "KINDS", help_heading = SEARCH)]
    find: Option<Hunt>,
    /// Keep at most this many cuts per level, those nearest the observed run
    #[arg(long, value_name = "CUTS", help_heading = SEARCH)]
    window: Option<NonZeroUsize>,
    /// Consider at most this many events past the oldest unfinished one
    #[arg(long, value_name = "EVENTS", help_heading = SEARCH)]
    lookahead: Option<u32>,
    /// The most memory to use. If that is not enough, the search uses a window that fits, checks fewer bindings,
    /// or follows only the observed order; the report says so
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = size::bytes, help_heading = SEARCH)]
    memory: u64,
    /// End the search after this time, such as `30s` or `2min`, and report what is known by then; the trace is
    /// read to its end
    #[arg(long, value_name = "LIMIT", value_parser = duration::parse, help_heading = SEARCH)]
    time: Option<Duration>,
    /// How many nodes `--causality strong` and `maximal` search for each property; a few seconds' worth if neither
    /// this nor a time is given
    #[arg(long, value_name = "N", help_heading = SEARCH)]
    max_nodes: Option<NonZeroUsize>,
    /// How many threads search; by default one per processor
    #[arg(long, value_name = "N", help_heading = SEARCH)]
    jobs: Option<NonZeroUsize>,
    /// The run ended for good: if it is still pending at the end of the trace, it is violated
    #[arg(long, help_heading = SEARCH)]
    complete: bool,
    /// Whether to count equivalent runs; `auto` counts in up to 10 million cuts, if that takes at most about
    /// a second longer than the search did
    #[arg(long, value_name = "WHEN", default_value = "auto", help_heading = SEARCH)]
    count: Count,
    /// How to search, if the property allows it; `auto` chooses by the property and the size of the lattice
    #[arg(long, value_name = "ENGINE", default_value = "auto", help_heading = SEARCH)]
    engine: EngineChoice,
    /// How many bindings of each property to check; a warning says when there are more
    #[arg(long, value_name = "N", default_value_t = Options::default().max_bindings, help_heading = SEARCH)]
    max_bindings: usize,
    #[command(flatten)]
    limits: SynthesisLimits,
    #[command(flatten)]
    reading: ReadOptions,
    /// Show every witness in full; by default the first few of each property are shown, and the others
    /// get a line each
    #[arg(long, help_heading = REPORT)]
    all: bool,
    /// Treat warnings as errors: exit with code 2 if there are any
    #[arg(long, help_heading = REPORT)]
    strict: bool,
    #[command(flatten)]
    suppress: Suppress,
    /// Report only violations and findings that are not in this earlier report (from `--format json`)
    #[arg(long, value_name = "FILE", help_heading = REPORT)]
    baseline: Option<PathBuf>,
    /// What to print; JSON is one object, or one per line for several runs;
    /// HTML is one page
    #[arg(long, value_name = "FORMAT", default_value = "text", help_heading = REPORT)]
    format: ReportFormat,
    /// Write to a file instead of standard output
    #[arg(long, short, value_name = "FILE", help_heading = REPORT)]
    output: Option<PathBuf>,
    /// Also report how the search went and what its reductions saved
    #[arg(long, help_heading = REPORT)]
    stats: bool,
    /// When to show progress, on standard error
    #[arg(long, value_name = "WHEN", default_value = "auto", help_heading = REPORT)]
    progress: When,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Causality {
    /// Events may be reordered as far as program order, synchronisation and conflicts allow
    HappensBefore,
    /// Also runs in which a thread goes on without a critical section or an unread write of another; two conflicting events that
    /// are both kept stay in the observed order. Runs are not counted
    Strong,
    /// Also runs that reorder whole critical sections and unread writes, as long as every read sees the write
    /// that it saw. Runs are not counted
    Maximal,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum EngineChoice {
    /// Whatever suits the property and the size of the lattice
    Auto,
    /// Only the observed run, if all concurrent steps commute
    Linear,
    /// Conditions on single variables that hold together
    Conjunctive,
    /// Counters that reach a bound, such as threads inside at once
    Flow,
    /// Symbolic nodes, each of which stands for many cuts
    Intervals,
    /// The lattice, level by level; also used if the requested engine has no answer
    Enumerate,
}

impl EngineChoice {
    fn class(self) -> Option<Engine> {
        match self {
            EngineChoice::Auto => None,
            EngineChoice::Linear => Some(Engine::Linear),
            EngineChoice::Conjunctive => Some(Engine::Conjunctive),
            EngineChoice::Flow => Some(Engine::Flow),
            EngineChoice::Intervals => Some(Engine::Intervals),
            EngineChoice::Enumerate => Some(Engine::Enumerate),
        }
    }
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Count {
    /// Whatever the size of the lattice, within the memory limit
    Always,
    /// Not at all; the search stops at the first violation
    Never,
    /// If there are at most 10 million cuts and it does not take long
    Auto,
}

impl Check {
    pub(crate) fn run(&self, colour: Colour) -> Result<ExitCode, Failure> {
        self.look_at_paths()?;
        if let (Some(file), None) = (self.suppress.file(), self.find) {
            let file = file.display();
            let problem =
                format!("--suppress {file} is for what --find finds, and there is no --find");
            return Err(Failure::Usage(problem));
        }
        let finder = self.finder()?;
        let baseline = self
            .baseline
            .as_deref()
            .map(CheckBaseline::read)
            .transpose()?;
        let properties = if self.find.is_some() && self.spec.is_empty() {
            Vec::new()
        } else {
            self.spec.properties(colour)?
        };
        let monitors = self.limits.monitors(&properties, Config::new())?;
        let processors = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        // More threads than processors only slow each other down.
        let jobs = self
            .jobs
            .map_or(processors, |jobs| jobs.get().min(processors));
        rayon::ThreadPoolBuilder::new()
            .num_threads(jobs)
            .build_global()
            .map_err(|error| Failure::Usage(format!("cannot start {jobs} threads: {error}")))?;
        let progress = Progress::new(self.progress);
        let options = self
            .options(jobs > 1)
            .progress(progress.search.clone())
            .stop(self.time.map(stop_after).unwrap_or_default());
        let (mut outcomes, mut failures) = (Vec::new(), Vec::new());
        if self.together {
            let checked = self.check_together(&monitors, &options, &progress, finder.as_ref());
            outcomes.push(checked?);
        }
        for path in self.traces.iter().filter(|_| !self.together) {
            let flows = path.as_os_str() == "-";
            let tells_news = flows && self.tells_news();
            let checked = self.reading.open(path).and_then(|mut reader| {
                trace::check(
                    &mut reader,
                    &monitors,
                    &options,
                    &progress,
                    tells_news,
                    finder.as_ref(),
                    &mut outcomes,
                )
            });
            failures.extend(checked.err());
        }
        drop(progress);
        for found in outcomes.iter_mut().filter_map(|one| one.found.as_mut()) {
            found.is_asked_for_more = matches!(self.causality, Causality::Maximal);
        }
        if let Some(baseline) = &baseline {
            for outcome in &mut outcomes {
                baseline.remove_known(outcome);
            }
        }
        let violated = outcomes.iter().any(|outcome| {
            let found = outcome.found.as_ref();
            outcome.report.is_violated() || found.is_some_and(|found| found.report.is_certain())
        });
        if !outcomes.is_empty() {
            self.deliver(&outcomes, &monitors, colour)?;
        }
        // Last, so that it is not overlooked above the output for other traces.
        for failure in &failures {
            failure.report(colour);
        }
        let unused = properties.iter().map(|property| property.warnings().len());
        let of_traces = outcomes.iter().map(|outcome| outcome.warnings.len());
        let warnings: usize = unused.chain(of_traces).sum();
        let too_many_warnings = self.strict && warnings > 0;
        if too_many_warnings {
            let warnings = text::numbers::counted(warnings as u64, "warning");
            eprintln!("error: {warnings}, and --strict treats warnings as errors");
        }
        let is_bad = !failures.is_empty() || too_many_warnings;
        Ok(ExitCode::from(if is_bad { 2 } else { u8::from(violated) }))
    }

    /// Checks all traces as one.
    fn check_together(
        &self,
        monitors: &[Monitor],
        options: &Options,
        progress: &Progress,
        finder: Option<&Finder>,
    ) -> Result<Outcome, Failure> {
        let readers = self.traces.iter().map(|path| self.reading.open(path));
        let readers = readers.collect::<Result<Vec<_>, _>>()?;
        Together::new(readers, self.reading.is_lenient(), finder.cloned())
            .check(monitors, options, progress)
    }

    /// Whether early results can be printed before a trace has ended: only as text, and only to a terminal or pipe.
    fn tells_news(&self) -> bool {
        matches!(self.format, ReportFormat::Text)
            && self.output.is_none()
            && self.baseline.is_none()
    }

    /// Refuses obvious mistakes: standard input twice, or a report in place of a trace.
    fn look_at_paths(&self) -> Result<(), Failure> {
        let others = self.suppress.file().into_iter().chain(&self.baseline);
        let inputs = self.traces.iter().chain(self.spec.files()).chain(others);
        crate::reading::look_at_paths(&self.traces, inputs, self.output.as_deref())
    }

    /// Who looks for what else there is, before it has seen anything.
    fn finder(&self) -> Result<Option<Finder>, Failure> {
        let suppressions = self.suppress.read()?;
        let model = match self.causality {
            Causality::HappensBefore => portent_findings::Model::HappensBefore,
            Causality::Strong | Causality::Maximal => portent_findings::Model::Strong,
        };
        let options = portent_findings::Options::default().model(model);
        let finder = |hunt| Finder::new(options.hunt(hunt)).without(suppressions);
        Ok(self.find.map(finder))
    }

    fn options(&self, parallel: bool) -> Options {
        Options::default()
            .causality(match self.causality {
                Causality::HappensBefore => Model::HappensBefore,
                Causality::Strong => Model::Strong,
                Causality::Maximal => Model::Maximal,
            })
            .trial_events(Options::TRIAL_EVENTS)
            .window(self.window.map(NonZeroUsize::get))
            .lookahead(self.lookahead)
            .memory(self.memory)
            .max_bindings(self.max_bindings)
            .max_nodes(self.most_nodes())
            .engine(self.engine.class())
            .counting(self.counting())
            .complete(self.complete)
            .parallel(parallel)
            .witnesses(if self.all {
                None
            } else {
                Options::default().witnesses
            })
            .pictures(match self.format {
                ReportFormat::Html => html::PageRoom::pictures(self.all, self.baseline.is_some()),
                ReportFormat::Text | ReportFormat::Json => 0,
            })
    }

    /// A given time is the bound, in place of the search's default limits.
    fn most_nodes(&self) -> Option<usize> {
        let timed = self.time.map(|_| usize::MAX);
        self.max_nodes.map(NonZeroUsize::get).or(timed)
    }

    fn counting(&self) -> Counting {
        match self.count {
            Count::Always => Counting::Always,
            Count::Never => Counting::Never,
            Count::Auto => Counting::Auto,
        }
    }

    fn deliver(
        &self,
        outcomes: &[Outcome],
        monitors: &[Monitor],
        colour: Colour,
    ) -> Result<(), Failure> {
        let style = |on| text::Style {
            paint: Paint { on },
            complete: self.complete,
            stats: self.stats,
            feasible: !matches!(self.causality, Causality::HappensBefore),
            lookahead: self.lookahead,
            engine: self.engine.class(),
            counting: self.counting(),
            all: self.all,
            switches: &SWITCHES,
        };
        let file = self.output.as_deref();
        let text = match self.format {
            ReportFormat::Json => {
                let several = self.traces.len() > 1;
                return terminal::deliver_with(file, |out| {
                    json::write(out, outcomes, monitors, style(false), several)
                });
            }
            ReportFormat::Html => {
                let answers: Vec<Answer<'_>> = outcomes.iter().map(Outcome::answer).collect();
                let found = outcomes.iter().filter_map(|outcome| outcome.found.as_ref());
                let extra = html_extra(found);
                html::render(&answers, monitors, style(false), Origin::here()?, extra)
            }
            ReportFormat::Text => {
                let on = match self.output {
                    Some(_) => matches!(colour, Colour::Always),
                    None => colour.on(&io::stdout()),
                };
                report(outcomes, monitors, style(on))
            }
        };
        terminal::deliver(file, &text)
    }
}

/// The output for several traces.
pub(crate) fn report(outcomes: &[Outcome], monitors: &[Monitor], style: text::Style) -> String {
    let text = |outcome: &Outcome| {
        let mut text = text::render(outcome.answer(), monitors, style);
        if let Some(command) = outcome.confirm() {
            text += &format!("\nTo make it happen: {command}\n");
        }
        if let Some(found) = &outcome.found {
            text += &render_text(found, style.paint);
        }
        text
    };
    let texts: Vec<String> = outcomes.iter().map(text).collect();
    texts.join("\n")
}

/// A signal that stops searches when the time is up.
fn stop_after(time: Duration) -> Stop {
    let stop = Stop::new();
    let raised = stop.clone();
    // The thread is never joined: the command may well finish earlier.
    thread::spawn(move || {
        thread::sleep(time);
        raised.raise();
    });
    stop
}
