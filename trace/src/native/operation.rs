//! The operation of a line, and the keys that belong to it.

use std::borrow::Cow;

use portent_monitor_core::{
    Action, Delivery, Error as CoreError, LocId, LockId, Mark, Marker, Msg, Op, Operation, Stamped,
    Symbols, ThreadId, Value, VarId, suggest,
};

use super::{
    entries::entries,
    fields::{Key, Object},
    near_miss,
    short_names::ShortNames,
    values::{Problem, count, flag, names, value, values},
};

const OPS: &str = "read, write, update, lock, unlock, rlock, runlock, trylock, fork, join, \
                   send, recv, tryrecv, waiting, wait, notify, barrier, event, begin, end, req";

/// The most common names, as they were found on earlier lines.
#[derive(Default)]
pub(super) struct Lately {
    pub(super) threads: ShortNames<ThreadId>,
    operations: ShortNames<Operation>,
    vars: ShortNames<VarId>,
    locks: ShortNames<LockId>,
    pub(super) locs: ShortNames<LocId>,
}

/// The operation of a line that has one.
pub(super) fn read_op<'a>(
    object: &mut Object<'a, '_>,
    raw_op: &'a str,
    symbols: &mut Symbols,
    lately: &mut Lately,
) -> Result<Op, Problem<'a>> {
    let operation = lately
        .operations
        .get(object.word(Key::Op), || read_operation(object, raw_op))?;
    let op = operation.name();
    // Each operation has one key that names its object.
    macro_rules! operand {
        ($key:ident, $kind:ident) => {{
            let raw = object.need(Key::$key, op)?;
            let name = object.name(raw)?;
            symbols.$kind.intern(&name).map_err(too_many(raw))?
        }};
    }
    // The same for the most common names.
    macro_rules! frequent {
        ($key:ident, $kind:ident) => {{
            let raw = object.need(Key::$key, op)?;
            lately.$kind.get(object.word(Key::$key), || {
                symbols
                    .$kind
                    .intern(&object.name(raw)?)
                    .map_err(too_many(raw))
            })?
        }};
    }
    macro_rules! value {
        () => {
            object.take(Key::Val).map(value).transpose()?
        };
    }
    Ok(match operation {
        Operation::Read => Op::Read(frequent!(Var, vars)),
        Operation::Write => Op::Write(frequent!(Var, vars), value!()),
        Operation::Update => Op::Update(frequent!(Var, vars), value!()),
        Operation::Lock => Op::Lock(frequent!(Lock, locks)),
        Operation::Unlock => Op::Unlock(frequent!(Lock, locks)),
        Operation::ReadLock => Op::ReadLock(frequent!(Lock, locks)),
        Operation::ReadUnlock => Op::ReadUnlock(frequent!(Lock, locks)),
        Operation::Fork => Op::Fork(operand!(Child, threads)),
        Operation::Join => Op::Join(operand!(Child, threads)),
        Operation::Send | Operation::Recv => {
            let chan = operand!(Chan, chans);
            let raw = object.need(Key::Msg, op)?;
            let msg = Msg::new(&object.name(raw)?, symbols).map_err(too_many(raw))?;
            let delivery = read_delivery(object)?;
            match operation {
                Operation::Send => Op::Send(chan, msg, delivery),
                _ => Op::Recv(chan, msg, delivery),
            }
        }
        Operation::TryLock => Op::TryLock(frequent!(Lock, locks)),
        Operation::TryRecv => Op::TryRecv(operand!(Chan, chans)),
        Operation::Waiting | Operation::Wait => {
            let cond = operand!(Cond, conds);
            let lock = match object.get(Key::Lock) {
                Some(_) => Some(frequent!(Lock, locks)),
                None => None,
            };
            match operation {
                Operation::Wait => Op::Wait(cond, lock),
                _ => Op::Waiting(cond, lock),
            }
        }
        Operation::Notify => Op::Notify(operand!(Cond, conds)),
        Operation::Barrier => {
            let barrier = operand!(Barrier, barriers);
            Op::Barrier(barrier, count(object.need(Key::Round, op)?)?)
        }
        Operation::Begin | Operation::End => {
            let block = match object.get(Key::Block) {
                Some(_) => Some(operand!(Block, names)),
                None => None,
            };
            let marker = match operation {
                Operation::Begin => Marker::Begin,
                _ => Marker::End,
            };
            Op::Marker(marker, block)
        }
        Operation::Request => Op::Request(frequent!(Lock, locks)),
        Operation::Event => {
            if object.get(Key::Text).is_none() {
                object.need(Key::Name, op)?;
            }
            Op::Event(Box::new(read_action(object, symbols)?))
        }
        _ => return Err(unknown_operation(op, raw_op)),
    })
}

fn read_operation<'a>(object: &Object<'a, '_>, raw_op: &'a str) -> Result<Operation, Problem<'a>> {
    if !raw_op.starts_with('"') {
        return Err(Problem::new(raw_op, "expected a string"));
    }
    let op = object.name(raw_op)?;
    Operation::from_name(&op).ok_or_else(|| unknown_operation(&op, raw_op))
}

#[cold]
fn unknown_operation<'a>(op: &str, raw_op: &'a str) -> Problem<'a> {
    let names = Operation::ALL.iter().map(|operation| operation.name());
    let close = near_miss::operation(op).or_else(|| suggest::closest(op, names));
    let perhaps = close.map_or_else(String::new, |close| format!(", perhaps `{close}`"));
    Problem::new(raw_op, format!("expected an operation{perhaps} ({OPS})"))
}

/// A line without an operation: it is an event if it has a text, and nothing else.
pub(super) fn read_bare<'a>(
    object: &mut Object<'a, '_>,
    symbols: &mut Symbols,
) -> Result<Op, Problem<'a>> {
    let has_text = object.get(Key::Text).is_some();
    let is_missed = |key: &Key| {
        let mut unknown = object.unknown().map(|(unknown, _)| unknown);
        // On a line with a text, `kind` may be anything.
        unknown.any(|unknown| {
            if has_text {
                unknown.eq_ignore_ascii_case(key.name())
            } else {
                near_miss::meant(unknown) == Some(*key)
            }
        })
    };
    if let Some(key) = [Key::Op, Key::Vc].into_iter().find(is_missed) {
        return Err(object.lacks(key, "an event"));
    }
    if !has_text {
        let what = "expected a key `op`, `vc` or `text`, one of which every event has";
        return Err(Problem::new(object.text, what));
    }
    Ok(read_action(object, symbols)?.into())
}

/// How the operation was done, for operations with such details.
pub(super) fn read_mark<'a>(
    object: &mut Object<'a, '_>,
    op: &Op,
) -> Result<Option<Mark>, Problem<'a>> {
    let (key, mark) = match op {
        Op::Read(_) | Op::Write(..) | Op::Update(..) => (Key::Atomic, Mark::Atomic),
        Op::Lock(_) | Op::ReadLock(_) => (Key::Try, Mark::Try),
        _ => return Ok(None),
    };
    let is_marked = object.take(key).map(flag).transpose()?;
    Ok((is_marked == Some(true)).then_some(mark))
}

/// How a channel delivers. One with a capacity is a queue.
fn read_delivery<'a>(object: &mut Object<'a, '_>) -> Result<Delivery, Problem<'a>> {
    let fifo = object.take(Key::Fifo).map(flag).transpose()?;
    let Some(raw) = object.take(Key::Capacity) else {
        return Ok(match fifo {
            Some(true) => Delivery::Fifo,
            _ => Delivery::Unordered,
        });
    };
    let capacity = raw.parse();
    let capacity = capacity
        .map_err(|_| Problem::new(raw, "expected a number of messages, from 0 to 4294967295"))?;
    match fifo {
        Some(false) => Err(Problem::new(
            raw,
            "a channel with a capacity is a queue: expected no `fifo`, or true",
        )),
        _ => Ok(Delivery::Bounded(capacity)),
    }
}

/// The threads of an event shared by several: at least one, without duplicates.
pub(super) fn read_threads<'a>(
    raw: &'a str,
    symbols: &mut Symbols,
) -> Result<Vec<ThreadId>, Problem<'a>> {
    let mut threads = Vec::new();
    for name in names(raw)? {
        let thread = symbols.threads.intern(&name).map_err(too_many(raw))?;
        if threads.contains(&thread) {
            return Err(Problem::new(
                raw,
                format!("the thread {name} is given twice"),
            ));
        }
        threads.push(thread);
    }
    if threads.is_empty() {
        Err(Problem::new(raw, "expected at least one thread"))
    } else {
        Ok(threads)
    }
}

/// The application event of a line.
fn read_action<'a>(
    object: &mut Object<'a, '_>,
    symbols: &mut Symbols,
) -> Result<Action, Problem<'a>> {
    let mut action = Action::default();
    if let Some(raw) = object.take(Key::Name) {
        let name = object.name(raw)?;
        action.name = Some(symbols.names.intern(&name).map_err(too_many(raw))?);
    }
    if let Some(raw) = object.take(Key::Args) {
        action.args = values(raw)?;
    }
    if let Some(raw) = object.take(Key::Set) {
        action.set = assignments(raw, |name, raw| {
            symbols.vars.intern(&name).map_err(too_many(raw))
        })?;
    }
    Ok(action)
}

/// A line that carries its vector clock.
pub(super) fn read_stamped<'a>(
    object: &mut Object<'a, '_>,
    raw_clock: &'a str,
    symbols: &mut Symbols,
) -> Result<Op, Problem<'a>> {
    let clock = read_clock(raw_clock, symbols)?;
    let action = read_action(object, symbols)?;
    Ok(Stamped::new(action, clock).into())
}

/// Reads a vector clock.
pub(crate) fn read_clock<'a>(
    raw: &'a str,
    symbols: &mut Symbols,
) -> Result<Vec<(ThreadId, u32)>, Problem<'a>> {
    if !raw.trim_start().starts_with('{') {
        return Err(Problem::new(
            raw,
            "expected a vector clock, as in {\"T1\": 3, \"T2\": 1}",
        ));
    }
    entries(raw)?
        .into_iter()
        .map(|(thread, raw)| {
            let lines = raw.parse().map_err(|_| {
                Problem::new(raw, "expected a number of lines, from 0 to 4294967295")
            })?;
            let thread = symbols.threads.intern(&thread).map_err(too_many(raw))?;
            Ok((thread, lines))
        })
        .collect()
}

/// Variables and their values, as an object; `variable` is called with a name and its value.
pub(super) fn assignments<'a, V>(
    raw: &'a str,
    mut variable: impl FnMut(Cow<'a, str>, &'a str) -> Result<V, Problem<'a>>,
) -> Result<Vec<(V, Value)>, Problem<'a>> {
    if !raw.starts_with('{') {
        let what = "expected an object of variables, as in {\"x\": 1}";
        return Err(Problem::new(raw, what));
    }
    entries(raw)?
        .into_iter()
        .map(|(name, raw)| Ok((variable(name, raw)?, value(raw)?)))
        .collect()
}

/// More names than there are ids.
pub(super) fn too_many<'a>(at: &'a str) -> impl Fn(CoreError) -> Problem<'a> {
    move |error| Problem::new(at, error.to_string())
}
