//! `portent convert`: a trace from one format to another.

use portent_answer::text::{
    numbers::{count, counted},
    printable,
};
use portent_monitor_core::Symbols;
use portent_trace::{Compression, Converted, Format, TraceReader, TraceWriter, convert};
use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use crate::{failure::Failure, reading::ReadOptions, staged::Staged};

/// Copy a trace from one format to another
///
/// Files whose names end in .zst or .gz are compressed. If a log has several executions (--delimiter),
/// the first goes to OUT and the others to numbered files next to it: run.jsonl, run.2.jsonl,
/// run.3.jsonl. Values, texts, locations and times that the target format has no place for are left out
/// and counted on standard error. With --lenient, events that it cannot express are skipped too. If the
/// trace cannot be converted, OUT stays as it was.
#[derive(clap::Args)]
pub(crate) struct Convert {
    #[command(flatten)]
    reading: ReadOptions,
    /// The format to write: native, std, rapid-binary or shiviz; by default, the name of OUT decides
    #[arg(long, value_name = "FORMAT")]
    to: Option<Format>,
    /// The trace to read; `-` is standard input
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// The file to write; `-` is standard output
    #[arg(value_name = "OUT")]
    output: PathBuf,
}

impl Convert {
    pub(crate) fn run(&self) -> Result<ExitCode, Failure> {
        let to = match self.to.or_else(|| by_name(&self.output)) {
            Some(format) => format,
            None => {
                let message = "cannot tell the target format from the name; name it with --to \
                               native, std, rapid-binary or shiviz";
                return Err(Failure::Usage(message.to_owned()));
            }
        };
        let mut reader = self.reading.open(&self.input)?;
        let result = if self.output.as_os_str() == "-" {
            self.to_stdout(&mut reader, to)
        } else {
            self.to_files(&mut reader, to)
        };
        match result {
            // A closed output pipe is not an error.
            Err(Failure::Trace(portent_trace::Error::Io { source, .. }))
                if source.kind() == io::ErrorKind::BrokenPipe =>
            {
                Ok(ExitCode::SUCCESS)
            }
            result => result.map(|()| ExitCode::SUCCESS),
        }
    }

    /// Refuses an obvious mistake: overwriting the trace that is read.
    fn look_at(&self, output: &Path) -> Result<(), Failure> {
        match (self.input.canonicalize(), output.canonicalize()) {
            (Ok(input), Ok(output)) if input == output => Err(Failure::Usage(format!(
                "OUT would overwrite {}, which is read; give it another name",
                self.input.display()
            ))),
            _ => Ok(()),
        }
    }

    fn to_stdout(&self, reader: &mut TraceReader<'_>, to: Format) -> Result<(), Failure> {
        let out = io::stdout().lock();
        let mut symbols = Symbols::default();
        let none = Compression::None;
        tell(&copy(reader, &mut symbols, "<stdout>", out, to, none)?);
        if reader.next_execution() {
            Err(Failure::Usage(format!(
                "{} holds several executions, and standard output can take one; name a file for OUT, \
                 and the others are written beside it",
                reader.file()
            )))
        } else {
            Ok(())
        }
    }

    /// The first execution goes to OUT; further ones go to numbered files. All of
    /// them are put in place at the end, so that a failure changes none.
    fn to_files(&self, reader: &mut TraceReader<'_>, to: Format) -> Result<(), Failure> {
        let (mut files, mut symbols) = (Vec::new(), Symbols::default());
        for number in 1.. {
            let path = numbered(&self.output, number);
            self.look_at(&path)?;
            let name = path.display().to_string();
            let (file, mut said) = Staged::write(path, |file| {
                let compression = Compression::of_file(&name);
                Ok(copy(reader, &mut symbols, &name, file, to, compression)?)
            })?;
            if number > 1 {
                let label = reader.execution().map(|label| format!(" ({label})"));
                let label = label.unwrap_or_default();
                said.push(format!("execution {number}{label}: {name}"));
            }
            files.push((file, said));
            if !reader.next_execution() {
                break;
            }
        }
        for (file, said) in files {
            file.publish()?;
            tell(&said);
        }
        Ok(())
    }
}

/// The file for one of several executions: `run.jsonl.gz`, `run.2.jsonl.gz`, ...
fn numbered(path: &Path, number: u32) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // The part before the first dot, unless the name begins with one.
    let stem = name.char_indices().skip(1).find(|(_, c)| *c == '.');
    let (stem, rest) = name.split_at(stem.map_or(name.len(), |(dot, _)| dot));
    match number {
        1 => path.to_owned(),
        _ => path.with_file_name(format!("{stem}.{number}{rest}")),
    }
}

/// Prints a message on standard error.
fn tell(lines: &[String]) {
    for line in lines {
        eprintln!("{}", printable(line));
    }
}

/// Copies one execution, and prints its warnings.
fn copy(
    reader: &mut TraceReader<'_>,
    symbols: &mut Symbols,
    name: &str,
    output: impl Write,
    format: Format,
    compression: Compression,
) -> Result<Vec<String>, portent_trace::Error> {
    let mut writer = TraceWriter::new(name, output, format, compression)?;
    let converted = convert(reader, &mut writer, symbols)?;
    let mut output = writer.finish(symbols)?;
    output.flush().map_err(|source| portent_trace::Error::Io {
        file: name.into(),
        source,
    })?;
    Ok(warnings(name, reader, format, &converted))
}

/// Reports which parts of the trace are not in the file, and why.
fn warnings(
    name: &str,
    reader: &TraceReader<'_>,
    format: Format,
    converted: &Converted,
) -> Vec<String> {
    let mut warnings = Vec::new();
    if converted.skipped > 0 {
        let bad = reader.first_skipped();
        let reasons = [
            bad.map(|error| format!("; the first bad line: {error}")),
            converted
                .first_unsupported
                .as_ref()
                .map(|error| format!("; the first that does not fit: {error}")),
        ];
        let reasons: String = reasons.into_iter().flatten().collect();
        let (written, skipped) = (counted(converted.events, "event"), count(converted.skipped));
        warnings.push(format!(
            "warning: {name}: {written} written, {skipped} skipped{reasons}"
        ));
    }
    if let Some(lost) = converted.losses.in_words() {
        warnings.push(format!(
            "warning: {name}: without {lost}, for which {format} has no place; native keeps \
             everything"
        ));
    }
    warnings
}

/// The format that a file name suggests.
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
