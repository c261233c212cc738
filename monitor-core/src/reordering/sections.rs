//! Critical sections: which thread held which lock, from where to where.
//!
//! A section begins where a thread that does not hold the lock takes it, and ends where the thread has released it as often as
//! it took it. If a lock is taken while another thread holds it, that thread must have released it in a wait that is not in the
//! trace: its section then ends with its last event, and another begins with its next.

use rustc_hash::FxHashMap;

use super::{Cut, Place};
use crate::{Id, LockAction, LockId, Locking, Op, ThreadId};

const NONE: u32 = u32::MAX;

/// The stretch from taking a lock to releasing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    /// The thread.
    pub thread: ThreadId,
    /// The lock that is held.
    pub lock: LockId,
    /// Whether no other thread can hold the lock; otherwise others may share it.
    pub exclusive: bool,
    /// The position of the event that took the lock.
    pub begin: u32,
    /// The position of the event that released the lock, if there is one.
    pub end: Option<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Kept {
    thread: ThreadId,
    lock: LockId,
    exclusive: bool,
    /// Whether `outer` changed while it was open.
    moved: bool,
    begin: u32,
    end: u32,
    /// The innermost section that was open when it began.
    outer: u32,
}

/// All sections of a trace, numbered in the observed order of their begins.
///
/// ```
/// use portent_monitor_core::{Op, Place, Sections, Symbols};
///
/// let mut s = Symbols::default();
/// let (t1, m) = (s.threads.intern("T1")?, s.locks.intern("m")?);
/// let mut sections = Sections::default();
/// for (position, op) in [(1, Op::Lock(m)), (2, Op::Unlock(m))] {
///     sections.step(Place { thread: t1, position }, &op, |_| position, |_| {});
/// }
/// assert_eq!(sections.open(t1, 1).map(|section| section.lock).collect::<Vec<_>>(), [m]);
/// assert_eq!(sections.open(t1, 2).count(), 0);
/// assert_eq!(sections.overlaps(), (0, None));
/// # Ok::<(), portent_monitor_core::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Sections {
    all: Vec<Kept>,
    threads: Vec<OfThread>,
    locks: Vec<OfLock>,
    /// For sections whose outer one ended first: the outer section, from each position on.
    outers: FxHashMap<u32, Vec<(u32, u32)>>,
    /// How often a lock was taken although another thread held it, and the first time.
    overlaps: u64,
    first_overlap: Option<Overlap>,
}

/// A lock was taken although another thread held it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// The lock.
    pub lock: LockId,
    /// The event that took it.
    pub taken: Place,
    /// Where the other thread had taken it.
    pub held: Place,
}

#[derive(Clone, Debug, Default)]
struct OfThread {
    sides: FxHashMap<(LockId, bool), Side>,
    /// The sections that are open, by their begins.
    open: Vec<u32>,
    /// The innermost open section, from each position on.
    tops: Vec<(u32, u32)>,
    /// The locks that it released in a wait that is not in the trace, and how often it had taken each.
    suspended: Vec<(LockId, bool, u32)>,
}

/// The hold of a thread on one side of a lock.
#[derive(Clone, Copy, Debug)]
struct Side {
    depth: u32,
    /// The index of its list in the lock.
    list: u32,
}

#[derive(Clone, Debug, Default)]
struct OfLock {
    lists: Vec<List>,
    holders: Vec<u32>,
    /// Failed tries that no holder explains.
    unexplained: Vec<Place>,
}

/// The sections of one thread on one side of one lock.
#[derive(Clone, Debug)]
struct List {
    thread: ThreadId,
    exclusive: bool,
    sections: Vec<u32>,
}

impl Sections {
    /// Follows the locks of one event, and calls `need` with the events that it needs because of them. `last` returns the last
    /// position of a thread.
    #[inline]
    pub fn step(
        &mut self,
        place: Place,
        op: &Op,
        last: impl Fn(ThreadId) -> u32,
        mut need: impl FnMut(Place),
    ) {
        if self.has_suspended(place.thread) {
            let thread = place.thread.entry(&mut self.threads);
            for (lock, exclusive, depth) in std::mem::take(&mut thread.suspended) {
                self.begin(place, lock, exclusive, depth, &last);
            }
        }
        let Some(Locking {
            lock,
            exclusive,
            action,
        }) = op.locking()
        else {
            return;
        };
        match action {
            LockAction::Acquire => self.begin(place, lock, exclusive, 1, &last),
            LockAction::Reacquire if self.holds(place.thread, lock, exclusive) => {}
            LockAction::Reacquire => self.begin(place, lock, exclusive, 1, &last),
            LockAction::Release => self.end(place, lock, exclusive),
            LockAction::Fail => return self.fail(place, lock, &mut need),
        }
        if exclusive {
            let tries = &lock.entry(&mut self.locks).unexplained;
            tries.iter().for_each(|&tried| need(tried));
        }
    }

    /// How often a lock was taken although another thread held it, which implies a wait that is not in the trace; and the first
    /// time.
    pub fn overlaps(&self) -> (u64, Option<Overlap>) {
        (self.overlaps, self.first_overlap)
    }

    /// The sections that a thread is in after this many events, innermost first.
    pub fn open(&self, thread: ThreadId, events: u32) -> impl Iterator<Item = Section> {
        let open = self.open_at(thread, events);
        open.map(|number| self.get(number))
    }

    fn has_suspended(&self, thread: ThreadId) -> bool {
        let thread = self.threads.get(thread.index());
        thread.is_some_and(|thread| !thread.suspended.is_empty())
    }

    pub(super) fn holds(&self, thread: ThreadId, lock: LockId, exclusive: bool) -> bool {
        let thread = self.threads.get(thread.index());
        let side = thread.and_then(|thread| thread.sides.get(&(lock, exclusive)));
        side.is_some_and(|side| side.depth > 0)
    }

    fn begin(
        &mut self,
        place: Place,
        lock: LockId,
        exclusive: bool,
        times: u32,
        last: &impl Fn(ThreadId) -> u32,
    ) {
        let of_lock = lock.entry(&mut self.locks);
        let of_thread = place.thread.entry(&mut self.threads);
        let side = of_thread.sides.entry((lock, exclusive)).or_insert_with(|| {
            of_lock.lists.push(List {
                thread: place.thread,
                exclusive,
                sections: Vec::new(),
            });
            let list = of_lock.lists.len() as u32 - 1;
            Side { depth: 0, list }
        });
        side.depth += times;
        if side.depth > times {
            return;
        }
        let number = self.all.len() as u32;
        of_lock.lists[side.list as usize].sections.push(number);
        let outer = of_thread.open.last().copied().unwrap_or(NONE);
        of_thread.open.push(number);
        of_thread.tops.push((place.position, number));
        self.all.push(Kept {
            thread: place.thread,
            lock,
            exclusive,
            moved: false,
            begin: place.position,
            end: NONE,
            outer,
        });
        self.suspend_others(place, lock, exclusive, last);
        self.locks[lock.index()].holders.push(number);
    }

    /// The holder of the lock that is taken must have released it.
    fn suspend_others(
        &mut self,
        place: Place,
        lock: LockId,
        exclusive: bool,
        last: &impl Fn(ThreadId) -> u32,
    ) {
        let excluded =
            |other: &Kept| other.thread != place.thread && (exclusive || other.exclusive);
        let holders = self.locks[lock.index()].holders.iter();
        let excluded: Vec<u32> = holders
            .copied()
            .filter(|&holder| excluded(&self.all[holder as usize]))
            .collect();
        for number in excluded {
            let held = self.all[number as usize];
            self.overlaps += 1;
            self.first_overlap.get_or_insert(Overlap {
                lock,
                taken: place,
                held: Place {
                    thread: held.thread,
                    position: held.begin,
                },
            });
            let key = (lock, held.exclusive);
            let thread = &mut self.threads[held.thread.index()];
            let Some(side) = thread.sides.get_mut(&key) else {
                continue;
            };
            let depth = std::mem::take(&mut side.depth);
            thread.suspended.push((lock, held.exclusive, depth));
            self.close_section(number, last(held.thread));
        }
    }

    fn end(&mut self, place: Place, lock: LockId, exclusive: bool) {
        let Some(thread) = self.threads.get_mut(place.thread.index()) else {
            return;
        };
        let Some(side) = thread.sides.get_mut(&(lock, exclusive)) else {
            return;
        };
        side.depth = side.depth.saturating_sub(1);
        if side.depth > 0 {
            return;
        }
        let list = &self.locks[lock.index()].lists[side.list as usize];
        if let Some(&number) = list.sections.last()
            && self.all[number as usize].end == NONE
        {
            self.close_section(number, place.position);
        }
    }

    /// Ends a section with the event at this position of its thread.
    fn close_section(&mut self, number: u32, position: u32) {
        let kept = &mut self.all[number as usize];
        kept.end = position;
        let (thread, lock) = (kept.thread, kept.lock);
        let holders = &mut self.locks[lock.index()].holders;
        holders.retain(|&holder| holder != number);
        let thread = &mut self.threads[thread.index()];
        let Ok(index) = thread.open.binary_search(&number) else {
            return;
        };
        thread.open.remove(index);
        let outer = index
            .checked_sub(1)
            .map_or(NONE, |outer| thread.open[outer]);
        if let Some(&inner) = thread.open.get(index) {
            self.all[inner as usize].moved = true;
            let outers = self.outers.entry(inner).or_default();
            outers.push((position, outer));
        }
        // Recorded even if it is the same, to note that something has changed.
        let top = thread.open.last().copied().unwrap_or(NONE);
        thread.tops.push((position, top));
    }

    /// A failed try fails again because another thread holds the lock. If no holder was seen, it keeps its place among the
    /// exclusive operations on the lock.
    fn fail(&mut self, place: Place, lock: LockId, need: &mut impl FnMut(Place)) {
        let of_lock = lock.entry(&mut self.locks);
        let mut is_explained = false;
        for &holder in &of_lock.holders {
            let held = &self.all[holder as usize];
            if held.exclusive {
                is_explained = true;
                need(Place {
                    thread: held.thread,
                    position: held.begin,
                });
            }
        }
        if is_explained {
            return;
        }
        for list in of_lock.lists.iter().filter(|list| list.exclusive) {
            if let Some(&last) = list.sections.last() {
                let last = &self.all[last as usize];
                let position = if last.end == NONE {
                    last.begin
                } else {
                    last.end
                };
                let thread = last.thread;
                need(Place { thread, position });
            }
        }
        of_lock.unexplained.push(place);
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn get(&self, number: u32) -> Section {
        let kept = &self.all[number as usize];
        Section {
            thread: kept.thread,
            lock: kept.lock,
            exclusive: kept.exclusive,
            begin: kept.begin,
            end: (kept.end != NONE).then_some(kept.end),
        }
    }

    /// The open sections of a thread after this many events, innermost first.
    #[inline]
    pub(super) fn open_at(&self, thread: ThreadId, position: u32) -> OpenSections<'_> {
        let tops = match self.threads.get(thread.index()) {
            Some(thread) => thread.tops.as_slice(),
            None => &[],
        };
        let top = match tops.last() {
            None => NONE,
            Some(&(since, top)) if since <= position => top,
            _ => match tops.partition_point(|&(since, _)| since <= position) {
                0 => NONE,
                after => tops[after - 1].1,
            },
        };
        OpenSections {
            sections: self,
            next: top,
            position,
        }
    }

    /// Whether a cut contains the begin of another thread's section of the same lock that was observed to begin after this one
    /// and excludes it.
    #[inline]
    pub(super) fn is_followed(&self, number: u32, cut: &Cut) -> bool {
        let kept = &self.all[number as usize];
        let lists = &self.locks[kept.lock.index()].lists;
        lists.iter().any(|list| {
            list.thread != kept.thread && (kept.exclusive || list.exclusive) && {
                let count = cut.count(list.thread);
                let sections = &list.sections;
                count > 0 && sections.last().is_some_and(|&last| last > number) && {
                    let next = sections.partition_point(|&other| other < number);
                    self.all[sections[next] as usize].begin <= count
                }
            }
        })
    }

    /// The place of the end of a section that has one.
    #[inline]
    pub(super) fn end_of(&self, number: u32) -> Option<Place> {
        let kept = &self.all[number as usize];
        (kept.end != NONE).then_some(Place {
            thread: kept.thread,
            position: kept.end,
        })
    }

    /// The last position at which the open sections of a thread changed.
    #[inline]
    pub(super) fn last_change(&self, thread: ThreadId) -> u32 {
        let thread = self.threads.get(thread.index());
        let last = thread.and_then(|thread| thread.tops.last());
        last.map_or(0, |&(since, _)| since)
    }
}

/// See [`Sections::open_at`].
pub(super) struct OpenSections<'s> {
    sections: &'s Sections,
    next: u32,
    position: u32,
}

impl Iterator for OpenSections<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        if self.next == NONE {
            return None;
        }
        let number = self.next;
        let kept = &self.sections.all[number as usize];
        self.next = kept.outer;
        if kept.moved
            && let Some(outers) = self.sections.outers.get(&number)
        {
            let known = outers.partition_point(|&(since, _)| since <= self.position);
            if known > 0 {
                self.next = outers[known - 1].1;
            }
        }
        Some(number)
    }
}
