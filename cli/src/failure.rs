//! Why a command failed: always exit code 2, always a helpful message.

use std::{io, path::PathBuf};

use portent_answer::text::printable_lines;

use crate::terminal::Colour;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Property(#[from] portent_monitor_dsl::Error),
    #[error(transparent)]
    Trace(#[from] portent_trace::Error),
    #[error("{place}: {error}")]
    Check {
        place: String,
        error: Box<portent_lattice::Error>,
    },
    #[error("{place}: {error}; {searched} has no such variable: did you mean `{meant}`?")]
    UnknownVariable {
        place: String,
        error: Box<portent_lattice::Error>,
        searched: &'static str,
        meant: String,
    },
    #[error(
        "{place}: {error}; a larger --memory has room for more, and so has a property that fewer events are about"
    )]
    Memory {
        place: String,
        error: Box<portent_lattice::Error>,
    },
    #[error(transparent)]
    Suppressions(#[from] portent_findings::Error),
    #[error("{place}: {error}")]
    Find {
        place: String,
        error: Box<portent_findings::Error>,
    },
    #[error("cannot read {}: {error}", path.display())]
    Read { path: PathBuf, error: io::Error },
    #[error("cannot write {}: {error}", path.display())]
    Write { path: PathBuf, error: io::Error },
    #[error("cannot write to standard output: {0}")]
    Print(io::Error),
    #[error(transparent)]
    Page(#[from] portent_answer::Error),
    #[error("{0}")]
    Usage(String),
}

impl Failure {
    /// The search for findings failed.
    pub(crate) fn find(place: String, error: portent_findings::Error) -> Failure {
        let error = Box::new(error);
        Failure::Find { place, error }
    }

    /// Prints it on standard error.
    pub(crate) fn report(&self, colour: Colour) {
        let diagnostic = match self {
            Failure::Property(error) => error.diagnostic(),
            _ => None,
        };
        match diagnostic {
            Some(diagnostic) => {
                eprintln!("{}", diagnostic.render(colour.on(&io::stderr())));
                if let Some(advice) = self.advice() {
                    eprintln!("  = help: {advice}");
                }
            }
            None => {
                let advice = self.advice().map(|advice| format!("; {advice}"));
                let advice = advice.unwrap_or_default();
                eprintln!("error: {}{advice}", printable_lines(&self.to_string()));
            }
        }
    }

    /// The flag that helps, if any: libraries know the limits, but not the flags that set them.
    fn advice(&self) -> Option<&'static str> {
        use portent_lattice::Error as Lattice;
        use portent_monitor_dsl::{Error as Property, Limit};
        use portent_trace::Error as Trace;
        match self {
            Failure::Property(Property::Limit(Limit::States, _)) => {
                Some("`--max-states` moves the limit")
            }
            Failure::Property(Property::Limit(Limit::Steps, _)) => {
                Some("`--max-steps` moves the limit")
            }
            Failure::Property(Property::Limit(Limit::Propositions, _)) => {
                Some("`--max-propositions` moves the limit")
            }
            Failure::Trace(Trace::LineTooLong { .. }) => Some("--max-line moves the limit"),
            Failure::Trace(Trace::UnknownFormat { .. }) => {
                Some("--from names the format, --parser gives the expression")
            }
            Failure::Check { error, .. } if matches!(**error, Lattice::NoInitialValue { .. }) => {
                Some(
                    "a native trace may give it in its first line, as in `{\"portent\": 1, \"init\": {\"x\": 0}}`",
                )
            }
            _ => None,
        }
    }
}
