//! Lines of the native format into events.

use std::num::NonZeroU64;

use portent_monitor_core::{
    Action, Delivery, Details, Error as CoreError, Event, LocId, LockId, Mark, Marker, Msg, Op,
    Operation, Stamped, Symbols, ThreadId, Value, VarId, suggest,
};

use super::{
    entries::entries,
    fields::{Fields, Key, Object},
    near_miss::{self, Misspelt, NearMiss, NearMisses},
    short_names::ShortNames,
    values::{Problem, count, flag, names, text, value, values},
};
use crate::{
    Header,
    decoder::{Decoded, Position},
    error::Fault,
    lines::{Line, Lines},
};

/// Reads the native format.
pub(crate) struct Native<'r> {
    lines: Lines<'r>,
    /// The header is read before the first event is asked for; this is the line that came instead.
    first: Option<(u64, Vec<u8>)>,
    fields: Fields,
    lately: Lately,
    near_misses: NearMisses,
    misspelt: Option<Misspelt>,
}

/// The names that most lines have, as they were found on the lines before.
#[derive(Default)]
struct Lately {
    threads: ShortNames<ThreadId>,
    operations: ShortNames<Operation>,
    vars: ShortNames<VarId>,
    locks: ShortNames<LockId>,
    locs: ShortNames<LocId>,
}

const OPS: &str = "read, write, update, lock, unlock, rlock, runlock, trylock, fork, join, \
                   send, recv, tryrecv, waiting, wait, notify, barrier, event, begin, end, req";

impl<'r> Native<'r> {
    pub(crate) fn new(lines: Lines<'r>) -> Self {
        Native {
            lines,
            first: None,
            fields: Fields::default(),
            lately: Lately::default(),
            near_misses: NearMisses::default(),
            misspelt: None,
        }
    }

    /// Reads the header line, if there is one, and tells where the initial values stand; to be
    /// called once, first.
    pub(crate) fn header(&mut self, symbols: &mut Symbols) -> Result<(Header, Position), Fault> {
        let nothing = (Header::default(), Position { line: 1, column: 1 });
        loop {
            let Some(line) = self.lines.next()? else {
                return Ok(nothing);
            };
            if line.is_blank() {
                continue;
            }
            // A cheap look first: nearly every first line without the word is an event.
            if memchr::memmem::find(line.text, b"\"portent\"").is_some()
                && let Some((header, at)) = parse_line(&line, |text| read_header(text, symbols))?
            {
                let position = Position::new(line.number, line.text, offset(line.text, at));
                return Ok((header, position));
            }
            self.first = Some((line.number, line.text.to_vec()));
            return Ok(nothing);
        }
    }

    /// The first key that was probably meant to be another, if there is one.
    pub(crate) fn misspelt(&self) -> Option<&Misspelt> {
        self.misspelt.as_ref()
    }

    pub(crate) fn next(&mut self, symbols: &mut Symbols) -> Result<Option<Decoded>, Fault> {
        let mut reading = Reading {
            fields: &mut self.fields,
            lately: &mut self.lately,
            near_misses: &mut self.near_misses,
            misspelt: &mut self.misspelt,
            symbols,
        };
        if let Some((number, text)) = self.first.take() {
            let line = Line {
                number,
                text: &text,
            };
            return reading.decode(&line).map(Some);
        }
        loop {
            let Some(line) = self.lines.next()? else {
                return Ok(None);
            };
            if !line.is_blank() {
                return reading.decode(&line).map(Some);
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
    read(line.utf8()?).map_err(|problem| fault(line, problem))
}

/// What is wrong, with its place.
#[cold]
fn fault(line: &Line<'_>, problem: Problem<'_>) -> Fault {
    let start = offset(line.text, problem.at);
    let part = start..start + problem.at.len();
    Fault::new(line.number, line.text, part, problem.what)
}

/// `None` if the line is an event that merely has a key `portent`.
fn read_header<'a>(
    line: &'a str,
    symbols: &mut Symbols,
) -> Result<Option<(Header, &'a str)>, Problem<'a>> {
    let mut fields = Fields::default();
    let fields = fields.read(line)?;
    let Some(version) = fields.get(Key::Portent) else {
        return Ok(None);
    };
    let mut unknown = fields.unknown();
    if fields.get(Key::Init).is_none()
        && let Some((key, at)) = unknown.find(|(key, _)| near_miss::meant(key) == Some(Key::Init))
    {
        let what = format!("expected the key `init`, not `{key}`");
        return Err(Problem::new(at, what));
    }
    drop(unknown);
    if fields.get(Key::T).is_some() {
        return Ok(None);
    }
    if version != "1" {
        return Err(Problem::new(version, "expected version 1 of the format"));
    }
    let mut header = Header::default();
    let init = fields.get(Key::Init);
    if let Some(init) = init {
        header.init = assignments(init, symbols)?;
    }
    Ok(Some((header, init.unwrap_or(version))))
}

fn too_many<'a>(at: &'a str) -> impl Fn(CoreError) -> Problem<'a> {
    move |error| Problem::new(at, error.to_string())
}

fn assignments<'a>(
    raw: &'a str,
    symbols: &mut Symbols,
) -> Result<Vec<(VarId, Value)>, Problem<'a>> {
    if !raw.starts_with('{') {
        let what = "expected an object of variables, as in {\"x\": 1}";
        return Err(Problem::new(raw, what));
    }
    entries(raw)?
        .into_iter()
        .map(|(var, raw)| {
            let var = symbols.vars.intern(&var).map_err(too_many(raw))?;
            Ok((var, value(raw)?))
        })
        .collect()
}

/// Places in a line that is being read.
struct Places<'a> {
    number: u64,
    line: &'a str,
    is_ascii: bool,
}

impl Places<'_> {
    /// Where a part of the line begins.
    #[inline]
    fn of(&self, part: &str) -> Position {
        let line = self.line.as_bytes();
        let offset = offset(line, part);
        if self.is_ascii {
            Position {
                line: self.number,
                column: offset as u64 + 1,
            }
        } else {
            Position::new(self.number, line, offset)
        }
    }
}

/// What it takes to turn a line into an event.
struct Reading<'s> {
    fields: &'s mut Fields,
    lately: &'s mut Lately,
    near_misses: &'s mut NearMisses,
    misspelt: &'s mut Option<Misspelt>,
    symbols: &'s mut Symbols,
}

impl Reading<'_> {
    fn decode(&mut self, line: &Line<'_>) -> Result<Decoded, Fault> {
        parse_line(line, |text| self.event(text, line.number))
    }

    #[inline(always)]
    fn event<'a>(&mut self, line: &'a str, number: u64) -> Result<Decoded, Problem<'a>> {
        let places = Places {
            number,
            line,
            is_ascii: line.is_ascii(),
        };
        let (symbols, lately) = (&mut *self.symbols, &mut *self.lately);
        let mut object = self.fields.read(line)?;
        let raw_thread = object.need(Key::T, "every event")?;
        let mut partners = Vec::new();
        let thread = if raw_thread.starts_with('[') {
            partners = read_threads(raw_thread, symbols)?;
            partners.remove(0)
        } else {
            lately.threads.get(object.word(Key::T), || {
                let thread = symbols.threads.intern(&object.name(raw_thread)?);
                thread.map_err(too_many(raw_thread))
            })?
        };
        let (op, at) = match (object.take(Key::Op), object.take(Key::Vc)) {
            (Some(op), None) => (read_op(&mut object, op, symbols, lately)?, op),
            (None, Some(clock)) => (read_stamped(&mut object, clock, symbols)?, clock),
            (Some(_), Some(clock)) => {
                return Err(Problem::new(
                    clock,
                    "expected either `op` or `vc`, not both",
                ));
            }
            (None, None) => (read_bare(&mut object, symbols)?, line),
        };
        let near_miss = if object.has_unknown() {
            self.near_misses.find(&object, &op)?
        } else {
            None
        };
        let mut event = Event::new(thread, op);
        event.line = NonZeroU64::new(number);
        event.mark = read_mark(&mut object, &event.op)?;
        if let Some(raw) = object.take(Key::Loc) {
            let loc = lately.locs.get(object.word(Key::Loc), || {
                symbols
                    .locs
                    .intern(&object.name(raw)?)
                    .map_err(too_many(raw))
            });
            event.loc = Some(loc?);
        }
        if let Some(raw) = object.take(Key::Time) {
            event.time = Some(count(raw)?);
        }
        let message = object.take(Key::Text);
        let op = places.of(at);
        let data = object.first_of([Key::Val, Key::Set, Key::Args, Key::Text]);
        let data = data.map_or(op, |data| places.of(data));
        if message.is_some() || object.has_rest() || !partners.is_empty() {
            let text = message.map(text).transpose()?;
            let text = text.map(|text| text.into_owned().into());
            let mut details = Details::new(text, object.rest());
            details.partners = partners;
            event.details = Some(Box::new(details));
        }
        if let Some(near_miss) = near_miss {
            note(self.misspelt, near_miss, &places);
        }
        Ok(Decoded { event, op, data })
    }
}

/// Remembers the first key that was probably meant to be another, and counts the others.
#[cold]
fn note(misspelt: &mut Option<Misspelt>, near_miss: NearMiss<'_>, places: &Places<'_>) {
    let NearMiss { at, key, meant } = near_miss;
    match misspelt {
        Some(misspelt) => misspelt.more += 1,
        None => {
            *misspelt = Some(Misspelt {
                at: places.of(at),
                key,
                meant: meant.name(),
                more: 0,
            });
        }
    }
}

fn read_op<'a>(
    object: &mut Object<'a, '_>,
    raw_op: &'a str,
    symbols: &mut Symbols,
    lately: &mut Lately,
) -> Result<Op, Problem<'a>> {
    let operation = lately
        .operations
        .get(object.word(Key::Op), || read_operation(object, raw_op))?;
    let op = operation.name();
    // Each operation has one key that names what it is about.
    macro_rules! operand {
        ($key:ident, $kind:ident) => {{
            let raw = object.need(Key::$key, op)?;
            let name = object.name(raw)?;
            symbols.$kind.intern(&name).map_err(too_many(raw))?
        }};
    }
    // The same of those that most lines have.
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

/// A line without an operation: a text is an event, and nothing else is.
fn read_bare<'a>(object: &mut Object<'a, '_>, symbols: &mut Symbols) -> Result<Op, Problem<'a>> {
    let has_text = object.get(Key::Text).is_some();
    let is_missed = |key: &Key| {
        let mut unknown = object.unknown().map(|(unknown, _)| unknown);
        // Beside a text, `kind` may be anything.
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

/// How the operation was done, of those of which it may be said.
fn read_mark<'a>(object: &mut Object<'a, '_>, op: &Op) -> Result<Option<Mark>, Problem<'a>> {
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

/// The threads of an event that several have in common: at least one, none twice.
fn read_threads<'a>(raw: &'a str, symbols: &mut Symbols) -> Result<Vec<ThreadId>, Problem<'a>> {
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
        action.set = assignments(raw, symbols)?;
    }
    Ok(action)
}

fn read_stamped<'a>(
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
