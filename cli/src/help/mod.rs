//! `portent help`: what a command does, or one of the documents, laid out for the terminal.

mod lines;
mod markdown;
mod pager;
mod table;
mod words;

use clap::CommandFactory;
use portent_monitor_core::suggest::closest;
use std::{io, process::ExitCode};

use portent_answer::Paint;

use crate::{Arguments, failure::Failure, terminal::Colour};

/// The documents, by their topics.
const TOPICS: [(&str, &str); 7] = [
    ("properties", include_str!("../../docs/properties.md")),
    ("traces", include_str!("../../docs/traces.md")),
    ("reports", include_str!("../../docs/reports.md")),
    ("cookbook", include_str!("../../docs/cookbook.md")),
    ("findings", include_str!("../../docs/findings.md")),
    ("live", include_str!("../../docs/live.md")),
    ("explore", include_str!("../../docs/explore.md")),
];

/// The text below the list of commands.
pub(crate) const LIST: &str = "\
Topics, each a document:
  portent help properties  The language: operators, patterns, parameters, verdicts, limits
  portent help traces      The formats, when to log what, what orders what
  portent help reports     How to read an answer: text, JSON, HTML, exit codes
  portent help cookbook    Questions from real programs, with properties, traces and answers
  portent help findings    Races, deadlocks and blocks that are not atomic, without a property
  portent help live        Rust programs that are watched while they run
  portent help explore     Rust programs that are run in every way that makes a difference";

/// Explain a command, or a topic: properties, traces, reports, cookbook, findings, live, explore
#[derive(clap::Args)]
pub(crate) struct Help {
    /// A command or a topic; without one, the list of them
    #[arg(value_name = "COMMAND|TOPIC")]
    subject: Option<String>,
}

impl Help {
    pub(crate) fn run(&self, colour: Colour) -> Result<ExitCode, Failure> {
        let paint = Paint {
            on: colour.on(&io::stdout()),
        };
        let subject = self.subject.as_deref();
        let document = TOPICS.iter().find(|(topic, _)| Some(*topic) == subject);
        let text = match document {
            Some((_, document)) => markdown::render(document, lines::width(), paint),
            None => explain_command(subject, paint)?,
        };
        pager::show(&text).map_err(Failure::Print)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// The same as `--help` of a command, or of the whole program.
fn explain_command(name: Option<&str>, paint: Paint) -> Result<String, Failure> {
    let mut program = Arguments::command();
    // Only then do the commands know the global options.
    program.build();
    let command = match name {
        None => Some(&mut program),
        Some(name) => program.find_subcommand_mut(name),
    };
    let Some(command) = command else {
        return Err(unknown(name.unwrap_or_default()));
    };
    let help = command.render_long_help();
    Ok(if paint.on {
        help.ansi().to_string()
    } else {
        help.to_string()
    })
}

fn unknown(name: &str) -> Failure {
    let program = Arguments::command();
    let commands: Vec<&str> = program.get_subcommands().map(|c| c.get_name()).collect();
    let topics = TOPICS.map(|(topic, _)| topic);
    let known = commands.iter().copied().chain(topics);
    let meant = closest(name, known).map(|close| format!("did you mean `{close}`? "));
    Failure::Usage(format!(
        "`{name}` is neither a command nor a topic; {}the commands are {}, the topics are {}",
        meant.unwrap_or_default(),
        commands.join(", "),
        topics.join(", ")
    ))
}
