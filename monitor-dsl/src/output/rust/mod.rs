//! The machine as Rust source: a state machine with no dependency, not even on Portent.
//!
//! Variables become public fields and events an enum; `step` reads the fields. Every condition is
//! generated from the same gauges that the library steps with, so that the two agree to the letter.

mod arm;
mod condition;
mod spell;

use std::fmt::{self, Write};

use self::spell::{identifiers, one_line, rust_type, rust_value};
use crate::{alphabet::Alphabet, monitor::Monitor, verdict::Verdict};

impl Monitor {
    /// A standalone Rust module with a type `Monitor` that steps like this one.
    ///
    /// ```
    /// use portent_monitor_dsl::Property;
    ///
    /// let source = Property::parse("always !error")?.monitor()?.to_rust();
    /// assert!(source.contains("pub enum Event {"));
    /// # Ok::<(), portent_monitor_dsl::Error>(())
    /// ```
    pub fn to_rust(&self) -> String {
        let mut source = String::new();
        let generator = Generator {
            monitor: self,
            fields: identifiers(self.alphabet().variables().iter().map(|v| &*v.name), false),
            events: identifiers(self.alphabet().events().iter().map(|e| &*e.name), true),
        };
        generator
            .write(&mut source)
            .expect("writing to a string does not fail");
        source
    }
}

struct Generator<'a> {
    monitor: &'a Monitor,
    /// The Rust names of variables and of events.
    fields: Vec<String>,
    events: Vec<String>,
}

impl Generator<'_> {
    fn alphabet(&self) -> &Alphabet {
        self.monitor.alphabet()
    }

    fn write(&self, out: &mut String) -> fmt::Result {
        let property = self.monitor.property();
        writeln!(
            out,
            "// Monitor for the property {:?}, made by `portent synth`.",
            property.name()
        )?;
        writeln!(out, "//")?;
        for line in property.text().lines() {
            writeln!(out, "//     {}", one_line(line.trim()))?;
        }
        self.write_verdicts(out)?;
        self.write_events(out)?;
        self.write_struct(out)?;
        self.write_methods(out)
    }

    fn write_verdicts(&self, out: &mut String) -> fmt::Result {
        out.push_str(
            "
/// What the monitor says about the run so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code)]
pub enum Verdict {
    /// No continuation can satisfy the property.
    Violated,
    /// Every continuation satisfies the property.
    Satisfied,
    /// Open; if the run ended here the property would be false.
    Pending,
    /// Open; if the run ended here the property would be true.
    Ok,
    /// Open.
    Unknown,
}
",
        );
        Ok(())
    }

    fn write_events(&self, out: &mut String) -> fmt::Result {
        writeln!(out, "\n/// The events that the property knows.")?;
        writeln!(out, "#[derive(Clone, Copy, Debug, PartialEq, Eq)]")?;
        writeln!(out, "pub enum Event {{")?;
        for (event, name) in self.alphabet().events().iter().zip(&self.events) {
            let declared = event.declaration(self.monitor.property().parameters());
            writeln!(out, "    /// {}", one_line(&declared))?;
            writeln!(out, "    {name},")?;
        }
        writeln!(out, "}}")
    }

    fn write_struct(&self, out: &mut String) -> fmt::Result {
        writeln!(out, "\n/// One run of the property.")?;
        writeln!(out, "#[derive(Clone, Debug)]")?;
        writeln!(out, "pub struct Monitor {{")?;
        for (variable, field) in self.alphabet().variables().iter().zip(&self.fields) {
            writeln!(
                out,
                "    /// The variable `{}`; write it, then call `step`.",
                one_line(&variable.name)
            )?;
            writeln!(out, "    pub {field}: {},", rust_type(variable.type_of))?;
        }
        writeln!(out, "    state: u32,")?;
        writeln!(out, "}}")
    }

    fn write_methods(&self, out: &mut String) -> fmt::Result {
        let variables = self.alphabet().variables();
        let arguments: Vec<String> = variables
            .iter()
            .zip(&self.fields)
            .map(|(variable, field)| format!("{field}: {}", rust_type(variable.type_of)))
            .collect();
        writeln!(out, "\nimpl Monitor {{")?;
        let defaults: Option<Vec<String>> = variables
            .iter()
            .map(|variable| variable.initial.as_ref().map(rust_value))
            .collect();
        match defaults {
            Some(defaults) if !defaults.is_empty() => {
                writeln!(
                    out,
                    "    /// A run that begins with the values that the property declares."
                )?;
                writeln!(out, "    pub fn new() -> Self {{")?;
                writeln!(out, "        Self::with({})", defaults.join(", "))?;
                writeln!(out, "    }}\n")?;
                writeln!(out, "    /// A run that begins with these values.")?;
                writeln!(out, "    pub fn with({}) -> Self {{", arguments.join(", "))?;
            }
            _ => {
                writeln!(out, "    /// A new run.")?;
                writeln!(out, "    pub fn new({}) -> Self {{", arguments.join(", "))?;
            }
        }
        let mut fields = self.fields.clone();
        fields.push("state: 0".to_owned());
        let fields = fields.join(", ");
        if variables.is_empty() {
            writeln!(out, "        Monitor {{ {fields} }}")?;
        } else {
            writeln!(out, "        let mut monitor = Monitor {{ {fields} }};")?;
            writeln!(
                out,
                "        monitor.step(None); // the letter for the initial values"
            )?;
            writeln!(out, "        monitor")?;
        }
        writeln!(out, "    }}\n")?;
        self.write_verdict(out)?;
        self.write_step(out)?;
        writeln!(out, "}}")
    }

    fn write_verdict(&self, out: &mut String) -> fmt::Result {
        writeln!(out, "    /// The verdict on the run so far.")?;
        writeln!(out, "    pub fn verdict(&self) -> Verdict {{")?;
        writeln!(out, "        match self.state {{")?;
        let all = [
            Verdict::Violated,
            Verdict::Satisfied,
            Verdict::Pending,
            Verdict::Ok,
            Verdict::Unknown,
        ];
        let states_of = |verdict: Verdict| -> Vec<String> {
            let states = self.monitor.state_ids();
            let states = states.filter(|&state| self.monitor.verdict(state) == verdict);
            states.map(|state| state.index().to_string()).collect()
        };
        let mut present: Vec<(Verdict, Vec<String>)> = all
            .iter()
            .map(|&verdict| (verdict, states_of(verdict)))
            .collect();
        present.retain(|(_, states)| !states.is_empty());
        // The verdict of most states is the one for "all others".
        present.sort_by_key(|(_, states)| states.len());
        let (last, others) = present.split_last().expect("a machine has a state");
        for (verdict, states) in others {
            writeln!(
                out,
                "            {} => Verdict::{verdict:?},",
                states.join(" | ")
            )?;
        }
        writeln!(out, "            _ => Verdict::{:?},", last.0)?;
        writeln!(out, "        }}")?;
        writeln!(out, "    }}\n")
    }

    fn write_step(&self, out: &mut String) -> fmt::Result {
        let silent = self.alphabet().has_silent_letter();
        writeln!(
            out,
            "    /// Takes a step: one of the events, or none of them, with the fields as they are now."
        )?;
        if !silent {
            writeln!(
                out,
                "    /// A step of this property is always an event; `None` changes nothing."
            )?;
        }
        writeln!(out, "    #[allow(unused_variables, clippy::all)]")?;
        writeln!(
            out,
            "    pub fn step(&mut self, event: Option<Event>) -> Verdict {{"
        )?;
        if !silent {
            writeln!(out, "        if event.is_none() {{")?;
            writeln!(out, "            return self.verdict();")?;
            writeln!(out, "        }}")?;
        }
        for (index, proposition) in self.alphabet().propositions().iter().enumerate() {
            writeln!(
                out,
                "        let p{index} = {}; // {}",
                self.proposition(index),
                one_line(&proposition.to_string())
            )?;
        }
        writeln!(out, "        self.state = match self.state {{")?;
        for state in self.monitor.state_ids() {
            let arm = arm::of_edges(&self.monitor.edges(state));
            writeln!(out, "            {} => {arm},", state.index())?;
        }
        writeln!(out, "            state => state,")?;
        writeln!(out, "        }};")?;
        writeln!(out, "        self.verdict()")?;
        writeln!(out, "    }}")
    }
}
