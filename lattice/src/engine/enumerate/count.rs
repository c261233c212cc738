//! Counting runs: at each cut, the number of ways that lead there in each state.
//!
//! Counts grow like factorials, but the lengths of the chains bound the number of runs, so numbers of sufficient width are
//! chosen from the start.

use std::marker::PhantomData;

use num_bigint::BigUint;
use portent_monitor_dsl::Verdict;
use smallvec::SmallVec;

use super::{
    frontier::NodeRules,
    key::{Key, PackedCut},
    labelled::LabelledPoset,
    number::Number,
};
use crate::{
    automaton::{StateIndex, TransitionSystem, spilled},
    goal::Goal,
    order::EventIndex,
};

/// The numbers of runs, by the verdict at the end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunCounts {
    /// All runs.
    pub total: BigUint,
    /// The violated runs.
    pub violated: BigUint,
    /// The permanently satisfied runs.
    pub satisfied: BigUint,
    /// The runs that would be false if they ended here.
    pub pending: BigUint,
    /// The runs that would be true if they ended here.
    pub ok: BigUint,
    /// The undecided runs for which the monitor gives no tendency.
    pub unknown: BigUint,
}

impl RunCounts {
    /// The same counts, with the runs that a goal looks for counted as violated.
    pub(crate) fn for_goal(mut self, goal: Goal) -> RunCounts {
        if goal.complete {
            self.violated += std::mem::take(&mut self.pending);
        }
        self
    }
}

/// Each state with the number of ways to it, in the order of states.
type Ways<C> = SmallVec<[(StateIndex, C); 1]>;

/// Counts with numbers of one kind.
pub(crate) struct RunCounter<'a, C> {
    labelled: LabelledPoset<'a>,
    machine: &'a dyn TransitionSystem<State = StateIndex>,
    number: PhantomData<C>,
}

impl<'a, C: Number> RunCounter<'a, C> {
    pub(crate) fn new(
        labelled: LabelledPoset<'a>,
        machine: &'a dyn TransitionSystem<State = StateIndex>,
    ) -> Self {
        RunCounter {
            labelled,
            machine,
            number: PhantomData,
        }
    }

    /// The one way to the empty cut.
    pub(crate) fn one(&self) -> Ways<C> {
        SmallVec::from_iter([(self.machine.initial(), C::one())])
    }

    pub(crate) fn by_verdict(&self, ways: Ways<C>) -> RunCounts {
        let mut counts = RunCounts::default();
        for (state, count) in ways {
            let count = count.into_big();
            counts.total += &count;
            match self.machine.verdict(&state) {
                Verdict::Violated => counts.violated += count,
                Verdict::Satisfied => counts.satisfied += count,
                Verdict::Pending => counts.pending += count,
                Verdict::Ok => counts.ok += count,
                Verdict::Unknown => counts.unknown += count,
            }
        }
        counts
    }
}

fn put<C: Number>(ways: &mut Ways<C>, state: StateIndex, count: C) {
    match ways.binary_search_by(|(other, _)| other.cmp(&state)) {
        Ok(place) => ways[place].1.add(&count),
        Err(place) => ways.insert(place, (state, count)),
    }
}

impl<C: Number> NodeRules for RunCounter<'_, C> {
    type Node = Ways<C>;

    fn step<K: Key>(
        &self,
        event: EventIndex,
    ) -> impl Fn(&Self::Node, PackedCut<'_, K>) -> Self::Node {
        let action = self.labelled.action(event);
        move |node, _| {
            let mut after = Ways::new();
            for (state, count) in node {
                put(&mut after, self.machine.step(state, action), count.clone());
            }
            after
        }
    }

    fn heap_bytes(&self, node: &Self::Node) -> usize {
        let each = node.iter();
        let each = each.map(|(_, count)| count.heap_bytes());
        spilled(node) + each.sum::<usize>()
    }

    fn merge(&self, into: &mut Self::Node, other: Self::Node) {
        for (state, count) in other {
            put(into, state, count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        automaton::{ActionId, Automaton, StateIndex},
        engine::enumerate::count_runs,
        options::Options,
        order::{Poset, Requirements},
    };
    use portent_monitor_core::ChainId;

    /// Two chains that wait for each other after every event: two orders for each pair.
    fn in_step(pairs: u32) -> Poset {
        let mut poset = Poset::new(2);
        for number in 1..=pairs {
            poset.push(ChainId::from(0), &[number, number - 1]);
            poset.push(ChainId::from(1), &[number - 1, number]);
        }
        poset
    }

    #[test]
    fn numbers_of_every_size_are_exact() {
        // The first chain's events toggle; the second's are violated where they come first.
        let automaton = Automaton {
            initial: StateIndex(0),
            actions: 2,
            next: [1, 2, 0, 0, 2, 2].map(StateIndex).to_vec(),
            verdicts: vec![Verdict::Ok, Verdict::Ok, Verdict::Violated],
        };
        for pairs in [1, 60, 127, 128, 250, 500, 1000, 2100] {
            let poset = in_step(pairs);
            let actions: Vec<ActionId> = (0..2 * pairs).map(|event| ActionId(event % 2)).collect();
            let requirements = Requirements::of_poset(&poset);
            let labelled = LabelledPoset::new(&poset, &requirements, &actions);
            let counts = count_runs(labelled, &automaton, &Options::default()).expect("fits");
            assert_eq!(counts.total, BigUint::from(1u32) << pairs);
            assert_eq!(counts.ok, BigUint::from(1u32));
            assert_eq!(counts.violated, counts.total - counts.ok);
        }
    }
}
