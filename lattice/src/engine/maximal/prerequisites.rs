//! What must have happened before each event in every feasible prefix that has it.
//!
//! These are program order, the edges of the trace, and the write that each read sees; also, of two sections of one lock that
//! are known to have begun, the one that is no longer open has ended: at an event of a thread that holds a lock, every section
//! of other threads that excludes the holder's and that its needs have begun is over. A channel is found empty when everything
//! that its needs have sent has been received. The needs of the events are an order that every feasible prefix respects, but
//! not every prefix that respects it is feasible: if even that order has no violated run, there is none.

use portent_monitor_core::ChainId;

use super::rules::{Demands, HeldLock, Place, Rules, open};
use crate::order::{Poset, UnrestrictedEvent};

/// For each event, how many events of each thread it needs, including itself.
#[derive(Clone, Debug)]
pub(super) struct Prerequisites {
    width: usize,
    clocks: Vec<u32>,
}

impl Prerequisites {
    /// The size in bytes of the needs of a trace.
    pub(super) fn bytes(rules: &Rules) -> u64 {
        4 * rules.threads.len() as u64 * rules.len() as u64
    }

    pub(super) fn new(rules: &Rules) -> Prerequisites {
        let width = rules.threads.len();
        let mut needs = Prerequisites {
            width,
            clocks: Vec::with_capacity(width * rules.len()),
        };
        let mut held: Vec<Vec<HeldLock>> = vec![Vec::new(); width];
        let mut clock = vec![0; width];
        for demands in &rules.events {
            let thread = demands.thread as usize;
            clock.fill(0);
            if let Some(before) = demands.position.checked_sub(2) {
                needs.join(rules, thread, before + 1, &mut clock);
            }
            let seen = demands.reads.iter().filter_map(|read| read.place.as_ref());
            let mut grows = false;
            for place in demands.after.iter().chain(seen) {
                grows |= needs.join(rules, place.thread as usize, place.position, &mut clock);
            }
            clock[thread] = demands.position;
            grows |= needs.drain(rules, demands, &mut clock);
            held[thread].extend_from_slice(&demands.takes);
            // The needs of the thread's last event are closed under the locks that it held.
            grows = grows || needs.close(rules, thread, &demands.takes, &mut clock);
            while grows {
                grows = needs.close(rules, thread, &held[thread], &mut clock)
                    | needs.drain(rules, demands, &mut clock);
            }
            for freed in demands.freed() {
                let place = held[thread].iter().rposition(|other| other == freed);
                place.map(|place| held[thread].swap_remove(place));
            }
            needs.clocks.extend_from_slice(&clock);
        }
        needs
    }

    /// Adds the needs of an event; returns whether that changed anything.
    fn join(&self, rules: &Rules, thread: usize, position: u32, clock: &mut [u32]) -> bool {
        let event = rules.threads[thread][position as usize - 1];
        let mut grows = false;
        for (mine, theirs) in clock.iter_mut().zip(self.of(event)) {
            grows |= theirs > mine;
            *mine = (*mine).max(*theirs);
        }
        grows
    }

    /// Ends the sections that cannot be open; returns whether there were any.
    fn close(&self, rules: &Rules, thread: usize, held: &[HeldLock], clock: &mut [u32]) -> bool {
        let mut changed = false;
        for held in held {
            let lock = &rules.locks[held.lock as usize];
            for (other, sections) in lock.against(held.exclusive) {
                let other = *other as usize;
                if other == thread {
                    continue;
                }
                // Traces that no `Discipline` admitted may have a section that does not end in time.
                if let Some(section) = open(sections, clock[other])
                    && let Some(end) = rules.next(other, section.to - 1)
                    && (end as usize) < self.clocks.len() / self.width
                {
                    changed |= self.join(rules, other, section.to, clock);
                }
            }
        }
        changed
    }

    /// Receives the messages of a channel that is found empty; returns whether there were any.
    fn drain(&self, rules: &Rules, demands: &Demands, clock: &mut [u32]) -> bool {
        let Some(channel) = demands.finds_empty() else {
            return false;
        };
        let channel = &rules.channels[channel as usize];
        // When the thread last found it empty, everything sent by then had been received.
        let tries = channel
            .tries
            .of(demands.thread)
            .map_or(&[][..], |tries| tries);
        let earlier = tries.partition_point(|&position| position < demands.position);
        let last = tries[..earlier].last();
        let last = last.and_then(|&position| rules.next(demands.thread as usize, position - 1));
        let places = channel.received_between(last.map(|event| self.of(event)), clock);
        let missing: Vec<Place> = places.filter(|place| !place.is_in(clock)).collect();
        for place in &missing {
            self.join(rules, place.thread as usize, place.position, clock);
        }
        !missing.is_empty()
    }

    /// The number of events that an event needs of each thread.
    pub(super) fn of(&self, event: u32) -> &[u32] {
        &self.clocks[event as usize * self.width..][..self.width]
    }

    /// The order of some events by their needs.
    pub(super) fn order(&self, rules: &Rules, events: &[u32]) -> Poset {
        Poset::restricted(events.iter().map(|&event| UnrestrictedEvent {
            chain: ChainId::from(rules.events[event as usize].thread),
            clock: self.of(event),
            number: u64::from(event),
        }))
    }
}
