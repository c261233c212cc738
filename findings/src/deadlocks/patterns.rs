//! Cycles of lock orders, the shortest first.
//!
//! The threads and the locks of a cycle are distinct, each thread waits for what the next holds, and the sets held are
//! compatible. There may be exponentially many cycles, so the search limits both its results and its steps. Only locks that are
//! in a cycle of the order "held when that was taken" can be part of one: the others are left out first.

use portent_monitor_core::{Id, LockId};

use super::AbstractAcquire;
use crate::report::PatternLimit;

/// The limits of the search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) patterns: usize,
    pub(crate) steps: u64,
}

/// The result.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// The cycles, each as indices of acquires in the order in which they wait.
    pub(crate) patterns: Vec<Vec<usize>>,
    /// Why these are not all, if so.
    pub(crate) limit: Option<PatternLimit>,
}

/// The cycles, the shortest first.
pub(crate) fn find(acquires: &[&AbstractAcquire], limits: Limits) -> Found {
    let kept = in_cycles(acquires);
    let mut holders: Vec<Vec<usize>> = Vec::new();
    for &(index, _) in &kept {
        for (lock, _) in &acquires[index].held {
            lock.entry(&mut holders).push(index);
        }
    }
    let mut threads: Vec<_> = kept
        .iter()
        .map(|&(index, _)| acquires[index].thread)
        .collect();
    threads.sort_unstable();
    threads.dedup();
    let mut search = Search {
        acquires,
        holders,
        limits,
        path: Vec::new(),
        found: Vec::new(),
        limit: None,
    };
    for length in 2..=threads.len() {
        // The locks of a cycle are distinct, so it is no longer than the number of locks.
        for &(root, _) in kept.iter().filter(|(_, longest)| length <= *longest) {
            search.path.push(root);
            search.extend(length);
            search.path.clear();
        }
        if search.limit.is_some() {
            break;
        }
    }
    Found {
        patterns: search.found,
        limit: search.limit,
    }
}

struct Search<'w> {
    acquires: &'w [&'w AbstractAcquire],
    /// The acquires that hold each lock.
    holders: Vec<Vec<usize>>,
    limits: Limits,
    path: Vec<usize>,
    found: Vec<Vec<usize>>,
    limit: Option<PatternLimit>,
}

impl Search<'_> {
    /// Extends the path to cycles of this length whose first element has the least index.
    fn extend(&mut self, length: usize) {
        let (Some(&root), Some(&last)) = (self.path.first(), self.path.last()) else {
            return;
        };
        let acquire = self.acquires[last];
        if self.path.len() == length {
            if acquire.waits_for(self.acquires[root]) {
                if self.found.len() == self.limits.patterns {
                    self.limit = Some(PatternLimit::Patterns);
                    return;
                }
                self.found.push(self.path.clone());
            }
            return;
        }
        let holders = self.holders.get(acquire.lock.index()).map_or(0, Vec::len);
        for number in 0..holders {
            if self.limit.is_some() {
                return;
            }
            let next = self.holders[acquire.lock.index()][number];
            match self.limits.steps.checked_sub(1) {
                Some(steps) => self.limits.steps = steps,
                None => {
                    self.limit = Some(PatternLimit::Steps);
                    return;
                }
            }
            if next > root && self.can_join(next, acquire) {
                self.path.push(next);
                self.extend(length);
                self.path.pop();
            }
        }
    }

    fn can_join(&self, next: usize, before: &AbstractAcquire) -> bool {
        let acquire = self.acquires[next];
        before.waits_for(acquire)
            && self.path.iter().all(|&other| {
                let other = self.acquires[other];
                other.thread != acquire.thread
                    && other.lock != acquire.lock
                    && other.is_compatible(acquire)
            })
    }
}

/// The acquires with a held lock that is in a cycle of locks with the wanted one, each with the number of locks that are in a
/// cycle with it.
fn in_cycles(acquires: &[&AbstractAcquire]) -> Vec<(usize, usize)> {
    let mut after: Vec<Vec<usize>> = Vec::new();
    for acquire in acquires {
        for &(held, _) in &acquire.held {
            held.entry(&mut after).push(acquire.lock.index());
            LockId::entry(acquire.lock, &mut after);
        }
    }
    for next in &mut after {
        next.sort_unstable();
        next.dedup();
    }
    let components = crate::graph::components(after.len(), |lock| &after[lock]);
    let mut sizes = vec![0; after.len()];
    for &component in &components {
        sizes[component as usize] += 1;
    }
    let of = |lock: LockId| components[lock.index()] as usize;
    (0..acquires.len())
        .filter(|&index| {
            let acquire = acquires[index];
            acquire
                .held
                .iter()
                .any(|&(held, _)| of(held) == of(acquire.lock))
        })
        .map(|index| (index, sizes[of(acquires[index].lock)]))
        .collect()
}

#[cfg(test)]
mod tests {
    use portent_monitor_core::ThreadId;

    use super::{super::LockSide, *};

    /// Every thread takes every pair of locks: very many cycles.
    fn acquires(count: u32) -> Vec<AbstractAcquire> {
        let mut acquires = Vec::new();
        for thread in 0..count {
            for held in 0..count {
                for lock in (0..count).filter(|&lock| lock != held) {
                    acquires.push(AbstractAcquire {
                        thread: ThreadId::from(thread),
                        lock: LockId::from(lock),
                        side: LockSide::Exclusive,
                        held: [(LockId::from(held), true)].into_iter().collect(),
                    });
                }
            }
        }
        acquires
    }

    fn search(patterns: usize, steps: u64) -> Found {
        let acquires = acquires(5);
        let all: Vec<&AbstractAcquire> = acquires.iter().collect();
        find(&all, Limits { patterns, steps })
    }

    #[test]
    fn whichever_limit_is_met_the_shortest_are_there_and_the_limit_is_told() {
        let all = search(usize::MAX, u64::MAX);
        assert_eq!(all.limit, None);
        // In a cycle of n of five threads, each of n of five locks is held by one of them: 5 over n, squared, times n! and (n-1)!.
        let lengths = |found: &Found| {
            let lengths = found.patterns.iter().map(Vec::len);
            lengths.collect::<Vec<_>>()
        };
        let of_length = |length| {
            lengths(&all)
                .iter()
                .filter(|&&other| other == length)
                .count()
        };
        assert_eq!([2, 3, 4, 5].map(of_length), [200, 1200, 3600, 2880]);
        assert!(lengths(&all).is_sorted());
        for (patterns, steps, limit) in [
            (201, u64::MAX, PatternLimit::Patterns),
            (usize::MAX, 20_000, PatternLimit::Steps),
        ] {
            let cut = search(patterns, steps);
            assert_eq!(cut.limit, Some(limit));
            assert!(cut.patterns.len() > 200, "{}", cut.patterns.len());
            assert_eq!(cut.patterns[..], all.patterns[..cut.patterns.len()]);
        }
        // A limit equal to their number does not cut anything off.
        assert_eq!(search(all.patterns.len(), u64::MAX).limit, None);
    }
}
