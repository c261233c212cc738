//! Best-first search over symbolic nodes, and the run that a violating one stands for.

use portent_monitor_core::ChainId;
use portent_monitor_dsl::shape::{Node, Saturated, SaturatedEdge};
use std::{cmp::Reverse, collections::BinaryHeap};

use super::{
    index::Index,
    nodes::{Derivation, Found, Nodes, size},
    prospects::Prospects,
};
use crate::{
    automaton::ActionId,
    engine::{Answer, Savings, Searched, Violation},
    order::{EventIndex, Poset},
    stop::Stop,
};

/// Looks for a violated run, giving up after `max_nodes` symbolic nodes. A violation found here is
/// always a shortest one.
///
/// ```
/// use portent_lattice::laboratory::{ActionId, Answer, Automaton, Poset, AutomatonShape, StateIndex, interval};
/// use portent_monitor_core::ChainId;
/// use portent_monitor_dsl::Verdict;
///
/// // Violated by action 1 before action 0.
/// let automaton = Automaton {
///     initial: StateIndex(0),
///     actions: 2,
///     next: [1, 2, 1, 1, 2, 2].map(StateIndex).to_vec(),
///     verdicts: vec![Verdict::Ok, Verdict::Satisfied, Verdict::Violated],
/// };
/// let shape = AutomatonShape::new(&automaton)?;
/// let saturated = shape.saturated.as_ref().expect("small");
///
/// // Two threads, nothing between them; observed was 0, then 1.
/// let mut poset = Poset::new(2);
/// poset.push(ChainId::from(0), &[1, 0]);
/// poset.push(ChainId::from(1), &[0, 1]);
/// let found = interval::search(&poset, &[ActionId(0), ActionId(1)], saturated, 1_000);
/// let Answer::Violated(violation) = found.answer else { unreachable!() };
/// assert_eq!(violation.violated_at, 1);
/// assert_eq!(violation.run.iter().map(|event| event.0).collect::<Vec<_>>(), [1, 0]);
/// # Ok::<(), portent_monitor_dsl::automaton::MalformedTable>(())
/// ```
pub fn search(
    poset: &Poset,
    actions: &[ActionId],
    saturated: &Saturated,
    max_nodes: usize,
) -> Searched {
    let mut search = IntervalSearch::new(poset, actions, saturated);
    search.advance(max_nodes);
    search.finish()
}

/// An interval search that can be paused, so that it can race another engine without a thread.
pub struct IntervalSearch<'a> {
    index: Index<'a>,
    saturated: &'a Saturated,
    nodes: Nodes,
    /// The nodes still to examine, ordered by the fewest events that a violation from there can have,
    /// and then by the number of edges that it takes.
    open: BinaryHeap<Reverse<(u64, u64, Found)>>,
    prospects: Prospects,
    looked_at: usize,
    /// The largest number of nodes to find, and the signal that ends the search.
    most_found: usize,
    stop: Stop,
    saved: Savings,
    answer: Option<Answer>,
}

impl<'a> IntervalSearch<'a> {
    /// A search from the empty cut.
    pub fn new(poset: &'a Poset, actions: &[ActionId], saturated: &'a Saturated) -> Self {
        let index = Index::new(poset, actions, saturated);
        let mut search = IntervalSearch {
            prospects: Prospects::new(&index, saturated),
            index,
            saturated,
            nodes: Nodes::new(poset.width(), saturated.nodes()),
            open: BinaryHeap::new(),
            looked_at: 0,
            most_found: usize::MAX,
            stop: Stop::default(),
            saved: Savings::default(),
            answer: None,
        };
        for &node in saturated.initial(0) {
            let lowest = vec![0; poset.width()];
            let mut highest = lowest.clone();
            search.index.raise(saturated, node, &mut highest);
            let origin = Derivation { node, parent: None };
            search.add(origin, &lowest, &highest);
        }
        search
    }

    /// The search gives up after finding about this many nodes, examined or not, and when the signal is raised.
    pub fn bounded(mut self, most_found: usize, stop: Stop) -> Self {
        (self.most_found, self.stop) = (most_found, stop);
        self
    }

    /// Whether the search gave up: there may be more to find.
    pub fn is_given_up(&self) -> bool {
        self.answer.is_none() && (self.nodes.len() > self.most_found || self.stop.is_raised())
    }

    /// The number of symbolic nodes examined so far.
    pub fn nodes(&self) -> usize {
        self.looked_at
    }

    /// Examines this many more nodes; returns the answer, once there is one.
    pub fn advance(&mut self, nodes: usize) -> Option<Answer> {
        for _ in 0..nodes {
            if self.answer.is_some() || self.is_given_up() {
                break;
            }
            let Some(Reverse((.., found))) = self.open.pop() else {
                self.answer = Some(Answer::Safe);
                break;
            };
            self.looked_at += 1;
            if self.nodes.origin(found).node == Node::BAD {
                self.answer = Some(Answer::Violated(self.violation(found)));
            } else {
                self.expand(found);
            }
        }
        self.answer.clone()
    }

    /// The result so far; without an answer, the search gave up.
    pub fn finish(self) -> Searched {
        Searched {
            answer: self.answer.unwrap_or(Answer::GaveUp),
            nodes: self.looked_at,
            left: self.open.len(),
            saved: self.saved,
        }
    }

    fn add(&mut self, origin: Derivation, lowest: &[u32], highest: &[u32]) {
        let distance = self.prospects.distance(self.saturated, origin.node, lowest);
        let Some(distance) = distance else {
            self.saved.dead_ends += 1;
            return;
        };
        match self.nodes.add(self.saturated, origin, lowest, highest) {
            Some(found) => {
                let fewest = size(lowest) + distance;
                self.open.push(Reverse((fewest, distance, found)));
            }
            None => self.saved.subsumption += 1,
        }
    }

    fn expand(&mut self, found: Found) {
        let lowest = self.nodes.lowest(found).to_vec();
        let highest = self.nodes.highest(found).to_vec();
        for &edge in self.saturated.edges(self.nodes.origin(found).node) {
            for chain in self.index.poset.chains() {
                if self.is_given_up() {
                    return;
                }
                self.follow(found, edge, chain, &lowest, &highest);
            }
        }
    }

    /// Takes an edge by each of the events of a chain that can take one.
    fn follow(
        &mut self,
        from: Found,
        edge: SaturatedEdge,
        chain: ChainId,
        lowest: &[u32],
        highest: &[u32],
    ) {
        let positions = self.index.of_class(edge.class, chain);
        let mut next = positions.partition_point(|&position| position <= lowest[chain.index()]);
        let mut previous: Option<Vec<u32>> = None;
        while let Some(&position) = self.index.of_class(edge.class, chain).get(next) {
            next += 1;
            let event = self.index.event(chain, position);
            let clock = self.index.poset.clock(event);
            // Its past is inside, so the event is at most one past the end of its chain.
            let chains = self.index.poset.chains();
            let is_enabled = chains
                .clone()
                .zip(clock.iter().zip(highest))
                .all(|(other, (&count, &most))| count - u32::from(other == chain) <= most);
            if !is_enabled {
                break;
            }
            let raised = lowest.iter().zip(clock).map(|(&a, &b)| a.max(b));
            let raised: Vec<u32> = raised.collect();
            let mut top: Vec<u32> = highest
                .iter()
                .zip(self.index.reverse(event))
                .map(|(&count, &begin)| count.min(begin - 1))
                .collect();
            top[chain.index()] = position;
            self.index.raise(self.saturated, edge.to, &mut top);
            // Later events of the chain only raise the lowest cut unless they raise the highest.
            if previous.as_ref() == Some(&top) {
                continue;
            }
            let origin = Derivation {
                node: edge.to,
                parent: Some((from, event)),
            };
            self.add(origin, &raised, &top);
            let is_all = chains
                .zip(&top)
                .all(|(chain, &count)| count as usize == self.index.poset.chain(chain).len());
            if is_all {
                break;
            }
            previous = Some(top);
        }
    }

    /// The run to the lowest cut of a violating node, continued to the end in observed order.
    fn violation(&self, found: Found) -> Violation {
        let poset = self.index.poset;
        let mut cut = self.nodes.lowest(found).to_vec();
        let violated_at = size(&cut) as usize;
        let mut backwards = later(poset, &cut, None);
        let mut current = found;
        // Backwards: the cut in which an event was taken is the part of the following cut that
        // the previous interval and the event allow. The remaining events were self-loops.
        while let Some((parent, event)) = self.nodes.origin(current).parent {
            let before: Vec<u32> = cut
                .iter()
                .zip(self.nodes.highest(parent))
                .zip(self.index.reverse(event))
                .map(|((&count, &most), &begin)| count.min(most).min(begin - 1))
                .collect();
            let mut after = before.clone();
            after[poset.chain_of(event).index()] += 1;
            backwards.extend(later(poset, &after, Some(&cut)));
            backwards.push(event);
            cut = before;
            current = parent;
        }
        backwards.extend(later(poset, &vec![0; cut.len()], Some(&cut)));
        backwards.reverse();
        Violation {
            run: backwards,
            violated_at,
            is_shortest: true,
        }
    }
}

/// The events from one cut to another (or to the end), in reversed observed order.
fn later(poset: &Poset, from: &[u32], to: Option<&[u32]>) -> Vec<EventIndex> {
    let mut events: Vec<EventIndex> = poset
        .chains()
        .flat_map(|chain| {
            let events = poset.chain(chain);
            let end = to.map_or(events.len(), |to| to[chain.index()] as usize);
            &events[from[chain.index()] as usize..end]
        })
        .copied()
        .collect();
    events.sort_unstable_by(|a, b| b.cmp(a));
    events
}
