//! Breadth-first search over feasible prefixes, by the number of relevant events in them.

use portent_monitor_dsl::shape::{Action, ActionClass, BadPrefixes, Node};
use std::collections::{HashSet, VecDeque};

use super::rules::{Demands, Rules};
use crate::problem::ActionId;

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
}

/// Looks for a violated feasible prefix, giving up after `max_nodes` nodes. `actions` has for each
/// event of the trace what it does to the automaton, or `None` if it is no step of the property.
///
/// ```
/// use portent_lattice::{ActionId, Automaton, AutomatonShape, StateIndex, maximal::{self, MaximalAnswer, Rules}};
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
/// let shape = AutomatonShape::new(&automaton).expect("a table");
/// let actions = [None, Some(ActionId(0)), None, None, Some(ActionId(1)), None];
/// let found = maximal::search(&Rules::new(&trace), &actions, &shape.bad_prefixes, 1_000);
/// assert_eq!(found.answer, MaximalAnswer::Violated(vec![3, 4]));
/// # Ok::<(), portent_monitor_core::Error>(())
/// ```
pub fn search(
    rules: &Rules,
    actions: &[Option<ActionId>],
    bad_prefixes: &BadPrefixes,
    max_nodes: usize,
) -> MaximalSearched {
    let classes = actions.iter();
    let classes = classes
        .map(|action| action.map(|action| bad_prefixes.class_of(Action(action.0))))
        .collect();
    let mut search = Search {
        rules,
        classes,
        bad_prefixes,
        found: Vec::new(),
        steps: Vec::new(),
        seen: HashSet::new(),
        queue: VecDeque::new(),
        max_nodes,
    };
    let answer = search.run();
    MaximalSearched {
        answer,
        nodes: search.found.len(),
    }
}

/// What matters of a prefix for what can follow.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    /// How many events of each thread have happened.
    cut: Vec<u32>,
    /// The last write of each variable that somebody will still read; `None` for the initial value,
    /// and for all other variables.
    writers: Vec<Option<usize>>,
    node: Node,
}

struct Search<'a> {
    rules: &'a Rules,
    classes: Vec<Option<ActionClass>>,
    bad_prefixes: &'a BadPrefixes,
    /// All states, each with the one that it came from.
    found: Vec<(State, Option<usize>)>,
    /// For each, the events from that one here.
    steps: Vec<Vec<usize>>,
    seen: HashSet<State>,
    /// What is to be looked at, by the number of relevant events in its cut: as a step adds 0 or 1,
    /// a queue with two ends is enough.
    queue: VecDeque<usize>,
    max_nodes: usize,
}

impl Search<'_> {
    fn run(&mut self) -> MaximalAnswer {
        let start = State {
            cut: vec![0; self.rules.threads.len()],
            writers: vec![None; self.rules.readers.len()],
            node: self.bad_prefixes.initial()[0],
        };
        self.add(start, None, Vec::new(), false);
        while let Some(current) = self.queue.pop_front() {
            let state = self.found[current].0.clone();
            if state.node == Node::BAD {
                return MaximalAnswer::Violated(self.prefix(current));
            }
            for thread in 0..state.cut.len() {
                let Some(event) = self.next(&state, thread) else {
                    continue;
                };
                if self.found.len() >= self.max_nodes {
                    return MaximalAnswer::GaveUp;
                }
                let after = self.apply(&state, event);
                self.add(
                    after,
                    Some(current),
                    vec![event],
                    self.classes[event].is_some(),
                );
            }
        }
        MaximalAnswer::Safe
    }

    /// Adds a state, after all that can do no harm has happened in it.
    fn add(&mut self, state: State, from: Option<usize>, mut steps: Vec<usize>, relevant: bool) {
        let mut state = state;
        while let Some(event) = self.harmless(&state) {
            state = self.apply(&state, event);
            steps.push(event);
        }
        if state.node == Node::DEAD || !self.seen.insert(state.clone()) {
            return;
        }
        let number = self.found.len();
        self.found.push((state, from));
        self.steps.push(steps);
        if relevant {
            self.queue.push_back(number);
        } else {
            self.queue.push_front(number);
        }
    }

    /// The next event of a thread, if it can happen now.
    fn next(&self, state: &State, thread: usize) -> Option<usize> {
        let event = *self.rules.threads[thread].get(state.cut[thread] as usize)?;
        self.is_enabled(state, event).then_some(event)
    }

    fn is_enabled(&self, state: &State, event: usize) -> bool {
        let demands = &self.rules.events[event];
        let after = |&(thread, count): &(usize, u32)| state.cut[thread] >= count;
        let sees = |&(variable, write): &(usize, Option<usize>)| state.writers[variable] == write;
        demands.after.iter().all(after)
            && demands.reads.iter().all(sees)
            && self.can_take(state, demands)
    }

    fn can_take(&self, state: &State, demands: &Demands) -> bool {
        let Some(taken) = demands.takes else {
            return true;
        };
        state.cut.iter().enumerate().all(|(thread, &count)| {
            let last = (count as usize).checked_sub(1);
            let held = last.map_or(&[][..], |last| {
                let event = self.rules.threads[thread][last];
                &self.rules.events[event].held
            });
            thread == demands.thread || !held.iter().any(|&held| taken.excludes(held))
        })
    }

    /// An event that can happen now, is not seen by the property and takes nothing from anybody.
    /// Any continuation could as well have begun with it.
    fn harmless(&self, state: &State) -> Option<usize> {
        if state.node == Node::BAD {
            return None;
        }
        (0..state.cut.len())
            .filter_map(|thread| self.next(state, thread))
            .find(|&event| {
                let demands = &self.rules.events[event];
                let mut writes = demands.writes.iter();
                self.classes[event].is_none()
                    && demands.takes.is_none()
                    && writes.all(|&variable| !self.is_to_be_read(&state.cut, variable))
            })
    }

    fn is_to_be_read(&self, cut: &[u32], variable: usize) -> bool {
        let mut readers = self.rules.readers[variable].iter();
        readers.any(|&(thread, position)| cut[thread] < position)
    }

    fn apply(&self, state: &State, event: usize) -> State {
        let demands = &self.rules.events[event];
        let mut after = state.clone();
        after.cut[demands.thread] += 1;
        for &variable in &demands.writes {
            after.writers[variable] = Some(event);
        }
        let touched = demands.writes.iter();
        for &variable in touched.chain(demands.reads.iter().map(|(variable, _)| variable)) {
            if !self.is_to_be_read(&after.cut, variable) {
                after.writers[variable] = None;
            }
        }
        if let Some(class) = self.classes[event] {
            after.node = self.bad_prefixes.step(after.node, class);
        }
        after
    }

    /// The events up to a violated state.
    fn prefix(&self, violated: usize) -> Vec<usize> {
        let mut parts = Vec::new();
        let mut current = Some(violated);
        while let Some(number) = current {
            parts.push(&self.steps[number]);
            current = self.found[number].1;
        }
        parts.into_iter().rev().flatten().copied().collect()
    }
}
