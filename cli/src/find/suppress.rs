//! The file that lists findings not to report.

use portent_findings::Suppressions;
use std::{fs, path::PathBuf};

use crate::failure::Failure;

/// The option that names it.
#[derive(clap::Args)]
pub(crate) struct Suppress {
    /// A file that says which races, deadlocks and blocks not to report, by lines such as `variable hits` or
    /// `location src/a.rs:10`; `*` stands for anything
    #[arg(long, value_name = "FILE", help_heading = super::REPORT)]
    suppress: Option<PathBuf>,
}

impl Suppress {
    /// The file, if one is given.
    pub(crate) fn file(&self) -> Option<&PathBuf> {
        self.suppress.as_ref()
    }

    /// Reads it.
    pub(crate) fn read(&self) -> Result<Suppressions, Failure> {
        let Some(path) = &self.suppress else {
            return Ok(Suppressions::default());
        };
        let text = fs::read_to_string(path).map_err(|error| Failure::Read {
            path: path.clone(),
            error,
        })?;
        Ok(Suppressions::parse(&text, &path.display().to_string())?)
    }
}
