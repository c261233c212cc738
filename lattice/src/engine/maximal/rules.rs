//! The demands of a trace on the order of its events.

use portent_monitor_core::Event;
use rustc_hash::FxHashMap;

use super::{
    channel::{Channel, Traffic},
    prerequisites::Prerequisites,
    reader::RulesReader,
};

/// The demands of a trace: made once, for any number of properties.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// The events of each thread, as indices in observed order.
    pub(super) threads: Vec<Vec<u32>>,
    pub(super) events: Vec<Demands>,
    pub(super) variables: Vec<Variable>,
    /// The number of contended variables.
    pub(super) contended: usize,
    pub(super) locks: Vec<Lock>,
    /// The channels that are found empty.
    pub(super) channels: Vec<Channel>,
    /// The needs of each event, if there is room for them.
    pub(super) prerequisites: Option<Prerequisites>,
}

/// The demands and effects of one event.
#[derive(Clone, Debug, Default)]
pub(super) struct Demands {
    pub(super) thread: u32,
    /// The number of events of its thread up to this one, inclusive.
    pub(super) position: u32,
    /// The events that must have happened before.
    pub(super) after: Box<[Place]>,
    /// The variables that it reads, each with the write that it must see.
    pub(super) reads: Box<[Read]>,
    pub(super) writes: Box<[Write]>,
    /// The locks that it takes: one, or those that a wait released.
    pub(super) takes: Box<[HeldLock]>,
    /// The lock that it fails to take, because another thread holds it.
    pub(super) tries: Option<u32>,
    /// Its effect on a channel that is found empty.
    pub(super) traffic: Option<Traffic>,
    /// The lock that it releases.
    pub(super) releases: Option<HeldLock>,
    /// The locks that its thread releases after it without a line, in a wait.
    pub(super) yields: Vec<HeldLock>,
}

impl Demands {
    pub(super) fn place(&self) -> Place {
        Place {
            thread: self.thread,
            position: self.position,
        }
    }

    /// Adds places in other threads that it comes after.
    pub(super) fn add_after(&mut self, places: &[Place], thread: u32) {
        let mut after = std::mem::take(&mut self.after).into_vec();
        for place in places.iter().filter(|place| place.thread != thread) {
            place.join(&mut after);
        }
        self.after = after.into();
    }

    /// The channel that it finds empty.
    pub(super) fn finds_empty(&self) -> Option<u32> {
        match self.traffic? {
            Traffic::Try(channel) => Some(channel),
            Traffic::Send(_) | Traffic::Receive(_) => None,
        }
    }

    /// The locks that are free after it.
    pub(super) fn freed(&self) -> impl Iterator<Item = &HeldLock> {
        self.releases.iter().chain(&self.yields)
    }

    /// Whether it can always happen once its thread has reached it.
    pub(super) fn is_free(&self) -> bool {
        let Demands { after, reads, .. } = self;
        after.is_empty()
            && reads.is_empty()
            && self.takes.is_empty()
            && self.tries.is_none()
            && self.finds_empty().is_none()
    }
}

/// A read of a variable.
#[derive(Clone, Copy, Debug)]
pub(super) struct Read {
    pub(super) variable: u32,
    /// Which write of the variable it sees, from 1 in observed order; 0 is the initial value.
    pub(super) write: u32,
    /// The place of that write.
    pub(super) place: Option<Place>,
}

/// A write of a variable.
#[derive(Clone, Copy, Debug)]
pub(super) struct Write {
    pub(super) variable: u32,
    /// Which write of the variable it is, from 1 in observed order.
    pub(super) number: u32,
    /// Whether any event reads it.
    pub(super) is_read: bool,
}

/// An event by its thread and its position there, starting at 1: a cut contains it if it has at least that number of
/// events of the thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) thread: u32,
    pub(super) position: u32,
}

impl Place {
    pub(super) fn is_in(self, cut: &[u32]) -> bool {
        self.position <= cut[self.thread as usize]
    }

    /// Adds a place to a list in which only the last one of each thread matters.
    pub(super) fn join(self, places: &mut Vec<Place>) {
        match places.iter_mut().find(|other| other.thread == self.thread) {
            Some(other) => other.position = other.position.max(self.position),
            None => places.push(self),
        }
    }
}

/// The uses of something by each thread, in order.
#[derive(Clone, Debug)]
pub(super) struct Uses<T> {
    pub(super) of_threads: Vec<(u32, Vec<T>)>,
    numbers: FxHashMap<u32, u32>,
}

impl<T> Default for Uses<T> {
    fn default() -> Self {
        Uses {
            of_threads: Vec::new(),
            numbers: FxHashMap::default(),
        }
    }
}

impl<T> Uses<T> {
    pub(super) fn push(&mut self, thread: u32, item: T) {
        let fresh = self.of_threads.len() as u32;
        let number = *self.numbers.entry(thread).or_insert(fresh);
        if number == fresh {
            self.of_threads.push((thread, Vec::new()));
        }
        self.of_threads[number as usize].1.push(item);
    }

    pub(super) fn of(&self, thread: u32) -> Option<&Vec<T>> {
        let number = *self.numbers.get(&thread)?;
        Some(&self.of_threads[number as usize].1)
    }

    pub(super) fn of_mut(&mut self, thread: u32) -> Option<&mut Vec<T>> {
        let number = *self.numbers.get(&thread)?;
        Some(&mut self.of_threads[number as usize].1)
    }

    /// The last use by each thread.
    pub(super) fn last(&self) -> impl Iterator<Item = (u32, &T)> {
        let last = self.of_threads.iter();
        last.filter_map(|(thread, uses)| Some((*thread, uses.last()?)))
    }
}

/// The writes and reads of a variable.
#[derive(Clone, Debug, Default)]
pub(super) struct Variable {
    /// All writes in observed order, as events.
    pub(super) writes: Vec<u32>,
    /// Where each thread writes it.
    pub(super) writers: Uses<u32>,
    /// Where each thread reads it, and which write it sees.
    pub(super) readers: Uses<(u32, u32)>,
    /// Its index among the contended variables, which are those that several threads write. For other variables
    /// a cut determines the last write.
    pub(super) contended: Option<u32>,
}

/// The critical sections of a lock, and the failed tries to take it.
#[derive(Clone, Debug, Default)]
pub(super) struct Lock {
    pub(super) exclusive: Uses<Section>,
    pub(super) shared: Uses<Section>,
    /// Where threads fail to take it because it is held.
    pub(super) tries: Uses<u32>,
}

/// A critical section: the lock is held in a cut with at least `from` and fewer than `to` events of the thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Section {
    pub(super) from: u32,
    pub(super) to: u32,
}

impl Lock {
    pub(super) fn sections_mut(&mut self, exclusive: bool) -> &mut Uses<Section> {
        if exclusive {
            &mut self.exclusive
        } else {
            &mut self.shared
        }
    }

    /// For each thread, the sections that exclude one of this side.
    pub(super) fn against(&self, exclusive: bool) -> impl Iterator<Item = &(u32, Vec<Section>)> {
        let shared = exclusive.then_some(&self.shared.of_threads);
        self.exclusive
            .of_threads
            .iter()
            .chain(shared.into_iter().flatten())
    }
}

/// The section that a thread is in after this many events, if any.
pub(super) fn open(sections: &[Section], count: u32) -> Option<Section> {
    let begun = sections.partition_point(|section| section.from <= count);
    let last = sections[..begun].last()?;
    (count < last.to).then_some(*last)
}

/// A lock that is taken or released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HeldLock {
    pub(super) lock: u32,
    pub(super) exclusive: bool,
}

impl Rules {
    /// The demands of a trace that a [`Discipline`](portent_monitor_core::Discipline) admitted.
    pub fn new(trace: &[Event]) -> Rules {
        let mut reader = RulesReader::default();
        for event in trace {
            reader.read(event);
        }
        reader.finish(u64::MAX)
    }

    /// The number of events of the trace.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether the trace is empty.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// The next event of a thread after this many.
    pub(super) fn next(&self, thread: usize, count: u32) -> Option<u32> {
        self.threads[thread].get(count as usize).copied()
    }

    /// The last write in a cut of a variable that is not contended.
    pub(super) fn sole_write(&self, variable: u32, cut: &[u32]) -> u32 {
        let writers = &self.variables[variable as usize].writers.of_threads;
        let Some((thread, writes)) = writers.first() else {
            return 0;
        };
        writes.partition_point(|&write| write <= cut[*thread as usize]) as u32
    }

    /// How far other threads must get before `thread` can take a lock after a cut.
    pub(super) fn holder(&self, taken: HeldLock, thread: u32, cut: &[u32]) -> Option<Place> {
        let lock = &self.locks[taken.lock as usize];
        lock.against(taken.exclusive)
            .filter(|(other, _)| *other != thread)
            .find_map(|(other, sections)| {
                let section = open(sections, cut[*other as usize])?;
                Some(Place {
                    thread: *other,
                    position: section.to,
                })
            })
    }

    /// Whether a thread holds a lock exclusively in a cut.
    pub(super) fn is_owner(&self, lock: u32, thread: u32, cut: &[u32]) -> bool {
        let sections = self.locks[lock as usize].exclusive.of(thread);
        sections.is_some_and(|sections| open(sections, cut[thread as usize]).is_some())
    }

    /// Whether a lock is held in a cut.
    pub(super) fn is_locked(&self, lock: u32, cut: &[u32]) -> bool {
        self.locks[lock as usize]
            .against(true)
            .any(|(thread, sections)| open(sections, cut[*thread as usize]).is_some())
    }

    /// Whether a variable is still to be read after a cut.
    pub(super) fn is_to_be_read(&self, variable: u32, cut: &[u32]) -> bool {
        let mut reads = self.variables[variable as usize].readers.last();
        reads.any(|(thread, &(position, _))| position > cut[thread as usize])
    }

    /// Determines which variables are contended.
    pub(super) fn count_contended(&mut self) {
        self.contended = 0;
        for variable in &mut self.variables {
            variable.contended = (variable.writers.of_threads.len() > 1).then(|| {
                self.contended += 1;
                self.contended as u32 - 1
            });
        }
    }

    /// Determines which variables are contended, and which writes are read.
    pub(super) fn compare_writers(&mut self) {
        self.count_contended();
        for number in 0..self.variables.len() {
            let variable = &mut self.variables[number];
            let mut is_read = vec![false; variable.writes.len() + 1];
            for (_, reads) in &variable.readers.of_threads {
                for &(_, write) in reads {
                    is_read[write as usize] = true;
                }
            }
            for (&event, is_read) in variable.writes.iter().zip(&is_read[1..]) {
                let writes = &mut self.events[event as usize].writes;
                for write in writes
                    .iter_mut()
                    .filter(|write| write.variable == number as u32)
                {
                    write.is_read = *is_read;
                }
            }
        }
    }
}
