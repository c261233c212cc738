//! Lines of the native format into events.

use std::num::NonZeroU64;

use portent_monitor_core::{
    Action, Details, Error as CoreError, Event, Marker, Msg, Op, Stamped, Symbols, Value, VarId,
};

use super::fields::{Fields, Problem, count, name, text, value, values};
use crate::{
    Header,
    decoder::Decoded,
    error::Fault,
    lines::{Line, Lines},
};

/// Reads the native format.
pub(crate) struct Native<'r> {
    lines: Lines<'r>,
    /// The header is read before the first event is asked for; this is the line that came instead.
    first: Option<(u64, Vec<u8>)>,
}

const OPS: &str = "read, write, update, lock, unlock, rlock, runlock, fork, join, send, recv, \
                   wait, notify, barrier, event, begin, end, req";

impl<'r> Native<'r> {
    pub(crate) fn new(lines: Lines<'r>) -> Self {
        Native { lines, first: None }
    }

    /// Reads the header line, if there is one; to be called once, first.
    pub(crate) fn header(&mut self, symbols: &mut Symbols) -> Result<Header, Fault> {
        loop {
            let Some(line) = self.lines.next()? else {
                return Ok(Header::default());
            };
            if line.text.trim_ascii().is_empty() {
                continue;
            }
            // A cheap look first: nearly every first line without the word is an event.
            if memchr::memmem::find(line.text, b"\"portent\"").is_some()
                && let Some(header) = parse_line(&line, |text| read_header(text, symbols))?
            {
                return Ok(header);
            }
            self.first = Some((line.number, line.text.to_vec()));
            return Ok(Header::default());
        }
    }

    pub(crate) fn next(&mut self, symbols: &mut Symbols) -> Result<Option<Decoded>, Fault> {
        if let Some((number, text)) = self.first.take() {
            let line = Line {
                number,
                text: &text,
            };
            return decode(&line, symbols).map(Some);
        }
        loop {
            let Some(line) = self.lines.next()? else {
                return Ok(None);
            };
            if !line.text.trim_ascii().is_empty() {
                return decode(&line, symbols).map(Some);
            }
        }
    }
}

fn offset(line: &[u8], part: &str) -> usize {
    (part.as_ptr() as usize)
        .saturating_sub(line.as_ptr() as usize)
        .min(line.len())
}

/// Applies `read` to the text of a line and gives its problems their place.
fn parse_line<'a, T>(
    line: &Line<'a>,
    read: impl FnOnce(&'a str) -> Result<T, Problem<'a>>,
) -> Result<T, Fault> {
    let text = std::str::from_utf8(line.text).map_err(|error| {
        Fault::new(
            line.number,
            line.text,
            error.valid_up_to(),
            "expected UTF-8 text",
        )
    })?;
    read(text).map_err(|problem| {
        Fault::new(
            line.number,
            line.text,
            offset(line.text, problem.at),
            problem.what,
        )
    })
}

fn decode(line: &Line<'_>, symbols: &mut Symbols) -> Result<Decoded, Fault> {
    let (mut event, at) = parse_line(line, |text| read_event(text, symbols))?;
    event.line = NonZeroU64::new(line.number);
    Ok(Decoded {
        event,
        column: offset(line.text, at) as u64 + 1,
    })
}

/// `None` if the line is an event that merely has a key `portent`.
fn read_header<'a>(line: &'a str, symbols: &mut Symbols) -> Result<Option<Header>, Problem<'a>> {
    let mut fields = Fields::default();
    fields.parse(line)?;
    let Some(version) = fields.take("portent") else {
        return Ok(None);
    };
    if fields.contains("t") {
        return Ok(None);
    }
    if version != "1" {
        return Err(Problem::new(version, "expected version 1 of the format"));
    }
    let mut header = Header::default();
    if let Some(init) = fields.take("init") {
        header.init = assignments(init, symbols)?;
    }
    Ok(Some(header))
}

fn too_many<'a>(at: &'a str) -> impl Fn(CoreError) -> Problem<'a> {
    move |error| Problem::new(at, error.to_string())
}

fn assignments<'a>(
    raw: &'a str,
    symbols: &mut Symbols,
) -> Result<Vec<(VarId, Value)>, Problem<'a>> {
    let expected = || Problem::new(raw, "expected an object of variables, as in {\"x\": 1}");
    if !raw.starts_with('{') {
        return Err(expected());
    }
    let mut fields = Fields::default();
    fields.parse(raw)?;
    fields
        .rest()
        .map(|(var, raw)| {
            Ok((
                symbols.vars.intern(&var).map_err(too_many(raw))?,
                value(raw)?,
            ))
        })
        .collect()
}

/// Reads an event and tells which part of the line says what was done.
fn read_event<'a>(line: &'a str, symbols: &mut Symbols) -> Result<(Event, &'a str), Problem<'a>> {
    let mut fields = Fields::default();
    fields.parse(line)?;
    let thread = required(&mut fields, line, "t", "every event")?;
    let thread = symbols
        .threads
        .intern(&name(thread)?)
        .map_err(too_many(thread))?;
    let (op, at) = match (fields.take("op"), fields.take("vc")) {
        (Some(op), None) => (read_op(&mut fields, line, op, symbols)?, op),
        (None, Some(clock)) => (read_stamped(&mut fields, clock, symbols)?, clock),
        (Some(_), Some(clock)) => {
            return Err(Problem::new(
                clock,
                "expected either `op` or `vc`, not both",
            ));
        }
        (None, None) => return Err(Problem::new(line, "expected a key `op` or `vc`")),
    };
    let mut event = Event::new(thread, op);
    if let Some(raw) = fields.take("loc") {
        event.loc = Some(symbols.locs.intern(&name(raw)?).map_err(too_many(raw))?);
    }
    if let Some(raw) = fields.take("time") {
        event.time = Some(count(raw)?);
    }
    let message = fields.take("text").map(text).transpose()?;
    let extra: Vec<_> = fields
        .rest()
        .map(|(key, raw)| (key.into_owned().into(), raw.into()))
        .collect();
    if message.is_some() || !extra.is_empty() {
        let text = message.map(|text| text.into_owned().into());
        event.details = Some(Box::new(Details { text, extra }));
    }
    Ok((event, at))
}

fn required<'a>(
    fields: &mut Fields<'a>,
    line: &'a str,
    key: &str,
    who: &str,
) -> Result<&'a str, Problem<'a>> {
    fields
        .take(key)
        .ok_or_else(|| Problem::new(line, format!("expected a key `{key}`, which {who} has")))
}

fn read_op<'a>(
    fields: &mut Fields<'a>,
    line: &'a str,
    raw_op: &'a str,
    symbols: &mut Symbols,
) -> Result<Op, Problem<'a>> {
    let op = text(raw_op)?;
    let op = op.as_ref();
    // Each operation has one key that names what it is about.
    macro_rules! operand {
        ($key:literal, $kind:ident) => {{
            let raw = required(fields, line, $key, op)?;
            symbols.$kind.intern(&name(raw)?).map_err(too_many(raw))?
        }};
    }
    Ok(match op {
        "read" => Op::Read(operand!("var", vars)),
        "write" => Op::Write(
            operand!("var", vars),
            fields.take("val").map(value).transpose()?,
        ),
        "update" => Op::Update(
            operand!("var", vars),
            fields.take("val").map(value).transpose()?,
        ),
        "lock" => Op::Lock(operand!("lock", locks)),
        "unlock" => Op::Unlock(operand!("lock", locks)),
        "rlock" => Op::ReadLock(operand!("lock", locks)),
        "runlock" => Op::ReadUnlock(operand!("lock", locks)),
        "fork" => Op::Fork(operand!("child", threads)),
        "join" => Op::Join(operand!("child", threads)),
        "send" | "recv" => {
            let chan = operand!("chan", chans);
            let raw = required(fields, line, "msg", op)?;
            let msg = Msg::new(&name(raw)?, symbols).map_err(too_many(raw))?;
            if op == "send" {
                Op::Send(chan, msg)
            } else {
                Op::Recv(chan, msg)
            }
        }
        "wait" => Op::Wait(operand!("cond", conds)),
        "notify" => Op::Notify(operand!("cond", conds)),
        "barrier" => {
            let barrier = operand!("barrier", barriers);
            Op::Barrier(barrier, count(required(fields, line, "round", op)?)?)
        }
        "begin" => Op::Marker(Marker::Begin, operand!("block", names)),
        "end" => Op::Marker(Marker::End, operand!("block", names)),
        "req" => Op::Request(operand!("lock", locks)),
        "event" => {
            if !fields.contains("name") {
                required(fields, line, "name", "event")?;
            }
            Op::Event(Box::new(read_action(fields, symbols)?))
        }
        _ => {
            return Err(Problem::new(
                raw_op,
                format!("expected an operation ({OPS})"),
            ));
        }
    })
}

fn read_action<'a>(fields: &mut Fields<'a>, symbols: &mut Symbols) -> Result<Action, Problem<'a>> {
    let mut action = Action::default();
    if let Some(raw) = fields.take("name") {
        action.name = Some(symbols.names.intern(&name(raw)?).map_err(too_many(raw))?);
    }
    if let Some(raw) = fields.take("args") {
        action.args = values(raw)?;
    }
    if let Some(raw) = fields.take("set") {
        action.set = assignments(raw, symbols)?;
    }
    Ok(action)
}

fn read_stamped<'a>(
    fields: &mut Fields<'a>,
    raw_clock: &'a str,
    symbols: &mut Symbols,
) -> Result<Op, Problem<'a>> {
    let clock = read_clock(raw_clock, symbols)?;
    let action = read_action(fields, symbols)?;
    Ok(Op::Stamped(Box::new(Stamped { action, clock })))
}

/// Reads a vector clock.
pub(crate) fn read_clock<'a>(
    raw: &'a str,
    symbols: &mut Symbols,
) -> Result<Vec<(portent_monitor_core::ThreadId, u32)>, Problem<'a>> {
    if !raw.trim_start().starts_with('{') {
        return Err(Problem::new(
            raw,
            "expected a vector clock, as in {\"T1\": 3, \"T2\": 1}",
        ));
    }
    let mut fields = Fields::default();
    fields.parse(raw)?;
    fields
        .rest()
        .map(|(thread, raw)| {
            let lines = raw.parse().map_err(|_| {
                Problem::new(raw, "expected a number of lines, from 0 to 4294967295")
            })?;
            Ok((
                symbols.threads.intern(&thread).map_err(too_many(raw))?,
                lines,
            ))
        })
        .collect()
}
