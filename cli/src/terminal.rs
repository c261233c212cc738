//! Whether to use colour, and writing that a closed pipe does not turn into a panic.

use std::{
    io::{self, IsTerminal, Write},
    path::Path,
};

use crate::{failure::Failure, staged::Staged};

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

/// Writes to a file if there is one to write to, else to standard output. A file takes its place when
/// it is complete.
pub(crate) fn deliver(file: Option<&Path>, text: &str) -> Result<(), Failure> {
    let Some(path) = file else {
        return print(text).map_err(Failure::Print);
    };
    let (staged, ()) = Staged::write(path.to_owned(), |out| {
        out.write_all(text.as_bytes())
            .map_err(|error| Failure::Write {
                path: path.to_owned(),
                error,
            })
    })?;
    staged.publish()
}
