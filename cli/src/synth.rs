//! `portent synth`: the monitor of a property, and what to know before trusting it.

use portent_monitor_dsl::{Config, Monitor, Property, Verdicts};
use serde_json::json;
use std::{fmt::Write, fs, io, path::PathBuf, process::ExitCode};

use crate::{
    failure::Failure,
    terminal::{self, Colour},
};

/// Show the monitor of a property, and what to know before trusting it
#[derive(clap::Args)]
pub(crate) struct Synth {
    /// A file of properties (may be given several times)
    #[arg(long, value_name = "FILE")]
    spec: Vec<PathBuf>,
    /// A bare formula, as in 'always (x >= y)' or 'ere: (open close)*' (may be given several times)
    #[arg(long, value_name = "TEXT")]
    property: Vec<String>,
    /// What to print
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: Format,
    /// Write to a file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// How many verdicts to tell apart: 4, or 3 to merge `pending` and `ok` into `unknown`
    #[arg(long, value_name = "3|4", default_value = "4", value_parser = verdicts)]
    verdicts: Verdicts,
    /// Give up on a monitor with more states than this
    #[arg(long, value_name = "N", default_value = "10000")]
    max_states: usize,
    /// Give up on a property with more propositions than this
    #[arg(long, value_name = "N", default_value = "20")]
    max_propositions: usize,
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
        let properties = self.properties()?;
        let config = Config::new()
            .verdicts(self.verdicts)
            .max_states(self.max_states)
            .max_propositions(self.max_propositions);
        for warning in properties.iter().flat_map(Property::warnings) {
            eprintln!("{}", warning.render(colour.on(&io::stderr())));
        }
        let monitors: Result<Vec<Monitor>, _> = properties
            .iter()
            .map(|property| config.monitor(property))
            .collect();
        let text = self.render(&monitors?)?;
        match &self.output {
            Some(path) => fs::write(path, text).map_err(|error| Failure::Write {
                path: path.clone(),
                error,
            })?,
            None => terminal::print(&text).map_err(Failure::Print)?,
        }
        Ok(ExitCode::SUCCESS)
    }

    fn properties(&self) -> Result<Vec<Property>, Failure> {
        let mut properties = Vec::new();
        for path in &self.spec {
            let text = fs::read(path).map_err(|error| Failure::Read {
                path: path.clone(),
                error,
            })?;
            properties.extend(Property::parse_file(&path.display().to_string(), text)?);
        }
        for text in &self.property {
            properties.push(Property::parse(text)?);
        }
        if properties.is_empty() {
            let message = "no property given; use --property 'always (x >= y)' or --spec FILE";
            return Err(Failure::Usage(message.to_owned()));
        }
        Ok(properties)
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
    let class = monitor.engine_class();
    writeln!(text, "  engine: {class} ({})", class.explanation())
        .expect("writing to a string does not fail");
    for note in monitor.notes() {
        writeln!(text, "  note: {note}").expect("writing to a string does not fail");
    }
    text
}
