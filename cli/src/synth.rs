//! `portent synth`: the monitor of a property, and warnings to read before trusting it.

use portent_monitor_dsl::{Config, Monitor, Verdicts};
use serde_json::json;
use std::{fmt::Write, path::PathBuf, process::ExitCode};

use crate::{
    failure::Failure,
    spec::Spec,
    synthesis::SynthesisLimits,
    terminal::{self, Colour},
};

/// Show the monitor of a property, and what to know before trusting it
#[derive(clap::Args)]
pub(crate) struct Synth {
    #[command(flatten)]
    spec: Spec,
    /// What to print
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: Format,
    /// Write to a file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// How many verdicts to tell apart: 4, or 3 to merge `pending` and `ok` into `unknown`
    #[arg(long, value_name = "3|4", default_value = "4", value_parser = verdicts)]
    verdicts: Verdicts,
    #[command(flatten)]
    limits: SynthesisLimits,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// For people
    Table,
    /// For programs
    Json,
    /// For Graphviz
    Dot,
    /// A standalone state machine in Rust
    Rust,
}

fn verdicts(text: &str) -> Result<Verdicts, String> {
    match text {
        "3" => Ok(Verdicts::Three),
        "4" => Ok(Verdicts::Four),
        _ => Err("expected 3 or 4".to_owned()),
    }
}

impl Synth {
    pub(crate) fn run(&self, colour: Colour) -> Result<ExitCode, Failure> {
        let properties = self.spec.properties(colour)?;
        let config = Config::new().verdicts(self.verdicts);
        let monitors = self.limits.monitors(&properties, config)?;
        let text = self.render(&monitors)?;
        terminal::deliver(self.output.as_deref(), &text)?;
        Ok(ExitCode::SUCCESS)
    }

    fn render(&self, monitors: &[Monitor]) -> Result<String, Failure> {
        Ok(match self.format {
            Format::Table => monitors.iter().map(table).collect::<Vec<_>>().join("\n"),
            Format::Dot => monitors.iter().map(Monitor::to_dot).collect(),
            Format::Json => {
                let properties: Vec<serde_json::Value> = monitors.iter().map(description).collect();
                let text = serde_json::to_string_pretty(&json!({"properties": properties}))
                    .expect("a description is plain data");
                text + "\n"
            }
            Format::Rust => match monitors {
                [monitor] => monitor.to_rust(),
                _ => {
                    let message = "--format rust makes a module of one property; \
                                   give one with --property, or a file with one";
                    return Err(Failure::Usage(message.to_owned()));
                }
            },
        })
    }
}

fn description(monitor: &Monitor) -> serde_json::Value {
    let mut value =
        serde_json::to_value(monitor.description()).expect("a description is plain data");
    value["engine"] = json!(monitor.engine_class().as_str());
    value["notes"] = json!(monitor.notes());
    value
}

fn table(monitor: &Monitor) -> String {
    let property = monitor.property();
    let mut text = String::new();
    let states = match monitor.states() {
        1 => "1 state".to_owned(),
        states => format!("{states} states"),
    };
    let propositions = monitor.alphabet().propositions();
    let letters = match monitor.letter_classes() {
        Some(1) => ", 1 letter class".to_owned(),
        Some(classes) => format!(", {classes} letter classes"),
        None => String::new(),
    };
    writeln!(
        text,
        "property {}  ({}, {states}{letters})",
        property.name(),
        property.kind()
    )
    .and_then(|()| {
        let names: Vec<String> = propositions.iter().map(ToString::to_string).collect();
        writeln!(text, "  propositions: {}", names.join(", "))
    })
    .and_then(|()| writeln!(text, "\n{}", monitor.to_table()))
    .expect("writing to a string does not fail");
    if monitor.states() > Monitor::TABLE_STATES {
        text += "  `--format json` has all states.\n";
    }
    let class = monitor.engine_class();
    writeln!(text, "  engine: {class} ({})", class.explanation())
        .expect("writing to a string does not fail");
    for note in monitor.notes() {
        let place = match &note.place {
            Some(place) => format!(" (line {}, column {})", place.line(), place.column()),
            None => String::new(),
        };
        writeln!(text, "  note: {note}{place}").expect("writing to a string does not fail");
    }
    text
}
