//! One run: its events, what each of them comes after, and which of them raced.
//!
//! Every event has a row of counts, one for each thread: how many events of that thread it comes after, itself included. Rows are
//! computed from chains: each event knows the one before it on its object. A run that shares its beginning with the one before
//! keeps the events and rows of that beginning; they are followed, not computed again.

use std::panic::Location;

use crate::operation::{Kind, ObjectIndex, Op, dependent};

/// No event, or no row.
pub(crate) const NONE: u32 = u32::MAX;
/// Marks rows that are not those of an event.
const EXTRA: u32 = 1 << 31;

/// Where something is in the source, if that is known.
pub(crate) type Place = Option<&'static Location<'static>>;

/// What one thread did at one step.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    pub(crate) thread: u8,
    /// Its number among those of its thread, from 1.
    pub(crate) index: u16,
    pub(crate) op: Op,
    /// The one before it on its object.
    previous: u32,
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
        self.in_vain || self.op.kind.is_read() || self.op.kind == Kind::FailedTryLock
    }
}

/// Two operations of different threads that could have come the other way round.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Race {
    /// The event that came first.
    pub(crate) first: u32,
    pub(crate) second: Second,
}

/// What came second, or was still to come when the run ended.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Second {
    Event(u32),
    Pending(usize, Op),
}

/// The events on one object.
#[derive(Clone, Copy, Debug)]
struct Chain {
    last: u32,
    last_write: u32,
    /// Of a mutex: the event that took it last.
    last_acquire: u32,
}

const EMPTY: Chain = Chain {
    last: NONE,
    last_write: NONE,
    last_acquire: NONE,
};

/// The events of a run, in order.
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
    races: Vec<Race>,
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
    /// What threads still wanted to do when the run was closed.
    pending: Vec<(usize, Op)>,
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
            races: Vec::new(),
            kept: 0,
            followed: 0,
            added: 0,
            analysed: true,
            is_late: false,
            pending: Vec::new(),
        }
    }

    /// Begins anew, and keeps what happened at the first choices.
    pub(crate) fn begin(&mut self, points: usize, analysed: bool) {
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
        self.races.clear();
        self.kept = keep;
        self.followed = 0;
        self.added = 0;
        self.analysed = analysed;
        self.is_late = false;
        self.pending.clear();
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
        for rows in [
            &mut self.before,
            &mut self.clocks,
            &mut self.extra,
            &mut self.current,
        ] {
            let wide = rows
                .chunks_exact(old)
                .flat_map(|row| row.iter().copied().chain(std::iter::repeat_n(0, new - old)));
            *rows = wide.collect();
        }
        self.width = new;
    }

    /// One thread has seen the end of another.
    pub(crate) fn learn(&mut self, thread: usize, from: usize) {
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

    /// A thread does something; returns the number of the event. `Err` if it did something else the last time.
    #[inline]
    pub(crate) fn commit(
        &mut self,
        thread: usize,
        op: Op,
        place: Place,
        point: usize,
    ) -> Result<usize, usize> {
        if self.followed < self.kept {
            self.follow(thread, op, place)
        } else {
            Ok(self.add(thread, op, place, point))
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
        self.link(number, thread, op);
        Ok(number)
    }

    fn add(&mut self, thread: usize, op: Op, place: Place, point: usize) -> usize {
        let number = self.events.len();
        let index = match self.last_of[thread] {
            NONE => 1,
            last => self.events[last as usize].index + 1,
        };
        let previous = match op.kind {
            Kind::Event => NONE,
            _ => self.chains[op.object as usize].last,
        };
        self.events.push(Event {
            thread: thread as u8,
            index,
            op,
            previous,
            released: NONE,
            point: point as u32,
            in_vain: false,
            place,
        });
        if self.analysed {
            let mine = thread * self.width..(thread + 1) * self.width;
            self.before.extend_from_slice(&self.current[mine.clone()]);
            if op.kind != Kind::Event {
                self.look_for_races(thread, op, Second::Event(number as u32));
                self.receive(thread, op);
            }
            let row = &mut self.current[mine];
            row[thread] = index;
            self.clocks.extend_from_slice(row);
            self.learned[thread] = false;
        }
        self.link(number, thread, op);
        self.followed += 1;
        self.kept = self.followed;
        self.added += 1;
        number
    }

    /// How many events there were so far in this run.
    pub(crate) fn followed(&self) -> usize {
        self.followed
    }

    /// The last event that somebody chose.
    pub(crate) fn last_chosen(&self) -> Option<&Event> {
        let so_far = &self.events[..self.followed];
        so_far.iter().rfind(|event| event.was_chosen())
    }

    /// The event is the last one on its object and of its thread.
    #[inline]
    fn link(&mut self, number: usize, thread: usize, op: Op) {
        self.last_of[thread] = number as u32;
        if op.kind == Kind::Event {
            return;
        }
        let chain = &mut self.chains[op.object as usize];
        chain.last = number as u32;
        if !op.kind.is_read() {
            chain.last_write = number as u32;
        }
        if matches!(op.kind, Kind::Lock | Kind::TryLock) {
            chain.last_acquire = number as u32;
        }
    }

    /// A thread learns what it comes after when it does this.
    fn receive(&mut self, thread: usize, op: Op) {
        let chain = self.chains[op.object as usize];
        if op.kind.is_acquire() && chain.last == chain.last_acquire {
            // Nobody tries: unlocks are parts of other events.
            if chain.last != NONE {
                self.receive_row(thread, self.events[chain.last as usize].released);
            }
            return;
        }
        let mut next = if op.kind.is_read() {
            chain.last_write
        } else {
            chain.last
        };
        while next != NONE {
            self.receive_row(thread, next);
            let event = &self.events[next as usize];
            next = if event.op.kind.is_read() {
                event.previous
            } else {
                NONE
            };
        }
    }

    #[inline]
    fn receive_row(&mut self, thread: usize, row: u32) {
        if row == NONE {
            return;
        }
        let rows = if row & EXTRA == 0 {
            &self.clocks
        } else {
            &self.extra
        };
        let from = (row & !EXTRA) as usize * self.width;
        let mine = &mut self.current[thread * self.width..][..self.width];
        for (mine, other) in mine.iter_mut().zip(&rows[from..from + self.width]) {
            *mine = (*mine).max(*other);
        }
    }

    /// The thread gives back what it took of this object.
    pub(crate) fn release(&mut self, thread: usize, object: ObjectIndex) {
        if !self.analysed {
            return;
        }
        let row = if self.learned[thread] {
            // It has seen others end since its last event.
            let row = self.extra.len() / self.width;
            let mine = thread * self.width..(thread + 1) * self.width;
            self.extra.extend_from_slice(&self.current[mine]);
            row as u32 | EXTRA
        } else {
            self.last_of[thread]
        };
        let acquired = self.chains[object as usize].last_acquire;
        if acquired != NONE {
            self.events[acquired as usize].released = row;
        }
    }

    /// Those events that an operation of this thread could have come before, had they not been first.
    fn look_for_races(&mut self, thread: usize, op: Op, second: Second) {
        let chain = self.chains[op.object as usize];
        let known = thread * self.width;
        let is_concurrent = |run: &Run, event: u32| {
            let event = &run.events[event as usize];
            usize::from(event.thread) != thread
                && run.current[known + usize::from(event.thread)] < event.index
        };
        let first = match op.kind {
            Kind::Lock => chain.last_acquire,
            Kind::Await if self.is_first_change(thread, chain) => NONE,
            Kind::Read | Kind::Await => chain.last_write,
            _ => chain.last,
        };
        if first == NONE {
            return;
        }
        let event = self.events[first as usize];
        if !event.op.kind.is_read() {
            if is_concurrent(self, first) {
                self.races.push(Race { first, second });
            }
            return;
        }
        // Reads since the last write, unless they come before another one of these.
        let from = self.races.len();
        let mut next = first;
        loop {
            if next == NONE {
                return;
            }
            let event = self.events[next as usize];
            if !event.op.kind.is_read() {
                break;
            }
            if is_concurrent(self, next)
                && !self.races[from..]
                    .iter()
                    .any(|race| self.precedes(next, race.first))
            {
                self.races.push(Race {
                    first: next,
                    second,
                });
            }
            next = event.previous;
        }
        if self.races.len() == from && is_concurrent(self, next) {
            self.races.push(Race {
                first: next,
                second,
            });
        }
    }

    /// Whether a thread could not have gone on before the last change: it looked after the one before that.
    fn is_first_change(&self, thread: usize, chain: Chain) -> bool {
        let looked = self.looked[thread];
        if looked == NONE {
            return false;
        }
        let mut changes = 0;
        let mut next = chain.last;
        while next != NONE && next > looked {
            let event = &self.events[next as usize];
            changes += u32::from(!event.only_looked());
            next = event.previous;
        }
        changes < 2
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

    /// The last event that changed an object.
    pub(crate) fn last_change(&self, object: ObjectIndex) -> u32 {
        let mut next = self.chains[object as usize].last;
        while next != NONE && self.events[next as usize].only_looked() {
            next = self.events[next as usize].previous;
        }
        next
    }

    /// The run ends, or is no longer of interest: what threads still wanted to do races, too.
    pub(crate) fn close(&mut self, pending: impl Iterator<Item = (usize, Op)>) {
        if self.analysed {
            for (thread, op) in pending {
                self.look_for_races(thread, op, Second::Pending(thread, op));
                self.pending.push((thread, op));
            }
        }
    }

    /// Those events that have happened, in order: what is still to be followed is not among them.
    #[inline]
    pub(crate) fn happened(&self) -> &[Event] {
        &self.events[..self.followed]
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

    pub(crate) fn take_races(&mut self) -> Vec<Race> {
        std::mem::take(&mut self.races)
    }

    pub(crate) fn set_races(&mut self, races: Vec<Race>) {
        self.races = races;
    }

    pub(crate) fn races(&self) -> &[Race] {
        &self.races
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

    /// How many events a thread has had.
    pub(crate) fn known_events(&self, thread: usize) -> u16 {
        match self.last_of[thread] {
            NONE => 0,
            last => self.events[last as usize].index,
        }
    }

    /// Whether one event comes before another in every equivalent run, or is that.
    #[inline]
    pub(crate) fn precedes(&self, one: u32, other: u32) -> bool {
        let one = &self.events[one as usize];
        self.clocks[other as usize * self.width + usize::from(one.thread)] >= one.index
    }

    /// What an operation comes after, and what it is, of the second part of a race.
    pub(crate) fn second(&self, second: Second) -> (usize, Op, &[u16], usize) {
        match second {
            Second::Event(number) => {
                let event = &self.events[number as usize];
                let thread = usize::from(event.thread);
                (
                    thread,
                    event.op,
                    self.before(number as usize),
                    number as usize,
                )
            }
            Second::Pending(thread, op) => (thread, op, self.known(thread), self.events.len()),
        }
    }

    /// Whether an object or a thread was first met after the first choice, so that it may be called otherwise in another run.
    pub(crate) fn has_late_names(&self) -> bool {
        self.is_late
    }

    /// What a thread did next after an event, or still wanted to do.
    pub(crate) fn next_of(&self, thread: usize, after: usize) -> Option<Op> {
        let later = &self.events[after + 1..];
        let event = later
            .iter()
            .find(|event| usize::from(event.thread) == thread && event.was_chosen());
        event.map(|event| event.op).or_else(|| {
            let pending = self.pending.iter().find(|(other, _)| *other == thread);
            pending.map(|(_, op)| *op)
        })
    }

    /// Whether this event and that operation do not commute.
    #[inline]
    pub(crate) fn depends(&self, event: usize, op: Op) -> bool {
        dependent(self.events[event].op, op)
    }
}

/// Joins one row to another of the same rows.
fn join_within(rows: &mut [u16], width: usize, to: usize, from: usize) {
    for i in 0..width {
        rows[to + i] = rows[to + i].max(rows[from + i]);
    }
}
