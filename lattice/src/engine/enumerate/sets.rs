//! Nodes that are sets of states: the states that runs can be in at a cut.

use portent_monitor_dsl::Verdict;
use smallvec::SmallVec;

use super::{
    frontier::NodeRules,
    key::{Key, PackedCut},
    labelled::LabelledPoset,
    reduce::Reducer,
};
use crate::{
    automaton::{Automaton, StateIndex, TransitionSystem, spilled},
    goal::Goal,
    order::EventIndex,
};

/// What the search for a violation needs to know about a set.
pub(crate) trait Sets: NodeRules {
    type State: Clone;

    /// The set with one state.
    fn only(&self, state: Self::State) -> Self::Node;
    /// The number of states.
    fn len(&self, node: &Self::Node) -> usize;
    /// A state of the set in which the run is violated; at the end of the trace also one in which
    /// it counts as violated then.
    fn bad(&self, node: &Self::Node, at_end: bool) -> Option<Self::State>;
}

/// Sets of at most 64 states, as bits.
pub(crate) struct Bits<'a> {
    labelled: LabelledPoset<'a>,
    /// The successors of every set of four neighbouring states, so that a step takes a few lookups
    /// and no loop over states: for action `a` and the sets of states `4g..4g+4` from
    /// `a * groups + g`.
    next: Vec<[u64; 16]>,
    groups: usize,
    bad: u64,
    bad_at_end: u64,
    reducer: Reducer,
}

impl<'a> Bits<'a> {
    /// `None` if there are more than 64 states.
    pub(crate) fn new(
        labelled: LabelledPoset<'a>,
        automaton: &Automaton,
        goal: Goal,
        reducer: Reducer,
    ) -> Option<Self> {
        let states = automaton.verdicts.len();
        if states > 64 {
            return None;
        }
        let groups = states.div_ceil(4);
        let mut next = vec![[0; 16]; automaton.actions * groups];
        for (place, after) in next.as_flattened_mut().iter_mut().enumerate() {
            let (action, group) = (place / 16 / groups, place / 16 % groups);
            let members = (0..4).filter(|bit| place >> bit & 1 == 1);
            for state in members
                .map(|bit| group * 4 + bit)
                .filter(|&state| state < states)
            {
                *after |= 1u64 << automaton.next[state * automaton.actions + action].0;
            }
        }
        let those = |wanted: &dyn Fn(Verdict) -> bool| {
            let verdicts = automaton.verdicts.iter().enumerate();
            verdicts
                .filter(|(_, verdict)| wanted(**verdict))
                .fold(0, |bits, (state, _)| bits | 1 << state)
        };
        Some(Bits {
            labelled,
            next,
            groups,
            bad: those(&|verdict| verdict == Verdict::Violated),
            bad_at_end: those(&|verdict| goal.is_bad(verdict, true)),
            reducer,
        })
    }

    pub(crate) fn reducer(&self) -> &Reducer {
        &self.reducer
    }
}

impl NodeRules for Bits<'_> {
    type Node = u64;

    #[inline]
    fn step<K: Key>(&self, event: EventIndex) -> impl Fn(&u64, PackedCut<'_, K>) -> u64 {
        let action = self.labelled.action(event).0 as usize;
        let next = &self.next[action * self.groups..][..self.groups];
        move |node, _| {
            if let [only] = next {
                return only[(node & 15) as usize];
            }
            let groups = next.iter().enumerate();
            groups.fold(0, |after, (group, next)| {
                after | next[(node >> (4 * group) & 15) as usize]
            })
        }
    }

    #[inline]
    fn merge(&self, into: &mut u64, other: u64) {
        *into |= other;
    }

    #[inline]
    fn settle<K: Key>(&self, node: &mut u64, cut: PackedCut<'_, K>) -> bool {
        if *node & self.bad == 0 {
            *node = self.reducer.reduce(*node, self.labelled, cut);
        }
        *node != 0
    }
}

impl Sets for Bits<'_> {
    type State = StateIndex;

    fn only(&self, state: StateIndex) -> u64 {
        1 << state.0
    }

    fn len(&self, node: &u64) -> usize {
        node.count_ones() as usize
    }

    fn bad(&self, node: &u64, at_end: bool) -> Option<StateIndex> {
        let bad = node & if at_end { self.bad_at_end } else { self.bad };
        (bad != 0).then(|| StateIndex(bad.trailing_zeros()))
    }
}

/// States in order.
pub(crate) type StateList<S> = SmallVec<[S; 2]>;

/// Sets of states of any machine, as sorted lists. The only reduction is absorption.
pub(crate) struct Lists<'a, M> {
    pub(crate) labelled: LabelledPoset<'a>,
    pub(crate) machine: &'a M,
    pub(crate) goal: Goal,
    pub(crate) absorb: bool,
}

impl<M: TransitionSystem> NodeRules for Lists<'_, M> {
    type Node = StateList<M::State>;

    fn step<K: Key>(
        &self,
        event: EventIndex,
    ) -> impl Fn(&Self::Node, PackedCut<'_, K>) -> Self::Node {
        let action = self.labelled.action(event);
        move |node, _| {
            let mut after = Self::Node::new();
            for state in node {
                let to = self.machine.step(state, action);
                if let Err(place) = after.binary_search(&to) {
                    after.insert(place, to);
                }
            }
            after
        }
    }

    fn heap_bytes(&self, node: &Self::Node) -> usize {
        spilled(node) + node.iter().map(M::heap_bytes).sum::<usize>()
    }

    fn merge(&self, into: &mut Self::Node, other: Self::Node) {
        for state in other {
            if let Err(place) = into.binary_search(&state) {
                into.insert(place, state);
            }
        }
    }

    fn settle<K: Key>(&self, node: &mut Self::Node, _: PackedCut<'_, K>) -> bool {
        if self.absorb {
            node.retain(|state| self.machine.verdict(state) != Verdict::Satisfied);
        }
        !node.is_empty()
    }
}

impl<M: TransitionSystem> Sets for Lists<'_, M> {
    type State = M::State;

    fn only(&self, state: M::State) -> Self::Node {
        SmallVec::from_iter([state])
    }

    fn len(&self, node: &Self::Node) -> usize {
        node.len()
    }

    fn bad(&self, node: &Self::Node, at_end: bool) -> Option<M::State> {
        let bad = |state: &&M::State| self.goal.is_bad(self.machine.verdict(state), at_end);
        node.iter().find(bad).cloned()
    }
}

/// No states at all: only the size of the lattice is wanted.
pub(crate) struct CutsAlone;

impl NodeRules for CutsAlone {
    type Node = ();

    fn step<K: Key>(&self, _: EventIndex) -> impl Fn(&(), PackedCut<'_, K>) {
        |(), _| ()
    }

    fn merge(&self, (): &mut (), (): ()) {}
}
