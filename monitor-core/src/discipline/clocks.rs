//! Whether the vector clocks that a trace carries can be those of one run.

use std::num::NonZeroU64;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{Error, Event, Stamped, Symbols, ThreadId};

/// The clocks of a trace so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Clocks {
    threads: Vec<Past>,
    /// Lines are known to be missing, so a clock may count events that were not seen.
    pub(super) incomplete: bool,
}

/// The clocks of one thread so far.
#[derive(Clone, Debug, Default)]
struct Past {
    /// The components of its last clock.
    clock: FxHashMap<ThreadId, u32>,
    /// The line with that clock.
    line: Option<NonZeroU64>,
    /// The greatest number of its events that another thread's clock has counted.
    claimed: u32,
    /// The line with that other clock.
    claimed_by: Option<NonZeroU64>,
    /// The number of its own events that its clocks count although they were not seen.
    skipped: u64,
    /// The line with the first such clock.
    skipped_before: Option<NonZeroU64>,
}

/// Events that a thread's own clocks count but that were not seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkippedEvents {
    /// The thread.
    pub thread: ThreadId,
    /// Their number.
    pub count: u64,
    /// The line of the thread before which the first of them are missing.
    pub before: Option<NonZeroU64>,
}

impl Clocks {
    /// Returns what the clock of this event contradicts, if anything.
    pub(super) fn check(
        &self,
        event: &Event,
        stamped: &Stamped,
        symbols: &Symbols,
    ) -> Result<(), Error> {
        event
            .threads()
            .try_for_each(|thread| self.check_owner(thread, event, stamped, symbols))
    }

    /// The same for one of the threads of the line.
    fn check_owner(
        &self,
        thread: ThreadId,
        event: &Event,
        stamped: &Stamped,
        symbols: &Symbols,
    ) -> Result<(), Error> {
        let name = |thread| symbols.threads.name(thread).to_owned();
        let own = stamped.component(thread);
        if own == 0 {
            return Err(Error::NoOwnComponent {
                thread: name(thread),
            });
        }
        self.check_counts(event, stamped, symbols)?;
        let Some(past) = self.threads.get(thread.index()) else {
            return Ok(());
        };
        if let Some((component, before, now)) = past.loses(thread, stamped) {
            return Err(Error::ClockBackwards {
                thread: name(thread),
                component: name(component),
                before,
                now,
                line: past.line,
            });
        }
        if own <= past.claimed {
            return Err(Error::EffectBeforeCause {
                thread: name(thread),
                number: own,
                line: past.claimed_by,
            });
        }
        Ok(())
    }

    /// A clock counts at most as many events of another thread as there were, unless that thread is not
    /// in the trace at all.
    fn check_counts(
        &self,
        event: &Event,
        stamped: &Stamped,
        symbols: &Symbols,
    ) -> Result<(), Error> {
        if self.incomplete {
            return Ok(());
        }
        for &(other, count) in &stamped.clock {
            let Some(past) = self.threads.get(other.index()) else {
                continue;
            };
            let found = past.clock.get(&other).copied().unwrap_or(0);
            let is_own = event.threads().any(|thread| thread == other);
            if !is_own && found > 0 && count > found {
                return Err(Error::MissingEvents {
                    thread: symbols.threads.name(event.thread).to_owned(),
                    component: symbols.threads.name(other).to_owned(),
                    count,
                    found,
                    line: past.line,
                });
            }
        }
        Ok(())
    }

    /// Takes the clock of an admitted event.
    pub(super) fn apply(&mut self, event: &Event, stamped: &Stamped) {
        let is_own = |component| event.threads().any(|thread| thread == component);
        for &(component, count) in stamped.clock.iter().filter(|(t, _)| !is_own(*t)) {
            let other = self.past(component);
            if count > other.claimed {
                (other.claimed, other.claimed_by) = (count, event.line);
            }
        }
        for thread in event.threads() {
            let past = self.past(thread);
            let before = past.clock.get(&thread).copied().unwrap_or(0);
            let skipped = stamped
                .component(thread)
                .saturating_sub(before.saturating_add(1));
            if skipped > 0 && past.skipped == 0 {
                past.skipped_before = event.line;
            }
            past.skipped += u64::from(skipped);
            past.line = event.line;
            past.clock.extend(stamped.clock.iter().copied());
        }
    }

    /// Threads without events that some clocks count.
    pub(super) fn absent(&self) -> impl Iterator<Item = ThreadId> {
        let is_absent = |past: &Past| past.claimed > 0 && past.clock.is_empty();
        let threads = self.threads.iter().enumerate();
        threads.filter_map(move |(i, past)| ThreadId::from_index(i).filter(|_| is_absent(past)))
    }

    /// For threads with events, the unseen events that their own clocks count.
    pub(super) fn skipped(&self) -> impl Iterator<Item = SkippedEvents> {
        let threads = self.threads.iter().enumerate();
        let threads = threads.filter(|(_, past)| past.skipped > 0);
        threads.filter_map(|(thread, past)| {
            Some(SkippedEvents {
                thread: ThreadId::from_index(thread)?,
                count: past.skipped,
                before: past.skipped_before,
            })
        })
    }

    fn past(&mut self, thread: ThreadId) -> &mut Past {
        if thread.index() >= self.threads.len() {
            self.threads.resize_with(thread.index() + 1, Past::default);
        }
        &mut self.threads[thread.index()]
    }
}

impl Past {
    /// A component that has decreased, or the thread's own if it has not increased; with its old
    /// and new values.
    fn loses(&self, thread: ThreadId, stamped: &Stamped) -> Option<(ThreadId, u32, u32)> {
        let mut kept = 0;
        for &(component, now) in &stamped.clock {
            let Some(&before) = self.clock.get(&component) else {
                continue;
            };
            kept += 1;
            if now < before || (component == thread && now == before) {
                return Some((component, before, now));
            }
        }
        if kept == self.clock.len() {
            return None;
        }
        // A component that is no longer mentioned has dropped to 0.
        let mentioned: FxHashSet<ThreadId> = stamped.clock.iter().map(|(t, _)| *t).collect();
        let lost = |component: &ThreadId| !mentioned.contains(component);
        let lost = |(component, before): &(&ThreadId, &u32)| **before > 0 && lost(component);
        let (&component, &before) = self.clock.iter().find(lost)?;
        Some((component, before, 0))
    }
}
