//! Events into lines of the native format.

use std::io::{self, Write};

use portent_monitor_core::{Action, Delivery, Event, Mark, Msg, Op, Symbols, Value};

use super::header::TEST;
use crate::Header;

fn text(out: &mut impl Write, text: &str) -> io::Result<()> {
    serde_json::to_writer(out, text).map_err(io::Error::from)
}

/// Writes `, "key": "name"`.
fn name(out: &mut impl Write, key: &str, spelled: &str) -> io::Result<()> {
    write!(out, ", \"{key}\": ")?;
    text(out, spelled)
}

/// A float without a finite value has no JSON; it is written as `null`, which no reader accepts
/// silently.
fn value(out: &mut impl Write, value: &Value) -> io::Result<()> {
    serde_json::to_writer(out, value).map_err(io::Error::from)
}

fn list<'l, T>(
    out: &mut impl Write,
    items: &'l [T],
    mut item: impl FnMut(&mut dyn Write, &'l T) -> io::Result<()>,
) -> io::Result<()> {
    for (i, one) in items.iter().enumerate() {
        if i > 0 {
            out.write_all(b", ")?;
        }
        item(out, one)?;
    }
    Ok(())
}

fn assignments<'n, V>(
    out: &mut impl Write,
    set: &'n [(V, Value)],
    name: impl Fn(&'n V) -> &'n str,
) -> io::Result<()> {
    out.write_all(b"{")?;
    list(out, set, |mut out, (var, new)| {
        text(&mut out, name(var))?;
        out.write_all(b": ")?;
        value(&mut out, new)
    })?;
    out.write_all(b"}")
}

/// Writes the first line of a trace.
pub(crate) fn write_header(out: &mut impl Write, header: &Header) -> io::Result<()> {
    out.write_all(b"{\"portent\": 1")?;
    if let Some(test) = &header.test {
        name(out, TEST, test)?;
    }
    if !header.init.is_empty() {
        out.write_all(b", \"init\": ")?;
        assignments(out, &header.init, |name| name)?;
    }
    out.write_all(b"}\n")
}

/// Writes one event and the end of its line.
pub(crate) fn write_event(
    out: &mut impl Write,
    event: &Event,
    symbols: &Symbols,
) -> io::Result<()> {
    out.write_all(b"{\"t\": ")?;
    match event.partners() {
        [] => text(out, symbols.threads.name(event.thread))?,
        _ => {
            let threads: Vec<&str> = event.threads().map(|t| symbols.threads.name(t)).collect();
            out.write_all(b"[")?;
            list(out, &threads, |mut out, thread| text(&mut out, thread))?;
            out.write_all(b"]")?;
        }
    }
    write_op(out, &event.op, symbols)?;
    match event.mark {
        None => {}
        Some(Mark::Atomic) => out.write_all(b", \"atomic\": true")?,
        Some(Mark::Try) => out.write_all(b", \"try\": true")?,
    }
    if let Some(message) = event.text() {
        name(out, "text", message)?;
    }
    if let Some(loc) = event.loc {
        name(out, "loc", symbols.locs.name(loc))?;
    }
    if let Some(time) = event.time {
        write!(out, ", \"time\": {time}")?;
    }
    for (key, raw) in event.details.iter().flat_map(|details| &details.extra) {
        out.write_all(b", ")?;
        text(out, key)?;
        write!(out, ": {raw}")?;
    }
    out.write_all(b"}\n")
}

fn write_op(out: &mut impl Write, op: &Op, symbols: &Symbols) -> io::Result<()> {
    if let Op::Stamped(stamped) = op {
        out.write_all(b", \"vc\": {")?;
        list(out, &stamped.clock, |mut out, (thread, lines)| {
            text(&mut out, symbols.threads.name(*thread))?;
            write!(out, ": {lines}")
        })?;
        out.write_all(b"}")?;
        return write_action(out, &stamped.action, symbols);
    }
    if let Some(operation) = op.operation() {
        write!(out, ", \"op\": \"{operation}\"")?;
    }
    match op {
        Op::Read(var) => name(out, "var", symbols.vars.name(*var)),
        Op::Write(var, new) | Op::Update(var, new) => {
            name(out, "var", symbols.vars.name(*var))?;
            let Some(new) = new else { return Ok(()) };
            out.write_all(b", \"val\": ")?;
            value(out, new)
        }
        Op::Lock(lock)
        | Op::Unlock(lock)
        | Op::Request(lock)
        | Op::ReadLock(lock)
        | Op::ReadUnlock(lock)
        | Op::TryLock(lock) => name(out, "lock", symbols.locks.name(*lock)),
        Op::Fork(child) | Op::Join(child) => name(out, "child", symbols.threads.name(*child)),
        Op::Send(chan, msg, delivery) | Op::Recv(chan, msg, delivery) => {
            name(out, "chan", symbols.chans.name(*chan))?;
            match msg {
                Msg::Number(n) => write!(out, ", \"msg\": {n}")?,
                Msg::Name(msg) => name(out, "msg", symbols.names.name(*msg))?,
            }
            match delivery {
                Delivery::Unordered => Ok(()),
                Delivery::Fifo => out.write_all(b", \"fifo\": true"),
                Delivery::Bounded(n) => write!(out, ", \"fifo\": true, \"capacity\": {n}"),
            }
        }
        Op::TryRecv(chan) => name(out, "chan", symbols.chans.name(*chan)),
        Op::Waiting(cond, lock) | Op::Wait(cond, lock) => {
            name(out, "cond", symbols.conds.name(*cond))?;
            match lock {
                Some(lock) => name(out, "lock", symbols.locks.name(*lock)),
                None => Ok(()),
            }
        }
        Op::Notify(cond) => name(out, "cond", symbols.conds.name(*cond)),
        Op::Barrier(barrier, round) => {
            name(out, "barrier", symbols.barriers.name(*barrier))?;
            write!(out, ", \"round\": {round}")
        }
        Op::Marker(_, block) => match block {
            Some(block) => name(out, "block", symbols.names.name(*block)),
            None => Ok(()),
        },
        Op::Event(action) => write_action(out, action, symbols),
        other => {
            let problem = format!("the native format has no word for {other:?}");
            Err(io::Error::new(io::ErrorKind::Unsupported, problem))
        }
    }
}

fn write_action(out: &mut impl Write, action: &Action, symbols: &Symbols) -> io::Result<()> {
    if let Some(spelled) = action.name {
        name(out, "name", symbols.names.name(spelled))?;
    }
    if !action.args.is_empty() {
        out.write_all(b", \"args\": [")?;
        list(out, &action.args, |mut out, arg| value(&mut out, arg))?;
        out.write_all(b"]")?;
    }
    if !action.set.is_empty() {
        out.write_all(b", \"set\": ")?;
        assignments(out, &action.set, |var| symbols.vars.name(*var))?;
    }
    Ok(())
}
