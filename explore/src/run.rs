//! One run: its events, their causal order, and its races.
//!
//! Every event has a row of counts (a vector clock): for each thread, how many of its events come before this one, itself included. Rows
//! are computed from chains: each event knows the previous event on its object. A run that shares its beginning with the previous
//! run keeps the events and rows of that beginning instead of computing them again.

mod chain;
mod order;
mod race;
mod unordered;

use std::panic::Location;

use self::chain::{Chain, EMPTY, EXTRA};
pub(crate) use self::order::DataRace;
use self::order::Order;
pub(crate) use self::race::{After, Race, Races, Second};
use crate::operation::{Kind, ObjectIndex, Op, dependent};

/// No event, or no row.
pub(crate) const NONE: u32 = u32::MAX;

/// A place in the source, if known.
pub(crate) type Place = Option<&'static Location<'static>>;

/// One step of a thread.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    pub(crate) thread: u8,
    /// Its number among those of its thread, from 1.
    pub(crate) index: u16,
    pub(crate) op: Op,
    /// The ones before it on its objects.
    previous: [u32; 2],
    /// Of one that took something: the row of when it was given back.
    released: u32,
    /// Which choice it was.
    pub(crate) point: u32,
    /// It could have changed its object, but did not.
    in_vain: bool,
    pub(crate) place: Place,
}

impl Event {
    /// Whether somebody chose that it happens; an application event follows what its thread did before.
    #[inline]
    pub(crate) fn was_chosen(&self) -> bool {
        self.op.kind != Kind::Event
    }

    /// Whether its object is as it was.
    pub(crate) fn only_looked(&self) -> bool {
        self.in_vain || self.op.kind.only_looks()
    }

    /// The one before it on this object, which is one of its two.
    #[inline]
    fn previous_on(&self, object: ObjectIndex) -> u32 {
        self.previous[usize::from(self.op.object != object)]
    }
}

/// The events of a run, with their causal order.
#[derive(Debug)]
pub struct Run {
    events: Vec<Event>,
    /// How many counts a row has: the threads, rounded up.
    width: usize,
    /// For each event, what its thread knew before it.
    before: Vec<u16>,
    /// For each event, what it comes after.
    clocks: Vec<u16>,
    /// What threads knew when they gave something back, if that was more than at their last event.
    extra: Vec<u16>,
    /// For each thread, what it knows now.
    current: Vec<u16>,
    /// Whether a thread knows more than at its last event.
    learned: Vec<bool>,
    last_of: Vec<u32>,
    /// For each thread that waits for a change of one object: the event at which it looked.
    looked: Vec<u32>,
    chains: Vec<Chain>,
    races: Races,
    /// What orders accesses of plain variables, if somebody looks for data races.
    order: Option<Box<Order>>,
    /// How many events are followed, not new.
    kept: usize,
    /// How many of them were.
    followed: usize,
    /// How many are new.
    added: usize,
    /// Whether clocks are kept and races looked for.
    analysed: bool,
    /// Whether an object or a thread was first met after the first choice.
    pub(crate) is_late: bool,
    /// Whether a value was chosen: what comes after it may be called otherwise with another one.
    pub(crate) has_picked: bool,
    /// Whether giving a lock back is an event.
    tries: bool,
    /// Whether channels are tried: what a try looks at is not the same in every run.
    pub(crate) tries_channels: bool,
}

impl Run {
    pub(crate) fn new() -> Run {
        Run {
            events: Vec::new(),
            width: 8,
            before: Vec::new(),
            clocks: Vec::new(),
            extra: Vec::new(),
            current: Vec::new(),
            learned: Vec::new(),
            last_of: Vec::new(),
            looked: Vec::new(),
            chains: Vec::new(),
            races: Races::default(),
            order: None,
            kept: 0,
            followed: 0,
            added: 0,
            analysed: true,
            is_late: false,
            has_picked: false,
            tries: false,
            tries_channels: false,
        }
    }

    /// Begins anew, and keeps what happened at the first choices.
    pub(crate) fn begin(&mut self, points: usize, analysed: bool, tries: bool) {
        let keep = self
            .events
            .partition_point(|event| (event.point as usize) < points);
        self.events.truncate(keep);
        self.before.truncate(keep * self.width);
        self.clocks.truncate(keep * self.width);
        self.extra.clear();
        self.current.clear();
        self.learned.clear();
        self.last_of.clear();
        self.looked.clear();
        self.chains.clear();
        self.races.list.clear();
        self.races.removed.clear();
        self.races.needs.clear();
        if let Some(order) = &mut self.order {
            order.begin(keep);
        }
        self.kept = keep;
        self.followed = 0;
        self.added = 0;
        self.analysed = analysed;
        self.is_late = false;
        self.has_picked = false;
        self.tries = tries;
    }

    /// There is a thread more; it knows what its spawner does.
    pub(crate) fn add_thread(&mut self, spawner: Option<usize>) {
        let thread = self.last_of.len();
        if thread >= self.width {
            self.widen();
        }
        self.last_of.push(NONE);
        self.looked.push(NONE);
        self.learned.push(spawner.is_some());
        if let Some(order) = &mut self.order {
            order.add_thread(spawner);
        }
        match spawner {
            Some(spawner) if self.analysed => {
                let from = spawner * self.width;
                self.current.extend_from_within(from..from + self.width);
            }
            _ => self.current.resize((thread + 1) * self.width, 0),
        }
    }

    /// There is an object more.
    #[inline]
    pub(crate) fn add_object(&mut self) {
        self.chains.push(EMPTY);
    }

    #[cold]
    fn widen(&mut self) {
        let (old, new) = (self.width, self.width * 2);
        let others = self.order.iter_mut().flat_map(|order| order.rows(new));
        let rows = [
            &mut self.before,
            &mut self.clocks,
            &mut self.extra,
            &mut self.current,
            &mut self.races.needs,
        ];
        for rows in rows.into_iter().chain(others) {
            let wide = rows
                .chunks_exact(old)
                .flat_map(|row| row.iter().copied().chain(std::iter::repeat_n(0, new - old)));
            *rows = wide.collect();
        }
        self.width = new;
    }

    /// One thread has seen the end of another.
    pub(crate) fn learn(&mut self, thread: usize, from: usize) {
        self.is_after(thread, from);
        if let Some(order) = &mut self.order {
            order.learn(thread, from);
        }
    }

    /// A thread goes on because nobody else can, after all that happened. That does not synchronise it with anybody.
    pub(crate) fn is_last(&mut self, thread: usize) {
        for other in 0..self.last_of.len() {
            self.is_after(thread, other);
        }
    }

    fn is_after(&mut self, thread: usize, from: usize) {
        if self.analysed {
            join_within(
                &mut self.current,
                self.width,
                thread * self.width,
                from * self.width,
            );
            self.learned[thread] = true;
        }
    }

    /// One thread comes after this row, whatever it does.
    pub(crate) fn teach(&mut self, thread: usize, row: u32) {
        if self.analysed && row != NONE {
            self.receive_row(thread, row);
            self.order_by_row(thread, row);
            self.learned[thread] = true;
        }
    }

    /// A thread does something; returns the number of the event. `Err` if it did something else the last time.
    #[inline]
    pub(crate) fn commit(
        &mut self,
        thread: usize,
        op: Op,
        place: Place,
        point: usize,
        after: After<'_>,
    ) -> Result<usize, usize> {
        if self.followed < self.kept {
            self.follow(thread, op, place)
        } else {
            Ok(self.add(thread, op, place, point, after))
        }
    }

    fn follow(&mut self, thread: usize, op: Op, place: Place) -> Result<usize, usize> {
        let number = self.followed;
        let event = &mut self.events[number];
        let same_place = match (event.place, place) {
            (Some(one), Some(other)) => std::ptr::eq(one, other) || one == other,
            (None, None) => true,
            _ => false,
        };
        if usize::from(event.thread) != thread || event.op != op || !same_place {
            return Err(number);
        }
        event.released = NONE;
        self.followed += 1;
        let row = number * self.width..(number + 1) * self.width;
        if self.analysed {
            self.current[thread * self.width..(thread + 1) * self.width]
                .copy_from_slice(&self.clocks[row]);
            self.learned[thread] = false;
        }
        if let Some(order) = &mut self.order {
            order.follow(thread, number);
        }
        self.link(number, thread, op);
        Ok(number)
    }

    fn add(
        &mut self,
        thread: usize,
        op: Op,
        place: Place,
        point: usize,
        after: After<'_>,
    ) -> usize {
        let number = self.events.len();
        let index = match self.last_of[thread] {
            NONE => 1,
            last => self.events[last as usize].index + 1,
        };
        self.events.push(Event {
            thread: thread as u8,
            index,
            op,
            previous: [op.object, op.second].map(|object| self.chain(object).last),
            released: NONE,
            point: point as u32,
            in_vain: false,
            place,
        });
        if self.analysed {
            let mine = thread * self.width..(thread + 1) * self.width;
            self.before.extend_from_slice(&self.current[mine.clone()]);
            self.look_for_races(thread, op, Second::Event(number as u32), after);
            self.receive(thread, op);
            for &row in after.rows {
                self.receive_row(thread, row);
            }
            let row = &mut self.current[mine];
            row[thread] = index;
            self.clocks.extend_from_slice(row);
            self.learned[thread] = false;
            if self.order.is_some() {
                self.put_in_order(number, after.rows);
            }
        }
        self.link(number, thread, op);
        self.followed += 1;
        self.kept = self.followed;
        self.added += 1;
        number
    }

    /// How many events there were so far.
    pub(crate) fn followed(&self) -> usize {
        self.followed
    }

    /// The last event that somebody chose.
    pub(crate) fn last_chosen(&self) -> Option<&Event> {
        let so_far = &self.events[..self.followed];
        so_far.iter().rfind(|event| event.was_chosen())
    }

    /// A thread waits for a change of what it looked at then; `NONE` if it is not about one object only.
    pub(crate) fn awaits(&mut self, thread: usize, looked: u32) {
        self.looked[thread] = looked;
    }

    /// The last step of the thread changed nothing.
    pub(crate) fn was_in_vain(&mut self, thread: usize) {
        let last = self.last_of[thread];
        if last != NONE {
            self.events[last as usize].in_vain = true;
        }
    }

    /// Those events that have happened, in order: what is still to be followed is not among them.
    #[inline]
    pub(crate) fn happened(&self) -> &[Event] {
        &self.events[..self.followed]
    }

    /// The run ends, or is no longer of interest: what threads still wanted to do races, too.
    pub(crate) fn close(&mut self, thread: usize, op: Op, after: After<'_>) {
        if self.analysed {
            self.look_for_races(thread, op, Second::Pending(thread, op), after);
        }
    }

    /// The last event of this kind on an object; [`NONE`] if there is none.
    pub(crate) fn last_of_kind(&self, object: ObjectIndex, kind: Kind) -> u32 {
        let mut next = self.chain(object).last;
        while next != NONE && self.events[next as usize].op.kind != kind {
            next = self.events[next as usize].previous_on(object);
        }
        next
    }

    /// The last event on an object by which this thread asked for a lock.
    pub(crate) fn last_request(&self, object: ObjectIndex, thread: usize) -> u32 {
        let mut next = self.chain(object).last;
        while next != NONE {
            let event = &self.events[next as usize];
            if event.op.kind == Kind::Request && usize::from(event.thread) == thread {
                break;
            }
            next = event.previous_on(object);
        }
        next
    }

    /// All events, in order.
    #[inline]
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// Whether all that was kept has happened again, and nothing else.
    pub(crate) fn was_followed(&self) -> bool {
        self.followed == self.kept && self.added == 0
    }

    /// What was found out about a run, which is about to be repeated.
    pub(crate) fn take_findings(&mut self) -> Findings {
        Findings {
            races: std::mem::take(&mut self.races),
            extra: std::mem::take(&mut self.extra),
            released: self.events.iter().map(|event| event.released).collect(),
        }
    }

    /// It was repeated: what was found out is true again.
    pub(crate) fn put_back(&mut self, findings: Findings) {
        self.races = findings.races;
        self.extra = findings.extra;
        for (event, released) in self.events.iter_mut().zip(findings.released) {
            event.released = released;
        }
    }

    /// How many events each thread has had, as far as this one comes after them.
    #[inline]
    pub(crate) fn clock(&self, event: usize) -> &[u16] {
        &self.clocks[event * self.width..(event + 1) * self.width]
    }

    /// What the thread of an event knew before it.
    #[inline]
    pub(crate) fn before(&self, event: usize) -> &[u16] {
        &self.before[event * self.width..(event + 1) * self.width]
    }

    /// What a thread knows now.
    #[inline]
    pub(crate) fn known(&self, thread: usize) -> &[u16] {
        &self.current[thread * self.width..(thread + 1) * self.width]
    }

    /// Whether one event comes before another in every equivalent run, or is that.
    #[inline]
    pub(crate) fn precedes(&self, one: u32, other: u32) -> bool {
        let one = &self.events[one as usize];
        self.clocks[other as usize * self.width + usize::from(one.thread)] >= one.index
    }

    fn has(&self, wanted: fn(Kind) -> bool) -> bool {
        self.events.iter().any(|event| wanted(event.op.kind))
    }

    /// Why operations cannot be compared with those of another run: objects or threads may be called otherwise, or tries look at more.
    pub(crate) fn late_names(&self) -> Option<&'static str> {
        if self.tries_channels {
            Some(
                "channels are tried, and what a try depends on is not the same in every run, so source sets were searched instead of wake-up trees",
            )
        } else if self.has(|kind| kind == Kind::Request) {
            Some(
                "locks are shared twice, and what those who do so wait for is not the same in every run, so source sets were searched instead of wake-up trees",
            )
        } else if self.has(|kind| matches!(kind, Kind::TryReadLock | Kind::FailedTryReadLock)) {
            Some(
                "shared sides of locks are tried, and what that depends on is not the same in every run, so source sets were searched instead of wake-up trees",
            )
        } else if self.has_picked {
            Some(
                "runs choose values, by `choose` or as to whom a notification wakes up, so source sets were searched instead of wake-up trees",
            )
        } else {
            self.is_late.then_some(
                "objects or threads are first met in the middle of runs, so source sets were searched instead of wake-up trees",
            )
        }
    }

    /// Whether this event and that operation do not commute.
    #[inline]
    pub(crate) fn depends(&self, event: usize, op: Op) -> bool {
        dependent(self.events[event].op, op)
    }
}

/// What was found out about a run besides what happened.
pub(crate) struct Findings {
    races: Races,
    extra: Vec<u16>,
    released: Vec<u32>,
}

/// Joins one row to another of the same rows.
fn join_within(rows: &mut [u16], width: usize, to: usize, from: usize) {
    for i in 0..width {
        rows[to + i] = rows[to + i].max(rows[from + i]);
    }
}
