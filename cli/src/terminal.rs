//! Whether to use colour, and writing that a closed pipe does not turn into a panic.

use std::{
    fs,
    io::{self, IsTerminal, Write},
    path::Path,
};

use crate::failure::Failure;

/// When to use colour.
#[derive(Clone, Copy, clap::ValueEnum)]
pub(crate) enum Colour {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Colour {
    /// Whether what goes to `stream` should be coloured.
    pub(crate) fn on(self, stream: &impl IsTerminal) -> bool {
        match self {
            Colour::Always => true,
            Colour::Never => false,
            Colour::Auto => {
                let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
                stream.is_terminal() && !refused
            }
        }
    }
}

/// Writes to standard output. That nobody reads on (`| head`) is no error.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// Writes to a file if there is one to write to, else to standard output.
pub(crate) fn deliver(file: Option<&Path>, text: &str) -> Result<(), Failure> {
    match file {
        Some(path) => fs::write(path, text).map_err(|error| Failure::Write {
            path: path.to_owned(),
            error,
        }),
        None => print(text).map_err(Failure::Print),
    }
}
