//! Since when the next event of each thread could come.
//!
//! Two events were both next in the observed run if the later one could have come before the earlier one did: nothing had to happen in
//! between that its thread did, or waited for.

use portent_monitor_core::{Access, Event, Id, Object, ThreadId, edges};
use rustc_hash::FxHashMap;

use crate::record::EventId;

/// Follows the turns of all threads.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turns {
    /// The last event of each thread, or its fork.
    last: Vec<Option<EventId>>,
    /// The rounds and deliveries that threads wait for.
    awaits: FxHashMap<ThreadId, Object>,
    /// The last event that each of these waits for.
    arrivals: FxHashMap<Object, EventId>,
    /// In a trace with clocks, the lines of each thread.
    lines: FxHashMap<ThreadId, Vec<(u32, EventId)>>,
}

impl Turns {
    /// Takes the next event; returns since which event it was next, if not from the beginning.
    #[inline]
    pub(crate) fn take(&mut self, event: &Event, id: EventId) -> Option<EventId> {
        let mut since = None;
        for thread in event.threads() {
            since = since.max(*thread.entry(&mut self.last));
            if !self.awaits.is_empty()
                && let Some(object) = self.awaits.remove(&thread)
            {
                since = since.max(self.arrivals.get(&object).copied());
            }
            *thread.entry(&mut self.last) = Some(id);
        }
        edges(event, |object, access| match (object, access) {
            (Object::Thread(child), Access::Contribute) => {
                *child.entry(&mut self.last) = Some(id);
            }
            (Object::Round(..) | Object::Delivery(..), Access::Contribute) => {
                self.arrivals.insert(object, id);
            }
            (Object::Lines(thread, line), Access::Contribute) => {
                self.lines.entry(thread).or_default().push((line, id));
            }
            // A clock is there before its event happens.
            (Object::Lines(thread, count), _) => {
                let lines = self.lines.get(&thread).map_or(&[][..], Vec::as_slice);
                let counted = lines.partition_point(|&(line, _)| line <= count);
                since = since.max(lines[..counted].last().map(|&(_, id)| id));
            }
            (_, Access::Await) => {
                self.awaits.insert(event.thread, object);
            }
            _ => {}
        });
        since
    }
}
