//! How many choices of acquires a pattern stands for, by the places in the source where its locks are wanted.
//!
//! A pattern has a list of acquires for each of its threads, and a *choice* takes one of each. Choices with the same locations are one finding.
//! How many of them some run can get to is counted one by one, until that takes too long.

use portent_monitor_core::{Cut, LocId, Reorderings};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::record::{EventId, Record};

/// Of a pattern, this many tuples of locations are told apart,
const MOST_OF_PATTERN: usize = 64;
/// and this many of all patterns.
const MOST_TUPLES: usize = 20_000;
/// To count choices is not worth more than this many events of their cuts in all.
const MOST_COUNTED: u64 = 1 << 24;

/// The choices of one tuple of locations.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) key: String,
    /// A choice that a run comes to, or just the first one.
    pub(crate) events: Vec<EventId>,
    /// Where the run is that comes to it.
    pub(crate) cut: Option<Cut>,
    /// How many choices some run comes to.
    pub(crate) realised: u128,
    /// How many choices there are of which none is known to be one.
    pub(crate) possible: u128,
    /// Whether there may be more.
    pub(crate) at_least: bool,
}

impl Group {
    /// How many choices it stands for.
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
    by_key: FxHashMap<String, usize>,
    /// The patterns whose choices were counted: the same acquires may wait for each other in several ways.
    counted: FxHashSet<Vec<usize>>,
    /// Whether the choices of the current pattern are counted.
    counts: bool,
    /// How many tuples of locations there were.
    tuples: usize,
    /// Whether all tuples of locations were told apart.
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
    /// Another pattern: its choices are counted unless one of the same acquires was before.
    pub(crate) fn begin(&mut self, pattern: &[usize]) {
        let mut sorted = pattern.to_vec();
        sorted.sort_unstable();
        self.counts = self.counted.insert(sorted);
    }

    /// The lists of a pattern by tuples of locations. Where there are too many, some are not told apart.
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

    /// The group of a key; a choice that a run comes to stands for it before one that is only possible.
    pub(crate) fn group(&mut self, key: String, events: &[EventId], cut: Option<Cut>) -> usize {
        let fresh = self.groups.len();
        let number = *self.by_key.entry(key).or_insert_with_key(|key| {
            self.groups.push(Group {
                key: key.clone(),
                events: events.to_vec(),
                cut: None,
                realised: 0,
                possible: 0,
                at_least: false,
            });
            fresh
        });
        let group = &mut self.groups[number];
        if group.cut.is_none() && cut.is_some() {
            (group.events, group.cut) = (events.to_vec(), cut);
        }
        number
    }

    /// Adds the choices of these lists to a group, none of which is known to be a deadlock.
    pub(crate) fn add_possible(&mut self, group: usize, lists: &[Vec<EventId>]) {
        let group = &mut self.groups[group];
        if !self.counts {
            return;
        }
        group.possible = group.possible.saturating_add(product(lists));
        group.at_least |= group.possible == u128::MAX;
    }

    /// Adds one choice that a run comes to, where there is no other of its kind.
    pub(crate) fn add_realised(&mut self, group: usize) {
        self.groups[group].realised += u128::from(self.counts);
    }

    /// Adds those choices of these lists to a group that some run comes to; there is at least one.
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

/// How many choices there are.
pub(crate) fn product<L: AsRef<[EventId]>>(lists: &[L]) -> u128 {
    let sizes = lists.iter().map(|list| list.as_ref().len() as u128);
    sizes.fold(1, u128::saturating_mul)
}

/// The events of each list that are where the event of a choice is.
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
