//! Atomicity violations of the observed run: blocks with relevant interruptions.
//!
//! A *transaction* is an outermost block, or any other single event. One comes before another if an event of it comes directly
//! before an event of the other: by program order, or along the [table of edges](portent_monitor_core::edges). If these
//! dependences have a cycle, no run in which the blocks of the cycle are not interleaved is equivalent to this one. Each
//! transaction of a strongly connected component is in a cycle, and no other is.

use portent_monitor_core::{Event, Flow, Id, LocId, Marker, NameId, Op, Predecessors};
use rustc_hash::FxHashMap;

use crate::{
    graph,
    record::{EventId, Record},
};

/// A block that is not atomic.
#[derive(Clone, Debug)]
pub(crate) struct Violation {
    pub(crate) block: NameId,
    /// The begin of the first one that is not atomic.
    pub(crate) begin: EventId,
    /// The number of blocks with this name and begin.
    pub(crate) transactions: u64,
    /// The other blocks of the cycle: not all of them are interrupted, but not all can be atomic.
    pub(crate) others: Vec<NameId>,
    /// A shortest cycle: events that come directly after each other in different transactions, in pairs.
    pub(crate) cycle: Vec<[EventId; 2]>,
}

/// The transactions of a run and their order.
#[derive(Clone, Debug, Default)]
struct Transactions {
    /// The first event of each.
    first: Vec<EventId>,
    /// The name of those that are blocks.
    block: Vec<Option<NameId>>,
    next: Vec<Vec<usize>>,
    /// The events that cause an edge; the first ones seen.
    because: FxHashMap<(usize, usize), [EventId; 2]>,
    /// The transaction of each event.
    of: Vec<usize>,
    threads: Vec<OfThread>,
}

#[derive(Clone, Copy, Debug, Default)]
struct OfThread {
    /// The number of blocks that it is in.
    depth: u32,
    /// Its current block, or its last transaction.
    last: Option<usize>,
}

/// The blocks of a trace that are not atomic, in the order of their first begins.
pub(crate) fn find(record: &Record) -> Vec<Violation> {
    let mut transactions = Transactions::default();
    let mut flow: Flow<Predecessors<true>> = Flow::default();
    for id in record.ids() {
        let event = record.event(id);
        let place = record.place(id);
        let before = flow.step(&event, |before| before.arrive(place));
        transactions.enter(&event, id);
        let previous = record.previous(id);
        let before = before.into_iter().filter_map(|place| record.at(place));
        for earlier in before.chain(previous) {
            transactions.order(earlier, id);
        }
        transactions.leave(&event);
    }
    transactions.violations(record)
}

impl Transactions {
    /// Finds the transaction of an event.
    fn enter(&mut self, event: &Event, id: EventId) {
        let thread = event.thread.entry(&mut self.threads);
        let node = match thread.last {
            Some(block) if thread.depth > 0 => block,
            _ => {
                self.first.push(id);
                self.next.push(Vec::new());
                self.block.push(match event.op {
                    Op::Marker(Marker::Begin, block) => block,
                    _ => None,
                });
                self.first.len() - 1
            }
        };
        self.of.push(node);
        thread.last = Some(node);
        if let Op::Marker(Marker::Begin, Some(_)) = event.op {
            thread.depth += 1;
        }
    }

    fn leave(&mut self, event: &Event) {
        if let Op::Marker(Marker::End, Some(_)) = event.op {
            let thread = event.thread.entry(&mut self.threads);
            thread.depth = thread.depth.saturating_sub(1);
        }
    }

    fn order(&mut self, earlier: EventId, later: EventId) {
        let edge = (self.of[earlier.index()], self.of[later.index()]);
        if edge.0 != edge.1 {
            self.because.entry(edge).or_insert_with(|| {
                self.next[edge.0].push(edge.1);
                [earlier, later]
            });
        }
    }

    fn violations(&self, record: &Record) -> Vec<Violation> {
        let components = graph::components(self.next.len(), |node| &self.next[node]);
        let mut sizes: Vec<u32> = vec![0; self.next.len()];
        for &component in &components {
            sizes[component as usize] += 1;
        }
        let mut found: Vec<Violation> = Vec::new();
        let mut known: FxHashMap<(NameId, Option<LocId>), usize> = FxHashMap::default();
        for (node, &component) in components.iter().enumerate() {
            let Some(block) = self.block[node].filter(|_| sizes[component as usize] > 1) else {
                continue;
            };
            let begin = self.first[node];
            let key = (block, record.loc(begin));
            if let Some(&index) = known.get(&key) {
                found[index].transactions += 1;
                continue;
            }
            known.insert(key, found.len());
            let within = |other: usize| components[other] == component;
            let cycle = graph::shortest_cycle(node, |node| &self.next[node], within);
            let cycle = cycle.unwrap_or_default();
            let mut others: Vec<NameId> = Vec::new();
            for other in cycle.iter().filter_map(|&other| self.block[other]) {
                if other != block && !others.contains(&other) {
                    others.push(other);
                }
            }
            let from = std::iter::once(node).chain(cycle.iter().copied());
            let edges = from.zip(cycle.iter().copied());
            found.push(Violation {
                block,
                begin,
                transactions: 1,
                others,
                cycle: edges.map(|edge| self.because[&edge]).collect(),
            });
        }
        found
    }
}
