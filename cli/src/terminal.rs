//! Whether to use colour, and output that does not panic on a closed pipe.

use std::{
    io::{self, BufWriter, IsTerminal, Write},
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
    /// Whether output to `stream` should be coloured.
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

/// Writes to standard output. A closed pipe (`| head`) is not an error.
pub(crate) fn print(text: &str) -> io::Result<()> {
    print_with(|out| out.write_all(text.as_bytes()))
}

fn print_with(fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    match fill(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
            // Leftover output is not written again.
            let _ = out.into_parts();
            Ok(())
        }
        result => result,
    }
}

/// Writes to a file if one is given, otherwise to standard output. A file is put in place when
/// it is complete.
pub(crate) fn deliver(file: Option<&Path>, text: &str) -> Result<(), Failure> {
    deliver_with(file, |out| out.write_all(text.as_bytes()))
}

/// The same, for output too large to hold as one text.
pub(crate) fn deliver_with(
    file: Option<&Path>,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    let Some(path) = file else {
        return print_with(fill).map_err(Failure::Print);
    };
    let (staged, ()) = Staged::write(path.to_owned(), |out| {
        let mut out = BufWriter::new(out);
        { fill(&mut out).and_then(|()| out.flush()) }.map_err(|error| Failure::Write {
            path: path.to_owned(),
            error,
        })
    })?;
    staged.publish()
}
