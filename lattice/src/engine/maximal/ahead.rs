//! How far each thread can get after a prefix, at best.
//!
//! A thread is permanently stuck before a read whose write was overwritten, before a lock whose holder is stuck, before a
//! failed try that can fail again only if stuck threads receive pending messages, and before anything that waits for an event
//! that a stuck thread does not reach. A prefix in which no thread is stuck may be the beginning of a whole run.

use super::{rules::Rules, state::Prefix};

/// The limits of the threads, recomputed for every prefix.
#[derive(Clone, Debug, Default)]
pub(super) struct Ahead {
    /// For each thread, the largest number of events that it can reach.
    pub(super) limits: Vec<u32>,
    /// For each thread, the positions of its events that may have to wait.
    demanding: Vec<Vec<u32>>,
    is_whole: bool,
}

impl Ahead {
    pub(super) fn new(rules: &Rules) -> Ahead {
        let demanding = rules.threads.iter().map(|events| {
            let events = events.iter().map(|&event| &rules.events[event as usize]);
            let demanding = events.filter(|demands| !demands.is_free());
            demanding.map(|demands| demands.position).collect()
        });
        Ahead {
            limits: Vec::new(),
            demanding: demanding.collect(),
            is_whole: true,
        }
    }

    /// No thread is ever stuck.
    pub(super) fn look_nowhere(&mut self, rules: &Rules) {
        self.limits.clear();
        self.limits
            .extend(rules.threads.iter().map(|events| events.len() as u32));
    }

    /// Whether no thread is stuck.
    pub(super) fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Looks ahead of a prefix.
    pub(super) fn look(&mut self, rules: &Rules, prefix: &Prefix) {
        let mut limits = std::mem::take(&mut self.limits);
        limits.clear();
        limits.extend_from_slice(prefix.cut());
        loop {
            let mut changed = false;
            self.is_whole = true;
            for (thread, events) in rules.threads.iter().enumerate() {
                let before = limits[thread];
                if before as usize == events.len() {
                    continue;
                }
                let demanding = &self.demanding[thread];
                let first = demanding.partition_point(|&position| position <= before);
                let stuck = demanding[first..].iter().find(|&&position| {
                    let event = events[position as usize - 1];
                    !may_happen(rules, prefix, &limits, event)
                });
                limits[thread] = stuck.map_or(events.len() as u32, |position| position - 1);
                self.is_whole &= stuck.is_none();
                changed |= limits[thread] > before;
            }
            if self.is_whole || !changed {
                break;
            }
        }
        self.limits = limits;
    }
}

/// Whether an event may happen after a prefix, if threads can get as far as `limits`.
fn may_happen(rules: &Rules, prefix: &Prefix, limits: &[u32], event: u32) -> bool {
    let demands = &rules.events[event as usize];
    let cut = prefix.cut();
    demands.after.iter().all(|place| place.is_in(limits))
        && demands.reads.iter().all(|read| match read.place {
            Some(place) if !place.is_in(cut) => place.is_in(limits),
            _ => prefix.last_write(rules, read.variable) == read.write,
        })
        && demands.takes.iter().all(|&taken| {
            let holder = rules.holder(taken, demands.thread, cut);
            holder.is_none_or(|end| end.is_in(limits))
        })
        && demands.finds_empty().is_none_or(|channel| {
            let channel = &rules.channels[channel as usize];
            channel.may_be_emptied(cut, limits, demands.place())
        })
}
