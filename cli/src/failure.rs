//! Why a command could not do its work: always exit code 2, always a message that helps.

use std::{io, path::PathBuf};

use crate::{terminal::Colour, text::printable_lines};

/// Why a command could not do its work.
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
    #[error("cannot read {}: {error}", path.display())]
    Read { path: PathBuf, error: io::Error },
    #[error("cannot write {}: {error}", path.display())]
    Write { path: PathBuf, error: io::Error },
    #[error("cannot write to standard output: {0}")]
    Print(io::Error),
    #[error("{0}")]
    Usage(String),
}

impl Failure {
    /// Tells the user, on standard error.
    pub(crate) fn report(&self, colour: Colour) {
        let diagnostic = match self {
            Failure::Property(error) => error.diagnostic(),
            _ => None,
        };
        match diagnostic {
            Some(diagnostic) => eprintln!("{}", diagnostic.render(colour.on(&io::stderr()))),
            None => eprintln!("error: {}", printable_lines(&self.to_string())),
        }
    }
}
