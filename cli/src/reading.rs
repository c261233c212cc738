//! How a command reads traces.

use portent_trace::{Format, Options, TraceReader};
use std::{
    io,
    path::{Path, PathBuf},
};

use crate::{failure::Failure, size};

/// The options that say how traces are read.
#[derive(clap::Args)]
#[command(next_help_heading = "How to read traces")]
pub(crate) struct ReadOptions {
    /// The format to read: native, std, rapid-binary, shiviz, poet or kairos; by default it is detected
    #[arg(long, value_name = "FORMAT")]
    from: Option<Format>,
    /// Skip bad lines, and say how many, instead of stopping at the first one
    #[arg(long)]
    lenient: bool,
    /// The regular expression of a log's records, with the group `event`, and optionally `host` and `clock`
    #[arg(long, value_name = "REGEX")]
    parser: Option<String>,
    /// The regular expression of the lines that separate the executions of a log
    #[arg(long, value_name = "REGEX")]
    delimiter: Option<String>,
    /// The longest line to accept
    #[arg(long, value_name = "SIZE", default_value = "16MiB", value_parser = size::bytes)]
    max_line: u64,
}

impl ReadOptions {
    /// Opens a trace, or standard input.
    pub(crate) fn open(&self, path: &Path) -> Result<TraceReader<'static>, Failure> {
        let options = self.options();
        Ok(if path.as_os_str() == "-" {
            TraceReader::new("<stdin>", io::stdin(), &options)?
        } else {
            TraceReader::open(path, &options)?
        })
    }

    /// Whether bad lines are skipped.
    pub(crate) fn is_lenient(&self) -> bool {
        self.lenient
    }

    fn options(&self) -> Options {
        let max_line = usize::try_from(self.max_line).unwrap_or(usize::MAX);
        let mut options = Options::default().lenient(self.lenient).max_line(max_line);
        if let Some(format) = self.from {
            options = options.format(format);
        }
        if let Some(regex) = &self.parser {
            options = options.parser(regex);
        }
        if let Some(regex) = &self.delimiter {
            options = options.delimiter(regex);
        }
        options
    }
}

/// Refuses obvious mistakes: standard input twice, or a report that would overwrite an input.
pub(crate) fn look_at_paths<'p>(
    traces: &[PathBuf],
    mut inputs: impl Iterator<Item = &'p PathBuf>,
    output: Option<&Path>,
) -> Result<(), Failure> {
    let from_stdin = |path: &&PathBuf| path.as_os_str() == "-";
    if traces.iter().filter(from_stdin).count() > 1 {
        let problem = "standard input can be read only once; give `-` once";
        return Err(Failure::Usage(problem.to_owned()));
    }
    let Some(output) = output.and_then(|path| path.canonicalize().ok()) else {
        return Ok(());
    };
    match inputs.find(|path| path.canonicalize().is_ok_and(|path| path == output)) {
        Some(path) => Err(Failure::Usage(format!(
            "--output would overwrite {}, which is read; give it another name",
            path.display()
        ))),
        None => Ok(()),
    }
}
