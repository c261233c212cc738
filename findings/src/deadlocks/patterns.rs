//! Cycles of lock orders, the shortest first.
//!
//! The threads and the locks of a cycle are distinct, each waits for what the next holds, and what they hold can be held at once. There may be
//! exponentially many, so the search has limits on what it finds and on its steps. Only locks that are in a cycle of the order "held when
//! that was taken" can be part of one: the others are left out first.

use portent_monitor_core::{Id, LockId};

use super::Wish;

/// How much is looked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) patterns: usize,
    pub(crate) steps: u64,
}

/// The cycles, each as indices of wishes in the order in which they wait; and whether these are all.
pub(crate) fn find(wishes: &[&Wish], limits: Limits) -> (Vec<Vec<usize>>, bool) {
    let kept = in_cycles(wishes);
    let mut holders: Vec<Vec<usize>> = Vec::new();
    for &(index, _) in &kept {
        for (lock, _) in &wishes[index].held {
            lock.entry(&mut holders).push(index);
        }
    }
    let mut threads: Vec<_> = kept
        .iter()
        .map(|&(index, _)| wishes[index].thread)
        .collect();
    threads.sort_unstable();
    threads.dedup();
    let mut search = Search {
        wishes,
        holders,
        limits,
        path: Vec::new(),
        found: Vec::new(),
        is_cut: false,
    };
    for length in 2..=threads.len() {
        // The locks of a cycle are distinct, so it is no longer than there are locks to go round.
        for &(root, _) in kept.iter().filter(|(_, longest)| length <= *longest) {
            search.path.push(root);
            search.extend(length);
            search.path.clear();
        }
        if search.is_cut {
            break;
        }
    }
    (search.found, !search.is_cut)
}

struct Search<'w> {
    wishes: &'w [&'w Wish],
    /// Who holds each lock.
    holders: Vec<Vec<usize>>,
    limits: Limits,
    path: Vec<usize>,
    found: Vec<Vec<usize>>,
    is_cut: bool,
}

impl Search<'_> {
    /// Goes on from the last of the path to cycles of this length, whose first has the least index.
    fn extend(&mut self, length: usize) {
        let (Some(&root), Some(&last)) = (self.path.first(), self.path.last()) else {
            return;
        };
        let wish = self.wishes[last];
        if self.path.len() == length {
            if wish.waits_for(self.wishes[root]) {
                if self.found.len() == self.limits.patterns {
                    self.is_cut = true;
                    return;
                }
                self.found.push(self.path.clone());
            }
            return;
        }
        let holders = self.holders.get(wish.lock.index()).map_or(0, Vec::len);
        for number in 0..holders {
            if self.is_cut {
                return;
            }
            let next = self.holders[wish.lock.index()][number];
            match self.limits.steps.checked_sub(1) {
                Some(steps) => self.limits.steps = steps,
                None => {
                    self.is_cut = true;
                    return;
                }
            }
            if next > root && self.can_join(next, wish) {
                self.path.push(next);
                self.extend(length);
                self.path.pop();
            }
        }
    }

    fn can_join(&self, next: usize, before: &Wish) -> bool {
        let wish = self.wishes[next];
        before.waits_for(wish)
            && self.path.iter().all(|&other| {
                let other = self.wishes[other];
                other.thread != wish.thread && other.lock != wish.lock && other.is_compatible(wish)
            })
    }
}

/// The wishes one of whose held locks is in a cycle of locks with the one that is wanted, each with the number of locks that are in a
/// cycle with it.
fn in_cycles(wishes: &[&Wish]) -> Vec<(usize, usize)> {
    let mut after: Vec<Vec<usize>> = Vec::new();
    for wish in wishes {
        for &(held, _) in &wish.held {
            held.entry(&mut after).push(wish.lock.index());
            LockId::entry(wish.lock, &mut after);
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
    (0..wishes.len())
        .filter(|&index| {
            let wish = wishes[index];
            wish.held.iter().any(|&(held, _)| of(held) == of(wish.lock))
        })
        .map(|index| (index, sizes[of(wishes[index].lock)]))
        .collect()
}
