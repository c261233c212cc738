//! The machine as Rust source: a state machine with no dependency, not even on Portent.
//!
//! Variables become public fields and events an enum; `step` reads the fields. Every condition is
//! generated from the same gauges that the library steps with, so that the two agree to the letter.

use portent_monitor_core::{Type, Value};
use std::fmt::{self, Write};

use crate::{
    alphabet::{
        Alphabet, VariableId,
        arithmetic::{FloatTerm, Polynomial},
        gauge::{Gauge, Reading},
    },
    monitor::Monitor,
    verdict::Verdict,
};

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
            writeln!(out, "    /// {}", one_line(&event.name))?;
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
        let name = |index: usize| (format!("p{index}"), true);
        for state in self.monitor.state_ids() {
            let edges = self.monitor.edges(state);
            let (last, others) = edges.split_last().expect("every state has a successor");
            let mut body = String::new();
            for (to, when) in others {
                write!(body, "if {} {{ {} }} else ", when.spell(&name), to.index())?;
            }
            let arm = match others.is_empty() {
                true => last.0.index().to_string(),
                false => format!("{body}{{ {} }}", last.0.index()),
            };
            writeln!(out, "            {} => {arm},", state.index())?;
        }
        writeln!(out, "            state => state,")?;
        writeln!(out, "        }};")?;
        writeln!(out, "        self.verdict()")?;
        writeln!(out, "    }}")
    }

    /// A proposition as a Rust expression.
    fn proposition(&self, index: usize) -> String {
        if let Some(event) = self.alphabet().propositions()[index].event() {
            return format!("event == Some(Event::{})", self.events[event.index()]);
        }
        for (gauge, place) in self.alphabet().gauges().iter().zip(1..) {
            let at = self.alphabet().propositions_at(place);
            if let Some((_, cells)) = at.iter().find(|(proposition, _)| *proposition == index) {
                return self.reading(gauge, cells);
            }
        }
        unreachable!("a proposition is an event or read off a gauge")
    }

    /// Whether a gauge stands in one of `cells`.
    fn reading(&self, gauge: &Gauge, cells: &[bool]) -> String {
        let holds: Vec<bool> = gauge
            .cell_at
            .iter()
            .map(|&cell| cells[cell as usize])
            .collect();
        if holds.iter().all(|&at| at == holds[0]) {
            return holds[0].to_string();
        }
        let field = |variable: &VariableId| format!("self.{}", self.fields[variable.index()]);
        let either = |yes: bool, text: String| if yes { text } else { format!("!({text})") };
        match &gauge.reading {
            Reading::Bool(variable) => either(holds[1], field(variable)),
            Reading::SameText(a, b) => either(holds[1], format!("{} == {}", field(a), field(b))),
            Reading::Text(variable, literals) => {
                let other = holds[literals.len()];
                let is = |literal: &str| format!("{} == {literal:?}", field(variable));
                let listed = literals.iter().zip(&holds).filter(|(_, at)| **at != other);
                let listed: Vec<String> = listed.map(|(literal, _)| is(literal)).collect();
                either(!other, listed.join(" || "))
            }
            Reading::Order(a, b) => {
                let (a, b) = (self.float_term(a), self.float_term(b));
                let tests = [
                    format!("{a} < {b}"),
                    format!("{a} == {b}"),
                    format!("!({a} < {b} || {a} == {b})"),
                ];
                let tests: Vec<String> = tests
                    .into_iter()
                    .zip(&holds)
                    .filter(|(_, at)| **at)
                    .map(|(t, _)| t)
                    .collect();
                tests.join(" || ")
            }
            Reading::Integer(term, thresholds) => {
                let term = self.polynomial(term);
                runs(&holds, |from, to| {
                    let lower = from.map(|at| format!("{term} >= {}", thresholds[at - 1]));
                    let upper = to.map(|at| format!("{term} < {}", thresholds[at - 1]));
                    (lower, upper)
                })
            }
            Reading::Float(term, points) => {
                let term = self.float_term(term);
                // Odd positions are points, even ones what lies after a point. The negations make
                // not-a-number smaller than every number, as in the library.
                let reached = |at: usize| match at % 2 {
                    1 => format!("{term} >= {:?}f64", points[at / 2]),
                    _ => format!("{term} > {:?}f64", points[at / 2 - 1]),
                };
                runs(&holds, |from, to| {
                    (
                        from.map(reached),
                        to.map(|at| format!("!({})", reached(at))),
                    )
                })
            }
        }
    }

    fn polynomial(&self, term: &Polynomial) -> String {
        let products: Vec<String> = term
            .products()
            .map(|(variables, coefficient)| {
                let mut variables = variables.iter();
                let field = |variable: &VariableId| {
                    format!("i128::from(self.{})", self.fields[variable.index()])
                };
                let mut text = match (coefficient, variables.next()) {
                    (1, Some(first)) => field(first),
                    (_, None) => format!("{coefficient}i128"),
                    (_, Some(first)) => {
                        format!("{}.saturating_mul({coefficient})", field(first))
                    }
                };
                for variable in variables {
                    text = format!("{text}.saturating_mul({})", field(variable));
                }
                text
            })
            .collect();
        let (first, rest) = products.split_first().expect("a polynomial has a product");
        rest.iter().fold(first.clone(), |sum, next| {
            format!("{sum}.saturating_add({next})")
        })
    }

    fn float_term(&self, term: &FloatTerm) -> String {
        match term {
            FloatTerm::Constant(x) => format!("{x:?}f64"),
            FloatTerm::Variable(variable) => {
                let field = format!("self.{}", self.fields[variable.index()]);
                match self.alphabet().variables()[variable.index()].type_of {
                    Type::Float => field,
                    _ => format!("({field} as f64)"),
                }
            }
            FloatTerm::Negated(a) => format!("(-{})", self.float_term(a)),
            FloatTerm::Sum(a, b) => format!("({} + {})", self.float_term(a), self.float_term(b)),
            FloatTerm::Difference(a, b) => {
                format!("({} - {})", self.float_term(a), self.float_term(b))
            }
            FloatTerm::Product(a, b) => {
                format!("({} * {})", self.float_term(a), self.float_term(b))
            }
        }
    }
}

/// The runs of positions that hold, each as a lower and an upper bound, joined by "or". `bounds`
/// gets the first position of the run and the first after it; `None` where there is no bound.
fn runs(
    holds: &[bool],
    bounds: impl Fn(Option<usize>, Option<usize>) -> (Option<String>, Option<String>),
) -> String {
    let mut parts = Vec::new();
    let mut start = 0;
    while start < holds.len() {
        let end = (start..holds.len())
            .find(|&at| holds[at] != holds[start])
            .unwrap_or(holds.len());
        if holds[start] {
            let (lower, upper) = bounds(
                (start > 0).then_some(start),
                (end < holds.len()).then_some(end),
            );
            let bounds: Vec<String> = lower.into_iter().chain(upper).collect();
            parts.push(bounds.join(" && "));
        }
        start = end;
    }
    match parts.len() {
        1 => parts.swap_remove(0),
        _ => parts
            .iter()
            .map(|part| format!("({part})"))
            .collect::<Vec<_>>()
            .join(" || "),
    }
}

fn rust_type(type_of: Type) -> &'static str {
    match type_of {
        Type::Bool => "bool",
        Type::Int => "i64",
        Type::Float => "f64",
        Type::Str => "String",
    }
}

fn rust_value(value: &Value) -> String {
    match value {
        Value::Float(x) => format!("{x:?}f64"),
        Value::Str(text) => format!("String::from({text:?})"),
        other => other.to_string(),
    }
}

/// Text as it may stand in a comment: on one line, and without characters that rustc refuses there
/// because they change how the text reads.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\r' | '\t' => line.push(' '),
            _ if character.is_alphanumeric() || character.is_ascii_graphic() => {
                line.push(character)
            }
            ' ' => line.push(' '),
            _ => line.extend(character.escape_unicode()),
        }
    }
    line
}

/// Rust identifiers for names, all different: `CamelCase` for variants, `snake_case` for fields.
fn identifiers<'a>(names: impl Iterator<Item = &'a str>, variants: bool) -> Vec<String> {
    let mut taken: Vec<String> = Vec::new();
    for name in names {
        let mut words = name
            .split(|c: char| !c.is_ascii_alphanumeric())
            .filter(|w| !w.is_empty());
        let mut identifier = match variants {
            true => words
                .map(|word| {
                    let (first, rest) = word.split_at(1);
                    first.to_ascii_uppercase() + rest
                })
                .collect(),
            false => words
                .by_ref()
                .collect::<Vec<_>>()
                .join("_")
                .to_ascii_lowercase(),
        };
        if identifier.is_empty() || identifier.starts_with(|c: char| c.is_ascii_digit()) {
            identifier.insert_str(0, if variants { "N" } else { "n" });
        }
        if KEYWORDS.contains(&identifier.as_str()) {
            identifier.push('_');
        }
        while taken.contains(&identifier) {
            identifier.push('_');
        }
        taken.push(identifier);
    }
    taken
}

/// What cannot be the name of a field or of a variant; `state` is the machine's own.
const KEYWORDS: &[&str] = &[
    "Self", "abstract", "as", "async", "await", "become", "box", "break", "const", "continue",
    "crate", "do", "dyn", "else", "enum", "event", "extern", "false", "final", "fn", "for", "gen",
    "if", "impl", "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv",
    "pub", "ref", "return", "self", "state", "static", "struct", "super", "trait", "true", "try",
    "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];
