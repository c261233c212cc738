//! The parts of a run that can be left out: the model `strong`.
//!
//! A *correct reordering* of a trace has a prefix of each thread, keeps hard order (fork, join, messages, wake-ups, barriers),
//! and every read in it sees the write that it saw. Two conflicting events that are both kept stay in their observed order, but
//! a thread may run on without a critical section, or without an unread write, of another. So such a run is determined by its
//! [`Cut`], and the reachable cuts are those that are [closed](Reorderings::close): they contain what their events
//! [need](Reorderings::join_need), and of two conflicting sections of a lock that have begun, the earlier one has ended.
//!
//! Closed cuts are closed under intersection, so there is a least one that has given events.
//!
//! | file | |
//! |---|---|
//! | `cut` | a prefix of each thread |
//! | `predecessors` | the direct predecessors of an event |
//! | `history` | what the events of a thread need from others |
//! | `sections` | which thread held which lock, from where to where |
//!
//! Hard edges are those of the [table](crate::edges) that do not go through variables or locks. Of the latter, it remains that
//! a read needs its write, that a failed try needs the lock to be taken, and the rule about sections.

mod cut;
mod history;
mod predecessors;
mod sections;

use self::history::{History, MOST_EVENTS, Moment};
pub use self::{
    cut::Cut,
    predecessors::Predecessors,
    sections::{Overlap, Section, Sections},
};
use crate::{Error, Event, Flow, Id, LockId, ThreadId, VarId};

/// An event: its first thread, and the number of that thread's events up to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// Its thread.
    pub thread: ThreadId,
    /// Its number among the events of its thread, from 1.
    pub position: u32,
}

/// The events of a trace, for analyses that may leave some out.
///
/// It trusts that a [`Discipline`](crate::Discipline) admitted the events, and must be given all of them: none is irrelevant
/// here.
///
/// ```
/// use portent_monitor_core::{Cut, Event, Op, Reorderings, Symbols};
///
/// let mut s = Symbols::default();
/// let (t1, t2, m) = (s.threads.intern("T1")?, s.threads.intern("T2")?, s.locks.intern("m")?);
/// let mut trace = Reorderings::default();
/// for op in [Op::Lock(m), Op::Unlock(m)] {
///     trace.step(&Event::new(t1, op))?;
/// }
/// let taken = trace.step(&Event::new(t2, Op::Lock(m)))?;
///
/// // T2 can take the lock without T1 ever having been there,
/// let mut cut = Cut::default();
/// trace.join_need(taken, &mut cut);
/// trace.close(&mut cut);
/// assert_eq!((cut.count(t1), cut.count(t2)), (0, 1));
/// // but not while T1 holds it.
/// cut.include(portent_monitor_core::Place { thread: t1, position: 1 });
/// trace.close(&mut cut);
/// assert_eq!((cut.count(t1), cut.count(t2)), (2, 1));
/// # Ok::<(), portent_monitor_core::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Reorderings {
    threads: Vec<History>,
    sections: Sections,
    flow: Flow<Predecessors<false>>,
    /// The last write of each variable.
    writes: Vec<Option<Place>>,
    /// The needs of an event because of its locks; a reused buffer.
    because_of_locks: Vec<Place>,
}

impl Reorderings {
    /// Takes the next event of the observed run.
    ///
    /// # Errors
    ///
    /// [`Error::ClockFull`] if a thread has more events than 31 bits can count.
    pub fn step(&mut self, event: &Event) -> Result<Place, Error> {
        let thread = event.thread;
        let history = thread.entry(&mut self.threads);
        if history.events == MOST_EVENTS {
            return Err(Error::ClockFull);
        }
        history.events += 1;
        let position = history.events;
        let place = Place { thread, position };
        let after = self.flow.step(event, |before| before.arrive(place));
        for needed in after {
            self.learn(thread, needed, Moment::before(position));
        }
        let mut needed = std::mem::take(&mut self.because_of_locks);
        let last = |thread: ThreadId| self.threads.get(thread.index()).map_or(0, |t| t.events);
        let note = |place| needed.push(place);
        self.sections.step(place, &event.op, last, note);
        for needed in needed.drain(..) {
            self.learn(thread, needed, Moment::before(position));
        }
        self.because_of_locks = needed;
        if let Some(var) = event.reads()
            && let Some(write) = self.last_write(var)
        {
            self.learn(thread, write, Moment::after(position));
        }
        for (var, _) in event.writes() {
            *var.entry(&mut self.writes) = Some(place);
        }
        Ok(place)
    }

    /// Records that an event of the thread needs another.
    fn learn(&mut self, thread: ThreadId, needed: Place, moment: Moment) {
        let history = &mut self.threads[thread.index()];
        if needed.thread == thread || history.now().contains(needed) {
            return;
        }
        let mut now = history.take_now();
        self.join_need(needed, &mut now);
        self.threads[thread.index()].put_back(now, moment);
    }

    /// The write of a variable that a read would see now.
    pub fn last_write(&self, var: VarId) -> Option<Place> {
        self.writes.get(var.index()).copied().flatten()
    }

    /// The number of events of a thread.
    pub fn events(&self, thread: ThreadId) -> u32 {
        self.threads.get(thread.index()).map_or(0, |t| t.events)
    }

    /// An upper bound on the number of threads: their ids are below it.
    pub fn threads(&self) -> usize {
        self.threads.len()
    }

    /// How many events of each other thread an event needs, by program order, hard edges, and the writes that are read; missing
    /// components count as 0.
    #[inline]
    pub fn needs(&self, place: Place) -> &[u32] {
        self.threads[place.thread.index()].at(Moment::after(place.position))
    }

    /// Adds an event to a cut, with everything it needs by program order, hard edges, and the writes that are read.
    #[inline]
    pub fn join_need(&self, place: Place, cut: &mut Cut) {
        cut.join_counts(self.needs(place));
        cut.include(place);
    }

    /// Adds everything that must have happened for an event to be next in its thread, but not the event: its effect may
    /// differ from the observed one.
    #[inline]
    pub fn join_past(&self, place: Place, cut: &mut Cut) {
        let history = &self.threads[place.thread.index()];
        cut.join_counts(history.at(Moment::before(place.position)));
        if place.position > 1 {
            let position = place.position - 1;
            cut.include(Place { position, ..place });
        }
    }

    /// Extends a cut that contains the needs of its events to the least closed one.
    pub fn close(&self, cut: &mut Cut) {
        let mut settled = 0;
        let threads = self.threads.len().min(cut.counts().len());
        let mut index = 0;
        // In turns, until a full round of threads had nothing to end.
        while settled < threads {
            let Some(thread) = ThreadId::from_index(index) else {
                return;
            };
            if self.end_sections(thread, cut) {
                settled = 0;
            } else {
                settled += 1;
            }
            index = (index + 1) % threads;
        }
    }

    /// Ends the open sections of a thread that conflict with sections of others.
    #[inline]
    fn end_sections(&self, thread: ThreadId, cut: &mut Cut) -> bool {
        let open = self.sections.open_at(thread, cut.count(thread));
        let mut has_grown = false;
        for number in open {
            if let Some(end) = self.sections.end_of(number)
                && !cut.contains(end)
                && self.sections.is_followed(number, cut)
            {
                self.join_need(end, cut);
                has_grown = true;
            }
        }
        has_grown
    }

    /// The critical sections so far.
    pub fn critical_sections(&self) -> &Sections {
        &self.sections
    }

    /// The sections that a thread is in after this many events, innermost first.
    pub fn open_sections(&self, thread: ThreadId, events: u32) -> impl Iterator<Item = Section> {
        self.sections.open(thread, events)
    }

    /// Whether a thread holds a side of a lock after its last event.
    pub fn holds(&self, thread: ThreadId, lock: LockId, exclusive: bool) -> bool {
        self.sections.holds(thread, lock, exclusive)
    }

    /// All sections, in the observed order of their begins.
    pub fn sections(&self) -> impl ExactSizeIterator<Item = Section> {
        (0..self.sections.len()).map(|number| self.sections.get(number as u32))
    }

    /// Whether two events of one thread, in this order, have the same needs for being next, with the same locks held: if
    /// one of them can be next, no action of its own thread prevents the other. The later one is the thread's last.
    #[inline]
    pub fn is_alike(&self, one: Place, last: Place) -> bool {
        self.sections.last_change(one.thread) <= one.position.saturating_sub(1)
            && self.threads[one.thread.index()]
                .is_same(Moment::before(one.position), Moment::before(last.position))
    }
}
