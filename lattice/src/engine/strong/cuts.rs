//! All reachable cuts, by the number of steps in them: the answer to every question, if there are not too many.
//!
//! An event that is not a step, can happen and shuts out no other event happens at once; so does a critical section if all of
//! it can.

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use smallvec::{SmallVec, smallvec};

use super::question::StrongQuestion;
use crate::{
    automaton::{StateIndex, TransitionSystem},
    engine::maximal::{FeasibilityAnswer, FeasibilitySearched, FeasibleRun, PrefixLevels},
};

/// Progress is reported each time this many cuts were found.
const TOLD: usize = 1 << 14;

/// A cut in one of the states that the runs to it lead to.
struct CutNode {
    /// The index of the cut.
    cut: u32,
    state: StateIndex,
    /// The number of its steps.
    level: u32,
    /// Its predecessor, and the event that was added.
    origin: Option<(u32, u32)>,
}

/// A search in progress.
pub(super) struct CutSearch<'q, 'a, M> {
    question: &'q StrongQuestion<'a, M>,
    /// For each thread, as bits, the actions still to come after each number of its events.
    to_come: Vec<Vec<u64>>,
    cuts: IndexMap<Box<[u32]>, SmallVec<[u32; 2]>, FxBuildHasher>,
    nodes: Vec<CutNode>,
    waiting: PrefixLevels,
    violated: Option<u32>,
}

impl<'q, 'a, M: TransitionSystem<State = StateIndex>> CutSearch<'q, 'a, M> {
    pub(super) fn new(question: &'q StrongQuestion<'a, M>) -> Self {
        let to_come = question.guards.threads.iter().map(|events| {
            let mut bits = 0;
            let mut to_come: Vec<u64> = { events.iter().rev() }
                .map(|&event| {
                    bits |= question.steps.bits(event);
                    bits
                })
                .collect();
            to_come.reverse();
            to_come.push(0);
            to_come
        });
        CutSearch {
            question,
            to_come: to_come.collect(),
            cuts: IndexMap::default(),
            nodes: Vec::new(),
            waiting: PrefixLevels::default(),
            violated: None,
        }
    }

    /// Looks for a violated run until this many nodes were found.
    pub(super) fn run(&mut self, max_nodes: usize) -> FeasibilitySearched {
        let question = self.question;
        let mut cut = vec![0; question.guards.threads.len()];
        self.settle(&mut cut, |_| {});
        self.add(cut.clone(), question.machine.initial(), None, 0);
        let mut is_cut_off = false;
        while self.violated.is_none()
            && let Some(number) = self.waiting.pop()
        {
            let node = &self.nodes[number as usize];
            let (level, state) = (node.level, node.state);
            if self.nodes.len() >= max_nodes || question.stop.is_raised() {
                self.waiting.push(level, number);
                is_cut_off = true;
                break;
            }
            let (key, _) = self
                .cuts
                .get_index(node.cut as usize)
                .expect("every node has one");
            cut.copy_from_slice(key);
            for thread in 0..cut.len() {
                let Some(event) = question.guards.next(thread, cut[thread]) else {
                    continue;
                };
                if !question.guards.is_enabled(event, &cut) {
                    continue;
                }
                let action = question.steps.action(event);
                let after = action.map_or(state, |action| question.machine.step(&state, action));
                let level = level + u32::from(action.is_some());
                let mut longer = cut.clone();
                longer[thread] += 1;
                if !question.is_violated(after) {
                    self.settle(&mut longer, |_| {});
                }
                self.add(longer, after, Some((number, event)), level);
            }
        }
        let left = self.waiting.len();
        let answer = match self.violated {
            Some(number) => {
                let order = self.way(number);
                FeasibilityAnswer::Violated(FeasibleRun {
                    violated_at: order.len(),
                    is_shortest: self.waiting.is_past(self.nodes[number as usize].level),
                    order,
                })
            }
            None if is_cut_off => FeasibilityAnswer::GaveUp,
            None => FeasibilityAnswer::Safe,
        };
        FeasibilitySearched {
            answer,
            nodes: self.nodes.len() - left,
            left,
        }
    }

    fn add(&mut self, cut: Vec<u32>, state: StateIndex, origin: Option<(u32, u32)>, level: u32) {
        let question = self.question;
        if question.is_hopeless(state) {
            return;
        }
        let is_violated = question.is_violated(state);
        if !is_violated && !question.may_fall(state, self.to_come(&cut)) {
            return;
        }
        let entry = self.cuts.entry(cut.into());
        let place = entry.index() as u32;
        let of_cut = entry.or_insert_with(|| smallvec![]);
        let nodes = &self.nodes;
        let is_known = |&other: &u32| question.covers(state, nodes[other as usize].state);
        if of_cut.iter().any(is_known) {
            return;
        }
        let number = self.nodes.len() as u32;
        of_cut.push(number);
        self.nodes.push(CutNode {
            cut: place,
            state,
            level,
            origin,
        });
        if is_violated {
            self.violated.get_or_insert(number);
        }
        self.waiting.push(level, number);
        if self.nodes.len().is_multiple_of(TOLD) {
            question.progress.looked_at(TOLD as u64);
        }
    }

    /// As bits, the actions that may still come after a cut.
    fn to_come(&self, cut: &[u32]) -> u64 {
        let guards = self.question.guards;
        let threads = cut.iter().enumerate().filter(|&(thread, &count)| {
            let next = guards.next(thread, count);
            next.is_some_and(|event| !guards.is_shut_out(event, cut))
        });
        threads.fold(0, |bits, (thread, &count)| {
            bits | self.to_come[thread][count as usize]
        })
    }

    /// Lets all events happen that are not steps and restrict no other thread, and reports each one.
    fn settle(&self, cut: &mut [u32], mut told: impl FnMut(u32)) {
        if !self.question.reductions.commutation {
            return;
        }
        loop {
            let mut changed = false;
            for thread in 0..cut.len() {
                let from = cut[thread];
                let to = self.harmless(cut, thread);
                cut[thread] = to;
                for count in from..to {
                    let event = self.question.guards.next(thread, count);
                    told(event.expect("it happened"));
                    changed = true;
                }
            }
            if !changed {
                return;
            }
        }
    }

    /// How far a thread can get without any harm: not into a section that it does not leave.
    fn harmless(&self, cut: &mut [u32], thread: usize) -> u32 {
        let question = self.question;
        let from = cut[thread];
        let (mut safe, mut inside_until) = (from, 0);
        while let Some(event) = question.guards.next(thread, cut[thread])
            && question.steps.action(event).is_none()
            && question.guards.is_enabled(event, cut)
            && question.guards.shuts_out_nothing(event, cut)
        {
            cut[thread] += 1;
            for &number in question.guards.begins(event) {
                let end = question.guards.sections[number as usize].end;
                inside_until = end.max(inside_until);
            }
            if inside_until == u32::MAX {
                break;
            }
            if cut[thread] >= inside_until {
                safe = cut[thread];
            }
        }
        cut[thread] = from;
        safe
    }

    /// The events up to a node. The automatic events are repeated.
    fn way(&self, number: u32) -> Vec<usize> {
        let mut chosen = Vec::new();
        let mut current = number;
        while let Some((from, event)) = self.nodes[current as usize].origin {
            chosen.push(event);
            current = from;
        }
        let mut cut = vec![0; self.question.guards.threads.len()];
        let mut way = Vec::new();
        self.settle(&mut cut, |event| way.push(event as usize));
        for (index, &event) in chosen.iter().enumerate().rev() {
            cut[self.question.guards.places[event as usize].thread.index()] += 1;
            way.push(event as usize);
            // The last event violates it.
            if index > 0 {
                self.settle(&mut cut, |event| way.push(event as usize));
            }
        }
        way
    }
}
