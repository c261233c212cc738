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

/// Two operations of different threads that could have come the other way round.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Race {
    /// The event that came first.
    pub(crate) first: u32,
    pub(crate) second: Second,
    /// Of one who has a lock alone and one who shares it: which row of needs is that of all the second has to wait for; else [`NONE`].
    needs: u32,
    /// The others who would still share it, and so come later: where they are in the list of those.
    removed: (u32, u32),
}

/// The races of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Races {
    list: Vec<Race>,
    /// What else comes later if a race goes the other way.
    removed: Vec<u32>,
    /// Rows of what somebody has to wait for.
    needs: Vec<u16>,
}

/// What an operation comes after that cannot come later.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct After<'a> {
    pub(crate) rows: &'a [u32],
    /// It could have happened before those; something else would have come of it.
    pub(crate) reversible: bool,
    /// What it races with, if that is not the last one that it depends on: that one only let it go on.
    pub(crate) instead: Option<u32>,
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
    /// Of a lock: the event that took it alone last.
    last_acquire: u32,
    /// Of a lock: the event that shares it since, the last of them.
    last_shared: u32,
}

const EMPTY: Chain = Chain {
    last: NONE,
    last_write: NONE,
    last_acquire: NONE,
    last_shared: NONE,
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
    races: Races,
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
    /// Whether giving a lock back is an event.
    tries: bool,
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
            kept: 0,
            followed: 0,
            added: 0,
            analysed: true,
            is_late: false,
            pending: Vec::new(),
            tries: false,
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
        self.kept = keep;
        self.followed = 0;
        self.added = 0;
        self.analysed = analysed;
        self.is_late = false;
        self.pending.clear();
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
            &mut self.races.needs,
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

    /// One thread comes after this row, whatever it does.
    pub(crate) fn teach(&mut self, thread: usize, row: u32) {
        if self.analysed && row != NONE {
            self.receive_row(thread, row);
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

    #[inline]
    fn chain(&self, object: ObjectIndex) -> Chain {
        match object {
            NONE => EMPTY,
            object => self.chains[object as usize],
        }
    }

    /// The event is the last one on its objects and of its thread.
    #[inline]
    fn link(&mut self, number: usize, thread: usize, op: Op) {
        let number = number as u32;
        self.last_of[thread] = number;
        if op.object != NONE {
            let chain = &mut self.chains[op.object as usize];
            chain.last = number;
            if !op.kind.is_read() {
                chain.last_write = number;
            }
            if op.kind.is_exclusive() {
                chain.last_acquire = number;
                chain.last_shared = NONE;
            } else if op.kind.is_shared() {
                chain.last_shared = number;
            }
        }
        if op.second != NONE {
            let chain = &mut self.chains[op.second as usize];
            chain.last = number;
            if !op.reads(op.second) {
                chain.last_write = number;
            }
        }
        match op.kind {
            Kind::Unlock => self.released(thread, op.object, false, number),
            Kind::ReadUnlock => self.released(thread, op.object, true, number),
            Kind::Wait if op.second != NONE => self.released(thread, op.second, false, number),
            _ => {}
        }
    }

    /// A thread learns what it comes after when it does this.
    fn receive(&mut self, thread: usize, op: Op) {
        let chain = self.chain(op.object);
        if op.second != NONE {
            self.receive_accesses(thread, op, op.second, self.chain(op.second));
        }
        if !op.kind.is_acquire(self.tries) {
            self.receive_accesses(thread, op, op.object, chain);
            return;
        }
        if chain.last_acquire != NONE {
            self.receive_row(thread, self.events[chain.last_acquire as usize].released);
        }
        if op.kind.is_exclusive() {
            let mut next = chain.last_shared;
            while let Some(event) = self.shared(next, op.object) {
                next = event.previous_on(op.object);
                self.receive_row(thread, event.released);
            }
        }
    }

    /// This event, or the last one before it that shares a lock, since somebody had it alone.
    fn shared(&self, mut number: u32, object: ObjectIndex) -> Option<Event> {
        while number != NONE {
            let event = self.events[number as usize];
            if event.op.kind.is_shared() {
                return Some(event);
            }
            if event.op.kind.is_exclusive() {
                return None;
            }
            number = event.previous_on(object);
        }
        None
    }

    fn receive_accesses(&mut self, thread: usize, op: Op, object: ObjectIndex, chain: Chain) {
        let mut next = if op.reads(object) {
            chain.last_write
        } else {
            chain.last
        };
        while next != NONE {
            self.receive_row(thread, next);
            let event = &self.events[next as usize];
            next = if event.op.reads(object) {
                event.previous_on(object)
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
    pub(crate) fn release(&mut self, thread: usize, object: ObjectIndex, shared: bool) {
        if self.analysed {
            let row = self.row(thread);
            self.released(thread, object, shared, row);
        }
    }

    /// The row of what a thread knows now.
    pub(crate) fn row(&mut self, thread: usize) -> u32 {
        if !self.analysed {
            return NONE;
        }
        if !self.learned[thread] {
            return self.last_of[thread];
        }
        // It has seen others end since its last event.
        let row = self.extra.len() / self.width;
        let mine = thread * self.width..(thread + 1) * self.width;
        self.extra.extend_from_slice(&self.current[mine]);
        row as u32 | EXTRA
    }

    fn released(&mut self, thread: usize, object: ObjectIndex, shared: bool, row: u32) {
        let chain = self.chain(object);
        if !shared {
            if chain.last_acquire != NONE {
                self.events[chain.last_acquire as usize].released = row;
            }
            return;
        }
        let mut next = chain.last_shared;
        while next != NONE && !self.events[next as usize].op.kind.is_exclusive() {
            let event = &mut self.events[next as usize];
            let is_mine = event.op.kind.is_shared() && usize::from(event.thread) == thread;
            if is_mine && event.released == NONE {
                event.released = row;
                return;
            }
            next = event.previous_on(object);
        }
    }

    #[inline]
    fn is_concurrent(&self, thread: usize, event: u32) -> bool {
        let event = &self.events[event as usize];
        usize::from(event.thread) != thread
            && self.current[thread * self.width + usize::from(event.thread)] < event.index
    }

    #[inline]
    fn race(&mut self, first: u32, second: Second) {
        self.races.list.push(Race {
            first,
            second,
            needs: NONE,
            removed: (0, 0),
        });
    }

    /// Those events that an operation of this thread could have come before, had they not been first.
    fn look_for_races(&mut self, thread: usize, op: Op, second: Second, after: After<'_>) {
        let chain = self.chain(op.object);
        match op.kind {
            _ if after.instead.is_some() => {
                self.race_with(thread, after.instead.unwrap_or(NONE), second);
            }
            Kind::Lock | Kind::Initialise if chain.last_shared != NONE => {
                self.races_with_readers(thread, op.object, second);
            }
            Kind::Lock | Kind::Initialise => self.race_with(thread, chain.last_acquire, second),
            Kind::ReadLock | Kind::FindDone => {
                let first = self.opened_by(chain);
                self.race_with(thread, first, second);
            }
            Kind::Await if self.is_first_change(thread, op.object) => {}
            _ => self.races_of_accesses(thread, op, op.object, second),
        }
        if op.second != NONE {
            self.races_of_accesses(thread, op, op.second, second);
        }
        if after.reversible {
            for &row in after.rows {
                if row & EXTRA == 0 {
                    self.race_with(thread, row, second);
                }
            }
        }
    }

    /// What one who shares a lock could have come before: one who had it alone, as that it was given back is what lets others in; or
    /// one who tried in vain to have it alone since then.
    fn opened_by(&self, chain: Chain) -> u32 {
        let (last, taken) = (chain.last_write, chain.last_acquire);
        if last == NONE || self.events[last as usize].op.kind != Kind::FailedTryLock {
            return taken;
        }
        let was_free = taken == NONE || self.events[taken as usize].released < last;
        if was_free { last } else { taken }
    }

    #[inline]
    fn race_with(&mut self, thread: usize, first: u32, second: Second) {
        if first != NONE && self.is_concurrent(thread, first) {
            self.race(first, second);
        }
    }

    fn races_of_accesses(&mut self, thread: usize, op: Op, object: ObjectIndex, second: Second) {
        let chain = self.chain(object);
        let first = if op.reads(object) {
            chain.last_write
        } else {
            chain.last
        };
        if first == NONE {
            return;
        }
        // Reads since the last write, unless they come before another one of these.
        let from = self.races.list.len();
        let mut next = first;
        while self.events[next as usize].op.reads(object) {
            if self.is_concurrent(thread, next) && !self.precedes_some(next, from) {
                self.race(next, second);
            }
            next = self.events[next as usize].previous_on(object);
            if next == NONE {
                return;
            }
        }
        if self.races.list.len() == from {
            self.race_with(thread, next, second);
        }
    }

    /// Whether an event comes before the first part of one of the races from this one on.
    fn precedes_some(&self, event: u32, from: usize) -> bool {
        self.races.list[from..]
            .iter()
            .any(|race| self.precedes(event, race.first))
    }

    /// One who wants a lock alone could have had it before those who share it, but only together with all who would still be inside.
    #[cold]
    fn races_with_readers(&mut self, thread: usize, object: ObjectIndex, second: Second) {
        let from = self.races.list.len();
        let mut readers = Vec::new();
        let mut next = self.chain(object).last_shared;
        while next != NONE && !self.events[next as usize].op.kind.is_exclusive() {
            let event = &self.events[next as usize];
            if event.op.kind.is_shared() {
                readers.push(next);
            }
            next = event.previous_on(object);
        }
        for &first in &readers {
            if !self.is_concurrent(thread, first) || self.precedes_some(first, from) {
                continue;
            }
            let start = self.races.removed.len();
            if !self.remove_readers(thread, &readers, first) {
                self.races.removed.truncate(start);
                continue;
            }
            // What it needs: that all others are gone.
            let row = self.races.needs.len() / self.width;
            let mine = thread * self.width;
            let mut needs = self.current[mine..mine + self.width].to_vec();
            for &reader in &readers {
                if reader != first && !self.races.removed[start..].contains(&reader) {
                    let left = self.row_at(self.events[reader as usize].released);
                    for (mine, other) in needs.iter_mut().zip(left) {
                        *mine = (*mine).max(*other);
                    }
                }
            }
            self.races.needs.extend(needs);
            self.races.list.push(Race {
                first,
                second,
                needs: row as u32,
                removed: (start as u32, self.races.removed.len() as u32),
            });
        }
    }

    /// Whether a thread could not have gone on before the last change: it looked after the one before that.
    fn is_first_change(&self, thread: usize, object: ObjectIndex) -> bool {
        let looked = self.looked[thread];
        if looked == NONE {
            return false;
        }
        let mut changes = 0;
        let mut next = self.chain(object).last;
        while next != NONE && next > looked {
            let event = &self.events[next as usize];
            changes += u32::from(!event.only_looked());
            next = event.previous_on(object);
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
        let mut next = self.chain(object).last;
        while next != NONE && self.events[next as usize].only_looked() {
            next = self.events[next as usize].previous_on(object);
        }
        next
    }

    /// Adds to those who are removed who would still be inside if this reader came later; `false` if the writer needs one of them.
    fn remove_readers(&mut self, thread: usize, readers: &[u32], first: u32) -> bool {
        let start = self.races.removed.len();
        loop {
            let removed = &self.races.removed[start..];
            let stays = |reader: u32| match self.events[reader as usize].released {
                NONE => true,
                row => removed.iter().chain([&first]).any(|&gone| {
                    let gone = &self.events[gone as usize];
                    self.row_at(row)[usize::from(gone.thread)] >= gone.index
                }),
            };
            let inside = readers
                .iter()
                .copied()
                .find(|&reader| reader != first && !removed.contains(&reader) && stays(reader));
            match inside {
                None => return true,
                Some(reader) if reader < first || !self.is_concurrent(thread, reader) => {
                    return false;
                }
                Some(reader) => self.races.removed.push(reader),
            }
        }
    }

    /// Those events that have happened, in order: what is still to be followed is not among them.
    #[inline]
    pub(crate) fn happened(&self) -> &[Event] {
        &self.events[..self.followed]
    }

    #[inline]
    fn row_at(&self, row: u32) -> &[u16] {
        let rows = if row & EXTRA == 0 {
            &self.clocks
        } else {
            &self.extra
        };
        let from = (row & !EXTRA) as usize * self.width;
        &rows[from..from + self.width]
    }

    /// The run ends, or is no longer of interest: what threads still wanted to do races, too.
    pub(crate) fn close(&mut self, thread: usize, op: Op, after: After<'_>) {
        if self.analysed {
            self.look_for_races(thread, op, Second::Pending(thread, op), after);
            self.pending.push((thread, op));
        }
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

    pub(crate) fn races(&self) -> &[Race] {
        &self.races.list
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

    /// What the second part of a race is and comes after, and where what is between them ends.
    pub(crate) fn second(&self, race: Race) -> (usize, Op, &[u16], usize) {
        let (thread, op, before, until) = match race.second {
            Second::Event(number) => {
                let event = &self.events[number as usize];
                let thread = usize::from(event.thread);
                let number = number as usize;
                (thread, event.op, self.before(number), number)
            }
            Second::Pending(thread, op) => (thread, op, self.known(thread), self.events.len()),
        };
        match race.needs {
            NONE => (thread, op, before, until),
            row => {
                let from = row as usize * self.width;
                let needs = &self.races.needs[from..from + self.width];
                (thread, op, needs, until)
            }
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

    /// Whether an event comes later if a race goes the other way: it comes after the first part, or after what goes with that.
    #[inline]
    pub(crate) fn follows(&self, event: usize, race: Race) -> bool {
        self.precedes(race.first, event as u32)
            || self.races.removed[race.removed.0 as usize..race.removed.1 as usize]
                .iter()
                .any(|&gone| self.precedes(gone, event as u32))
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
