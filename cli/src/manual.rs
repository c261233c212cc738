//! `portent man`: the manual pages of the command.

use clap::CommandFactory;
use std::{fs, path::PathBuf, process::ExitCode};

use crate::{Arguments, failure::Failure};

/// Write the manual pages to a folder: portent.1, portent-check.1, ...
#[derive(clap::Args)]
pub(crate) struct Manual {
    /// The folder; it is created if it does not exist
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

impl Manual {
    pub(crate) fn run(&self) -> Result<ExitCode, Failure> {
        let pages = || {
            fs::create_dir_all(&self.folder)?;
            clap_mangen::generate_to(Arguments::command(), &self.folder)
        };
        pages().map_err(|error| Failure::Write {
            path: self.folder.clone(),
            error,
        })?;
        Ok(ExitCode::SUCCESS)
    }
}
