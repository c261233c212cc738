//! Races in runs that may leave out sections and unread writes.
//!
//! For a later access e2 of thread t and the earlier accesses e1 of thread u: if the least closed cut with everything that must
//! come before both contains neither of them, they race. If it contains e1, then e1 races with nothing that t does later
//! either, and is never examined again; if it contains e2, then no later e1 races with e2. Accesses of one thread between which
//! it takes no lock and learns nothing behave alike, and are one *stretch*; accesses that hold a common lock, one of them
//! exclusively, cannot race. So the work for an access is proportional to the number of stretches that it races with.

use portent_monitor_core::{Cut, Event, Id, LockId, Place, Reorderings, ThreadId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{Earlier, Later, RaceSide, Tally};
use crate::record::{AccessKind, EventId, Record, accesses};

/// With more stretches than this that may race with a thread, the oldest are dropped,
const MOST_ALIVE: usize = 1024;
/// and with more than this once much work has been done.
const FEW_ALIVE: usize = 4;
/// Much work means this many closures, plus the number of events.
const MUCH_WORK: u64 = 4_000_000;

/// Finds them while events arrive.
#[derive(Clone, Debug, Default)]
pub(crate) struct StrongRaces {
    threads: Vec<OfThread>,
    vars: Vec<OfVar>,
    held: HeldSets,
    work: u64,
    events: u64,
    /// A reused buffer.
    cut: Cut,
    pub(crate) tally: Tally,
}

#[derive(Clone, Debug, Default)]
struct OfThread {
    /// The least closed cut in which the last access was next, and the position of that access.
    next_at: Cut,
    access: Option<Place>,
    /// The locks held there.
    held: u32,
}

#[derive(Clone, Debug, Default)]
struct OfVar {
    /// By kind, in observed order of their first accesses.
    stretches: [Vec<Stretch>; 3],
    /// The accesses of each thread by kind.
    accesses: Vec<Accesses>,
    views: Vec<(ThreadId, View)>,
}

/// The accesses of one kind by one thread.
#[derive(Clone, Debug)]
struct Accesses {
    thread: ThreadId,
    kind: AccessKind,
    /// By their positions.
    all: Vec<(u32, EventId)>,
    /// Their last stretch.
    stretch: u32,
}

/// Accesses of one kind by one thread that behave alike.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    thread: ThreadId,
    /// The list of accesses, and the range in it.
    list: u32,
    start: u32,
    end: u32,
    held: u32,
    /// Whether it is closed to further accesses.
    is_over: bool,
}

/// The stretches that may race with what a thread does next, by kind and thread.
#[derive(Clone, Debug, Default)]
struct View {
    seen: [usize; 3],
    alive: Vec<(ThreadId, AccessKind, Vec<Alive>)>,
}

#[derive(Clone, Debug)]
struct Alive {
    stretch: u32,
    /// The accesses from here on are alive,
    start: u32,
    /// and up to here they are in the groups.
    counted: u32,
    groups: SmallVec<[Earlier; 2]>,
}

impl StrongRaces {
    /// Takes an event that the reorderings have just taken.
    pub(crate) fn take(
        &mut self,
        event: &Event,
        id: EventId,
        next_since: Option<EventId>,
        trace: &Reorderings,
        record: &Record,
    ) {
        self.events += 1;
        let accesses = accesses(event);
        if accesses.is_empty() {
            return;
        }
        let place = record.place(id);
        let begins = self.advance(place, trace);
        let mut racy = None;
        for &(var, kind) in &accesses {
            let side = RaceSide::new(event.loc, var, kind);
            let later = Later {
                id,
                var,
                kind,
                side,
                next_since,
            };
            if self.search(&later, place, trace, record) {
                racy = Some(side);
            }
        }
        if let Some(side) = racy {
            self.tally.add_event(side);
        }
        let held = self.threads[place.thread.index()].held;
        for (var, kind) in accesses {
            var.entry(&mut self.vars)
                .note(place, id, kind, held, begins);
        }
    }

    /// The thread has reached its next access; returns where its stretch begins.
    fn advance(&mut self, place: Place, trace: &Reorderings) -> u32 {
        let thread = place.thread.entry(&mut self.threads);
        match thread.access {
            Some(one) if trace.is_alike(one, place) => {
                let position = place.position - 1;
                thread.next_at.include(Place { position, ..place });
                one.position
            }
            _ => {
                trace.join_past(place, &mut thread.next_at);
                trace.close(&mut thread.next_at);
                thread.access = Some(place);
                let open = trace.open_sections(place.thread, place.position - 1);
                let held = open.map(|section| (section.lock, section.exclusive));
                thread.held = self.held.number(held.collect());
                place.position
            }
        }
    }

    /// Looks for earlier accesses that race with one; returns whether there are any.
    fn search(
        &mut self,
        later: &Later,
        place: Place,
        trace: &Reorderings,
        record: &Record,
    ) -> bool {
        let var = later.var.entry(&mut self.vars);
        let (t, thread) = (place.thread, &self.threads[place.thread.index()]);
        let index = match var.views.iter().position(|(other, _)| *other == t) {
            Some(index) => index,
            None => {
                var.views.push((t, View::default()));
                var.views.len() - 1
            }
        };
        let mut view = std::mem::take(&mut var.views[index].1);
        for kind in AccessKind::ALL
            .into_iter()
            .filter(|&kind| later.kind.conflicts(kind))
        {
            let seen = std::mem::replace(
                &mut view.seen[kind as usize],
                var.stretches[kind as usize].len(),
            );
            for number in seen..var.stretches[kind as usize].len() {
                let stretch = var.stretches[kind as usize][number];
                let last = var.accesses[stretch.list as usize].all[stretch.end as usize - 1];
                let is_past = last.0 <= thread.next_at.count(stretch.thread);
                let is_dead = is_past || self.held.conflict(stretch.held, thread.held);
                if stretch.thread == t {
                    continue;
                }
                if is_dead {
                    var.stretches[kind as usize][number].is_over = true;
                    continue;
                }
                view.add(stretch, kind, number as u32);
            }
        }
        let much = MUCH_WORK + self.events;
        let most = if self.work < much {
            MOST_ALIVE
        } else {
            FEW_ALIVE
        };
        let mut racy = false;
        for (u, kind, alive) in &mut view.alive {
            if !later.kind.conflicts(*kind) || alive.is_empty() {
                continue;
            }
            if alive.len() > most {
                let dropped = alive.len() - most;
                alive.drain(..dropped);
                self.tally.dropped += dropped as u64;
            }
            self.cut.copy_from(&thread.next_at);
            let mut scan = Scan {
                later,
                place,
                trace,
                record,
                thread: *u,
                cut: &mut self.cut,
                work: 0,
                racy: false,
            };
            scan.run(alive, *kind, var, &mut self.tally);
            racy |= scan.racy;
            self.work += scan.work;
        }
        var.views[index].1 = view;
        racy
    }
}

impl View {
    fn add(&mut self, stretch: Stretch, kind: AccessKind, number: u32) {
        let key = (stretch.thread, kind);
        let new = Alive {
            stretch: number,
            start: stretch.start,
            counted: stretch.start,
            groups: SmallVec::new(),
        };
        match self
            .alive
            .iter_mut()
            .find(|(thread, kind, _)| (*thread, *kind) == key)
        {
            Some((.., alive)) => alive.push(new),
            None => self.alive.push((stretch.thread, kind, vec![new])),
        }
    }
}

/// The accesses of one thread and kind against one later access.
struct Scan<'a> {
    later: &'a Later,
    place: Place,
    trace: &'a Reorderings,
    record: &'a Record,
    thread: ThreadId,
    /// The events that must have happened, so far.
    cut: &'a mut Cut,
    work: u64,
    racy: bool,
}

impl Scan<'_> {
    fn run(
        &mut self,
        alive: &mut Vec<Alive>,
        kind: AccessKind,
        var: &mut OfVar,
        tally: &mut Tally,
    ) {
        let mut stopped = false;
        alive.retain_mut(|alive| {
            stopped || {
                let stretch = &mut var.stretches[kind as usize][alive.stretch as usize];
                let accesses = &var.accesses[stretch.list as usize].all[..stretch.end as usize];
                match self.look(alive, accesses) {
                    Look::Stop => {
                        stopped = true;
                        true
                    }
                    Look::Dead => {
                        stretch.is_over = true;
                        false
                    }
                    Look::Race => {
                        self.count(alive, accesses, kind);
                        for &group in &alive.groups {
                            tally.add(group, self.later);
                        }
                        self.racy = true;
                        true
                    }
                }
            }
        });
    }

    /// The result for the first access of a stretch that may race, or the first after it.
    fn look(&mut self, alive: &mut Alive, accesses: &[(u32, EventId)]) -> Look {
        loop {
            let known = self.cut.count(self.thread);
            let from = &accesses[alive.start as usize..];
            let passed = from.partition_point(|&(position, _)| position <= known);
            if passed > 0 {
                alive.start += passed as u32;
                alive.counted = alive.start;
                alive.groups.clear();
            }
            let Some(&(position, _)) = accesses.get(alive.start as usize) else {
                return Look::Dead;
            };
            let thread = self.thread;
            let place = Place { thread, position };
            self.work += 1;
            self.trace.join_past(place, self.cut);
            self.trace.close(self.cut);
            if self.cut.contains(self.place) {
                return Look::Stop;
            }
            if !self.cut.contains(place) {
                return Look::Race;
            }
        }
    }

    /// Adds uncounted accesses to their groups.
    fn count(&self, alive: &mut Alive, accesses: &[(u32, EventId)], kind: AccessKind) {
        for &(_, id) in &accesses[alive.counted as usize..] {
            let side = RaceSide::new(self.record.loc(id), self.later.var, kind);
            match alive.groups.iter_mut().find(|group| group.side == side) {
                Some(group) => {
                    group.count += 1;
                    group.last = id;
                }
                None => alive.groups.push(Earlier {
                    side,
                    kind,
                    last: id,
                    count: 1,
                }),
            }
        }
        alive.counted = accesses.len() as u32;
    }
}

enum Look {
    /// It races, and so do all later ones of the stretch.
    Race,
    /// Nothing in the stretch races with this thread any more.
    Dead,
    /// Neither this nor anything after it races with this access.
    Stop,
}

impl OfVar {
    /// Keeps an access for comparison with later ones.
    fn note(&mut self, place: Place, id: EventId, kind: AccessKind, held: u32, begins: u32) {
        let thread = place.thread;
        let mut lists = self.accesses.iter();
        let list = match lists.position(|list| (list.thread, list.kind) == (thread, kind)) {
            Some(list) => list,
            None => {
                self.accesses.push(Accesses {
                    thread,
                    kind,
                    all: Vec::new(),
                    stretch: 0,
                });
                self.accesses.len() - 1
            }
        };
        let accesses = &mut self.accesses[list];
        let goes_on = { accesses.all.last() }.is_some_and(|&(position, _)| position >= begins);
        accesses.all.push((place.position, id));
        let end = accesses.all.len() as u32;
        let stretches = &mut self.stretches[kind as usize];
        if goes_on && !stretches[accesses.stretch as usize].is_over {
            stretches[accesses.stretch as usize].end = end;
            return;
        }
        accesses.stretch = stretches.len() as u32;
        stretches.push(Stretch {
            thread,
            list: list as u32,
            start: end - 1,
            end,
            held,
            is_over: false,
        });
    }
}

/// The sets of locks that threads hold, numbered.
#[derive(Clone, Debug, Default)]
struct HeldSets {
    numbers: FxHashMap<SmallVec<[(LockId, bool); 2]>, u32>,
    sets: Vec<SmallVec<[(LockId, bool); 2]>>,
}

impl HeldSets {
    fn number(&mut self, mut set: SmallVec<[(LockId, bool); 2]>) -> u32 {
        set.sort_unstable();
        if let Some(&number) = self.numbers.get(&set) {
            return number;
        }
        let number = self.sets.len() as u32;
        self.sets.push(set.clone());
        self.numbers.insert(set, number);
        number
    }

    /// Whether two threads cannot hold both at once.
    fn conflict(&self, one: u32, other: u32) -> bool {
        let (one, other) = (&self.sets[one as usize], &self.sets[other as usize]);
        let excludes = |(lock, exclusive): &(LockId, bool)| {
            let mut same = other.iter().filter(|(theirs, _)| theirs == lock);
            same.any(|(_, theirs)| *exclusive || *theirs)
        };
        one.iter().any(excludes)
    }
}
