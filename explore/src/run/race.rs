//! Races: pairs of operations of a run that could have happened in the opposite order.

use super::{
    NONE, Run,
    chain::{Chain, EXTRA},
};
use crate::operation::{Kind, ObjectIndex, Op};

/// Two operations of different threads that could have come the other way round.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Race {
    /// The event that came first.
    pub(crate) first: u32,
    pub(crate) second: Second,
    /// If the second has to wait for more than its thread knows: which row of needs is that; else [`NONE`].
    pub(super) needs: u32,
    /// The second is a try that would have been in vain.
    fails: bool,
    /// The others who would still share it, and so come later: where they are in the list of those.
    pub(super) removed: (u32, u32),
}

/// The races of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Races {
    pub(super) list: Vec<Race>,
    /// What else comes later if a race goes the other way.
    pub(super) removed: Vec<u32>,
    /// Rows of what somebody has to wait for.
    pub(super) needs: Vec<u16>,
}

/// What an operation comes after that cannot come later.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct After<'a> {
    pub(crate) rows: &'a [u32],
    /// It could have happened before those; something else would have come of it.
    pub(crate) reversible: bool,
    /// What it races with, if that is not the last one that it depends on: that one only let it go on.
    pub(crate) instead: Option<u32>,
    /// It races with nothing else on either of its objects.
    pub(crate) only_instead: bool,
}

/// What came second, or was still to come when the run ended.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Second {
    Event(u32),
    Pending(usize, Op),
}

impl Run {
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
            fails: false,
            removed: (0, 0),
        });
    }

    /// Those events that an operation of this thread could have come before, had they not been first.
    pub(super) fn look_for_races(
        &mut self,
        thread: usize,
        op: Op,
        second: Second,
        after: After<'_>,
    ) {
        let all = self.races.list.len();
        let chain = self.chain(op.object);
        match op.kind {
            _ if after.instead.is_some() => {
                let from = self.races.list.len();
                if op.kind == Kind::Send {
                    self.races_with_lookers(thread, op.object, second, after.rows);
                }
                if self.races.list.len() == from {
                    self.race_with(thread, after.instead.unwrap_or(NONE), second);
                }
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
        if op.second != NONE && !after.only_instead {
            self.races_of_accesses(thread, op, op.second, second);
        }
        if !after.rows.is_empty() {
            self.add_needs(thread, all, after.rows);
        }
        if after.reversible {
            for &row in after.rows {
                if row & EXTRA == 0 {
                    let from = self.races.list.len();
                    self.race_with(thread, row, second);
                    for race in &mut self.races.list[from..] {
                        race.fails = true;
                    }
                }
            }
        }
    }

    /// The second part of the races from this one on needs the other way round, too, what it comes after irrevocably, unless that follows
    /// the first part: a message is not there before it was sent.
    fn add_needs(&mut self, thread: usize, from: usize, rows: &[u32]) {
        for at in from..self.races.list.len() {
            let first = self.events[self.races.list[at].first as usize];
            let is_needed =
                |run: &Run, row: u32| run.row_at(row)[usize::from(first.thread)] < first.index;
            if self.races.list[at].needs != NONE || !rows.iter().any(|&row| is_needed(self, row)) {
                continue;
            }
            let begin = self.races.needs.len();
            let mine = thread * self.width..(thread + 1) * self.width;
            self.races.needs.extend_from_slice(&self.current[mine]);
            for &row in rows {
                if is_needed(self, row) {
                    let others = if row & EXTRA == 0 {
                        &self.clocks
                    } else {
                        &self.extra
                    };
                    let other = &others[(row & !EXTRA) as usize * self.width..][..self.width];
                    for (need, &other) in self.races.needs[begin..].iter_mut().zip(other) {
                        *need = (*need).max(other);
                    }
                }
            }
            self.races.list[at].needs = (begin / self.width) as u32;
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

    /// Who sends into room that was made could have come before those who found nothing there since then.
    fn races_with_lookers(
        &mut self,
        thread: usize,
        object: ObjectIndex,
        second: Second,
        room: &[u32],
    ) {
        let from = self.races.list.len();
        let mut next = self.chain(object).last;
        while next != NONE && self.events[next as usize].op.reads(object) {
            let event = self.events[next as usize];
            let is_needed = |&row: &u32| self.row_at(row)[usize::from(event.thread)] >= event.index;
            if self.is_concurrent(thread, next)
                && !room.iter().any(is_needed)
                && !self.precedes_some(next, from)
            {
                self.race(next, second);
            }
            next = event.previous_on(object);
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
                fails: false,
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

    pub(crate) fn races(&self) -> &[Race] {
        &self.races.list
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
        let op = if race.fails { op.in_vain() } else { op };
        match race.needs {
            NONE => (thread, op, before, until),
            row => {
                let from = row as usize * self.width;
                let needs = &self.races.needs[from..from + self.width];
                (thread, op, needs, until)
            }
        }
    }

    /// Whether an event comes later if a race goes the other way: it comes after the first part, or after what goes with that.
    #[inline]
    pub(crate) fn follows(&self, event: usize, race: Race) -> bool {
        self.precedes(race.first, event as u32)
            || self.races.removed[race.removed.0 as usize..race.removed.1 as usize]
                .iter()
                .any(|&gone| self.precedes(gone, event as u32))
    }
}
