//! What matters of a feasible prefix for what can follow, and which events can.

use super::rules::{Demands, Rules};
use crate::automaton::StateIndex;

/// A prefix, up to what matters of it.
///
/// One slice of numbers, as there are many of them: the state of the property, the number of events
/// of each thread, and for each contended variable the last write plus one, or 0 for the initial
/// value and for a variable that nobody will read any more.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Prefix(Box<[u32]>);

impl Prefix {
    pub(super) fn empty(rules: &Rules, state: StateIndex) -> Prefix {
        let mut numbers = vec![0; Self::numbers(rules)];
        numbers[0] = state.0;
        Prefix(numbers.into())
    }

    /// How many numbers a prefix takes.
    pub(super) fn numbers(rules: &Rules) -> usize {
        1 + rules.threads.len() + rules.contended
    }

    pub(super) fn state(&self) -> StateIndex {
        StateIndex(self.0[0])
    }

    pub(super) fn set_state(&mut self, state: StateIndex) {
        self.0[0] = state.0;
    }

    fn cut(&self, rules: &Rules) -> &[u32] {
        &self.0[1..=rules.threads.len()]
    }

    fn writer(&mut self, rules: &Rules, contended: u32) -> &mut u32 {
        &mut self.0[1 + rules.threads.len() + contended as usize]
    }

    /// The last write of a variable that somebody will still read.
    fn last_write(&self, rules: &Rules, variable: u32) -> Option<u32> {
        match rules.variables[variable as usize].contended {
            Some(number) => self.0[1 + rules.threads.len() + number as usize].checked_sub(1),
            None => rules.sole_writer(variable, self.cut(rules)),
        }
    }

    /// Whether all events have happened.
    pub(super) fn is_whole(&self, rules: &Rules) -> bool {
        let counts = self.cut(rules).iter().zip(&rules.threads);
        counts
            .into_iter()
            .all(|(&count, events)| count as usize == events.len())
    }

    /// The events that can happen next.
    pub(super) fn enabled<'a>(&'a self, rules: &'a Rules) -> impl Iterator<Item = u32> + 'a {
        let next = self.cut(rules).iter().zip(&rules.threads);
        next.filter_map(|(&count, events)| events.get(count as usize).copied())
            .filter(|&event| self.is_enabled(rules, &rules.events[event as usize]))
    }

    fn is_enabled(&self, rules: &Rules, demands: &Demands) -> bool {
        let cut = self.cut(rules);
        let mut reads = demands.reads.iter();
        demands.after.iter().all(|place| place.is_in(cut))
            && reads.all(|&(variable, write)| self.last_write(rules, variable) == write)
            && self.can_take(rules, demands)
            && (demands.tries).is_none_or(|lock| rules.is_locked(lock, cut))
    }

    fn can_take(&self, rules: &Rules, demands: &Demands) -> bool {
        let mut takes = demands.takes.iter();
        takes.all(|&taken| !rules.is_held(taken, demands.thread, self.cut(rules)))
    }

    /// Whether an event takes nothing from anybody, and so could as well happen at once.
    pub(super) fn is_harmless(&self, rules: &Rules, event: u32) -> bool {
        let demands = &rules.events[event as usize];
        let mut writes = demands.writes.iter();
        let mut released = demands.releases.iter().chain(&demands.yields);
        demands.takes.is_empty()
            && released.all(|held| !rules.is_to_be_tried(held.lock, self.cut(rules)))
            && writes.all(|&variable| !rules.is_to_be_read(variable, self.cut(rules)))
    }

    /// An event happens; what it does to the property is not seen here.
    pub(super) fn happen(&mut self, rules: &Rules, event: u32) {
        let demands = &rules.events[event as usize];
        self.0[1 + demands.thread as usize] += 1;
        for &variable in &demands.writes {
            if let Some(number) = rules.variables[variable as usize].contended {
                *self.writer(rules, number) = event + 1;
            }
        }
        let touched = demands.writes.iter();
        for &variable in touched.chain(demands.reads.iter().map(|(variable, _)| variable)) {
            if let Some(number) = rules.variables[variable as usize].contended
                && !rules.is_to_be_read(variable, self.cut(rules))
            {
                *self.writer(rules, number) = 0;
            }
        }
    }
}
