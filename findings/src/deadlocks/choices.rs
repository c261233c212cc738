//! How many choices of acquires a pattern represents, by the source locations where its locks are wanted.
//!
//! A pattern has a list of acquires for each of its threads, and a *choice* takes one of each. Choices with the same locations are one finding.
//! The choices that some run can reach are counted one by one, until that takes too long.

use portent_monitor_core::{Cut, LocId, LockId, Reorderings};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::record::{EventId, Record};

/// For each pattern, at most this many tuples of locations are distinguished,
const MOST_OF_PATTERN: usize = 64;
/// and this many for all patterns.
const MOST_TUPLES: usize = 20_000;
/// Counting choices may visit at most this many events of their cuts in all.
const MOST_COUNTED: u64 = 1 << 24;

/// The choices of one tuple of locations.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) key: String,
    /// Whether they are not to be reported.
    pub(crate) is_suppressed: bool,
    /// A choice that a run reaches, or just the first one.
    pub(crate) events: Vec<EventId>,
    /// The cut of the run that reaches it.
    pub(crate) cut: Option<Cut>,
    /// The locks that are wanted in the choices it stands for: other locks may be taken in the same locations.
    pub(crate) locks: Vec<LockId>,
    /// The same, to find them.
    named: FxHashSet<LockId>,
    /// The number of choices that some run reaches.
    pub(crate) realised: u128,
    /// The number of choices, none of which is known to be reachable.
    pub(crate) possible: u128,
    /// Whether there may be more.
    pub(crate) at_least: bool,
}

impl Group {
    /// The number of choices that it represents.
    pub(crate) fn choices(&self) -> u128 {
        if self.cut.is_some() {
            self.realised
        } else {
            self.possible
        }
    }
}

/// The choices of all patterns.
#[derive(Debug)]
pub(crate) struct Choices {
    pub(crate) groups: Vec<Group>,
    by_key: FxHashMap<(String, bool), usize>,
    /// The patterns whose choices were counted: the same acquires may wait for each other in several ways.
    counted: FxHashSet<Vec<usize>>,
    /// Whether the choices of the current pattern are counted.
    counts: bool,
    /// The number of tuples of locations.
    tuples: usize,
    /// Whether all tuples of locations were distinguished.
    pub(crate) is_split: bool,
    budget: u64,
}

impl Default for Choices {
    fn default() -> Choices {
        Choices {
            groups: Vec::new(),
            by_key: FxHashMap::default(),
            counted: FxHashSet::default(),
            counts: true,
            tuples: 0,
            is_split: true,
            budget: MOST_COUNTED,
        }
    }
}

impl Choices {
    /// Begins another pattern: its choices are counted unless there was one with the same acquires before.
    pub(crate) fn begin(&mut self, pattern: &[usize]) {
        let mut sorted = pattern.to_vec();
        sorted.sort_unstable();
        self.counts = self.counted.insert(sorted);
    }

    /// The lists of a pattern by tuples of locations. If there are too many, some are merged.
    pub(crate) fn split(
        &mut self,
        lists: &[&[EventId]],
        record: &Record,
    ) -> Vec<Vec<Vec<EventId>>> {
        let most = MOST_OF_PATTERN.min(MOST_TUPLES.saturating_sub(self.tuples));
        let mut tuples: Vec<Vec<Vec<EventId>>> = vec![Vec::new()];
        for list in lists {
            let mut by_loc = by_location(list, record);
            if by_loc.len() > 1 && tuples.len() * by_loc.len() > most {
                by_loc = vec![list.to_vec()];
                self.is_split = false;
            }
            let longer = |tuple: &Vec<Vec<EventId>>| {
                let longer = by_loc.iter().map(|ids| {
                    let mut tuple = tuple.clone();
                    tuple.push(ids.clone());
                    tuple
                });
                longer.collect::<Vec<_>>()
            };
            tuples = tuples.iter().flat_map(longer).collect();
        }
        self.tuples += tuples.len();
        tuples
    }

    /// The group of a key; a choice that a run reaches represents it in preference to one that is only possible.
    pub(crate) fn group(
        &mut self,
        key: (String, bool),
        events: &[EventId],
        cut: Option<Cut>,
        record: &Record,
    ) -> usize {
        let fresh = self.groups.len();
        let number = *self.by_key.entry(key).or_insert_with_key(|key| {
            self.groups.push(Group {
                key: key.0.clone(),
                is_suppressed: key.1,
                events: events.to_vec(),
                cut: None,
                locks: Vec::new(),
                named: FxHashSet::default(),
                realised: 0,
                possible: 0,
                at_least: false,
            });
            fresh
        });
        let group = &mut self.groups[number];
        let is_realised = cut.is_some();
        if group.cut.is_none() && is_realised {
            (group.events, group.cut) = (events.to_vec(), cut);
            group.locks.clear();
            group.named.clear();
        }
        if group.cut.is_some() == is_realised {
            let wanted = events.iter().filter_map(|&id| record.wanted(id));
            let (locks, named) = (&mut group.locks, &mut group.named);
            locks.extend(wanted.filter(|&lock| named.insert(lock)));
        }
        number
    }

    /// Adds to a group the choices of these lists, none of which is known to be a deadlock.
    pub(crate) fn add_possible(&mut self, group: usize, lists: &[Vec<EventId>]) {
        let group = &mut self.groups[group];
        if !self.counts {
            return;
        }
        group.possible = group.possible.saturating_add(product(lists));
        group.at_least |= group.possible == u128::MAX;
    }

    /// Adds one choice that a run reaches, which is the only one of its kind.
    pub(crate) fn add_realised(&mut self, group: usize) {
        self.groups[group].realised += u128::from(self.counts);
    }

    /// Adds to a group those choices of these lists that some run reaches; there is at least one.
    pub(crate) fn count_realised(
        &mut self,
        group: usize,
        lists: &[Vec<EventId>],
        trace: &Reorderings,
        record: &Record,
    ) {
        let group = &mut self.groups[group];
        if !self.counts {
            return;
        }
        let mut indices = vec![0; lists.len()];
        let mut realised: u128 = 0;
        loop {
            let chosen = || indices.iter().zip(lists).map(|(&index, list)| list[index]);
            let mut cut = Cut::default();
            chosen().for_each(|id| trace.join_past(record.place(id), &mut cut));
            trace.close(&mut cut);
            realised += u128::from(!chosen().any(|id| cut.contains(record.place(id))));
            if !advance(&mut indices, lists) {
                break;
            }
            let size = 1 + cut
                .counts()
                .iter()
                .map(|&count| u64::from(count))
                .sum::<u64>();
            self.budget = self.budget.saturating_sub(size);
            if self.budget == 0 {
                group.at_least = true;
                break;
            }
        }
        // One of them is known, whatever was counted.
        group.realised += realised.max(1);
    }
}

/// The next choice, if there is one.
fn advance(indices: &mut [usize], lists: &[Vec<EventId>]) -> bool {
    for (index, list) in indices.iter_mut().zip(lists) {
        *index += 1;
        if *index < list.len() {
            return true;
        }
        *index = 0;
    }
    false
}

/// The number of choices.
pub(crate) fn product<L: AsRef<[EventId]>>(lists: &[L]) -> u128 {
    let sizes = lists.iter().map(|list| list.as_ref().len() as u128);
    sizes.fold(1, u128::saturating_mul)
}

/// The events of each list with the same location as the event of a choice.
pub(crate) fn beside(
    events: &[EventId],
    lists: &[Vec<EventId>],
    record: &Record,
) -> Vec<Vec<EventId>> {
    let lists = events.iter().zip(lists).map(|(&event, list)| {
        let is_there = |id: &EventId| record.loc(*id) == record.loc(event);
        list.iter().copied().filter(is_there).collect()
    });
    lists.collect()
}

fn by_location(list: &[EventId], record: &Record) -> Vec<Vec<EventId>> {
    let mut numbers: FxHashMap<Option<LocId>, usize> = FxHashMap::default();
    let mut by_loc: Vec<Vec<EventId>> = Vec::new();
    for &id in list {
        let number = *numbers.entry(record.loc(id)).or_insert(by_loc.len());
        if number == by_loc.len() {
            by_loc.push(Vec::new());
        }
        by_loc[number].push(id);
    }
    by_loc
}
