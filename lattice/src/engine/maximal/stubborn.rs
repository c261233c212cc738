//! Which threads must be advanced: a *stubborn set* at every prefix, so that the others may be left alone.
//!
//! A set of threads suffices if
//! - every way to a violation has an event of one of them (all actions that a [landmark](super::goal_analysis) asks for lie
//!   ahead of these threads), and
//! - whatever the others do in the meantime, the next event of a member could as well have happened first: nothing in the future of
//!   the others disturbs it, and if it cannot happen yet, a thread that must act before it is a member too.
//!
//! Then a way to a violation can be rearranged so that it begins with a member: it has the same events and the same
//! length, and can still be completed if it could be before. So the reduction preserves violations, how soon they come, and
//! whether they are part of a whole run.
//!
//! These disturb each other: sections of one lock, unless both are shared; a write and the reads of others that see another
//! write; a write that is read and other writes; a release and a failed try; a send and a failed receive; and steps whose order
//! matters to the property.

use super::{
    ahead::Ahead, channel::Traffic, goal_analysis::GoalAnalysis, rules::Rules, state::Prefix,
};
use crate::automaton::ActionId;

/// If any thread may be the first member, this many are tried.
const MAX_SEEDS: usize = 16;

/// Data about the remaining events that is the same for every prefix.
pub(super) struct Stubborn<'a> {
    rules: &'a Rules,
    /// The effect of each event on the property; empty if there are no effects.
    actions: &'a [Option<ActionId>],
    /// The positions of each thread's steps, and the actions from each of them on, as bits.
    steps: Vec<Vec<(u32, u64)>>,
    best: Members,
    grown: Members,
    met: Vec<(u32, u32)>,
}

/// A set of threads.
#[derive(Clone, Debug, Default)]
struct Members {
    is_in: Vec<bool>,
    all: Vec<u32>,
    /// The next events of members that can happen.
    enabled: Vec<u32>,
}

impl Members {
    fn clear(&mut self) {
        for &thread in &self.all {
            self.is_in[thread as usize] = false;
        }
        self.all.clear();
        self.enabled.clear();
    }

    fn add(&mut self, thread: u32) {
        if !self.is_in[thread as usize] {
            self.is_in[thread as usize] = true;
            self.all.push(thread);
        }
    }
}

/// An action as a bit; an action too large for a bit sets all of them.
fn bit(action: ActionId) -> u64 {
    1u64.checked_shl(action.0).unwrap_or(u64::MAX)
}

impl<'a> Stubborn<'a> {
    pub(super) fn new(rules: &'a Rules, actions: &'a [Option<ActionId>]) -> Stubborn<'a> {
        let steps = rules.threads.iter().map(|events| {
            let mut rest = 0;
            let mut steps: Vec<(u32, u64)> = { events.iter().rev() }
                .filter_map(|&event| {
                    rest |= bit(actions.get(event as usize).copied().flatten()?);
                    Some((rules.events[event as usize].position, rest))
                })
                .collect();
            steps.reverse();
            steps
        });
        let nobody = Members {
            is_in: vec![false; rules.threads.len()],
            ..Members::default()
        };
        Stubborn {
            rules,
            actions,
            steps: steps.collect(),
            best: nobody.clone(),
            grown: nobody,
            met: Vec::new(),
        }
    }

    /// The actions still to come, as bits.
    pub(super) fn to_come(&self, prefix: &Prefix, ahead: &Ahead) -> u64 {
        let mut all = 0;
        for (thread, steps) in self.steps.iter().enumerate() {
            let limit = ahead.limits[thread];
            let from = steps.partition_point(|&(position, _)| position <= prefix.cut()[thread]);
            match steps.last() {
                Some(&(last, _)) if last <= limit => {
                    all |= steps.get(from).map_or(0, |&(_, rest)| rest);
                }
                _ => {
                    for &(position, _) in &steps[from..] {
                        if position > limit {
                            break;
                        }
                        all |= self.bit_at(thread, position);
                    }
                }
            }
        }
        all
    }

    fn action(&self, event: u32) -> Option<ActionId> {
        self.actions.get(event as usize).copied().flatten()
    }

    fn bit_at(&self, thread: usize, position: u32) -> u64 {
        let event = self.rules.threads[thread][position as usize - 1];
        self.action(event).map_or(0, bit)
    }

    /// The first step of a thread after a prefix that performs one of these actions.
    fn first_step(&self, prefix: &Prefix, limit: u32, thread: usize, actions: u64) -> Option<u32> {
        let steps = &self.steps[thread];
        let from = steps.partition_point(|&(position, _)| position <= prefix.cut()[thread]);
        steps[from..]
            .iter()
            .take_while(|&&(position, rest)| position <= limit && rest & actions != 0)
            .map(|&(position, _)| position)
            .find(|&position| self.bit_at(thread, position) & actions != 0)
    }

    /// Calls `disturb` for each other thread with the position of its first event that disturbs a given event by coming
    /// before it; stops and returns true if a call returns true.
    fn disturbers(
        &self,
        prefix: &Prefix,
        ahead: &Ahead,
        clashes: Option<u64>,
        event: u32,
        mut disturb: impl FnMut(u32, u32) -> bool,
    ) -> bool {
        let rules = self.rules;
        let demands = &rules.events[event as usize];
        let (thread, cut) = (demands.thread, prefix.cut());
        let mut meet = |other: u32, position: Option<&u32>| match position {
            Some(&position) if other != thread && position <= ahead.limits[other as usize] => {
                disturb(other, position)
            }
            _ => false,
        };
        let later = |uses: &[u32], other: u32| {
            uses.partition_point(|&position| position <= cut[other as usize])
        };
        for taken in &demands.takes {
            if rules.is_owner(taken.lock, thread, cut) {
                continue;
            }
            let lock = &rules.locks[taken.lock as usize];
            for (other, sections) in lock.against(taken.exclusive) {
                let count = cut[*other as usize];
                let next = sections.partition_point(|section| section.from <= count);
                if meet(*other, sections.get(next).map(|section| &section.from)) {
                    return true;
                }
            }
        }
        for freed in demands.freed() {
            for (other, tries) in &rules.locks[freed.lock as usize].tries.of_threads {
                if meet(*other, tries.get(later(tries, *other))) {
                    return true;
                }
            }
        }
        // A receive disturbs no other event: as long as it can happen the channel is not empty, whatever the others do.
        if let Some(Traffic::Send(channel)) = demands.traffic {
            for (other, tries) in &rules.channels[channel as usize].tries.of_threads {
                if meet(*other, tries.get(later(tries, *other))) {
                    return true;
                }
            }
        }
        for write in &demands.writes {
            let variable = &rules.variables[write.variable as usize];
            for (other, reads) in &variable.readers.of_threads {
                let count = cut[*other as usize];
                let next = reads.partition_point(|&(position, _)| position <= count);
                let mut sees_another = reads[next..].iter().filter(|read| read.1 != write.number);
                if meet(*other, sees_another.next().map(|(position, _)| position)) {
                    return true;
                }
            }
            if write.is_read {
                for (other, writes) in &variable.writers.of_threads {
                    if meet(*other, writes.get(later(writes, *other))) {
                        return true;
                    }
                }
            }
        }
        if let Some(clashes) = clashes.filter(|&clashes| clashes != 0) {
            for other in 0..self.steps.len() {
                let limit = ahead.limits[other];
                let first = self.first_step(prefix, limit, other, clashes);
                if meet(other as u32, first.as_ref()) {
                    return true;
                }
            }
        }
        false
    }

    /// Whether an event that is not a step can happen and restricts no other thread. Any continuation could as well have begun
    /// with it.
    pub(super) fn is_harmless(&self, prefix: &Prefix, ahead: &Ahead, event: u32) -> bool {
        self.action(event).is_none()
            && prefix.is_enabled(self.rules, event)
            && !self.disturbers(prefix, ahead, None, event, |_, _| true)
    }

    /// The events that must be tried after a prefix. `landmarks` are sets of actions, each of which meets every way to a
    /// violation; if `to_the_end`, whole runs are searched for too.
    pub(super) fn choose(
        &mut self,
        prefix: &Prefix,
        ahead: &Ahead,
        goal_analysis: Option<&GoalAnalysis<'_>>,
        landmarks: &[u64],
        to_the_end: bool,
    ) -> &[u32] {
        let threads = self.rules.threads.len();
        let mut found = false;
        for &landmark in landmarks {
            self.grown.clear();
            for thread in 0..threads {
                let limit = ahead.limits[thread];
                if let Some(position) = self.first_step(prefix, limit, thread, landmark)
                    && !self.is_late(prefix, thread as u32, position)
                {
                    self.grown.add(thread as u32);
                }
            }
            found |= self.try_grown(prefix, ahead, goal_analysis, found);
            if found && self.best.enabled.len() <= 1 {
                break;
            }
        }
        if !found && to_the_end {
            // Every event is on the way to the end.
            let waiting = (0..threads).filter(|&thread| prefix.next(self.rules, thread).is_some());
            for thread in waiting.take(MAX_SEEDS) {
                self.grown.clear();
                self.grown.add(thread as u32);
                found |= self.try_grown(prefix, ahead, goal_analysis, found);
                if self.best.enabled.len() <= 1 {
                    break;
                }
            }
        }
        if !found {
            self.best.clear();
        }
        &self.best.enabled
    }

    /// Grows a set from its first member, and keeps it if it is the best; returns whether a set was found.
    fn try_grown(
        &mut self,
        prefix: &Prefix,
        ahead: &Ahead,
        goal_analysis: Option<&GoalAnalysis<'_>>,
        has_best: bool,
    ) -> bool {
        if self.grown.all.is_empty() {
            return false;
        }
        self.grow(prefix, ahead, goal_analysis);
        if !has_best || self.grown.enabled.len() < self.best.enabled.len() {
            std::mem::swap(&mut self.grown, &mut self.best);
        }
        true
    }

    fn grow(&mut self, prefix: &Prefix, ahead: &Ahead, goal_analysis: Option<&GoalAnalysis<'_>>) {
        let mut met = std::mem::take(&mut self.met);
        let mut looked_at = 0;
        while let Some(&thread) = self.grown.all.get(looked_at) {
            looked_at += 1;
            let place = thread as usize;
            if prefix.cut()[place] >= ahead.limits[place] {
                continue;
            }
            let Some(event) = prefix.next(self.rules, place) else {
                continue;
            };
            if !prefix.is_enabled(self.rules, event) {
                self.add_enablers(prefix, ahead, event);
                continue;
            }
            self.grown.enabled.push(event);
            if self.grown.all.len() == self.rules.threads.len() {
                continue;
            }
            let clashes = self.action(event).map(|action| {
                goal_analysis.map_or(u64::MAX, |goal_analysis| {
                    goal_analysis.clashes(prefix.state, action)
                })
            });
            met.clear();
            self.disturbers(prefix, ahead, clashes, event, |other, position| {
                met.push((other, position));
                false
            });
            for &(other, position) in &met {
                if !self.grown.is_in[other as usize] && !self.is_late(prefix, other, position) {
                    self.grown.add(other);
                }
            }
        }
        self.met = met;
    }

    /// Whether an event needs an event of a member that has not happened: then the member acts before it.
    fn is_late(&self, prefix: &Prefix, thread: u32, position: u32) -> bool {
        let Some(needs) = &self.rules.prerequisites else {
            return false;
        };
        let event = self.rules.threads[thread as usize][position as usize - 1];
        let needed = needs.of(event);
        let mut members = self.grown.all.iter().map(|&member| member as usize);
        members.any(|member| needed[member] > prefix.cut()[member])
    }

    /// Adds a thread that must act before an event that cannot happen yet.
    fn add_enablers(&mut self, prefix: &Prefix, ahead: &Ahead, event: u32) {
        let (rules, cut) = (self.rules, prefix.cut());
        let demands = &rules.events[event as usize];
        let writes = demands.reads.iter().filter_map(|read| read.place);
        let holders = demands.takes.iter();
        let holders = holders.filter_map(|&taken| rules.holder(taken, demands.thread, cut));
        let awaited = demands.after.iter().copied().chain(writes);
        let mut missing = awaited.filter(|place| !place.is_in(cut)).chain(holders);
        if let Some(first) = missing.next() {
            let is_in = &self.grown.is_in;
            let mut all = std::iter::once(first).chain(missing);
            if !all.any(|place| is_in[place.thread as usize]) {
                self.grown.add(first.thread);
            }
        } else if let Some(lock) = demands.tries.filter(|&lock| !rules.is_locked(lock, cut)) {
            for (other, sections) in rules.locks[lock as usize].against(true) {
                let count = cut[*other as usize];
                let next = sections.partition_point(|section| section.from <= count);
                let limit = ahead.limits[*other as usize];
                if sections
                    .get(next)
                    .is_some_and(|section| section.from <= limit)
                {
                    self.grown.add(*other);
                }
            }
        } else if let Some(channel) = demands.finds_empty() {
            for (other, receives) in &rules.channels[channel as usize].receives.of_threads {
                let count = cut[*other as usize];
                let next = receives.partition_point(|&position| position <= count);
                let limit = ahead.limits[*other as usize];
                if receives
                    .get(next)
                    .is_some_and(|&position| position <= limit)
                {
                    self.grown.add(*other);
                }
            }
        }
        // Otherwise it would read an overwritten value, and never happens.
    }
}
