//! The `portent` command.

mod check;
mod completions;
mod convert;
mod demo;
mod duration;
mod failure;
mod find;
mod help;
mod manual;
mod reading;
mod report;
#[cfg(feature = "serve")]
mod serve;
mod size;
mod spec;
mod staged;
mod synth;
mod synthesis;
mod terminal;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Finds the concurrency bugs that a run did not show.
///
/// Write a temporal property; Portent checks it on every run that is causally equivalent to the one
/// that was observed.
#[derive(Parser)]
#[command(
    name = "portent",
    version,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    after_help = help::LIST
)]
struct Arguments {
    /// When to use colour.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: terminal::Colour,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Check(Box<check::Check>),
    Find(Box<find::Find>),
    Synth(synth::Synth),
    Convert(convert::Convert),
    #[cfg(feature = "serve")]
    Serve(Box<serve::Serve>),
    Demo(demo::Demo),
    Help(help::Help),
    Completions(completions::Completions),
    #[command(name = "man")]
    Manual(manual::Manual),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match arguments.command {
        Command::Check(check) => check.run(arguments.color),
        Command::Find(find) => find.run(arguments.color),
        Command::Synth(synth) => synth.run(arguments.color),
        Command::Convert(convert) => convert.run(),
        #[cfg(feature = "serve")]
        Command::Serve(serve) => serve.run(arguments.color),
        Command::Demo(demo) => demo.run(arguments.color),
        Command::Help(help) => help.run(arguments.color),
        Command::Completions(completions) => completions.run(),
        Command::Manual(manual) => manual.run(),
    };
    match result {
        Ok(code) => code,
        Err(failure) => {
            failure.report(arguments.color);
            ExitCode::from(2)
        }
    }
}
