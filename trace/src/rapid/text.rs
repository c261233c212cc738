//! STD text: `thread|operation(operand)|location`, one event a line.
//!
//! This is the format of the largest traces, so reading a line allocates nothing: the line is split
//! in the buffer, and the names are looked up as bytes. The location may be left out, and may be
//! any text. The operand of `begin` and `end` may be left out too.
//!
//! Waits come in two dialects. In one, `wait(m)` is the wake-up of a thread that holds m all along. In
//! the other, separate lines release the monitor and take it again: after `rel(m)`, `wait(m)` is
//! where the wait begins, and the next `acq(m)` of the thread is the wake-up.

use std::{
    io::{self, Write},
    num::NonZeroU64,
};

use portent_monitor_core::{
    CondId, Error as CoreError, Event, LockId, Marker, Op, Spelling, Symbols, ThreadId,
};

use crate::{
    decoder::{Decoded, Position},
    error::Fault,
    lines::{Line, Lines},
    threads::LastThread,
};

/// Reads STD text.
pub(crate) struct StdText<'r> {
    lines: Lines<'r>,
    last: LastThread,
    monitors: Monitors,
}

/// For each thread the monitor that it released last, and the one that it waits for.
#[derive(Default)]
pub(crate) struct Monitors {
    threads: Vec<JavaMonitor>,
}

#[derive(Clone, Copy, Default)]
struct JavaMonitor {
    released: Option<LockId>,
    waits_for: Option<LockId>,
}

impl Monitors {
    /// What the next operation of a thread means, given that a wait is read as a wake-up.
    #[inline]
    fn interpret(&mut self, thread: ThreadId, op: Op, symbols: &Symbols) -> Op {
        if thread.index() >= self.threads.len() {
            self.threads
                .resize_with(thread.index() + 1, JavaMonitor::default);
        }
        let monitor = &mut self.threads[thread.index()];
        let released = std::mem::take(&mut monitor.released);
        match op {
            Op::Unlock(lock) => {
                monitor.released = Some(lock);
                op
            }
            Op::Wait(cond, _) => {
                let name = symbols.conds.name(cond);
                let lock = released.filter(|&lock| symbols.locks.name(lock) == name);
                match lock {
                    Some(_) => {
                        monitor.waits_for = lock;
                        Op::Waiting(cond, None)
                    }
                    None => op,
                }
            }
            Op::Lock(lock) if monitor.waits_for == Some(lock) => {
                monitor.waits_for = None;
                match symbols.conds.get(symbols.locks.name(lock)) {
                    Some(cond) => Op::Wait(cond, Some(lock)),
                    None => op,
                }
            }
            op => op,
        }
    }
}

impl<'r> StdText<'r> {
    pub(crate) fn new(lines: Lines<'r>) -> Self {
        StdText {
            lines,
            last: LastThread::default(),
            monitors: Monitors::default(),
        }
    }

    pub(crate) fn next(&mut self, symbols: &mut Symbols) -> Result<Option<Decoded>, Fault> {
        loop {
            let Some(line) = self.lines.next()? else {
                return Ok(None);
            };
            if !line.is_blank() {
                let mut decoded = decode(&line, &mut self.last, symbols)?;
                let event = &mut decoded.event;
                let op = std::mem::replace(&mut event.op, Op::Marker(Marker::Begin, None));
                event.op = self.monitors.interpret(event.thread, op, symbols);
                return Ok(Some(decoded));
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    Read,
    Write,
    Acquire,
    Release,
    Fork,
    Join,
    Request,
    Wait,
    Notify,
    Marker(Marker),
}

fn word(text: &[u8]) -> Option<Word> {
    Some(match text {
        b"r" | b"rd" => Word::Read,
        b"w" | b"wr" => Word::Write,
        b"acq" => Word::Acquire,
        b"rel" => Word::Release,
        b"fork" => Word::Fork,
        b"join" => Word::Join,
        b"begin" => Word::Marker(Marker::Begin),
        b"end" => Word::Marker(Marker::End),
        b"req" => Word::Request,
        b"wait" => Word::Wait,
        b"notify" | b"notifyall" | b"notifyAll" => Word::Notify,
        _ => return None,
    })
}

/// Whether this is an operation of the format.
pub(crate) fn is_word(text: &str) -> bool {
    word(text.as_bytes()).is_some()
}

const WORDS: &str = "r, w, acq, rel, fork, join, begin, end, rd, wr, req, wait, notify, notifyall";

fn decode(line: &Line<'_>, last: &mut LastThread, symbols: &mut Symbols) -> Result<Decoded, Fault> {
    let text = line.text;
    let fault = |part: &[u8], problem: String| {
        let start = offset_in(text, part);
        Fault::new(line.number, text, start..start + part.len(), problem)
    };
    let expected = "expected thread|operation(operand)|location, as in T1|w(x)|12";
    let first = position(text, b'|').ok_or_else(|| fault(text, expected.to_owned()))?;
    let thread = text[..first].trim_ascii();
    if thread.is_empty() {
        return Err(fault(
            text,
            "expected the name of a thread before the first |".to_owned(),
        ));
    }
    let second = position(&text[first + 1..], b'|').map_or(text.len(), |i| first + 1 + i);
    let op = text[first + 1..second].trim_ascii();
    let column = offset_in(text, op);
    let (name, operand) = match position(op, b'(') {
        Some(open) => match op {
            [.., b')'] => (&op[..open], op[open + 1..op.len() - 1].trim_ascii()),
            _ => {
                return Err(fault(
                    op,
                    "expected a ) at the end of the operation".to_owned(),
                ));
            }
        },
        None => (op, &op[op.len()..]),
    };
    let name = name.trim_ascii();
    let Some(word) = word(name) else {
        return Err(fault(op, format!("expected an operation ({WORDS})")));
    };
    if operand.is_empty() && !matches!(word, Word::Marker(_)) {
        return Err(fault(op, "expected a name in the parentheses".to_owned()));
    }
    let location = text.get(second + 1..).unwrap_or(b"").trim_ascii();
    let mut build = |symbols: &mut Symbols| -> Result<Event, CoreError> {
        let op = match word {
            Word::Read => Op::Read(symbols.vars.intern_bytes(operand)?),
            Word::Write => Op::Write(symbols.vars.intern_bytes(operand)?, None),
            Word::Acquire => Op::Lock(symbols.locks.intern_bytes(operand)?),
            Word::Release => Op::Unlock(symbols.locks.intern_bytes(operand)?),
            Word::Request => Op::Request(symbols.locks.intern_bytes(operand)?),
            Word::Fork => Op::Fork(child(operand, thread, symbols)?),
            Word::Join => Op::Join(child(operand, thread, symbols)?),
            Word::Wait => Op::Wait(symbols.conds.intern_bytes(operand)?, None),
            Word::Notify => Op::Notify(symbols.conds.intern_bytes(operand)?),
            Word::Marker(marker) if operand.is_empty() => Op::Marker(marker, None),
            Word::Marker(marker) => Op::Marker(marker, Some(symbols.names.intern_bytes(operand)?)),
        };
        let mut event = Event::new(last.intern(thread, symbols)?, op);
        if !location.is_empty() {
            event.loc = Some(symbols.locs.intern_bytes(location)?);
        }
        event.line = NonZeroU64::new(line.number);
        Ok(event)
    };
    match build(symbols) {
        Ok(event) => {
            let op = Position::new(line.number, text, column);
            let data = op;
            Ok(Decoded { event, op, data })
        }
        Err(CoreError::NotUtf8) => {
            let good = std::str::from_utf8(text)
                .err()
                .map_or(0, |error| error.valid_up_to());
            Err(fault(&text[good..], "expected UTF-8 text".to_owned()))
        }
        Err(error) => Err(fault(text, error.to_string())),
    }
}

/// The thread that is forked or joined: some recorders name threads `T0`, `T1`, ... and children 0, 1, ...
fn child(operand: &[u8], thread: &[u8], symbols: &mut Symbols) -> Result<ThreadId, CoreError> {
    let is_number = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    match thread {
        [b'T', digits @ ..] if is_number(digits) && is_number(operand) => {
            symbols.threads.intern_bytes(&[b"T", operand].concat())
        }
        _ => symbols.threads.intern_bytes(operand),
    }
}

/// The position of a byte. The fields are a few bytes long: a loop over them costs less than setting up
/// a SIMD search.
#[inline]
fn position(text: &[u8], byte: u8) -> Option<usize> {
    text.iter().position(|&b| b == byte)
}

/// Where a part of a text begins in it.
fn offset_in(text: &[u8], part: &[u8]) -> usize {
    (part.as_ptr() as usize)
        .saturating_sub(text.as_ptr() as usize)
        .min(text.len())
}

/// Writes one event, or returns what STD has no word for. If the trace has no location, 0 is written,
/// because the tools that read the format expect one.
pub(crate) fn write_event(
    out: &mut impl Write,
    event: &Event,
    symbols: &Symbols,
    monitors: &mut Monitors,
) -> io::Result<Result<(), String>> {
    let loc = event.loc;
    let word = match &event.op {
        Op::Read(_)
        | Op::Write(..)
        | Op::Lock(_)
        | Op::Unlock(_)
        | Op::Request(_)
        | Op::Fork(_)
        | Op::Join(_)
        | Op::Waiting(..)
        | Op::Wait(..)
        | Op::Notify(_)
        | Op::Marker(..) => None,
        Op::Update(..) => Some("an update"),
        Op::ReadLock(_) | Op::ReadUnlock(_) => Some("the shared side of a lock"),
        Op::TryLock(_) | Op::TryRecv(_) => Some("a try that failed"),
        Op::Send(..) | Op::Recv(..) => Some("messages"),
        Op::Barrier(..) => Some("barriers"),
        Op::Event(_) => Some("application events"),
        Op::Stamped(_) => Some("vector clocks"),
        _ => Some("this operation"),
    };
    if let Some(word) = word {
        return Ok(Err(format!("it has no word for {word}")));
    }
    let mut lines = String::new();
    for (op, meaning) in spelled(&event.op, symbols) {
        if monitors.interpret(event.thread, op.clone(), symbols) != meaning {
            let problem = "it has no word for a wait whose condition is not its lock, or that begins \
                           without a line of its own";
            return Ok(Err(problem.to_owned()));
        }
        let mut event = Event::new(event.thread, op);
        event.loc = loc;
        let line = Spelling::new(&event, symbols).to_string();
        if !comes_back(&line, &event) {
            return Ok(Err(format!(
                "a name is empty, or has a |, an end of line or blanks around it: {line:?}"
            )));
        }
        let location = if loc.is_some() { "" } else { "|0" };
        lines.extend([line.as_str(), location, "\n"]);
    }
    out.write_all(lines.as_bytes())?;
    Ok(Ok(()))
}

/// The lines for an operation, and the meaning of each of them in its context.
fn spelled(op: &Op, symbols: &Symbols) -> Vec<(Op, Op)> {
    let is_monitor =
        |cond: CondId, lock: LockId| symbols.conds.name(cond) == symbols.locks.name(lock);
    match *op {
        Op::Waiting(cond, None) => vec![(Op::Wait(cond, None), op.clone())],
        Op::Waiting(cond, Some(lock)) if is_monitor(cond, lock) => vec![
            (Op::Unlock(lock), Op::Unlock(lock)),
            (Op::Wait(cond, None), Op::Waiting(cond, None)),
        ],
        Op::Wait(cond, Some(lock)) if is_monitor(cond, lock) => vec![(Op::Lock(lock), op.clone())],
        // Lines that would be read as something else cannot be written.
        Op::Waiting(cond, Some(_)) | Op::Wait(cond, Some(_)) => {
            vec![(Op::Notify(cond), op.clone())]
        }
        _ => vec![(op.clone(), op.clone())],
    }
}

/// Whether this line of the event would be read as what it was written from.
fn comes_back(line: &str, event: &Event) -> bool {
    let fields: Vec<&str> = line.split('|').collect();
    let operand = fields
        .get(1)
        .and_then(|op| op.split_once('('))
        .map_or("", |(_, operand)| {
            operand.strip_suffix(')').unwrap_or(operand)
        });
    let unnamed = operand.is_empty() && matches!(event.op, Op::Marker(_, None));
    fields.len() == 2 + usize::from(event.loc.is_some())
        && fields.iter().all(|field| is_trim(field))
        && (is_trim(operand) || unnamed)
        && !line.contains(['\n', '\r'])
        // A mark at the start of a file is not part of its text.
        && !line.starts_with('\u{feff}')
}

fn is_trim(name: &str) -> bool {
    !name.is_empty() && name.trim_ascii() == name
}
