//! `portent convert`: a trace from one format to another.

use portent_trace::{Compression, Format, Options, TraceReader, TraceWriter, convert};
use std::{
    fs::File,
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use crate::{check::trace::open, failure::Failure};

/// Copy a trace from one format to another
///
/// Files whose names end in .zst or .gz are compressed.
#[derive(clap::Args)]
pub(crate) struct Convert {
    /// The format to read: native, std, rapid-binary, shiviz or poet; recognised if not given
    #[arg(long, value_name = "FORMAT")]
    from: Option<Format>,
    /// The format to write: native, std, rapid-binary or shiviz; by the name of OUT if not given
    #[arg(long, value_name = "FORMAT")]
    to: Option<Format>,
    /// Skip bad lines and what the target format cannot say, and tell how many
    #[arg(long)]
    lenient: bool,
    /// The regular expression of a log, with the groups `host`, `clock` and `event`
    #[arg(long, value_name = "REGEX")]
    parser: Option<String>,
    /// The trace to read; `-` is standard input
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// The file to write; `-` is standard output
    #[arg(value_name = "OUT")]
    output: PathBuf,
}

impl Convert {
    pub(crate) fn run(&self) -> Result<ExitCode, Failure> {
        let mut options = Options::default().lenient(self.lenient);
        if let Some(format) = self.from {
            options = options.format(format);
        }
        if let Some(regex) = &self.parser {
            options = options.parser(regex);
        }
        let to = match self.to.or_else(|| by_name(&self.output)) {
            Some(format) => format,
            None => {
                let message = "cannot tell the target format from the name; name it with --to \
                               native, std, rapid-binary or shiviz";
                return Err(Failure::Usage(message.to_owned()));
            }
        };
        let mut reader = open(&self.input, &options)?;
        if self.output.as_os_str() == "-" {
            let out = io::stdout().lock();
            let result = copy(&mut reader, "<stdout>", out, to, Compression::None);
            return match result {
                // That nobody reads on is no error.
                Err(portent_trace::Error::Io { source, .. })
                    if source.kind() == io::ErrorKind::BrokenPipe =>
                {
                    Ok(ExitCode::SUCCESS)
                }
                result => Ok(result.map(|()| ExitCode::SUCCESS)?),
            };
        }
        let name = self.output.display().to_string();
        let file = File::create(&self.output).map_err(|error| Failure::Write {
            path: self.output.clone(),
            error,
        })?;
        copy(&mut reader, &name, file, to, Compression::of_file(&name))?;
        Ok(ExitCode::SUCCESS)
    }
}

fn copy(
    reader: &mut TraceReader<'_>,
    name: &str,
    output: impl Write,
    format: Format,
    compression: Compression,
) -> Result<(), portent_trace::Error> {
    let mut writer = TraceWriter::new(name, output, format, compression)?;
    let converted = convert(reader, &mut writer)?;
    let mut output = writer.finish(reader.symbols())?;
    output.flush().map_err(|source| portent_trace::Error::Io {
        file: name.into(),
        source,
    })?;
    if converted.skipped > 0 {
        eprintln!(
            "warning: {} events written, {} skipped",
            converted.events, converted.skipped
        );
    }
    Ok(())
}

/// The format that the name of a file suggests.
fn by_name(path: &Path) -> Option<Format> {
    let name = path.file_name()?.to_str()?;
    let name = name
        .strip_suffix(".zst")
        .or(name.strip_suffix(".gz"))
        .unwrap_or(name);
    match Path::new(name).extension()?.to_str()? {
        "jsonl" | "json" | "ndjson" => Some(Format::Native),
        "std" => Some(Format::Std),
        "bin" | "data" => Some(Format::RapidBinary),
        "log" => Some(Format::ShiViz),
        _ => None,
    }
}
