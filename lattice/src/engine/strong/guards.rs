//! When an event may follow a cut: what it needs is in the cut, nothing that conflicts with it and was observed later is, and its
//! lock is free.

use portent_monitor_core::{Error, Event, Id, LockAction, Place, Reorderings, ThreadId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The guards of the events of a trace: made once, for any number of properties.
#[derive(Clone, Debug, Default)]
pub struct Guards {
    pub(super) trace: Reorderings,
    pub(super) places: Vec<Place>,
    /// The events of each thread, in observed order.
    pub(super) threads: Vec<Vec<u32>>,
    /// The effects of each event on variables, and on locks with failed tries.
    uses: Lists<Use>,
    /// For each event, where other threads must have stopped for it to happen: once one of these places has happened, the event
    /// cannot.
    stops: Lists<Place>,
    /// For each event, the events that list it as a stop.
    shuts: Lists<u32>,
    /// The sections that events begin and end.
    pub(super) begins: FxHashMap<u32, SmallVec<[u32; 1]>>,
    pub(super) sections: Vec<Section>,
    /// The sections of each lock, by thread and side.
    locks: FxHashMap<u32, Vec<OfLock>>,
}

/// A critical section; its number is its rank by begin in the observed run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Section {
    pub(super) thread: u32,
    pub(super) lock: u32,
    pub(super) exclusive: bool,
    pub(super) begin: u32,
    /// Its last position; `u32::MAX` if it does not end.
    pub(super) end: u32,
}

/// The sections of one thread on one side of a lock.
#[derive(Clone, Debug)]
struct OfLock {
    thread: u32,
    exclusive: bool,
    sections: Vec<u32>,
}

/// The effect of an event on an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Use {
    pub(super) object: u32,
    pub(super) changes: bool,
    /// Whether it is a write of a variable, a read of one, or a lock operation.
    pub(super) kind: UseKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UseKind {
    Read,
    Write,
    Lock,
    /// A failed try to take a lock.
    Try,
}

/// A list for each event, one after the other.
#[derive(Clone, Debug)]
struct Lists<T> {
    items: Vec<T>,
    ends: Vec<u32>,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Lists {
            items: Vec::new(),
            ends: Vec::new(),
        }
    }
}

impl<T: Copy> Lists<T> {
    fn of(&self, event: u32) -> &[T] {
        let event = event as usize;
        let start = event.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.items[start as usize..self.ends[event] as usize]
    }

    /// Builds lists from pairs of an event and an item.
    fn from_pairs(events: usize, mut pairs: Vec<(u32, T)>) -> Lists<T> {
        pairs.sort_by_key(|&(event, _)| event);
        let mut ends = vec![0; events];
        for &(event, _) in &pairs {
            ends[event as usize] += 1;
        }
        let mut sum = 0;
        for end in &mut ends {
            sum += *end;
            *end = sum;
        }
        let items = pairs.into_iter().map(|(_, item)| item).collect();
        Lists { items, ends }
    }
}

/// Reads guards from a trace.
#[derive(Clone, Debug, Default)]
pub(crate) struct GuardsReader {
    guards: Guards,
    objects: FxHashMap<(bool, u32), u32>,
}

impl GuardsReader {
    /// Takes the next event, which a [`Discipline`](portent_monitor_core::Discipline) admitted.
    ///
    /// # Errors
    ///
    /// If a thread has too many events.
    pub(crate) fn read(&mut self, event: &Event) -> Result<(), Error> {
        let place = self.guards.trace.step(event)?;
        let index = self.guards.places.len() as u32;
        self.guards.places.push(place);
        place.thread.entry(&mut self.guards.threads).push(index);
        for (var, _) in event.writes() {
            self.use_object((false, var.index() as u32), true, UseKind::Write);
        }
        if let Some(var) = event.reads() {
            self.use_object((false, var.index() as u32), false, UseKind::Read);
        }
        if let Some(locking) = event.op.locking().filter(|locking| locking.exclusive) {
            let (changes, kind) = match locking.action {
                LockAction::Fail => (false, UseKind::Try),
                _ => (true, UseKind::Lock),
            };
            self.use_object((true, locking.lock.index() as u32), changes, kind);
        }
        let items = self.guards.uses.items.len() as u32;
        self.guards.uses.ends.push(items);
        Ok(())
    }

    fn use_object(&mut self, name: (bool, u32), changes: bool, kind: UseKind) {
        let fresh = self.objects.len() as u32;
        let object = *self.objects.entry(name).or_insert(fresh);
        self.guards.uses.items.push(Use {
            object,
            changes,
            kind,
        });
    }

    /// The trace has ended.
    pub(crate) fn finish(self) -> Guards {
        let mut guards = self.guards;
        guards.find_stops(self.objects.len());
        guards.find_sections();
        guards
    }
}

impl Guards {
    /// The guards of a trace that a [`Discipline`](portent_monitor_core::Discipline) admitted.
    ///
    /// # Errors
    ///
    /// If a thread has more events than 31 bits can count.
    pub fn new(trace: &[Event]) -> Result<Guards, Error> {
        let mut reader = GuardsReader::default();
        for event in trace {
            reader.read(event)?;
        }
        Ok(reader.finish())
    }

    /// The number of events of the trace.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether the trace is empty.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// From the end of the trace, where each thread first conflicts with earlier events.
    fn find_stops(&mut self, objects: usize) {
        /// The first positions of a thread, from here on, at which it uses and changes an object.
        struct First {
            thread: ThreadId,
            used: u32,
            changed: u32,
        }
        let mut firsts: Vec<SmallVec<[First; 2]>> = Vec::new();
        firsts.resize_with(objects, SmallVec::new);
        let (mut stops, mut shuts) = (Vec::new(), Vec::new());
        for event in (0..self.places.len() as u32).rev() {
            let Place { thread, position } = self.places[event as usize];
            for used in self.uses.of(event) {
                let firsts = &firsts[used.object as usize];
                // Sections guard lock operations, except for failed tries.
                if used.kind == UseKind::Lock {
                    continue;
                }
                for first in firsts.iter().filter(|first| first.thread != thread) {
                    let position = if used.changes {
                        first.used
                    } else {
                        first.changed
                    };
                    if position == u32::MAX {
                        continue;
                    }
                    let place = Place {
                        thread: first.thread,
                        position,
                    };
                    let by = self.threads[place.thread.index()][position as usize - 1];
                    stops.push((event, place));
                    shuts.push((by, event));
                }
            }
            for used in self.uses.of(event) {
                let firsts = &mut firsts[used.object as usize];
                let known = firsts.iter().position(|first| first.thread == thread);
                let known = known.unwrap_or_else(|| {
                    firsts.push(First {
                        thread,
                        used: u32::MAX,
                        changed: u32::MAX,
                    });
                    firsts.len() - 1
                });
                let first = &mut firsts[known];
                first.used = position;
                if used.changes {
                    first.changed = position;
                }
            }
        }
        self.stops = Lists::from_pairs(self.places.len(), stops);
        self.shuts = Lists::from_pairs(self.places.len(), shuts);
    }

    fn find_sections(&mut self) {
        let sections: Vec<Section> = { self.trace.sections() }
            .map(|section| Section {
                thread: section.thread.index() as u32,
                lock: section.lock.index() as u32,
                exclusive: section.exclusive,
                begin: section.begin,
                end: section.end.unwrap_or(u32::MAX),
            })
            .collect();
        for (number, section) in sections.iter().enumerate() {
            let number = number as u32;
            let begin = self.threads[section.thread as usize][section.begin as usize - 1];
            self.begins.entry(begin).or_default().push(number);
            let lists = self.locks.entry(section.lock).or_default();
            let own = |list: &OfLock| {
                (list.thread, list.exclusive) == (section.thread, section.exclusive)
            };
            match lists.iter_mut().find(|list| own(list)) {
                Some(list) => list.sections.push(number),
                None => lists.push(OfLock {
                    thread: section.thread,
                    exclusive: section.exclusive,
                    sections: vec![number],
                }),
            }
        }
        self.sections = sections;
    }

    pub(super) fn uses(&self, event: u32) -> &[Use] {
        self.uses.of(event)
    }

    /// The number of events of each other thread that an event needs.
    pub(super) fn needs(&self, event: u32) -> &[u32] {
        self.trace.needs(self.places[event as usize])
    }

    /// The sections that an event begins.
    pub(super) fn begins(&self, event: u32) -> &[u32] {
        self.begins.get(&event).map_or(&[], SmallVec::as_slice)
    }

    /// The next event of a thread after this many.
    pub(super) fn next(&self, thread: usize, count: u32) -> Option<u32> {
        self.threads[thread].get(count as usize).copied()
    }

    /// Whether the next event of its thread can happen after a cut.
    pub(super) fn is_enabled(&self, event: u32, cut: &[u32]) -> bool {
        let own = self.places[event as usize].thread.index();
        let mut needs = self.needs(event).iter().zip(cut).enumerate();
        needs.all(|(thread, (needed, count))| thread == own || needed <= count)
            && !self.is_shut_out(event, cut)
            && { self.begins(event).iter() }.all(|&section| self.is_free(section, cut))
    }

    /// Whether a cut contains an event that conflicts with a given one and was observed later, so that the given one can never
    /// happen.
    pub(super) fn is_shut_out(&self, event: u32, cut: &[u32]) -> bool {
        let is_passed = |stop: &Place| stop.position <= cut[stop.thread.index()];
        self.stops.of(event).iter().any(is_passed) || { self.begins(event).iter() }
            .any(|&section| self.is_overtaken(section, cut))
    }

    /// The lists of sections that exclude one.
    fn against(&self, number: u32) -> impl Iterator<Item = &OfLock> {
        let section = &self.sections[number as usize];
        self.locks[&section.lock].iter().filter(move |list| {
            list.thread != section.thread && (section.exclusive || list.exclusive)
        })
    }

    /// The last section of a list that a cut has begun.
    fn last_begun(&self, list: &OfLock, cut: &[u32]) -> Option<u32> {
        let count = cut[list.thread as usize];
        let sections = &list.sections;
        let begun = sections.partition_point(|&s| self.sections[s as usize].begin <= count);
        sections[..begun].last().copied()
    }

    fn is_overtaken(&self, number: u32, cut: &[u32]) -> bool {
        self.against(number)
            .any(|list| self.last_begun(list, cut) > Some(number))
    }

    /// Whether the lock of a section is free in a cut.
    fn is_free(&self, number: u32, cut: &[u32]) -> bool {
        self.against(number).all(|list| {
            self.last_begun(list, cut)
                .is_none_or(|last| self.sections[last as usize].end <= cut[list.thread as usize])
        })
    }

    /// Whether performing an event shuts out no event that could have happened instead: everything that it shuts out is in the
    /// cut. A section that it begins may still be in the way until it ends.
    pub(super) fn shuts_out_nothing(&self, event: u32, cut: &[u32]) -> bool {
        let is_in = |&other: &u32| {
            let place = self.places[other as usize];
            place.position <= cut[place.thread.index()]
        };
        self.shuts.of(event).iter().all(is_in) && { self.begins(event).iter() }.all(|&number| {
            self.against(number).all(|list| {
                let earlier = list.sections.partition_point(|&other| other < number);
                let last = list.sections[..earlier].last();
                last.is_none_or(|&last| {
                    self.sections[last as usize].begin <= cut[list.thread as usize]
                })
            })
        })
    }
}
