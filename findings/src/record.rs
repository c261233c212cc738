//! The events of a trace, stored as compactly as possible: a finding names some of them, and its witness has most.

use portent_monitor_core::{Event, Id, LocId, LockId, Mark, Op, Place, Symbols, ThreadId, VarId};
use smallvec::SmallVec;
use std::{borrow::Cow, num::NonZeroU64, ops::Range};

use crate::chunks::Chunks;

portent_monitor_core::ids! {
    /// An event, by its number in observed order.
    pub struct EventId(u32);
}

impl EventId {
    /// The events with these numbers.
    pub(crate) fn range(numbers: Range<usize>) -> impl DoubleEndedIterator<Item = EventId> {
        // No event has a number that 32 bits do not hold.
        numbers.map(|number| EventId(number as u32))
    }
}

/// How a variable is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AccessKind {
    /// It is read.
    Read,
    /// It is written.
    Write,
    /// It is read and written in one step.
    Update,
}

impl AccessKind {
    /// All of them.
    pub const ALL: [AccessKind; 3] = [AccessKind::Read, AccessKind::Write, AccessKind::Update];

    /// Whether two accesses that nothing keeps apart are a race: not both reads, and not both updates.
    pub fn conflicts(self, other: AccessKind) -> bool {
        self != other || self == AccessKind::Write
    }

    /// Its name in a trace.
    pub fn name(self) -> &'static str {
        match self {
            AccessKind::Read => "read",
            AccessKind::Write => "write",
            AccessKind::Update => "update",
        }
    }
}

/// The operation of an event, for the most frequent kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Read,
    Write,
    Update,
    Lock,
    Unlock,
    ReadLock,
    ReadUnlock,
    Request,
    /// The index of the event among the others, which are kept whole.
    Other,
}

#[derive(Clone, Copy, Debug)]
struct Kept {
    thread: ThreadId,
    position: u32,
    object: u32,
    loc: u32,
    line: u32,
    kind: Kind,
    mark: Option<Mark>,
}

const NONE: u32 = u32::MAX;

/// All events of a trace in observed order.
#[derive(Clone, Debug, Default)]
pub struct Record {
    events: Chunks<Kept>,
    others: Vec<Event>,
    /// The events of each thread.
    threads: Vec<Vec<EventId>>,
}

impl Record {
    /// Adds the next event; `None` if there are more than 32 bits can number.
    pub(crate) fn push(&mut self, event: &Event) -> Option<EventId> {
        let id = EventId::from_index(self.events.len()).filter(|id| id.0 != NONE)?;
        let (kind, object) = match event.op {
            Op::Read(var) => (Kind::Read, var.index()),
            Op::Write(var, _) => (Kind::Write, var.index()),
            Op::Update(var, _) => (Kind::Update, var.index()),
            Op::Lock(lock) => (Kind::Lock, lock.index()),
            Op::Unlock(lock) => (Kind::Unlock, lock.index()),
            Op::ReadLock(lock) => (Kind::ReadLock, lock.index()),
            Op::ReadUnlock(lock) => (Kind::ReadUnlock, lock.index()),
            Op::Request(lock) => (Kind::Request, lock.index()),
            _ => (Kind::Other, self.others.len()),
        };
        let (kind, object) = if event.partners().is_empty() {
            (kind, object)
        } else {
            (Kind::Other, self.others.len())
        };
        if kind == Kind::Other {
            self.others.push(event.clone());
        }
        let of_thread = event.thread.entry(&mut self.threads);
        of_thread.push(id);
        self.events.push(Kept {
            thread: event.thread,
            position: of_thread.len() as u32,
            object: object as u32,
            loc: event.loc.map_or(NONE, |loc| loc.index() as u32),
            line: event
                .line
                .map_or(0, |line| u32::try_from(line.get()).unwrap_or(NONE)),
            kind,
            mark: event.mark,
        });
        Some(id)
    }

    /// The number of events.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether there are no events.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All events, in observed order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = EventId> + ExactSizeIterator + Clone {
        EventId::first(self.events.len())
    }

    /// The event, without the value that it wrote if it wrote one.
    pub fn event(&self, id: EventId) -> Cow<'_, Event> {
        let kept = &self.events[id.index()];
        let (var, lock) = (VarId::from(kept.object), LockId::from(kept.object));
        let op = match kept.kind {
            Kind::Read => Op::Read(var),
            Kind::Write => Op::Write(var, None),
            Kind::Update => Op::Update(var, None),
            Kind::Lock => Op::Lock(lock),
            Kind::Unlock => Op::Unlock(lock),
            Kind::ReadLock => Op::ReadLock(lock),
            Kind::ReadUnlock => Op::ReadUnlock(lock),
            Kind::Request => Op::Request(lock),
            Kind::Other => return Cow::Borrowed(&self.others[kept.object as usize]),
        };
        let mut event = Event::new(kept.thread, op);
        event.loc = self.loc(id);
        event.line = self.line(id);
        event.mark = kept.mark;
        Cow::Owned(event)
    }

    /// The variable that it accessed and how, if that is its whole effect.
    #[inline]
    pub(crate) fn access(&self, id: EventId) -> Option<(VarId, AccessKind)> {
        let kept = &self.events[id.index()];
        let kind = match kept.kind {
            Kind::Read => AccessKind::Read,
            Kind::Write => AccessKind::Write,
            Kind::Update => AccessKind::Update,
            _ => return None,
        };
        Some((VarId::from(kept.object), kind))
    }

    /// Its thread.
    #[inline]
    pub fn thread(&self, id: EventId) -> ThreadId {
        self.events[id.index()].thread
    }

    /// Its position in its thread.
    #[inline]
    pub fn place(&self, id: EventId) -> Place {
        let kept = &self.events[id.index()];
        Place {
            thread: kept.thread,
            position: kept.position,
        }
    }

    /// The event at a position.
    #[inline]
    pub fn at(&self, place: Place) -> Option<EventId> {
        let of_thread = self.threads.get(place.thread.index())?;
        let index = (place.position as usize).checked_sub(1)?;
        of_thread.get(index).copied()
    }

    /// The lock that it takes, or asks for.
    pub(crate) fn wanted(&self, id: EventId) -> Option<LockId> {
        let op = &self.event(id).op;
        match op {
            Op::Request(lock) => Some(*lock),
            _ => { op.locking() }
                .filter(|locking| locking.action.acquires())
                .map(|locking| locking.lock),
        }
    }

    /// The event of its thread before it.
    pub fn previous(&self, id: EventId) -> Option<EventId> {
        let Place { thread, position } = self.place(id);
        let position = position - 1;
        self.at(Place { thread, position })
    }

    /// The events of a thread.
    pub fn of_thread(&self, thread: ThreadId) -> &[EventId] {
        self.threads.get(thread.index()).map_or(&[], Vec::as_slice)
    }

    /// An upper bound on the number of threads: their ids are below it.
    pub fn threads(&self) -> usize {
        self.threads.len()
    }

    /// Its location in the source.
    #[inline]
    pub fn loc(&self, id: EventId) -> Option<LocId> {
        let loc = self.events[id.index()].loc;
        (loc != NONE).then(|| LocId::from(loc))
    }

    /// The line of the trace that it is from.
    pub fn line(&self, id: EventId) -> Option<NonZeroU64> {
        NonZeroU64::new(self.events[id.index()].line.into())
    }

    /// Its location in the source, as the trace spells it.
    pub fn location<'s>(&self, id: EventId, symbols: &'s Symbols) -> Option<&'s str> {
        self.loc(id).map(|loc| symbols.locs.name(loc))
    }
}

/// The variables that an event accesses in a way that can be a race: none if they are atomics.
#[inline]
pub(crate) fn accesses(event: &Event) -> SmallVec<[(VarId, AccessKind); 1]> {
    let mut all = SmallVec::new();
    if event.mark == Some(Mark::Atomic) {
        return all;
    }
    match &event.op {
        Op::Read(var) => all.push((*var, AccessKind::Read)),
        Op::Write(var, _) => all.push((*var, AccessKind::Write)),
        Op::Update(var, _) => all.push((*var, AccessKind::Update)),
        _ => {
            for (var, _) in event.writes() {
                if !all.contains(&(var, AccessKind::Write)) {
                    all.push((var, AccessKind::Write));
                }
            }
        }
    }
    all
}
