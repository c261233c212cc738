//! What is checked of bytes that claim to be a trace. Each fuzz target calls one function with
//! whatever libFuzzer makes up, and a test of `trace` with every file of the committed corpora.

use portent_monitor_core::{Causality, Event, Spelling, Symbols};
use portent_trace::{Compression, Error, Format, Options, TraceReader, TraceWriter, convert};

/// Small, so that the limit is met.
const MAX_LINE: usize = 1 << 16;
/// Clocks are computed for this many events at most: all are relevant, and each may be a new thread.
const MAX_STAMPED: usize = 500;

/// The name of a target and of its corpus, and what it does.
type Target = (&'static str, fn(&[u8]));

pub(crate) const TARGETS: [Target; 8] = [
    ("native", native),
    ("std_text", std_text),
    ("rapid_binary", rapid_binary),
    ("shiviz", shiviz),
    ("poet", poet),
    ("kairos", kairos),
    ("any_format", any_format),
    ("conversion", conversion),
];

pub(crate) fn native(data: &[u8]) {
    check(data, &options().format(Format::Native));
}

pub(crate) fn std_text(data: &[u8]) {
    check(data, &options().format(Format::Std));
}

pub(crate) fn rapid_binary(data: &[u8]) {
    check(data, &options().format(Format::RapidBinary));
}

pub(crate) fn poet(data: &[u8]) {
    check(data, &options().format(Format::Poet));
}

pub(crate) fn kairos(data: &[u8]) {
    check(data, &options().format(Format::Kairos));
}

/// Recognised by looking, compressed or not.
pub(crate) fn any_format(data: &[u8]) {
    check(data, &options());
}

/// The first line is an expression for records, the second one for delimiters; blank for none.
pub(crate) fn shiviz(data: &[u8]) {
    let mut parts = data.splitn(3, |&byte| byte == b'\n');
    let mut part = || parts.next().unwrap_or_default();
    let (parser, delimiter, log) = (part(), part(), part());
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    let mut options = options().format(Format::ShiViz);
    if !parser.is_empty() {
        options = options.parser(text(parser));
    }
    if !delimiter.is_empty() {
        options = options.delimiter(text(delimiter));
    }
    check(log, &options);
}

/// Whatever can be read, and then written, is read again as what it was.
pub(crate) fn conversion(data: &[u8]) {
    let Ok(first) = read_all(data, &options()) else {
        return;
    };
    for to in [
        Format::Native,
        Format::Std,
        Format::ShiViz,
        Format::RapidBinary,
    ] {
        let Some(written) = write(data, to) else {
            assert_ne!(to, Format::Native, "the native format says everything");
            continue;
        };
        let again = read_all(&written, &options().max_line(1 << 24).format(to));
        let again = again.unwrap_or_else(|error| panic!("written as {to}: {error}"));
        match to {
            Format::Native => assert_eq!(again, first),
            Format::Std => assert_eq!(spellings(&again, true), spellings(&first, true)),
            // A log is put in an order that its clocks allow, the binary form has no names.
            _ => assert_eq!(again.len(), first.len(), "{to}"),
        }
        if to == Format::Native {
            let twice = write(&written, to);
            assert_eq!(twice.as_deref(), Some(&written[..]), "a second time");
        }
    }
}

fn options() -> Options {
    Options::default().max_line(MAX_LINE)
}

/// Everything of an event but its ids and its line.
#[derive(Debug, PartialEq)]
struct Shown {
    spelling: String,
    rest: String,
}

fn shown(event: &Event, symbols: &Symbols) -> Shown {
    let writes: Vec<_> = event
        .writes()
        .map(|(var, value)| (symbols.vars.name(var), value))
        .collect();
    let args = event.action().map(|action| &action.args);
    let extra = event
        .details
        .as_ref()
        .map_or(&[][..], |details| &details.extra);
    let text = event.text();
    Shown {
        spelling: Spelling::new(event, symbols).to_string(),
        rest: format!("{writes:?} {args:?} {text:?} {:?} {extra:?}", event.time),
    }
}

/// The spellings; where the location is unknown, STD has 0.
fn spellings(events: &[Shown], with_zero: bool) -> Vec<String> {
    let spell = |event: &Shown| match event.spelling.matches('|').count() {
        1 if with_zero => format!("{}|0", event.spelling),
        _ => event.spelling.clone(),
    };
    events.iter().map(spell).collect()
}

/// The events of the first execution, unless something is wrong.
fn read_all(data: &[u8], options: &Options) -> Result<Vec<Shown>, Error> {
    let mut reader = TraceReader::new("fuzz", data, options)?;
    let mut symbols = Symbols::default();
    let mut events = Vec::new();
    while let Some(event) = reader.next_event(&mut symbols)? {
        events.push(shown(&event, &symbols));
    }
    Ok(events)
}

fn write(data: &[u8], to: Format) -> Option<Vec<u8>> {
    let mut reader = TraceReader::new("fuzz", data, &options().max_line(1 << 24)).ok()?;
    let mut symbols = Symbols::default();
    let mut writer = TraceWriter::new("out", Vec::new(), to, Compression::None).ok()?;
    match convert(&mut reader, &mut writer, &mut symbols) {
        Ok(converted) => assert_eq!(converted.events, reader.events()),
        Err(error) => {
            assert!(matches!(error, Error::Unsupported { .. }), "{error}");
            return None;
        }
    }
    writer.finish(&symbols).ok()
}

/// Reads a trace strictly and leniently: never a panic, never without end, and every error says
/// where it is.
fn check(data: &[u8], options: &Options) {
    let strict = execute(data, options);
    let lenient = execute(data, &options.clone().lenient(true));
    match (strict, lenient) {
        (Ok(strict), Ok(lenient)) => {
            assert_eq!(strict, lenient, "nothing to be lenient about");
            assert_eq!(strict.skipped, 0);
        }
        (Err(_), Ok(lenient)) => assert!(lenient.skipped > 0, "an error that nobody skipped"),
        (Err(_), Err(_)) => {}
        (Ok(_), Err(error)) => panic!("an error only if lenient: {error}"),
    }
}

#[derive(Debug, PartialEq)]
struct Read {
    events: Vec<String>,
    skipped: u64,
}

fn execute(data: &[u8], options: &Options) -> Result<Read, String> {
    let mut events = Vec::new();
    let mut reader = TraceReader::new("fuzz", data, options).map_err(fit_to_be_shown)?;
    let mut symbols = Symbols::default();
    loop {
        let mut causality = Causality::default();
        let mut stamped = 0;
        while let Some(event) = reader.next_event(&mut symbols).map_err(fit_to_be_shown)? {
            if stamped < MAX_STAMPED {
                stamped += 1;
                let stamp = causality.step(&event, true).expect("not that many threads");
                let stamp = stamp.expect("all are relevant");
                assert!(stamp.number() >= 1);
            }
            events.push(Spelling::new(&event, &symbols).to_string());
        }
        if !reader.next_execution() {
            break;
        }
    }
    let skipped = reader.skipped();
    assert_eq!(reader.events(), events.len() as u64);
    assert_eq!(reader.first_skipped().is_some(), skipped > 0);
    Ok(Read { events, skipped })
}

/// An error is one line and tells where it is.
fn fit_to_be_shown(error: Error) -> String {
    let message = error.to_string();
    let place = match &error {
        Error::Malformed { place, .. }
        | Error::Contradiction { place, .. }
        | Error::LineTooLong { place, .. }
        | Error::Broken { place, .. } => Some(place),
        _ => None,
    };
    if let Some(place) = place {
        assert!(place.column >= 1, "{message}");
        assert!(message.starts_with(&place.to_string()), "{message}");
    }
    assert!(!message.contains('\n'), "{message:?}");
    message
}
