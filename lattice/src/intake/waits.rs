//! Signs that waits were logged at their start, or not at all.
//!
//! A `wait` event is the wake-up. If it is logged at the call, it comes before its `notify`, is not ordered after it, and what
//! the notifier did seems concurrent with what the waiter does: a false alarm. Two signs reveal it: some `wait` for a condition
//! comes before every `notify` of it; or another thread takes a lock from one that has just woken up and holds it. Without any
//! `notify` no order is lost, as when a wait times out.
//!
//! If only the wake-up is logged, the lock seems to be held until another thread has taken it: what the waiter did before
//! is not ordered before what is done under the lock meanwhile, and a prediction may be false.
//!
//! A lock taken from a thread that does nothing more may have been released in a wait that lasted until the end
//! of the run. But its `unlock` may also be missing, and then the order of everything under it is wrong.

use std::num::NonZeroU64;

use portent_monitor_core::{CondId, Event, Id, LockId, Op, Symbols, ThreadId};

/// The conditions of a run, and the holders of its locks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Waits {
    conditions: Vec<Condition>,
    /// The exclusive holder of each lock, as far as it was logged.
    holders: Vec<Option<ThreadId>>,
    /// The wake-up of each thread that has done nothing since.
    woken: Vec<Option<WakeUp>>,
    /// The locks that were taken from each thread since it last acted.
    taken_away: Vec<Vec<TakenAway>>,
    /// How often a lock was released by a wait whose start was not logged, and the first such wait.
    unlogged: u64,
    first_unlogged: Option<(ThreadId, LockId, Option<NonZeroU64>)>,
}

#[derive(Clone, Debug, Default)]
struct Condition {
    is_notified: bool,
    /// The number of wake-ups logged too early.
    early: u64,
    first_line: Option<NonZeroU64>,
}

#[derive(Clone, Copy, Debug)]
struct WakeUp {
    condition: CondId,
    line: Option<NonZeroU64>,
    /// Whether it already counts as early.
    is_early: bool,
}

#[derive(Clone, Debug)]
struct TakenAway {
    lock: LockId,
    by: ThreadId,
    line: Option<NonZeroU64>,
}

/// A condition with wake-ups that seem to be logged at the start of the wait.
pub(crate) struct EarlyWait<'s> {
    pub(crate) condition: &'s str,
    pub(crate) waits: u64,
    pub(crate) first_line: Option<NonZeroU64>,
}

/// Locks that were released by waits whose start was not logged.
pub(crate) struct UnloggedWaits<'s> {
    pub(crate) times: u64,
    /// The first of them: the waiting thread, the lock, and the line of the wake-up.
    pub(crate) thread: &'s str,
    pub(crate) lock: &'s str,
    pub(crate) line: Option<NonZeroU64>,
}

/// A lock that two threads held when the run ended.
pub(crate) struct HeldAtEnd<'s> {
    pub(crate) lock: &'s str,
    /// The first holder, which did nothing more.
    pub(crate) thread: &'s str,
    pub(crate) other: &'s str,
    /// The line where the other took it.
    pub(crate) line: Option<NonZeroU64>,
}

impl Waits {
    /// Takes the next event of the run.
    #[inline]
    pub(crate) fn note(&mut self, event: &Event) {
        for thread in event.threads() {
            // Only locks and waits leave state here.
            if let Some(woken) = self.woken.get_mut(thread.index()) {
                *woken = None;
            }
            if let Some(locks) = self.taken_away.get_mut(thread.index()) {
                for TakenAway { lock, .. } in locks.drain(..) {
                    // The thread has waited, and holds the lock again.
                    if matches!(event.op, Op::Wait(..)) {
                        lock.entry(&mut self.holders).get_or_insert(thread);
                        self.unlogged += 1;
                        self.first_unlogged
                            .get_or_insert((thread, lock, event.line));
                    }
                }
            }
        }
        match event.op {
            Op::Notify(cond) => cond.entry(&mut self.conditions).is_notified = true,
            Op::Wait(cond, lock) => self.wake_up(event, cond, lock),
            Op::Lock(lock) => self.take(event, lock, true),
            Op::ReadLock(lock) => self.take(event, lock, false),
            Op::Unlock(lock) | Op::Waiting(_, Some(lock)) => {
                let holder = lock.entry(&mut self.holders);
                if *holder == Some(event.thread) {
                    *holder = None;
                }
            }
            // An unreleased lock does not matter when its thread has ended.
            Op::Join(child) => {
                if let Some(locks) = self.taken_away.get_mut(child.index()) {
                    locks.clear();
                }
            }
            _ => {}
        }
    }

    fn wake_up(&mut self, event: &Event, cond: CondId, lock: Option<LockId>) {
        if let Some(lock) = lock {
            self.take(event, lock, true);
        }
        let condition = cond.entry(&mut self.conditions);
        let is_early = !condition.is_notified;
        if is_early {
            condition.note(event.line);
        }
        *event.thread.entry(&mut self.woken) = Some(WakeUp {
            condition: cond,
            line: event.line,
            is_early,
        });
    }

    /// A thread takes a lock, possibly from another that seems to hold it.
    fn take(&mut self, event: &Event, lock: LockId, exclusive: bool) {
        let now = lock.entry(&mut self.holders);
        let before = now.filter(|holder| *holder != event.thread);
        if exclusive {
            *now = Some(event.thread);
        }
        let Some(holder) = before else {
            return;
        };
        if !exclusive {
            *now = None;
        }
        match holder.entry(&mut self.woken) {
            Some(woken) => {
                if !std::mem::replace(&mut woken.is_early, true) {
                    let WakeUp {
                        condition, line, ..
                    } = *woken;
                    condition.entry(&mut self.conditions).note(line);
                }
            }
            None => holder.entry(&mut self.taken_away).push(TakenAway {
                lock,
                by: event.thread,
                line: event.line,
            }),
        }
    }

    /// The conditions whose waits seem to be logged too early.
    pub(crate) fn early<'s>(&'s self, symbols: &'s Symbols) -> impl Iterator<Item = EarlyWait<'s>> {
        let named = symbols.conds.iter().zip(&self.conditions);
        named
            .filter(|(_, condition)| condition.is_notified && condition.early > 0)
            .map(|(name, condition)| EarlyWait {
                condition: name,
                waits: condition.early,
                first_line: condition.first_line,
            })
    }

    /// The waits that released a lock without a line for it, if there are any.
    pub(crate) fn unlogged<'s>(&self, symbols: &'s Symbols) -> Option<UnloggedWaits<'s>> {
        let (thread, lock, line) = self.first_unlogged?;
        Some(UnloggedWaits {
            times: self.unlogged,
            thread: symbols.threads.name(thread),
            lock: symbols.locks.name(lock),
            line,
        })
    }

    /// The locks that two threads held when the run ended.
    pub(crate) fn held_at_end<'s>(
        &'s self,
        symbols: &'s Symbols,
    ) -> impl Iterator<Item = HeldAtEnd<'s>> {
        let threads = symbols.threads.iter().zip(&self.taken_away);
        threads.flat_map(move |(thread, locks)| {
            locks.iter().map(move |taken| HeldAtEnd {
                lock: symbols.locks.name(taken.lock),
                thread,
                other: symbols.threads.name(taken.by),
                line: taken.line,
            })
        })
    }
}

impl Condition {
    /// Counts a wake-up that was logged too early.
    fn note(&mut self, line: Option<NonZeroU64>) {
        self.early += 1;
        self.first_line = self.first_line.or(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Run {
        symbols: Symbols,
        waits: Waits,
    }

    impl Run {
        fn new() -> Run {
            Run {
                symbols: Symbols::default(),
                waits: Waits::default(),
            }
        }

        fn take(&mut self, thread: &str, op: impl Into<Op>) {
            let thread = self.symbols.threads.intern(thread).expect("few");
            self.waits.note(&Event::new(thread, op));
        }

        fn cond(&mut self, name: &str) -> CondId {
            self.symbols.conds.intern(name).expect("few")
        }

        fn lock(&mut self, name: &str) -> LockId {
            self.symbols.locks.intern(name).expect("few")
        }

        fn early(&self) -> Vec<(&str, u64)> {
            let early = self.waits.early(&self.symbols);
            early.map(|wait| (wait.condition, wait.waits)).collect()
        }

        fn held_at_end(&self) -> Vec<(&str, &str, &str)> {
            let held = self.waits.held_at_end(&self.symbols);
            held.map(|held| (held.lock, held.thread, held.other))
                .collect()
        }
    }

    #[test]
    fn a_wake_up_before_the_first_notify_is_early() {
        let mut run = Run::new();
        let [c, d, e] = ["c", "d", "e"].map(|name| run.cond(name));
        for op in [
            Op::Wait(c, None),
            Op::Wait(c, None),
            Op::Notify(c),
            Op::Wait(c, None),
            Op::Notify(d),
            Op::Wait(d, None),
            Op::Wait(e, None),
        ] {
            run.take("T", op);
        }
        assert_eq!(run.early(), [("c", 2)]);
    }

    #[test]
    fn a_wake_up_whose_lock_another_takes_is_early_though_there_was_a_notify() {
        for with_lock in [false, true] {
            let mut run = Run::new();
            let (c, m) = (run.cond("c"), run.lock("m"));
            run.take("B", Op::Notify(c));
            run.take("A", Op::Lock(m));
            run.take("A", Op::Wait(c, with_lock.then_some(m)));
            run.take("B", Op::Lock(m));
            assert_eq!(run.early(), [("c", 1)]);
            assert_eq!(run.held_at_end(), []);
        }
    }

    #[test]
    fn a_wake_up_that_takes_its_lock_again_is_as_it_should_be() {
        let mut run = Run::new();
        let (c, m) = (run.cond("c"), run.lock("m"));
        run.take("A", Op::Lock(m));
        run.take("A", Op::Waiting(c, Some(m)));
        run.take("B", Op::Lock(m));
        run.take("B", Op::Notify(c));
        run.take("B", Op::Unlock(m));
        run.take("A", Op::Wait(c, Some(m)));
        run.take("A", Op::Unlock(m));
        assert_eq!((run.early(), run.held_at_end()), (vec![], vec![]));
    }

    #[test]
    fn a_lock_taken_from_a_thread_that_does_nothing_more_is_held_twice() {
        let mut run = Run::new();
        let (c, m) = (run.cond("c"), run.lock("m"));
        run.take("A", Op::Lock(m));
        run.take("B", Op::Lock(m));
        assert_eq!(run.held_at_end(), [("m", "A", "B")]);
        // The thread has waited.
        run.take("B", Op::Unlock(m));
        run.take("A", Op::Wait(c, None));
        assert_eq!(run.held_at_end(), []);
        // It holds the lock again, and another thread takes it again.
        run.take("A", Op::Notify(c));
        run.take("B", Op::Lock(m));
        assert_eq!(run.held_at_end(), [("m", "A", "B")]);
    }

    #[test]
    fn a_reader_takes_a_lock_away_as_well() {
        let mut run = Run::new();
        let m = run.lock("m");
        run.take("A", Op::ReadLock(m));
        run.take("B", Op::ReadLock(m));
        assert_eq!(run.held_at_end(), []);
        for reader in ["A", "B"] {
            run.take(reader, Op::ReadUnlock(m));
        }
        run.take("A", Op::Lock(m));
        run.take("A", Op::ReadLock(m));
        assert_eq!(run.held_at_end(), []);
        run.take("B", Op::ReadLock(m));
        assert_eq!(run.held_at_end(), [("m", "A", "B")]);
    }
}
