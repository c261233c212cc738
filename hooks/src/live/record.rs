//! The records in the queue of a thread: pairs of words, sixteen bytes.
//!
//! Words rather than an enumeration, because they are assembled in registers: a value that is written in
//! small parts and then read as a whole stalls the processor for longer than the rest of an event
//! takes. A pair rather than an array, for the same reason. Texts do not fit, and go through a list beside the queue, in the same order.
//!
//! | record | first word | second word, from its lowest bits |
//! |---|---|---|
//! | begin | chain, count | tag; thread |
//! | knows | chain, count | tag |
//! | did | object, place | tag, operation, mark, whether a part follows; other object |
//! | event | name, place | tag; number of arguments that follow |
//! | value | its bits | tag, type |
//! | number | it | tag, delivery; capacity |
//! | place | of the next event in the run as it was | tag |
//!
//! A place and the other object are counted from 1; 0 means that there is none.

use std::{collections::VecDeque, sync::Arc};

use portent_monitor_core::{
    BarrierId, ChainId, ChanId, CondId, Delivery, Id, LocId, LockId, Mark, Marker, Msg, NameId, Op,
    Operation, ThreadId, Value, VarId,
};

use super::fork_aware::ForkAware;

/// A record.
pub(crate) type Words = (u64, u64);
/// The texts of a queue.
pub(super) type Texts = Arc<ForkAware<VecDeque<Arc<str>>>>;

const BEGIN: u8 = 0;
const KNOWS: u8 = 1;
const DID: u8 = 2;
const EVENT: u8 = 3;
const VALUE: u8 = 4;
const NUMBER: u8 = 5;
const PLACE: u8 = 6;

#[inline]
fn pair(high: usize, low: u32) -> u64 {
    ((high as u64) << 32) | u64::from(low)
}

#[inline]
fn from_one<I: Id>(id: Option<I>) -> u32 {
    id.map_or(0, |id| id.index() as u32 + 1)
}

/// What follows is of this thread, on this chain, which has counted so far.
pub(super) fn begin(thread: ThreadId, chain: ChainId, count: u32) -> Words {
    (
        pair(chain.index(), count),
        pair(thread.index(), u32::from(BEGIN)),
    )
}

/// The next event knows this many events of a chain.
pub(super) fn knows(chain: ChainId, count: u32) -> Words {
    (pair(chain.index(), count), u64::from(KNOWS))
}

/// The place of the next event in the run as it was.
pub(super) fn place(place: u64) -> Words {
    (place, u64::from(PLACE))
}

/// An application event, whose arguments follow.
#[inline]
pub(super) fn event(name: NameId, loc: LocId, args: usize) -> Words {
    (
        pair(name.index(), loc.index() as u32),
        pair(args, u32::from(EVENT)),
    )
}

/// An argument of an event, or what was written; `keep` takes its text.
#[inline(always)]
pub(super) fn value(value: Value, keep: impl FnOnce(Arc<str>)) -> Words {
    let (bits, kind) = match value {
        Value::Int(n) => (n.cast_unsigned(), 0u32),
        Value::Bool(b) => (u64::from(b), 1),
        Value::Float(x) => (x.to_bits(), 2),
        Value::Str(text) => {
            keep(text);
            (0, 3)
        }
    };
    (bits, u64::from(kind << 8 | u32::from(VALUE)))
}

/// A value that was written to a variable, as words and not as an enumeration; and its text, if it is one.
pub(crate) struct EncodedValue {
    words: Words,
    text: Option<Arc<str>>,
}

impl From<Value> for EncodedValue {
    #[inline(always)]
    fn from(told: Value) -> EncodedValue {
        let mut text = None;
        let words = value(told, |kept| text = Some(kept));
        EncodedValue { words, text }
    }
}

#[cold]
#[inline(never)]
fn keep(texts: &Texts, text: Arc<str>) {
    texts.with(|texts| texts.push_back(text));
}

/// That a variable was written, by this operation. The same as [`did`] makes of it.
#[inline(always)]
pub(super) fn wrote(
    operation: Operation,
    var: VarId,
    told: Option<&mut EncodedValue>,
    loc: Option<LocId>,
    mark: Option<Mark>,
    texts: &Texts,
) -> (Words, Option<Words>) {
    let part = match told {
        Some(EncodedValue { words, text }) => {
            if let Some(text) = text.take() {
                keep(texts, text);
            }
            Some(*words)
        }
        None => None,
    };
    let head = head(operation as u32, var.index(), 0, loc, mark, part.is_some());
    (head, part)
}

/// An operation, in one part or two.
pub(super) fn did(
    op: Op,
    loc: Option<LocId>,
    mark: Option<Mark>,
    texts: &Texts,
) -> (Words, Option<Words>) {
    let operation = op.operation().map_or(0, |operation| operation as u32);
    let mut other = 0;
    let mut part = None;
    let object = match op {
        Op::Read(var) => var.index(),
        Op::Write(var, told) | Op::Update(var, told) => {
            part = told.map(|told| value(told, |text| keep(texts, text)));
            var.index()
        }
        Op::Lock(lock)
        | Op::Unlock(lock)
        | Op::Request(lock)
        | Op::ReadLock(lock)
        | Op::ReadUnlock(lock)
        | Op::TryLock(lock) => lock.index(),
        Op::Fork(thread) | Op::Join(thread) => thread.index(),
        Op::Send(chan, message, delivery) | Op::Recv(chan, message, delivery) => {
            part = Some(number(message, delivery));
            chan.index()
        }
        Op::TryRecv(chan) => chan.index(),
        Op::Waiting(cond, lock) | Op::Wait(cond, lock) => {
            other = from_one(lock);
            cond.index()
        }
        Op::Notify(cond) => cond.index(),
        Op::Barrier(barrier, round) => {
            part = Some((round, u64::from(NUMBER)));
            barrier.index()
        }
        Op::Marker(_, Some(block)) => block.index(),
        // Hooks do nothing else.
        _ => 0,
    };
    let head = head(operation, object, other, loc, mark, part.is_some());
    (head, part)
}

#[inline(always)]
fn head(
    operation: u32,
    object: usize,
    other: u32,
    loc: Option<LocId>,
    mark: Option<Mark>,
    has_part: bool,
) -> Words {
    let mark = match mark {
        None => 0u32,
        Some(Mark::Atomic) => 1,
        Some(Mark::Try) => 2,
    };
    let low = u32::from(DID) | operation << 8 | mark << 16 | u32::from(has_part) << 24;
    (pair(object, from_one(loc)), pair(other as usize, low))
}

fn number(message: Msg, delivery: Delivery) -> Words {
    let number = match message {
        Msg::Number(number) => number.cast_unsigned(),
        Msg::Name(name) => name.index() as u64,
    };
    let (kind, capacity) = match delivery {
        Delivery::Unordered => (0u32, 0),
        Delivery::Fifo => (1, 0),
        Delivery::Bounded(capacity) => (2, capacity),
    };
    (
        number,
        pair(capacity as usize, u32::from(NUMBER) | kind << 8),
    )
}

/// What a record says.
pub(super) enum Record {
    Begin {
        thread: ThreadId,
        chain: ChainId,
        count: u32,
    },
    Knows(ChainId, u32),
    /// An operation that the next record belongs to, if it is not whole.
    Did {
        head: Words,
        is_whole: bool,
    },
    Event {
        name: NameId,
        loc: LocId,
        args: u32,
    },
    Part(Words),
    Place(u64),
}

#[inline]
fn high(word: u64) -> usize {
    (word >> 32) as usize
}

#[inline]
fn low(word: u64) -> u32 {
    word as u32
}

/// Reads a record; `None` if it is not valid.
pub(super) fn read(words: Words) -> Option<Record> {
    let (first, second) = words;
    Some(match second as u8 {
        BEGIN => Record::Begin {
            thread: ThreadId::from_index(high(second))?,
            chain: ChainId::from_index(high(first))?,
            count: low(first),
        },
        KNOWS => Record::Knows(ChainId::from_index(high(first))?, low(first)),
        DID => Record::Did {
            head: words,
            is_whole: second >> 24 & 1 == 0,
        },
        EVENT => Record::Event {
            name: NameId::from_index(high(first))?,
            loc: LocId::from_index(low(first) as usize)?,
            args: high(second) as u32,
        },
        VALUE | NUMBER => Record::Part(words),
        PLACE => Record::Place(first),
        _ => return None,
    })
}

/// Reads a value.
pub(super) fn read_value((bits, second): Words, texts: &Texts) -> Value {
    match second >> 8 & 3 {
        0 => Value::Int(bits.cast_signed()),
        1 => Value::Bool(bits != 0),
        2 => Value::Float(f64::from_bits(bits)),
        _ => Value::Str(texts.with(VecDeque::pop_front).unwrap_or_default()),
    }
}

/// Reads an operation, its place and its mark.
pub(super) fn read_did(
    (first, second): Words,
    part: Option<Words>,
    texts: &Texts,
) -> Option<(Op, Option<LocId>, Option<Mark>)> {
    let object = high(first);
    let var = || VarId::from_index(object);
    let lock = || LockId::from_index(object);
    let chan = || ChanId::from_index(object);
    let cond = || CondId::from_index(object);
    let other = || LockId::from_index(high(second).checked_sub(1)?);
    let told = || part.map(|part| read_value(part, texts));
    let message = || {
        let (number, how) = part?;
        let delivery = match how >> 8 & 3 {
            0 => Delivery::Unordered,
            1 => Delivery::Fifo,
            _ => Delivery::Bounded(high(how) as u32),
        };
        Some((Msg::Number(number.cast_signed()), delivery))
    };
    let operation = Operation::ALL
        .iter()
        .find(|one| **one as u64 == second >> 8 & 0xff)?;
    let op = match operation {
        Operation::Read => Op::Read(var()?),
        Operation::Write => Op::Write(var()?, told()),
        Operation::Update => Op::Update(var()?, told()),
        Operation::Lock => Op::Lock(lock()?),
        Operation::Unlock => Op::Unlock(lock()?),
        Operation::Request => Op::Request(lock()?),
        Operation::ReadLock => Op::ReadLock(lock()?),
        Operation::ReadUnlock => Op::ReadUnlock(lock()?),
        Operation::TryLock => Op::TryLock(lock()?),
        Operation::Fork => Op::Fork(ThreadId::from_index(object)?),
        Operation::Join => Op::Join(ThreadId::from_index(object)?),
        Operation::Send => {
            message().map(|(message, how)| Some(Op::Send(chan()?, message, how)))??
        }
        Operation::Recv => {
            message().map(|(message, how)| Some(Op::Recv(chan()?, message, how)))??
        }
        Operation::TryRecv => Op::TryRecv(chan()?),
        Operation::Waiting => Op::Waiting(cond()?, other()),
        Operation::Wait => Op::Wait(cond()?, other()),
        Operation::Notify => Op::Notify(cond()?),
        Operation::Barrier => Op::Barrier(BarrierId::from_index(object)?, part?.0),
        Operation::Begin => Op::Marker(Marker::Begin, Some(NameId::from_index(object)?)),
        Operation::End => Op::Marker(Marker::End, Some(NameId::from_index(object)?)),
        _ => return None,
    };
    let loc = (low(first) as usize)
        .checked_sub(1)
        .and_then(LocId::from_index);
    let mark = match second >> 16 & 3 {
        0 => None,
        1 => Some(Mark::Atomic),
        _ => Some(Mark::Try),
    };
    Some((op, loc, mark))
}
