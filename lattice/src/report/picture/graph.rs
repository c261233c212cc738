//! The lattice as a graph, if it is small, or the widths of its levels, if it is not.
//!
//! Nothing is reduced here: a picture shows every cut. The engines never see this.

use std::collections::{BTreeMap, BTreeSet};

use portent_monitor_dsl::Verdict;

use crate::{
    automaton::{ActionId, TransitionSystem},
    engine::enumerate::LabelledPoset,
    engine::{Problem, enumerate},
    order::{Poset, Requirements},
};

/// All cuts of a small lattice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// The cuts, level by level, on a level in the order of their counts.
    pub cuts: Vec<Cut>,
    /// Every edge from a cut to one of the next level.
    pub edges: Vec<Edge>,
}

/// A consistent cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The number of events of each chain in it.
    pub counts: Vec<u32>,
    /// The verdicts that runs may have there.
    pub verdicts: Vec<Verdict>,
}

/// A step from one cut to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The index of the cut where it begins.
    pub from: u32,
    /// The index of the cut where it ends.
    pub to: u32,
    /// The event that is added, by its index in observed order.
    pub event: u32,
}

/// The lattice of a problem as a graph; `None` if it has more than `max_cuts` cuts.
///
/// ```
/// use portent_lattice::{report::picture::graph, laboratory::{ActionId, Automaton, Poset, Problem, StateIndex}};
/// use portent_monitor_core::ChainId;
/// use portent_monitor_dsl::Verdict::{Ok, Satisfied, Violated};
///
/// // Two threads with one event each; the second event must not come first.
/// let mut poset = Poset::new(2);
/// poset.push(ChainId::from(0), &[1, 0]);
/// poset.push(ChainId::from(1), &[0, 1]);
/// let automaton = Automaton {
///     initial: StateIndex(0),
///     actions: 2,
///     next: [1, 2, 1, 1, 2, 2].map(StateIndex).to_vec(),
///     verdicts: vec![Ok, Satisfied, Violated],
/// };
/// let problem = Problem { poset, actions: vec![ActionId(0), ActionId(1)], automaton };
/// let graph = graph(&problem, 10).unwrap();
/// let verdicts: Vec<_> = graph.cuts.iter().map(|cut| cut.verdicts.as_slice()).collect();
/// assert_eq!(verdicts, [&[Ok][..], &[Violated], &[Satisfied], &[Violated, Satisfied]]);
/// assert_eq!(graph.edges.len(), 4);
/// ```
pub fn graph(problem: &Problem, max_cuts: usize) -> Option<Graph> {
    explore(
        &problem.poset,
        &problem.actions,
        &problem.automaton,
        max_cuts,
    )
}

pub(crate) fn explore<M: TransitionSystem>(
    poset: &Poset,
    actions: &[ActionId],
    machine: &M,
    max_cuts: usize,
) -> Option<Graph> {
    // Every event adds at least one cut.
    if poset.len() >= max_cuts {
        return None;
    }
    let mut graph = Graph::default();
    let bottom = vec![0; poset.width()];
    let mut level = BTreeMap::from([(bottom, BTreeSet::from([machine.initial()]))]);
    // The edges into the level, by the counts of their targets.
    let mut edges: Vec<(u32, Vec<u32>, u32)> = Vec::new();
    while !level.is_empty() {
        let first = graph.cuts.len();
        if first + level.len() > max_cuts {
            return None;
        }
        let places: BTreeMap<&Vec<u32>, u32> = level.keys().zip(first as u32..).collect();
        graph
            .edges
            .extend(edges.drain(..).map(|(from, counts, event)| Edge {
                from,
                to: places[&counts],
                event,
            }));
        let mut next: BTreeMap<Vec<u32>, BTreeSet<M::State>> = BTreeMap::new();
        for (index, (counts, states)) in level.iter().enumerate() {
            for chain in poset.chains() {
                let Some(&event) = poset.chain(chain).get(counts[chain.index()] as usize) else {
                    continue;
                };
                let mut more = counts.clone();
                more[chain.index()] += 1;
                let needs = poset.clock(event).iter();
                if needs.zip(&more).any(|(need, has)| need > has) {
                    continue;
                }
                let action = actions[event.index()];
                let states = states.iter().map(|state| machine.step(state, action));
                next.entry(more.clone()).or_default().extend(states);
                edges.push(((first + index) as u32, more, event.0));
            }
        }
        graph.cuts.extend(level.into_iter().map(|(counts, states)| {
            let verdicts = states.iter().map(|state| machine.verdict(state));
            let verdicts: BTreeSet<Verdict> = verdicts.collect();
            Cut {
                counts,
                verdicts: verdicts.into_iter().collect(),
            }
        }));
        level = next;
    }
    Some(graph)
}

/// The number of cuts in the levels of a lattice, as bars.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Widths {
    /// The number of levels.
    pub levels: u64,
    /// The number of levels that a bar stands for; the last bar may stand for fewer.
    pub each: u64,
    /// For each bar the number of cuts on the widest of its levels.
    pub bars: Vec<u64>,
}

/// The widths of the levels of a lattice, in at most `bars` bars. Visits every cut.
///
/// ```
/// use portent_lattice::{report::picture::widths, laboratory::Poset};
/// use portent_monitor_core::ChainId;
///
/// let mut poset = Poset::new(2);
/// poset.push(ChainId::from(0), &[1, 0]);
/// poset.push(ChainId::from(1), &[0, 1]);
/// assert_eq!(widths(&poset, 10, false).bars, [1, 2, 1]);
/// assert_eq!(widths(&poset, 2, false).bars, [2, 1]);
/// ```
pub fn widths(poset: &Poset, bars: usize, parallel: bool) -> Widths {
    let requirements = Requirements::of_poset(poset);
    let labelled = LabelledPoset {
        poset,
        requirements: &requirements,
        actions: &[],
    };
    let levels = poset.len() + 1;
    let each = levels.div_ceil(bars.max(1));
    let mut widest = vec![0u64; levels.div_ceil(each)];
    enumerate::each_level(labelled, parallel, |level, cuts| {
        let bar = &mut widest[level / each];
        *bar = cuts.max(*bar);
    });
    Widths {
        levels: levels as u64,
        each: each as u64,
        bars: widest,
    }
}
