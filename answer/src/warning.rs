//! Warnings to read before trusting an answer.

use portent_lattice::report;
use serde::Serialize;

use crate::Switches;

/// A warning to read before trusting an answer.
#[derive(Clone, Debug, Serialize)]
pub struct Warning {
    /// The property concerned; `None` if it concerns the trace.
    pub property: Option<String>,
    /// One of the words of [`report::WarningKind`], or of the reader of the trace.
    pub kind: &'static str,
    /// A sentence without capital and full stop, in which the property is "it".
    pub text: String,
}

impl Warning {
    /// A warning about the trace.
    pub fn of_trace(kind: &'static str, text: String) -> Warning {
        Warning {
            property: None,
            kind,
            text,
        }
    }

    /// The sentence with its subject.
    pub fn sentence(&self) -> String {
        match &self.property {
            Some(name) => format!("property `{name}`: {}", self.text),
            None => self.text.clone(),
        }
    }
}

impl Warning {
    /// The warnings of a report, with advice on each.
    pub fn new(warning: &report::Warning, switches: &Switches) -> Warning {
        Warning {
            property: warning.property.clone(),
            kind: warning.kind.as_str(),
            text: match warning.kind {
                report::WarningKind::TooManyBindings => {
                    let how = switches.max_bindings;
                    let how = how.map_or_else(String::new, |how| format!("; {how} allows more"));
                    format!("{}{how}", warning.text)
                }
                report::WarningKind::BindingsBeyondMemory
                | report::WarningKind::OrderBeyondMemory
                | report::WarningKind::StepsBeyondMemory
                | report::WarningKind::TextsBeyondMemory => {
                    let how = switches.more_memory("has room for more");
                    format!("{}{how}", warning.text)
                }
                _ => warning.text.clone(),
            },
        }
    }
}
