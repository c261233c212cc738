//! From event numbers to names.

use portent_monitor_core::{
    Flow, Id, LockId, Op, Place, Predecessors, Sections, Symbols, ThreadId,
};

use crate::{
    record::{EventId, Record},
    report::{HeldLock, Participant, Row, Witness},
    run::Run,
};

/// All sources of names.
pub(crate) struct Names<'a> {
    pub(crate) record: &'a Record,
    pub(crate) symbols: &'a Symbols,
    /// Where locks were taken.
    pub(crate) sections: &'a Sections,
}

impl Names<'_> {
    pub(crate) fn row(&self, id: EventId) -> Row {
        let event = self.record.event(id);
        let operation = event.op.operation().map_or("event", |op| op.name());
        let object = match &event.op {
            Op::Event(_) | Op::Stamped(_) => {
                let name = event.action().and_then(|action| action.name);
                name.map(|name| self.symbols.names.name(name))
            }
            op => op.object(self.symbols),
        };
        Row {
            event: id.index() as u32,
            t: self.symbols.threads.name(event.thread).to_owned(),
            line: self.record.line(id).map(|line| line.get()),
            op: operation.to_owned(),
            object: object.map(str::to_owned),
            loc: self.record.location(id, self.symbols).map(str::to_owned),
        }
    }

    pub(crate) fn participant(&self, id: EventId) -> Participant {
        let place = self.record.place(id);
        let mut holds = Vec::new();
        for section in self.sections.open(place.thread, place.position - 1) {
            let position = section.begin;
            let taken = self.record.at(Place { position, ..place });
            let taken = taken.map(|taken| self.row(taken));
            let (line, loc) = taken.map_or((None, None), |row| (row.line, row.loc));
            holds.push(HeldLock {
                lock: self.lock(section.lock),
                shared: !section.exclusive,
                line,
                loc,
            });
        }
        Participant {
            row: self.row(id),
            holds,
        }
    }

    /// Who waits for a lock, whatever else the event is about: one that wakes up names its condition, too.
    pub(crate) fn waiting(&self, id: EventId) -> Participant {
        let mut participant = self.participant(id);
        if let Some(lock) = self.record.wanted(id) {
            participant.row.object = Some(self.lock(lock));
        }
        participant
    }

    pub(crate) fn lock(&self, lock: LockId) -> String {
        self.symbols.locks.name(lock).to_owned()
    }

    /// The last events of a run, and those that are about to happen at its end.
    pub(crate) fn witness(&self, run: &Run, next: &[EventId], most: usize) -> Witness {
        let omitted = (run.len() + next.len()).saturating_sub(most);
        let mut shown: Vec<EventId> = run.after(omitted).collect();
        let happened = shown.len();
        shown.extend(next.iter().skip(omitted.saturating_sub(run.len())));
        let (left_out, left_out_omitted) = self.left_out(run, &shown, most);
        Witness {
            omitted: omitted as u64,
            rows: shown.iter().map(|&id| self.row(id)).collect(),
            arrows: self.arrows(&shown[..happened]),
            left_out,
            left_out_omitted,
        }
    }

    /// Which of these events come directly before others of other threads, by the table of edges.
    fn arrows(&self, run: &[EventId]) -> Vec<[u32; 2]> {
        let mut flow: Flow<Predecessors<true>> = Flow::default();
        let mut arrows = Vec::new();
        for &id in run {
            let place = self.record.place(id);
            let before = flow.step(&self.record.event(id), |before| before.arrive(place));
            let others = before.into_iter().filter(|one| one.thread != place.thread);
            let others = others.filter_map(|one| self.record.at(one));
            arrows.extend(others.map(|other| [other, id].map(|id| id.index() as u32)));
        }
        arrows.sort_unstable();
        arrows.dedup();
        arrows
    }

    /// What was observed among the shown events and is not in the run: the last of it, and the number of other events.
    fn left_out(&self, run: &Run, shown: &[EventId], most: usize) -> (Vec<Row>, u64) {
        let (Some(&first), Some(&last)) = (shown.iter().min(), shown.iter().max()) else {
            return (Vec::new(), 0);
        };
        let mut done: Vec<u32> = { ThreadId::first(self.record.threads()) }
            .map(|thread| self.record.of_thread(thread))
            .map(|all| all.partition_point(|id| id.index() < run.observed) as u32)
            .collect();
        for &id in run.rest.iter().chain(shown) {
            let Place { thread, position } = self.record.place(id);
            let done = thread.entry(&mut done);
            *done = position.max(*done);
        }
        let is_left_out = |id: &EventId| {
            let Place { thread, position } = self.record.place(*id);
            done.get(thread.index()).is_none_or(|&done| position > done)
        };
        let between = self.record.ids().take(last.index() + 1).skip(first.index());
        let mut rows = Vec::new();
        let mut omitted = 0;
        for id in between.filter(is_left_out).rev() {
            if rows.len() < most {
                rows.push(self.row(id));
            } else {
                omitted += 1;
            }
        }
        rows.reverse();
        (rows, omitted)
    }
}
