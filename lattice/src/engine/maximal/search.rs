//! Breadth-first search over feasible prefixes, by the number of relevant events in them.

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use std::collections::VecDeque;

use super::{rules::Rules, state::Prefix};
use crate::{
    automaton::{ActionId, Automaton, Machine, StateIndex},
    goal::Goal,
    progress::Progress,
    stop::Stop,
};

/// Progress is told whenever so many prefixes were found.
const TOLD: usize = 1 << 14;
/// About so many bytes a prefix takes beside its numbers.
const NODE_BYTES: u64 = 64;

/// Whether some feasible run is violated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MaximalAnswer {
    /// Yes: this prefix, as indices of events of the trace. It has as few relevant events as any,
    /// and ends with the one that violates.
    Violated(Vec<usize>),
    /// No.
    Safe,
    /// A limit was met first.
    GaveUp,
}

/// The result of [`search`].
#[derive(Clone, Debug)]
pub struct MaximalSearched {
    /// Whether some feasible run is violated.
    pub answer: MaximalAnswer,
    /// How many prefixes, up to what matters of them, were looked at.
    pub nodes: usize,
    /// How many were found and not looked at when the search ended.
    pub left: usize,
}

/// Looks for a violated feasible prefix, giving up after `max_nodes` nodes. `actions` has for each
/// event of the trace what it does to the automaton, or `None` if it is no step of the property.
///
/// ```
/// use portent_lattice::laboratory::{ActionId, Automaton, StateIndex, maximal::{self, MaximalAnswer, Rules}};
/// use portent_monitor_core::{Event, Op, Symbols};
/// use portent_monitor_dsl::Verdict;
///
/// // Two critical sections of one lock; a step in each.
/// let mut s = Symbols::default();
/// let (t1, t2) = (s.threads.intern("T1")?, s.threads.intern("T2")?);
/// let (m, x, y) = (s.locks.intern("m")?, s.vars.intern("x")?, s.vars.intern("y")?);
/// let trace = [
///     Event::new(t1, Op::Lock(m)),
///     Event::new(t1, Op::Write(x, None)),
///     Event::new(t1, Op::Unlock(m)),
///     Event::new(t2, Op::Lock(m)),
///     Event::new(t2, Op::Write(y, None)),
///     Event::new(t2, Op::Unlock(m)),
/// ];
/// // Violated by action 1 before action 0.
/// let automaton = Automaton {
///     initial: StateIndex(0),
///     actions: 2,
///     next: [1, 2, 1, 1, 2, 2].map(StateIndex).to_vec(),
///     verdicts: vec![Verdict::Ok, Verdict::Satisfied, Verdict::Violated],
/// };
/// let actions = [None, Some(ActionId(0)), None, None, Some(ActionId(1)), None];
/// let found = maximal::search(&Rules::new(&trace), &actions, &automaton, 1_000);
/// assert_eq!(found.answer, MaximalAnswer::Violated(vec![3, 4]));
/// # Ok::<(), portent_monitor_core::Error>(())
/// ```
pub fn search(
    rules: &Rules,
    actions: &[Option<ActionId>],
    automaton: &Automaton,
    max_nodes: usize,
) -> MaximalSearched {
    let hopeful = automaton.may_become(|verdict| Goal::default().is_bad(verdict, true));
    let question = Question {
        rules,
        actions,
        machine: automaton,
        hopeful: Some(&hopeful),
        goal: Goal::default(),
        progress: &Progress::default(),
        stop: &Stop::default(),
    };
    question.search(max_nodes)
}

/// What is looked for, and in what.
pub(super) struct Question<'a, M> {
    pub(super) rules: &'a Rules,
    /// What each event of the trace does, if it is a step of the property.
    pub(super) actions: &'a [Option<ActionId>],
    pub(super) machine: &'a M,
    /// For each state whether the goal can be reached from it at all, if that is known.
    pub(super) hopeful: Option<&'a [bool]>,
    pub(super) goal: Goal,
    pub(super) progress: &'a Progress,
    pub(super) stop: &'a Stop,
}

impl<M: Machine<State = StateIndex>> Question<'_, M> {
    /// How many nodes fit in so many bytes.
    pub(super) fn nodes_in(&self, memory: u64) -> usize {
        let node = 4 * Prefix::numbers(self.rules) as u64 + NODE_BYTES;
        usize::try_from(memory / node).unwrap_or(usize::MAX)
    }

    pub(super) fn search(&self, max_nodes: usize) -> MaximalSearched {
        let mut search = Search {
            question: self,
            found: IndexSet::default(),
            origins: Vec::new(),
            queue: VecDeque::new(),
        };
        let answer = search.run(max_nodes);
        MaximalSearched {
            answer,
            nodes: search.found.len() - search.queue.len(),
            left: search.queue.len(),
        }
    }

    fn is_bad(&self, prefix: &Prefix) -> bool {
        let verdict = self.machine.verdict(&prefix.state());
        self.goal.is_bad(verdict, false)
            || (self.goal.is_bad(verdict, true) && prefix.is_whole(self.rules))
    }

    fn is_hopeless(&self, state: StateIndex) -> bool {
        self.hopeful
            .is_some_and(|hopeful| !hopeful[state.0 as usize])
    }

    fn happen(&self, prefix: &mut Prefix, event: u32) {
        prefix.happen(self.rules, event);
        if let Some(action) = self.actions[event as usize] {
            prefix.set_state(self.machine.step(&prefix.state(), action));
        }
    }

    /// An event that can happen now, is not seen by the property and takes nothing from anybody.
    /// Any continuation could as well have begun with it.
    fn harmless(&self, prefix: &Prefix) -> Option<u32> {
        prefix.enabled(self.rules).find(|&event| {
            self.actions[event as usize].is_none() && prefix.is_harmless(self.rules, event)
        })
    }

    /// Lets all happen that does no harm; each event is told.
    fn settle(&self, prefix: &mut Prefix, mut told: impl FnMut(u32)) {
        while !self.is_bad(prefix)
            && let Some(event) = self.harmless(prefix)
        {
            self.happen(prefix, event);
            told(event);
        }
    }
}

struct Search<'a, M> {
    question: &'a Question<'a, M>,
    found: IndexSet<Prefix, FxBuildHasher>,
    /// For each prefix but the first, the one that it came from and the event that was added.
    origins: Vec<Option<(u32, u32)>>,
    /// What is to be looked at, by the number of relevant events in it: as a step adds 0 or 1, a
    /// queue with two ends is enough.
    queue: VecDeque<(u32, u32)>,
}

impl<M: Machine<State = StateIndex>> Search<'_, M> {
    fn run(&mut self, max_nodes: usize) -> MaximalAnswer {
        let question = self.question;
        let start = Prefix::empty(question.rules, question.machine.initial());
        self.add(start, None, 0, false);
        while let Some((current, level)) = self.queue.pop_front() {
            let prefix = self.found[current as usize].clone();
            if question.is_bad(&prefix) {
                return MaximalAnswer::Violated(self.way(current));
            }
            for event in prefix.enabled(question.rules) {
                if self.found.len() >= max_nodes || question.stop.is_raised() {
                    return MaximalAnswer::GaveUp;
                }
                let mut after = prefix.clone();
                question.happen(&mut after, event);
                let relevant = question.actions[event as usize].is_some();
                let level = level + u32::from(relevant);
                self.add(after, Some((current, event)), level, relevant);
            }
        }
        MaximalAnswer::Safe
    }

    /// Adds a prefix, after all that can do no harm has happened in it.
    fn add(&mut self, mut prefix: Prefix, origin: Option<(u32, u32)>, level: u32, last: bool) {
        self.question.settle(&mut prefix, |_| {});
        if self.question.is_hopeless(prefix.state()) {
            return;
        }
        let (number, is_new) = self.found.insert_full(prefix);
        if !is_new {
            return;
        }
        self.origins.push(origin);
        match last {
            true => self.queue.push_back((number as u32, level)),
            false => self.queue.push_front((number as u32, level)),
        }
        if self.found.len().is_multiple_of(TOLD) {
            self.question.progress.looked_at(TOLD as u64);
        }
    }

    /// The events up to a prefix. Those that happened because they do no harm happen again.
    fn way(&self, number: u32) -> Vec<usize> {
        let mut chosen = Vec::new();
        let mut current = number;
        while let Some((from, event)) = self.origins[current as usize] {
            chosen.push(event);
            current = from;
        }
        let question = self.question;
        let mut prefix = Prefix::empty(question.rules, question.machine.initial());
        let mut way = Vec::new();
        question.settle(&mut prefix, |event| way.push(event as usize));
        for event in chosen.into_iter().rev() {
            question.happen(&mut prefix, event);
            way.push(event as usize);
            question.settle(&mut prefix, |event| way.push(event as usize));
        }
        way
    }
}
