//! Lookup tables for the search's queries of a poset: where reverse pasts begin, and where along a chain the
//! next event of a class is, or the next event on which a node does not loop.

use portent_monitor_core::ChainId;
use portent_monitor_dsl::shape::{ActionClass, Node, Saturated};

use crate::{
    automaton::ActionId,
    order::{EventIndex, Poset},
};

/// Positions along chains are counts: the event at position p is the p-th, starting at 1.
pub(super) struct Index<'a> {
    pub(super) poset: &'a Poset,
    /// For each event and chain, the position of the first event there that is the event or comes
    /// after it; one past the end if none does.
    reverse: Vec<u32>,
    /// For each event, the chains that have an event which is the event or comes after it: if
    /// threads rarely synchronise, there are few.
    later_chains: Vec<Box<[ChainId]>>,
    /// For each class and chain, the positions of its events.
    of_class: Vec<Vec<u32>>,
    /// For each node and chain, the positions of the events that it does not loop on. Made when the
    /// node is first met.
    blocking: Vec<Option<Vec<Vec<u32>>>>,
    /// The class of each event.
    classes: Vec<ActionClass>,
}

impl<'a> Index<'a> {
    pub(super) fn new(poset: &'a Poset, actions: &[ActionId], saturated: &Saturated) -> Self {
        let width = poset.width();
        let classes: Vec<ActionClass> = actions
            .iter()
            .map(|action| saturated.class_of(*action))
            .collect();
        let mut of_class = vec![Vec::new(); saturated.classes() * width];
        for chain in poset.chains() {
            for (event, position) in poset.chain(chain).iter().zip(1..) {
                let class = classes[event.index()];
                of_class[class.index() * width + chain.index()].push(position);
            }
        }
        let reverse = reverse_clocks(poset);
        Index {
            poset,
            later_chains: later_chains(poset, &reverse),
            reverse,
            of_class,
            blocking: vec![None; saturated.nodes()],
            classes,
        }
    }

    /// The position on each chain of the first event that comes after an event.
    pub(super) fn reverse(&self, event: EventIndex) -> &[u32] {
        let width = self.poset.width();
        &self.reverse[event.index() * width..][..width]
    }

    /// The positions of a chain's events of a class.
    pub(super) fn of_class(&self, class: ActionClass, chain: ChainId) -> &[u32] {
        &self.of_class[class.index() * self.poset.width() + chain.index()]
    }

    /// The event at a position.
    pub(super) fn event(&self, chain: ChainId, position: u32) -> EventIndex {
        self.poset.chain(chain)[position as usize - 1]
    }

    /// Raises a cut to the largest that has no further event on which the node does not loop.
    pub(super) fn raise(&mut self, saturated: &Saturated, node: Node, cut: &mut [u32]) {
        let Index {
            poset,
            reverse,
            later_chains,
            blocking,
            classes,
            ..
        } = self;
        let width = poset.width();
        let blocking = blocking[node.index()].get_or_insert_with(|| {
            let blocks = |event: &EventIndex| !saturated.loops(node, classes[event.index()]);
            poset
                .chains()
                .map(|chain| {
                    let events = poset.chain(chain).iter().zip(1..);
                    events
                        .filter(|(event, _)| blocks(event))
                        .map(|(_, position)| position)
                        .collect()
                })
                .collect()
        });
        // The first one of each chain is enough: later events of the chain come after it.
        let firsts: Vec<EventIndex> = poset
            .chains()
            .zip(blocking.iter().zip(&*cut))
            .filter_map(|(chain, (blocking, count))| {
                let later = blocking.partition_point(|position| position <= count);
                let position = *blocking.get(later)?;
                Some(poset.chain(chain)[position as usize - 1])
            })
            .collect();
        for (chain, count) in poset.chains().zip(&mut *cut) {
            *count = poset.chain(chain).len() as u32;
        }
        for first in firsts {
            let begins = &reverse[first.index() * width..][..width];
            for &chain in &*later_chains[first.index()] {
                let count = &mut cut[chain.index()];
                *count = (*count).min(begins[chain.index()] - 1);
            }
        }
    }
}

fn later_chains(poset: &Poset, reverse: &[u32]) -> Vec<Box<[ChainId]>> {
    let width = poset.width();
    let chains = |event: usize| {
        let begins = poset.chains().zip(&reverse[event * width..][..width]);
        let later = begins.filter(|&(chain, &begin)| begin as usize <= poset.chain(chain).len());
        later.map(|(chain, _)| chain).collect()
    };
    (0..poset.len()).map(chains).collect()
}

/// Clocks only grow along a chain, so for each pair of chains one walk over both is enough.
fn reverse_clocks(poset: &Poset) -> Vec<u32> {
    let width = poset.width();
    let mut reverse = vec![0; poset.len() * width];
    for from in poset.chains() {
        for to in poset.chains() {
            let later = poset.chain(to);
            let mut begin = 0;
            for (event, position) in poset.chain(from).iter().zip(1..) {
                while begin < later.len() && poset.clock(later[begin])[from.index()] < position {
                    begin += 1;
                }
                reverse[event.index() * width + to.index()] = begin as u32 + 1;
            }
        }
    }
    reverse
}
