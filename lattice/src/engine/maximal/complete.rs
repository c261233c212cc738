//! Extends a violated prefix to a whole run, if possible; what comes after the violation is irrelevant to the property.

use rustc_hash::FxHashSet;

use super::{
    ahead::Ahead,
    rules::Rules,
    state::{Prefix, PrefixKey, PrefixPacking},
    stubborn::Stubborn,
};
use crate::automaton::StateIndex;

/// At most this many prefixes are tried.
const TRIED: usize = 2_000;

/// All events, beginning with these; `None` if there is no such run, or if it is not easy to find.
pub(super) fn complete(rules: &Rules, order: &[usize]) -> Option<Vec<usize>> {
    let mut prefix = Prefix::empty(rules, StateIndex(0));
    for &event in order {
        prefix.happen(rules, event as u32);
    }
    in_observed_order(rules, prefix.clone(), order.to_vec())
        .or_else(|| Completion::new(rules).run(prefix, order.to_vec()))
}

/// Continues with the events that can happen, in observed order.
fn in_observed_order(
    rules: &Rules,
    mut prefix: Prefix,
    mut order: Vec<usize>,
) -> Option<Vec<usize>> {
    while let Some(event) = prefix.enabled(rules).min() {
        prefix.happen(rules, event);
        order.push(event as usize);
    }
    (order.len() == rules.len()).then_some(order)
}

/// Tries one continuation after the other.
struct Completion<'a> {
    rules: &'a Rules,
    stubborn: Stubborn<'a>,
    ahead: Ahead,
    packing: PrefixPacking,
    tried: FxHashSet<PrefixKey>,
}

impl<'a> Completion<'a> {
    fn new(rules: &'a Rules) -> Completion<'a> {
        Completion {
            rules,
            stubborn: Stubborn::new(rules, &[]),
            ahead: Ahead::new(rules),
            packing: PrefixPacking::new(rules),
            tried: FxHashSet::default(),
        }
    }

    fn run(&mut self, prefix: Prefix, mut order: Vec<usize>) -> Option<Vec<usize>> {
        let start = order.len();
        // Prefixes still to try: the length of the order, and the next event.
        let mut waiting: Vec<(usize, Option<u32>, Prefix)> = vec![(start, None, prefix)];
        while let Some((length, event, mut prefix)) = waiting.pop() {
            order.truncate(length);
            if let Some(event) = event {
                prefix.happen(self.rules, event);
                order.push(event as usize);
            }
            if order.len() == self.rules.len() {
                return Some(order);
            }
            if self.tried.len() >= TRIED || !self.tried.insert(self.packing.pack(&prefix)) {
                continue;
            }
            self.ahead.look(self.rules, &prefix);
            if !self.ahead.is_whole() {
                continue;
            }
            let mut events = self
                .stubborn
                .choose(&prefix, &self.ahead, None, &[], true)
                .to_vec();
            // The first in observed order is tried first.
            events.sort_unstable_by(|a, b| b.cmp(a));
            waiting.extend(
                events
                    .into_iter()
                    .map(|event| (order.len(), Some(event), prefix.clone())),
            );
        }
        None
    }
}
