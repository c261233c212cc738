//! The path to a violation, reconstructed after the levels that led there are gone.
//!
//! The search keeps one level, so it knows the cut and the state of the first violation but not how a run gets there. The
//! lattice below that cut is walked once more, now with labels: at checkpoints every node gets a number, and the nodes that
//! follow carry the number of the checkpoint node that they come from. At the end the numbers lead back from checkpoint to
//! checkpoint; the same is then done between checkpoints, until they are one level apart. The pieces are small lattices, so
//! the whole costs little more than the one walk, and memory is a chosen number of levels.
//!
//! Of all ways to the cut in that state, the one that swaps the fewest pairs of events is found:
//! adding an event to a cut swaps it with the events there that were observed later, whatever the
//! order in which they came, so the number of swaps adds up along a way.

use smallvec::SmallVec;

use super::{
    frontier::{LevelBounds, NodeRules, SHORT},
    key::{Key, PackedCut},
    labelled::LabelledPoset,
    levels::Levels,
    window::Window,
};
use crate::{
    automaton::{TransitionSystem, spilled},
    order::{EventIndex, ObservedCuts},
};

/// A walk has at least this many checkpoints.
pub(crate) const MIN_CHECKPOINTS: u64 = 2;

/// A state, the fewest swaps that lead to it, and the node of the last checkpoint that it comes from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Trail<S> {
    state: S,
    /// Swap counts that exceed 32 bits are treated as equal.
    swaps: u32,
    label: u32,
}

/// The trails to a cut, sorted by state; two are stored inline.
type Trails<S> = SmallVec<[Trail<S>; 2]>;

/// The approximate bytes that this many trails to a cut take.
pub(crate) fn trail_bytes<S>(states: u64) -> u64 {
    let spilled = match states {
        0..=2 => 0,
        more => 16 + more.next_power_of_two() * size_of::<Trail<S>>() as u64,
    };
    size_of::<Trails<S>>() as u64 + spilled
}

/// The approximate bytes that a checkpoint takes for each cut with this many trails.
pub(crate) fn checkpoint_bytes<S>(strip: u64, states: u64) -> u64 {
    strip + states * size_of::<Mark<S>>() as u64
}

struct Trailing<'a, M> {
    labelled: LabelledPoset<'a>,
    machine: &'a M,
}

impl<M: TransitionSystem> NodeRules for Trailing<'_, M> {
    type Node = Trails<M::State>;

    fn step<K: Key>(
        &self,
        event: EventIndex,
    ) -> impl Fn(&Self::Node, PackedCut<'_, K>) -> Self::Node {
        let action = self.labelled.action(event);
        move |node, cut| {
            let swapped = self.labelled.overtaken(|chain| cut.count(chain), event);
            let swapped = u32::try_from(swapped).unwrap_or(u32::MAX);
            let mut after = Self::Node::new();
            for trail in node {
                let trail = Trail {
                    state: self.machine.step(&trail.state, action),
                    swaps: trail.swaps.saturating_add(swapped),
                    label: trail.label,
                };
                put(&mut after, trail);
            }
            after
        }
    }

    fn heap_bytes(&self, node: &Self::Node) -> usize {
        spilled(node)
    }

    fn merge(&self, into: &mut Self::Node, other: Self::Node) {
        for trail in other {
            put(into, trail);
        }
    }
}

fn put<S: Ord>(node: &mut Trails<S>, trail: Trail<S>) {
    match node.binary_search_by(|other| other.state.cmp(&trail.state)) {
        Ok(place) if node[place] <= trail => {}
        Ok(place) => node[place] = trail,
        Err(place) => node.insert(place, trail),
    }
}

/// A cut and a state in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Configuration<S> {
    pub(crate) cut: Vec<u32>,
    pub(crate) state: S,
}

impl<S> Configuration<S> {
    /// The number of events in its cut.
    pub(crate) fn events(&self) -> usize {
        self.cut.iter().map(|&n| n as usize).sum()
    }
}

/// Finds paths between configurations.
pub(crate) struct Paths<'a, M> {
    pub(crate) labelled: LabelledPoset<'a>,
    pub(crate) machine: &'a M,
    pub(crate) observed: &'a ObservedCuts,
    /// The same bounds as in the search that found the violation: this reaches whatever that search reached.
    pub(crate) window: Option<usize>,
    pub(crate) lookahead: Option<u32>,
    /// The number of checkpoints that a walk may keep; at least 2.
    pub(crate) checkpoints: usize,
    pub(crate) parallel: bool,
}

impl<M: TransitionSystem> Paths<'_, M> {
    /// The events of a path to a configuration from one of several earlier ones, and which of them it is; the earlier ones are
    /// of one level and sorted by their cuts. `None` if there is no path.
    pub(crate) fn find(
        &self,
        from: &[Configuration<M::State>],
        to: &Configuration<M::State>,
    ) -> Option<(usize, Vec<EventIndex>)> {
        let mut events = Vec::new();
        let start = self.extend(from, to, &mut events)?;
        Some((start, events))
    }

    fn extend(
        &self,
        from: &[Configuration<M::State>],
        to: &Configuration<M::State>,
        events: &mut Vec<EventIndex>,
    ) -> Option<usize> {
        let (start, end) = (from.first()?.events(), to.events());
        let length = end - start;
        if length == 0 {
            return from.iter().position(|configuration| configuration == to);
        }
        let stride = length.div_ceil(self.checkpoints);
        let rules = Trailing {
            labelled: self.labelled,
            machine: self.machine,
        };
        let mut levels = first_level(from, &to.cut)?;
        let mut kept: Vec<Checkpoint<M::State>> = Vec::new();
        let mut observed = self.observed.cut(self.labelled.poset, start);
        for made in 1..=length {
            self.observed
                .advance(self.labelled.poset, start + made - 1, &mut observed);
            let window = self.window.map(|width| Window {
                observed: &observed,
                width,
            });
            let bounds = LevelBounds {
                upper: &to.cut,
                ceiling: &to.cut,
                lookahead: self.lookahead,
                window,
                persistent: None,
                parallel: self.parallel,
                short: SHORT,
                // The violation is worth the cost of the path to it.
                stop: None,
            };
            levels.advance(self.labelled, bounds, &rules);
            if made % stride == 0 && made < length {
                kept.push(Checkpoint::new(&mut levels));
            }
        }
        let node = levels.nodes().first()?;
        let last = node.iter().find(|trail| trail.state == to.state)?;
        let mut configurations = vec![to.clone()];
        let mut label = last.label;
        for checkpoint in kept.into_iter().rev() {
            let Mark { state, before, cut } = checkpoint.marks[label as usize].clone();
            configurations.push(Configuration {
                cut: checkpoint.cuts.cut(cut as usize)?,
                state,
            });
            label = before;
        }
        configurations.push(from[label as usize].clone());
        configurations.reverse();
        for pair in configurations.windows(2) {
            let [a, b] = pair else { continue };
            if stride > 1 {
                self.extend(std::slice::from_ref(a), b, events)?;
                continue;
            }
            let poset = self.labelled.poset;
            let chains = poset.chains().zip(a.cut.iter().zip(&b.cut));
            for (chain, (&before, _)) in chains.filter(|(_, (before, after))| before < after) {
                events.push(poset.chain(chain)[before as usize]);
            }
        }
        Some(label as usize)
    }
}

/// The level that a walk begins with, each configuration labelled with its index; `None` if none is
/// below `upper`.
fn first_level<S: Clone + Ord + Send + Sync>(
    from: &[Configuration<S>],
    upper: &[u32],
) -> Option<Levels<Trails<S>>> {
    let (mut cuts, mut nodes): (Vec<Vec<u32>>, Vec<Trails<S>>) = Default::default();
    for (label, configuration) in from.iter().enumerate() {
        if configuration
            .cut
            .iter()
            .zip(upper)
            .any(|(count, most)| count > most)
        {
            continue;
        }
        let trail = Trail {
            state: configuration.state.clone(),
            swaps: 0,
            label: label as u32,
        };
        match nodes.last_mut() {
            Some(node) if cuts.last() == Some(&configuration.cut) => put(node, trail),
            _ => {
                cuts.push(configuration.cut.clone());
                nodes.push(SmallVec::from_iter([trail]));
            }
        }
    }
    (!cuts.is_empty()).then(|| Levels::of(&cuts, nodes, upper))
}

/// A level that a walk passed, kept to know where its trails come from.
struct Checkpoint<S> {
    cuts: Levels<()>,
    marks: Vec<Mark<S>>,
}

/// A state at a cut of a checkpoint.
#[derive(Clone)]
struct Mark<S> {
    state: S,
    /// Its label at the previous checkpoint.
    before: u32,
    /// The index of its cut.
    cut: u32,
}

impl<S: Clone + Send + Sync> Checkpoint<S> {
    /// Numbers the trails of a level, and makes them carry these numbers on.
    fn new(levels: &mut Levels<Trails<S>>) -> Checkpoint<S> {
        let trails = levels.nodes().iter().map(SmallVec::len).sum();
        let mut marks = Vec::with_capacity(trails);
        for (cut, node) in levels.nodes_mut().iter_mut().enumerate() {
            for trail in node {
                let before = std::mem::replace(&mut trail.label, marks.len() as u32);
                marks.push(Mark {
                    state: trail.state.clone(),
                    before,
                    cut: cut as u32,
                });
            }
        }
        Checkpoint {
            cuts: levels.cuts_alone(),
            marks,
        }
    }
}
