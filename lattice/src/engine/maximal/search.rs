//! Search over feasible prefixes, by the number of relevant events in them.
//!
//! Prefixes in which no thread is stuck may be beginnings of whole runs. They are searched alternately with the others; once a
//! violation is found that cannot be completed, they are searched alone for a while longer.

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use smallvec::{SmallVec, smallvec};

use super::{
    ahead::Ahead,
    complete::complete,
    goal_analysis::GoalAnalysis,
    question::{FeasibilityAnswer, FeasibilityQuestion, FeasibleRun},
    state::{Prefix, PrefixKey, PrefixPacking},
    stubborn::Stubborn,
    waiting::PrefixLevels,
};
use crate::{
    automaton::{StateIndex, TransitionSystem},
    options::Reductions,
};

/// Progress is reported each time this many prefixes were found.
const TOLD: usize = 1 << 14;
/// After a violation that cannot be completed, the search for a whole run continues for this many more prefixes, or as many as
/// before.
const PATIENCE: usize = 5_000;

/// A prefix that was found, in one of the states that it can have.
struct PrefixNode {
    /// The index of its key.
    key: u32,
    state: StateIndex,
    /// The number of its relevant events.
    level: u32,
    /// Its predecessor, and the event that was added.
    origin: Option<(u32, u32)>,
}

/// A search in progress.
pub(super) struct Search<'a, M> {
    question: &'a FeasibilityQuestion<'a, M>,
    packing: PrefixPacking,
    goal_analysis: Option<GoalAnalysis<'a>>,
    stubborn: Stubborn<'a>,
    /// The limits ahead of the current prefix, and of one of its successors.
    ahead: Ahead,
    beyond: Ahead,
    /// The prefixes found, and their nodes.
    found: IndexMap<PrefixKey, SmallVec<[u32; 2]>, FxBuildHasher>,
    nodes: Vec<PrefixNode>,
    /// Nodes that may lead to whole runs, and those that do not.
    whole: PrefixLevels,
    stuck: PrefixLevels,
    /// The first violated node found.
    violated: Option<u32>,
}

impl<'a, M: TransitionSystem<State = StateIndex>> Search<'a, M> {
    pub(super) fn new(question: &'a FeasibilityQuestion<'a, M>) -> Self {
        let (rules, table) = (question.rules, question.table);
        Search {
            question,
            packing: PrefixPacking::new(rules),
            goal_analysis: table.map(|table| GoalAnalysis::new(table, question.goal)),
            stubborn: Stubborn::new(rules, question.actions),
            ahead: Ahead::new(rules),
            beyond: Ahead::new(rules),
            found: IndexMap::default(),
            nodes: Vec::new(),
            whole: PrefixLevels::default(),
            stuck: PrefixLevels::default(),
            violated: None,
        }
    }

    /// The number of prefixes found.
    pub(super) fn found(&self) -> usize {
        self.nodes.len()
    }

    /// The number of prefixes not examined.
    pub(super) fn left(&self) -> usize {
        self.whole.len() + self.stuck.len()
    }

    /// Looks for a violated prefix until `max_nodes` prefixes were found.
    pub(super) fn run(&mut self, max_nodes: usize) -> FeasibilityAnswer {
        let question = self.question;
        let mut prefix = Prefix::empty(question.rules, question.machine.initial());
        self.look(&prefix);
        self.add(prefix.clone(), None, 0);
        // A violation that cannot be completed, and the limit of the search for a better one.
        let mut cut_short: Option<(u32, usize)> = None;
        let mut is_whole_turn = false;
        loop {
            is_whole_turn = !is_whole_turn;
            let Some(mut number) = self.next(cut_short, is_whole_turn) else {
                break;
            };
            let is_over = self.nodes.len() >= max_nodes || question.stop.is_raised();
            if is_over {
                // It counts as not examined. Some waiting prefixes may still be violated.
                self.stuck.push(self.nodes[number as usize].level, number);
                match (cut_short, self.violated) {
                    (None, None) => return FeasibilityAnswer::GaveUp,
                    (None, Some(violated)) => number = violated,
                    _ => break,
                }
            }
            let node = &self.nodes[number as usize];
            let (level, state) = (node.level, node.state);
            let key = self.found.get_index(node.key as usize);
            let (key, _) = key.expect("every node has one");
            self.packing.unpack(key, state, &mut prefix);
            if !question.is_bad(&prefix) {
                self.expand(&prefix, number, level);
                continue;
            }
            let way = self.way(number);
            if let Some(order) = complete(question.rules, &way) {
                let is_shortest = cut_short
                    .is_none_or(|(other, _)| self.nodes[other as usize].level >= level)
                    && self.is_past(level);
                return FeasibilityAnswer::Violated(FeasibleRun {
                    violated_at: way.len(),
                    order,
                    is_shortest,
                });
            }
            let until = if is_over {
                0
            } else {
                2 * self.nodes.len() + PATIENCE
            };
            match &mut cut_short {
                None => cut_short = Some((number, until)),
                Some((other, _)) if self.nodes[*other as usize].level > level => *other = number,
                Some(_) => {}
            }
        }
        match cut_short {
            Some((number, _)) => {
                let order = self.way(number);
                FeasibilityAnswer::Violated(FeasibleRun {
                    violated_at: order.len(),
                    order,
                    is_shortest: self.is_past(self.nodes[number as usize].level),
                })
            }
            None => FeasibilityAnswer::Safe,
        }
    }

    /// The next node to examine; `cut_short` as in [`run`](Search::run).
    fn next(&mut self, cut_short: Option<(u32, usize)>, is_whole_turn: bool) -> Option<u32> {
        match cut_short {
            Some((_, until)) if self.nodes.len() >= until => None,
            // Or at least one that is violated sooner.
            Some((other, _)) => self.whole.pop().or_else(|| {
                let level = self.nodes[other as usize].level;
                self.stuck.pop_below(level)
            }),
            None if is_whole_turn => self.whole.pop().or_else(|| self.stuck.pop()),
            None => self.stuck.pop().or_else(|| self.whole.pop()),
        }
    }

    /// Whether no waiting node has fewer relevant events.
    fn is_past(&self, level: u32) -> bool {
        self.whole.is_past(level) && self.stuck.is_past(level)
    }

    /// Determines how far threads can get.
    fn look(&mut self, prefix: &Prefix) {
        if self.question.reductions.dead_ends {
            self.ahead.look(self.question.rules, prefix)
        } else {
            self.ahead.look_nowhere(self.question.rules)
        }
    }

    /// Adds the successors of a prefix.
    fn expand(&mut self, prefix: &Prefix, number: u32, level: u32) {
        let question = self.question;
        self.look(prefix);
        for event in self.events(prefix) {
            let mut after = prefix.clone();
            question.happen(&mut after, event);
            let relevant = question.actions[event as usize].is_some();
            self.add(after, Some((number, event)), level + u32::from(relevant));
        }
    }

    /// The events that must be tried after a prefix.
    fn events(&mut self, prefix: &Prefix) -> Vec<u32> {
        let question = self.question;
        if !question.reductions.commutation {
            return prefix.enabled(question.rules).collect();
        }
        let to_come = self.stubborn.to_come(prefix, &self.ahead);
        let landmarks = match &mut self.goal_analysis {
            Some(goal_analysis) => goal_analysis.landmarks(prefix.state, to_come).to_vec(),
            None => vec![u64::MAX],
        };
        let goal_analysis = self.goal_analysis.as_ref();
        let to_the_end = question.goal.complete;
        self.stubborn
            .choose(prefix, &self.ahead, goal_analysis, &landmarks, to_the_end)
            .to_vec()
    }

    /// Adds a prefix, after all harmless events have happened in it.
    fn add(&mut self, mut prefix: Prefix, origin: Option<(u32, u32)>, level: u32) {
        let question = self.question;
        self.settle(&mut prefix, |_| {});
        let Reductions {
            absorption,
            dead_ends,
            subsumption,
            ..
        } = question.reductions;
        if let Some(goal_analysis) = &mut self.goal_analysis
            && absorption
            && goal_analysis.is_hopeless(prefix.state)
        {
            return;
        }
        let key = self.packing.pack(&prefix);
        let entry = self.found.entry(key);
        let place = entry.index() as u32;
        let of_key = entry.or_insert_with(|| smallvec![]);
        let nodes = &self.nodes;
        let goal_analysis = self.goal_analysis.as_ref().filter(|_| subsumption);
        let is_known = of_key.iter().any(|&other| {
            let other = nodes[other as usize].state;
            other == prefix.state
                || goal_analysis
                    .is_some_and(|goal_analysis| goal_analysis.covers(prefix.state, other))
        });
        if is_known {
            return;
        }
        if dead_ends {
            self.beyond.look(question.rules, &prefix);
            let to_come = self.stubborn.to_come(&prefix, &self.beyond);
            if let Some(goal_analysis) = &mut self.goal_analysis
                && !goal_analysis.may_fall(prefix.state, to_come)
            {
                return;
            }
        }
        let number = self.nodes.len() as u32;
        if question.is_violated(prefix.state) {
            self.violated.get_or_insert(number);
        }
        of_key.push(number);
        self.nodes.push(PrefixNode {
            key: place,
            state: prefix.state,
            level,
            origin,
        });
        if self.beyond.is_whole() {
            self.whole.push(level, number)
        } else {
            self.stuck.push(level, number)
        }
        if self.nodes.len().is_multiple_of(TOLD) {
            question.progress.looked_at(TOLD as u64);
        }
    }

    /// Lets all harmless events happen, and reports each one. The limits ahead of the prefix that it came from are known.
    fn settle(&self, prefix: &mut Prefix, mut told: impl FnMut(u32)) {
        let question = self.question;
        if !question.reductions.commutation || question.is_violated(prefix.state) {
            return;
        }
        let rules = question.rules;
        loop {
            let mut changed = false;
            for thread in 0..rules.threads.len() {
                while let Some(event) = prefix.next(rules, thread)
                    && self.stubborn.is_harmless(prefix, &self.ahead, event)
                {
                    question.happen(prefix, event);
                    told(event);
                    changed = true;
                }
            }
            if !changed {
                return;
            }
        }
    }

    /// The events up to a node. The harmless events that happened are repeated.
    fn way(&mut self, number: u32) -> Vec<usize> {
        let mut chosen = Vec::new();
        let mut current = number;
        while let Some((from, event)) = self.nodes[current as usize].origin {
            chosen.push(event);
            current = from;
        }
        let question = self.question;
        let mut prefix = Prefix::empty(question.rules, question.machine.initial());
        let mut way = Vec::new();
        self.look(&prefix);
        self.settle(&mut prefix, |event| way.push(event as usize));
        for event in chosen.into_iter().rev() {
            self.look(&prefix);
            question.happen(&mut prefix, event);
            way.push(event as usize);
            self.settle(&mut prefix, |event| way.push(event as usize));
        }
        way
    }
}
