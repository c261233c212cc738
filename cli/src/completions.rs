//! `portent completions`: what a shell needs to complete commands and options.

use clap::CommandFactory;
use clap_complete::{Shell, generate};
use std::process::ExitCode;

use crate::{Arguments, failure::Failure, terminal};

/// Print the completions for a shell
///
/// For bash, as an example: portent completions bash >
/// ~/.local/share/bash-completion/completions/portent
#[derive(clap::Args)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(&self) -> Result<ExitCode, Failure> {
        let mut script = Vec::new();
        generate(
            self.shell,
            &mut Arguments::command(),
            "portent",
            &mut script,
        );
        terminal::print(&String::from_utf8_lossy(&script)).map_err(Failure::Print)?;
        Ok(ExitCode::SUCCESS)
    }
}
