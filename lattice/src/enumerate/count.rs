//! Counting runs: at each cut, how many ways lead there in each state.
//!
//! Counts grow as factorials do, but most stay below 2¹²⁸ for a while; those that do not are of
//! arbitrary precision.

use num_bigint::BigUint;
use portent_monitor_dsl::Verdict;
use smallvec::SmallVec;

use super::{
    frontier::Rules,
    ground::Ground,
    key::{Cut, Key},
};
use crate::{EventIndex, StateIndex, product::Machine};

/// A number of runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Count {
    Small(u128),
    // Boxed so that the many small ones stay small.
    Large(Box<BigUint>),
}

impl Count {
    fn add(&mut self, other: &Count) {
        if let (Count::Small(a), Count::Small(b)) = (&*self, other)
            && let Some(sum) = a.checked_add(*b)
        {
            *self = Count::Small(sum);
            return;
        }
        let mut sum = std::mem::replace(self, Count::Small(0)).into_big();
        match other {
            Count::Small(n) => sum += *n,
            Count::Large(n) => sum += n.as_ref(),
        }
        *self = Count::Large(Box::new(sum));
    }

    pub(crate) fn into_big(self) -> BigUint {
        match self {
            Count::Small(n) => BigUint::from(n),
            Count::Large(n) => *n,
        }
    }
}

/// How many runs there are, by the verdict at the end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunCounts {
    /// All of them.
    pub total: BigUint,
    /// Those that are violated.
    pub violated: BigUint,
    /// Those that are satisfied for good.
    pub satisfied: BigUint,
    /// Those that would be false if they ended here.
    pub pending: BigUint,
    /// Those that would be true if they ended here.
    pub ok: BigUint,
    /// Those that are open, where the monitor does not tell which way.
    pub unknown: BigUint,
}

/// Each state with the number of ways to it, in the order of states.
type Ways = SmallVec<[(StateIndex, Count); 1]>;

pub(crate) struct Counting<'a, M> {
    pub(crate) ground: Ground<'a>,
    pub(crate) machine: &'a M,
}

impl<M: Machine> Counting<'_, M> {
    pub(crate) fn one(&self) -> Ways {
        SmallVec::from_iter([(self.machine.initial(), Count::Small(1))])
    }

    pub(crate) fn by_verdict(&self, ways: Ways) -> RunCounts {
        let mut counts = RunCounts::default();
        for (state, count) in ways {
            let count = count.into_big();
            counts.total += &count;
            match self.machine.verdict(state) {
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

fn put(ways: &mut Ways, state: StateIndex, count: Count) {
    match ways.binary_search_by_key(&state, |(state, _)| *state) {
        Ok(place) => ways[place].1.add(&count),
        Err(place) => ways.insert(place, (state, count)),
    }
}

impl<M: Machine> Rules for Counting<'_, M> {
    type Node = Ways;

    fn step<K: Key>(&self, event: EventIndex) -> impl Fn(&Ways, Cut<'_, K>) -> Ways {
        let action = self.ground.action(event);
        move |node, _| {
            let mut after = Ways::new();
            for (state, count) in node {
                put(&mut after, self.machine.step(*state, action), count.clone());
            }
            after
        }
    }

    fn merge(&self, into: &mut Ways, other: Ways) {
        for (state, count) in other {
            put(into, state, count);
        }
    }
}
