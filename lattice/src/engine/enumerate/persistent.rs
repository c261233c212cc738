//! Commutation: from a cut, only some of the enabled events need to be added first.
//!
//! Two actions commute if in every state both orders lead to the same state. A *persistent* set at
//! a cut is a set of enabled events such that whatever can happen before one of them happens (all
//! others being left alone) commutes with it. Any run from the cut can then be rearranged, swapping
//! commuting neighbours only, into one that begins inside the set and ends in the same state; and
//! since verdicts that matter are absorbing, the state at the end tells all. No event ever disables
//! another and the lattice has no cycles, so nothing is put off forever.
//!
//! The set is grown from one enabled event. While some event of another chain can happen before a
//! member and does not commute with it, that chain's next event joins or, if it is not enabled,
//! one that it has to wait for. Every enabled event is tried as a beginning; the smallest set
//! wins. What the reduction does not keep is the length of the shortest way to a violation.

use portent_monitor_core::ChainId;

use super::labelled::LabelledPoset;
use crate::{
    automaton::{ActionId, Automaton, StateIndex},
    order::{EventIndex, Poset},
};

/// Look-ahead tables with more entries than this are not made, and the reduction stays off.
const MAX_ENTRIES: usize = 1 << 24;
/// Sets of chains are bits of a word.
const MAX_WIDTH: usize = 64;

/// Which events commute, precomputed for queries at every cut.
#[derive(Clone, Debug)]
pub(crate) struct Persistent {
    actions: usize,
    /// For action `a` and the event at place `p` of a chain: the first place from `p` on that does
    /// not commute with `a`, at `starts[chain] + p * actions + a`.
    clash: Vec<u32>,
    starts: Vec<usize>,
    /// For each event and chain the first place on the chain that comes after the event.
    after: Vec<u32>,
}

/// What a chain can do to a set of events, by places on the chain.
#[derive(Clone, Copy)]
struct Threat {
    /// From here on it waits for the set.
    end: u32,
    /// Here is its first event that does not commute with all of the set.
    clash: u32,
}

impl Threat {
    const NONE: Threat = Threat {
        end: u32::MAX,
        clash: u32::MAX,
    };
}

impl Persistent {
    /// `None` if nothing can be gained, or the tables would be too large.
    pub(crate) fn new(labelled: LabelledPoset<'_>, automaton: &Automaton) -> Option<Persistent> {
        let (poset, actions) = (labelled.poset, automaton.actions);
        let width = poset.width();
        let entries = (poset.len() + width).checked_mul(actions.max(width))?;
        if entries > MAX_ENTRIES || !(2..=MAX_WIDTH).contains(&width) {
            return None;
        }
        let clashes = clashes(automaton);
        if clashes.iter().all(|clash| *clash) {
            return None;
        }
        let mut starts = Vec::with_capacity(width);
        let mut clash = Vec::with_capacity((poset.len() + width) * actions);
        for chain in poset.chains() {
            let events = poset.chain(chain);
            let start = clash.len();
            starts.push(start);
            clash.resize(clash.len() + (events.len() + 1) * actions, u32::MAX);
            for place in (0..events.len()).rev() {
                let does = labelled.action(events[place]).0 as usize;
                for action in 0..actions {
                    let here = start + place * actions + action;
                    clash[here] = if clashes[action * actions + does] {
                        place as u32
                    } else {
                        clash[here + actions]
                    };
                }
            }
        }
        Some(Persistent {
            actions,
            clash,
            starts,
            after: after(poset),
        })
    }

    /// A persistent subset of the enabled chains, which are given as bits.
    pub(crate) fn choose(&self, labelled: LabelledPoset<'_>, counts: &[u32], enabled: u64) -> u64 {
        let mut best = enabled;
        let mut seeds = enabled;
        while seeds != 0 && best.count_ones() > 1 {
            let seed = ChainId::from(seeds.trailing_zeros());
            let smaller = self.grow(labelled, counts, (enabled, best), seed);
            best = smaller.unwrap_or(best);
            seeds &= seeds - 1;
        }
        best
    }

    /// The set that an enabled chain grows into, if it is smaller than the best one so far.
    fn grow(
        &self,
        labelled: LabelledPoset<'_>,
        counts: &[u32],
        (enabled, best): (u64, u64),
        seed: ChainId,
    ) -> Option<u64> {
        let mut set = 0u64;
        let mut threats = [Threat::NONE; MAX_WIDTH];
        let mut joining = seed;
        loop {
            set |= 1 << joining.index();
            if set.count_ones() >= best.count_ones() {
                return None;
            }
            self.join(labelled, counts, joining, &mut threats);
            // A chain can disturb the set if an event of it can happen before a member and clashes with it.
            let mut others = labelled.poset.chains();
            let disturbing = others.find(|chain| {
                let threat = threats[chain.index()];
                set >> chain.index() & 1 == 0 && threat.clash < threat.end
            });
            match disturbing {
                Some(chain) => joining = self.enabler(labelled, counts, enabled, chain),
                None => return Some(set),
            }
        }
    }

    /// What the chains can do to a set that the next event of `member` is also in.
    fn join(
        &self,
        labelled: LabelledPoset<'_>,
        counts: &[u32],
        member: ChainId,
        threats: &mut [Threat],
    ) {
        let event = labelled.poset.chain(member)[counts[member.index()] as usize];
        let action = labelled.action(event).0 as usize;
        let after = &self.after[event.index() * counts.len()..];
        for (chain, threat) in threats[..counts.len()].iter_mut().enumerate() {
            let here = self.starts[chain] + counts[chain] as usize * self.actions;
            threat.end = threat.end.min(after[chain]);
            threat.clash = threat.clash.min(self.clash[here + action]);
        }
    }

    /// An enabled chain that must be advanced before the next event of `chain`, or itself.
    fn enabler(
        &self,
        labelled: LabelledPoset<'_>,
        counts: &[u32],
        enabled: u64,
        chain: ChainId,
    ) -> ChainId {
        let mut chain = chain;
        while enabled >> chain.index() & 1 == 0 {
            let event = labelled.poset.chain(chain)[counts[chain.index()] as usize];
            let missing = labelled
                .requirements
                .of(event)
                .iter()
                .find(|(other, n)| counts[other.index()] < *n);
            match missing {
                Some(&(other, _)) => chain = other,
                // Held back by a bound and not by the order; then any enabled chain will do.
                None => return ChainId::from(enabled.trailing_zeros()),
            }
        }
        chain
    }
}

/// For each pair of actions, whether their order matters in some state.
fn clashes(automaton: &Automaton) -> Vec<bool> {
    let actions = automaton.actions as u32;
    let ids = || (0..actions).map(ActionId);
    let clash = |a, b| {
        let states = (0..automaton.verdicts.len() as u32).map(StateIndex);
        states.into_iter().any(|state| {
            automaton.step(automaton.step(state, a), b)
                != automaton.step(automaton.step(state, b), a)
        })
    };
    ids()
        .flat_map(|a| ids().map(move |b| (a, b)))
        .map(|(a, b)| clash(a, b))
        .collect()
}

fn after(poset: &Poset) -> Vec<u32> {
    let width = poset.width();
    let mut after = Vec::with_capacity(poset.len() * width);
    for event in (0..poset.len() as u32).map(EventIndex) {
        let own = poset.chain_of(event).index();
        let number = poset.clock(event)[own];
        for chain in poset.chains() {
            let events = poset.chain(chain);
            let place = events.partition_point(|other| poset.clock(*other)[own] < number);
            after.push(place as u32);
        }
    }
    after
}
