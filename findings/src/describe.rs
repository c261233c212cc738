//! From numbers of events to names.

use portent_monitor_core::{Cut, Op, Place, Reorderings, Symbols, ThreadId};

use crate::{
    record::{EventId, Record},
    report::{HeldLock, Participant, Row, Witness},
};

/// Everything that names can be looked up in.
pub(crate) struct Names<'a> {
    pub(crate) record: &'a Record,
    pub(crate) symbols: &'a Symbols,
    /// Where locks were taken, if that was followed.
    pub(crate) trace: Option<&'a Reorderings>,
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
        if let Some(trace) = self.trace {
            for section in trace.open_sections(place.thread, place.position - 1) {
                let position = section.begin;
                let taken = self.record.at(Place { position, ..place });
                let taken = taken.map(|taken| self.row(taken));
                let (line, loc) = taken.map_or((None, None), |row| (row.line, row.loc));
                holds.push(HeldLock {
                    lock: self.symbols.locks.name(section.lock).to_owned(),
                    shared: !section.exclusive,
                    line,
                    loc,
                });
            }
        }
        Participant {
            row: self.row(id),
            holds,
        }
    }

    /// The last events of a run.
    pub(crate) fn witness(&self, run: &[EventId], most: usize) -> Witness {
        let omitted = run.len().saturating_sub(most);
        Witness {
            omitted: omitted as u64,
            rows: run[omitted..].iter().map(|&id| self.row(id)).collect(),
        }
    }
}

/// The events of a cut in observed order.
pub(crate) fn in_observed_order(cut: &Cut, record: &Record) -> Vec<EventId> {
    let threads = ThreadId::first(cut.counts().len());
    let lasts = threads.filter_map(|thread| {
        let position = cut.count(thread);
        record.at(Place { thread, position })
    });
    let Some(last) = lasts.max() else {
        return Vec::new();
    };
    let within = |id: &EventId| cut.contains(record.place(*id));
    let until_last = record.ids().take(last.index() + 1);
    until_last.filter(within).collect()
}
