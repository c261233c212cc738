//! Turns records of a log into events.

use std::{
    collections::{HashMap, VecDeque},
    num::NonZeroU64,
};

use portent_monitor_core::{Action, CausalRelease, Details, Event, Stamped, Symbols};
use regex::{Captures, Regex};

use super::{
    escape::unescaped,
    layout::{Layout, looks_like_parser},
    parser::{Parser, compile_delimiter},
};
use crate::{
    Error,
    compression::Sample,
    decoder::{Decoded, Position},
    error::{Fault, quote},
    lines::Lines,
    native::read_clock,
};

/// Reads a log.
pub(crate) struct ShiViz<'r> {
    lines: Lines<'r>,
    parser: Parser,
    delimiter: Option<Regex>,
    /// Lines that were read and belong to no record yet.
    window: VecDeque<(u64, String)>,
    /// Lines to be read again before the next one of the file.
    unread: VecDeque<(u64, String)>,
    /// The lines of the window as one text.
    text: String,
    /// A log is often the logs of several hosts one after the other, and a host's lines may be
    /// swapped.
    release: CausalRelease<Decoded>,
    /// The error that stopped the current execution.
    stop: Option<Stop>,
    label: Option<String>,
    /// Whether records are two lines, one of them a host and its clock.
    has_usual_layout: bool,
    /// Lines that are in no record.
    unmatched: u64,
    /// Lines that separate executions.
    delimiters: u64,
    /// Records of the current execution.
    records: u64,
    /// Whether any execution has some.
    has_records: bool,
    last_line: u64,
}

enum Stop {
    /// A line that separates executions; with the label of the next one.
    Delimiter(Option<String>),
    End,
}

impl<'r> ShiViz<'r> {
    /// A reader of a log that begins with `sample`. The error is ready to be shown; faults in
    /// the first lines are given their place by the caller.
    pub(crate) fn new(
        mut lines: Lines<'r>,
        sample: &Sample,
        parser: Option<&str>,
        delimiter: Option<&str>,
    ) -> Result<Result<Self, Fault>, Error> {
        let delimiter = delimiter.map(compile_delimiter).transpose()?;
        let whole = sample.whole;
        let sample = String::from_utf8_lossy(&sample.bytes);
        let first = sample
            .lines()
            .next()
            .unwrap_or("")
            .trim_start_matches('\u{feff}');
        let in_file = looks_like_parser(first);
        let has_usual_layout = parser.is_none() && !in_file;
        let parser = match parser {
            Some(parser) => Parser::new(parser)?,
            None if in_file => Parser::new(first)?,
            // If neither layout matches, the log has no records, which is reported at its end.
            None => {
                let is_delimiter =
                    |line: &str| delimiter.as_ref().is_some_and(|d| d.is_match(line));
                let lines = sample.lines().filter(|line| !is_delimiter(line));
                let layout = Layout::detect(lines, whole).unwrap_or(Layout::ClockFirst);
                Parser::new(layout.regex())?
            }
        };
        let mut last_line = 0;
        if in_file {
            match lines.next() {
                Ok(_) => last_line = 1,
                Err(fault) => return Ok(Err(fault)),
            }
        }
        let mut log = ShiViz {
            lines,
            parser,
            delimiter,
            window: VecDeque::new(),
            unread: VecDeque::new(),
            text: String::new(),
            release: CausalRelease::default(),
            stop: None,
            label: None,
            has_usual_layout,
            unmatched: 0,
            delimiters: 0,
            records: 0,
            has_records: false,
            last_line,
        };
        if in_file && let Err(fault) = log.second_line()? {
            return Ok(Err(fault));
        }
        Ok(Ok(log))
    }

    /// After an expression on the first line the second is the delimiter, or blank, unless the log
    /// begins there.
    fn second_line(&mut self) -> Result<Result<(), Fault>, Error> {
        if let Err(fault) = self.fill_window() {
            return Ok(Err(fault));
        }
        self.join_window();
        let Some((_, first)) = self.window.front() else {
            return Ok(Ok(()));
        };
        // Many expressions match anything, so the clock must be a valid one.
        let begins = self.parser.regex.captures(&self.text).is_some_and(|found| {
            let clock: Option<HashMap<String, u32>> = found
                .name("clock")
                .and_then(|clock| serde_json::from_str(&unescaped(clock.as_str())).ok());
            found.get_match().start() <= first.len() && clock.is_some()
        });
        if !begins {
            if self.delimiter.is_none() && !first.trim().is_empty() {
                self.delimiter = Some(compile_delimiter(first)?);
            }
            self.window.pop_front();
            // The lines behind it may be delimiters.
            self.unread = std::mem::take(&mut self.window);
        }
        Ok(Ok(()))
    }

    /// Reads lines until the window is as long as a record, or the execution ends.
    fn fill_window(&mut self) -> Result<(), Fault> {
        while self.stop.is_none() && self.window.len() < self.parser.lines {
            let Some((number, text)) = self.line()? else {
                self.stop = Some(Stop::End);
                break;
            };
            if let Some(found) = self.delimiter.as_ref().and_then(|d| d.captures(&text)) {
                let label = found.name("trace").map(|label| label.as_str().to_owned());
                self.delimiters += 1;
                if self.records == 0 && self.window.is_empty() {
                    // Nothing stands before the first delimiter.
                    self.label = label;
                    continue;
                }
                self.stop = Some(Stop::Delimiter(label));
                break;
            }
            self.window.push_back((number, text));
        }
        Ok(())
    }

    fn line(&mut self) -> Result<Option<(u64, String)>, Fault> {
        if let Some(line) = self.unread.pop_front() {
            return Ok(Some(line));
        }
        let Some(line) = self.lines.next()? else {
            return Ok(None);
        };
        self.last_line = line.number;
        Ok(Some((line.number, line.utf8()?.to_owned())))
    }

    fn join_window(&mut self) {
        self.text.clear();
        for (i, (_, line)) in self.window.iter().enumerate() {
            if i > 0 {
                self.text.push('\n');
            }
            self.text.push_str(line);
        }
    }

    /// The next event of the current execution.
    pub(crate) fn next(&mut self, symbols: &mut Symbols) -> Result<Option<Decoded>, Fault> {
        loop {
            if let Some(decoded) = self.release.pop() {
                return Ok(Some(decoded));
            }
            match self.record(symbols)? {
                Some(decoded) => self.release.push(decoded),
                None => break,
            }
        }
        self.release.close();
        if let Some(decoded) = self.release.pop() {
            return Ok(Some(decoded));
        }
        if let Some((stuck, other)) = self.release.stuck() {
            let problem = match other {
                Some(Decoded {
                    op: Position { line, .. },
                    ..
                }) => format!(
                    "the clock of this line counts the event on line {line}, whose clock, or one that \
                     it counts, counts this line"
                ),
                None => "the clocks of this line and another each count the other".to_owned(),
            };
            return Err(Fault::Line {
                line: stuck.op.line,
                column: stuck.op.column,
                found: quote(symbols.text_of(&stuck.event).as_bytes()),
                problem,
            });
        }
        if !self.has_records && self.unmatched == 0 && self.delimiters > 1 {
            // Reported once.
            self.has_records = true;
            let regex = self.delimiter.as_ref().map_or("", Regex::as_str);
            return Err(Fault::Line {
                line: self.last_line,
                column: 1,
                found: "the end of the log".to_owned(),
                problem: format!(
                    "expected records, but the delimiter `{regex}` matches every line"
                ),
            });
        }
        if self.records == 0 && self.unmatched > 0 {
            self.unmatched = 0;
            return Err(Fault::Line {
                line: self.last_line,
                column: 1,
                found: "the end of the log".to_owned(),
                problem: format!(
                    "expected a part of the log to match `{}`",
                    self.parser.source
                ),
            });
        }
        Ok(None)
    }

    /// Advances to the next execution, if there is one.
    pub(crate) fn next_execution(&mut self) -> bool {
        match self.stop.take() {
            Some(Stop::Delimiter(label)) => {
                self.label = label;
                self.release = CausalRelease::default();
                self.records = 0;
                true
            }
            stop => {
                self.stop = stop;
                false
            }
        }
    }

    /// The name of the current execution, if its delimiter contains one.
    pub(crate) fn label(&self) -> Option<&str> {
        self.label.as_deref()
    }

    /// Whether a line was a delimiter.
    pub(crate) fn has_delimiters(&self) -> bool {
        self.delimiters > 0
    }

    /// Whether records contain their hosts.
    pub(crate) fn has_hosts(&self) -> bool {
        self.parser.has_host
    }

    /// Whether records contain clocks.
    pub(crate) fn has_clocks(&self) -> bool {
        self.parser.has_clock
    }

    /// The number of lines with text that belong to no record.
    pub(crate) fn unmatched(&self) -> u64 {
        self.unmatched
    }

    /// The next record in the order of the file.
    fn record(&mut self, symbols: &mut Symbols) -> Result<Option<Decoded>, Fault> {
        loop {
            self.fill_window()?;
            let Some((number, first)) = self.window.front() else {
                return Ok(None);
            };
            let (number, first_length, blank) = (*number, first.len(), first.trim().is_empty());
            self.join_window();
            let found = self.parser.regex.captures(&self.text);
            // An expression that can match nothing finds a match in every blank line.
            let found = found.filter(|c| {
                let part = c.get_match();
                part.start() <= first_length && !part.is_empty()
            });
            let Some(found) = found else {
                let line = self.window.pop_front();
                let line = line.filter(|(_, text)| self.has_usual_layout && begins_clock(text));
                if let Some((_, text)) = line {
                    return Err(half_record(number, &text));
                }
                self.unmatched += u64::from(!blank);
                continue;
            };
            let used = self.text[..found.get_match().end()].matches('\n').count() + 1;
            let decoded = event(&self.parser, &found, &self.text, number, symbols);
            self.window.drain(..used);
            self.records += 1;
            self.has_records = true;
            return decoded.map(Some);
        }
    }
}

/// Whether a line begins as one with a host and its clock does.
fn begins_clock(line: &str) -> bool {
    let words = line.split_once(' ');
    words.is_some_and(|(host, clock)| {
        !host.is_empty() && unescaped(clock).trim_start().starts_with("{\"")
    })
}

/// What is wrong with a line that has a clock, or the beginning of one, and is in no record.
fn half_record(number: u64, line: &str) -> Fault {
    let before = line.find('{').unwrap_or(0);
    let clock = &line[before..];
    let problem = if clock.trim_end().ends_with('}') {
        "expected the text of the event next to this line with its clock"
    } else {
        "expected a whole clock, such as `{\"host\":1}`"
    };
    Fault::Line {
        line: number,
        column: line[..before].chars().count() as u64 + 1,
        found: quote(clock.as_bytes()),
        problem: problem.to_owned(),
    }
}

/// The thread of a log without hosts.
const ONLY_THREAD: &str = "log";

/// The event of one record, whose first line has this number.
fn event(
    parser: &Parser,
    found: &Captures<'_>,
    text: &str,
    number: u64,
    symbols: &mut Symbols,
) -> Result<Decoded, Fault> {
    // What is wrong with a part of the record that begins at an offset of it.
    let fault = |offset: usize, part: &str, problem: String| {
        let Position { line, column } = position(text, number, offset);
        Fault::Line {
            line,
            column,
            found: quote(part.as_bytes()),
            problem,
        }
    };
    let group = |name: &str| {
        found
            .name(name)
            .map(|group| (group.as_str(), group.start()))
    };
    let (host, host_at) = if parser.has_host {
        group("host").unwrap_or(("", 0))
    } else {
        (ONLY_THREAD, 0)
    };
    if host.is_empty() {
        let problem = "expected the name of a host".to_owned();
        return Err(fault(host_at, &text[host_at..], problem));
    }
    let (clock, clock_at) = group("clock").unwrap_or(("", host_at));
    let plain = unescaped(clock);
    let clock = if parser.has_clock {
        Some(read_clock(&plain, symbols).map_err(|problem| {
            let inside = (problem.at.as_ptr() as usize).saturating_sub(plain.as_ptr() as usize);
            // What was unescaped has other offsets.
            let inside = if plain.len() == clock.len() {
                inside
            } else {
                0
            };
            fault(
                (clock_at + inside).min(text.len()),
                problem.at,
                problem.what,
            )
        })?)
    } else {
        None
    };
    let thread = symbols
        .threads
        .intern(host)
        .map_err(|error| fault(host_at, host, error.to_string()))?;
    let mut event = match clock {
        Some(clock) => Event::new(thread, Stamped::new(Action::default(), clock)),
        None => Event::new(thread, Action::default()),
    };
    event.line = NonZeroU64::new(number);
    let mut details = Details::default();
    for name in parser.regex.capture_names().flatten() {
        let Some((value, _)) = group(name) else {
            continue;
        };
        match name {
            "host" | "clock" => {}
            "event" => details.text = Some(value.into()),
            "time" | "timestamp" if value.parse::<u64>().is_ok() => event.time = value.parse().ok(),
            // In the native format `time` is a number.
            "time" => keep("timestamp", value, &mut details),
            _ => keep(name, value, &mut details),
        }
    }
    event.details = Some(Box::new(details));
    let (_, text_at) = group("event").unwrap_or(("", clock_at));
    Ok(Decoded {
        event,
        op: position(text, number, clock_at),
        data: position(text, number, text_at),
    })
}

/// Keeps a group that has no meaning here.
fn keep(name: &str, value: &str, details: &mut Details) {
    let json = serde_json::to_string(value).unwrap_or_default();
    details.extra.push((name.into(), json.into()));
}

/// The place of byte `offset` of a record whose first line has this number.
fn position(record: &str, number: u64, offset: usize) -> Position {
    let before = &record[..offset];
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = number + before.matches('\n').count() as u64;
    Position::new(line, &record.as_bytes()[start..], offset - start)
}
