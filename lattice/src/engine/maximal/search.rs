//! Search over feasible prefixes, by the number of relevant events in them.
//!
//! Prefixes that nobody is stuck in may be beginnings of whole runs. They are searched in turns with the others, and
//! when a violation is found that cannot be completed, for a while longer alone.

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use smallvec::{SmallVec, smallvec};

use super::{
    ahead::Ahead,
    complete::complete,
    outlook::Outlook,
    relax::Enforced,
    rules::Rules,
    state::{Packing, Prefix, PrefixKey},
    stubborn::Stubborn,
};
use crate::{
    automaton::{ActionId, Automaton, Machine, StateIndex},
    goal::Goal,
    options::Reductions,
    progress::Progress,
    stop::Stop,
};

/// Progress is reported each time this many prefixes were found.
const TOLD: usize = 1 << 14;
/// A prefix takes about this many bytes besides its numbers.
const NODE_BYTES: u64 = 112;
/// After a violation that cannot be completed, a whole run is looked for while this many more prefixes are found, or as many as before.
const PATIENCE: usize = 5_000;

/// Whether some feasible run is violated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MaximalAnswer {
    /// Yes, this one.
    Violated(FeasibleRun),
    /// No.
    Safe,
    /// A limit was met first.
    GaveUp,
}

/// A violated run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeasibleRun {
    /// Indices of events of the trace: all of them, or those up to the one that violates, if no way was found to go on to the end.
    pub order: Vec<usize>,
    /// After how many of them it is violated.
    pub violated_at: usize,
    /// Whether no feasible prefix is violated after fewer relevant events.
    pub is_shortest: bool,
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
/// use portent_lattice::{Reductions, laboratory::{ActionId, Automaton, StateIndex, maximal::{self, MaximalAnswer, Rules}}};
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
/// // Violated if the second step comes first, which happens-before does not allow.
/// let automaton = Automaton {
///     initial: StateIndex(0),
///     actions: 2,
///     next: [1, 2, 1, 1, 2, 2].map(StateIndex).to_vec(),
///     verdicts: vec![Verdict::Ok, Verdict::Satisfied, Verdict::Violated],
/// };
/// let actions = [None, Some(ActionId(0)), None, None, Some(ActionId(1)), None];
/// let found = maximal::search(&Rules::new(&trace), &actions, &automaton, 1_000, Reductions::ALL);
/// let MaximalAnswer::Violated(run) = found.answer else { unreachable!() };
/// assert_eq!(run.order, [3, 4, 5, 0, 1, 2]);
/// assert_eq!(run.violated_at, 2);
/// # Ok::<(), portent_monitor_core::Error>(())
/// ```
pub fn search(
    rules: &Rules,
    actions: &[Option<ActionId>],
    automaton: &Automaton,
    max_nodes: usize,
    reductions: Reductions,
) -> MaximalSearched {
    let question = FeasibilityQuestion {
        rules,
        actions,
        machine: automaton,
        table: Some(automaton),
        goal: Goal::default(),
        reductions,
        progress: &Progress::default(),
        stop: &Stop::default(),
    };
    question.answer(max_nodes)
}

/// What is looked for, and in what.
pub(super) struct FeasibilityQuestion<'a, M> {
    pub(super) rules: &'a Rules,
    /// What each event of the trace does, if it is a step of the property.
    pub(super) actions: &'a [Option<ActionId>],
    pub(super) machine: &'a M,
    /// The machine as a table, if there is one.
    pub(super) table: Option<&'a Automaton>,
    pub(super) goal: Goal,
    pub(super) reductions: Reductions,
    pub(super) progress: &'a Progress,
    pub(super) stop: &'a Stop,
}

impl<M: Machine<State = StateIndex>> FeasibilityQuestion<'_, M> {
    /// How many nodes fit in this many bytes.
    pub(super) fn nodes_in(&self, memory: u64) -> usize {
        let node = Packing::new(self.rules).key_bytes() as u64 + NODE_BYTES;
        usize::try_from(memory / node).unwrap_or(usize::MAX)
    }

    /// The answer, from relaxed rules if they have it.
    pub(super) fn answer(&self, max_nodes: usize) -> MaximalSearched {
        let mut spent = 0;
        if self.reductions.commutation
            && let Some(answer) = self.refine(max_nodes / 2, &mut spent)
        {
            return MaximalSearched {
                answer,
                nodes: spent,
                left: 0,
            };
        }
        let mut found = self.search((max_nodes - spent).max(1));
        found.nodes += spent;
        found
    }

    /// Searches with relaxed rules, and enforces what violations break that are not feasible, until there are none, or one
    /// is part of a whole run.
    fn refine(&self, max_nodes: usize, spent: &mut usize) -> Option<MaximalAnswer> {
        let mut enforced = Enforced::nothing(self.rules);
        while !enforced.is_everything() && *spent < max_nodes {
            let rules = &enforced.rules(self.rules)?;
            let found = FeasibilityQuestion { rules, ..*self }.search(max_nodes - *spent);
            *spent += found.nodes + found.left;
            match found.answer {
                MaximalAnswer::Safe => return Some(MaximalAnswer::Safe),
                MaximalAnswer::GaveUp => return None,
                MaximalAnswer::Violated(mut run) => {
                    run.order.truncate(run.violated_at);
                    if !enforced.enforce(self.rules, &run.order) {
                        run.order = complete(self.rules, &run.order)?;
                        return Some(MaximalAnswer::Violated(run));
                    }
                }
            }
        }
        None
    }

    fn search(&self, max_nodes: usize) -> MaximalSearched {
        let mut search = Search {
            question: self,
            packing: Packing::new(self.rules),
            outlook: self.table.map(|table| Outlook::new(table, self.goal)),
            stubborn: Stubborn::new(self.rules, self.actions),
            ahead: Ahead::new(self.rules),
            beyond: Ahead::new(self.rules),
            found: IndexMap::default(),
            nodes: Vec::new(),
            whole: PrefixLevels::default(),
            stuck: PrefixLevels::default(),
            violated: None,
        };
        let answer = search.run(max_nodes);
        let left = search.whole.len + search.stuck.len;
        MaximalSearched {
            answer,
            nodes: search.nodes.len() - left,
            left,
        }
    }

    fn is_violated(&self, state: StateIndex) -> bool {
        self.goal.is_bad(self.machine.verdict(&state), false)
    }

    fn is_bad(&self, prefix: &Prefix) -> bool {
        let verdict = self.machine.verdict(&prefix.state);
        self.goal.is_bad(verdict, false)
            || (self.goal.is_bad(verdict, true) && prefix.is_whole(self.rules))
    }

    fn happen(&self, prefix: &mut Prefix, event: u32) {
        prefix.happen(self.rules, event);
        if let Some(action) = self.actions[event as usize] {
            prefix.state = self.machine.step(&prefix.state, action);
        }
    }
}

/// A prefix that was found, in one of the states that it can be in.
struct PrefixNode {
    /// Its number among the keys.
    key: u32,
    state: StateIndex,
    /// How many relevant events it has.
    level: u32,
    /// The node that it came from, and the event that was added.
    origin: Option<(u32, u32)>,
}

/// Nodes that wait to be looked at, those with the fewest relevant events first.
#[derive(Default)]
struct PrefixLevels {
    waiting: Vec<Vec<u32>>,
    lowest: usize,
    len: usize,
}

impl PrefixLevels {
    fn push(&mut self, level: u32, node: u32) {
        let level = level as usize;
        if self.waiting.len() <= level {
            self.waiting.resize(level + 1, Vec::new());
        }
        self.waiting[level].push(node);
        self.lowest = self.lowest.min(level);
        self.len += 1;
    }

    fn pop(&mut self) -> Option<u32> {
        self.pop_below(u32::MAX)
    }

    /// The next node, if it has fewer relevant events than that.
    fn pop_below(&mut self, level: u32) -> Option<u32> {
        while self.lowest < self.waiting.len().min(level as usize) {
            if let Some(node) = self.waiting[self.lowest].pop() {
                self.len -= 1;
                return Some(node);
            }
            self.lowest += 1;
        }
        None
    }

    /// Whether no node waits that has fewer relevant events.
    fn is_past(&self, level: u32) -> bool {
        let below = self.waiting.iter().take(level as usize);
        below.into_iter().all(Vec::is_empty)
    }
}

struct Search<'a, M> {
    question: &'a FeasibilityQuestion<'a, M>,
    packing: Packing,
    outlook: Option<Outlook<'a>>,
    stubborn: Stubborn<'a>,
    /// What is ahead of the prefix that is looked at, and of one that comes after it.
    ahead: Ahead,
    beyond: Ahead,
    /// The prefixes that were found, and their nodes.
    found: IndexMap<PrefixKey, SmallVec<[u32; 2]>, FxBuildHasher>,
    nodes: Vec<PrefixNode>,
    /// Nodes that may lead to whole runs, and those that do not.
    whole: PrefixLevels,
    stuck: PrefixLevels,
    /// The first violated node that was found.
    violated: Option<u32>,
}

impl<M: Machine<State = StateIndex>> Search<'_, M> {
    fn run(&mut self, max_nodes: usize) -> MaximalAnswer {
        let question = self.question;
        let mut prefix = Prefix::empty(question.rules, question.machine.initial());
        self.look(&prefix);
        self.add(prefix.clone(), None, 0);
        // A violation that cannot be completed, and until when something better is looked for.
        let mut cut_short: Option<(u32, usize)> = None;
        let mut is_whole_turn = false;
        loop {
            is_whole_turn = !is_whole_turn;
            let next = match cut_short {
                Some((_, until)) if self.nodes.len() >= until => None,
                // Or one that is at least violated sooner.
                Some((other, _)) => self.whole.pop().or_else(|| {
                    let level = self.nodes[other as usize].level;
                    self.stuck.pop_below(level)
                }),
                None if is_whole_turn => self.whole.pop().or_else(|| self.stuck.pop()),
                None => self.stuck.pop().or_else(|| self.whole.pop()),
            };
            let Some(mut number) = next else {
                break;
            };
            let is_over = self.nodes.len() >= max_nodes || question.stop.is_raised();
            if is_over {
                // It counts as one that is left. Some that wait may be violated all the same.
                self.stuck.push(self.nodes[number as usize].level, number);
                match (cut_short, self.violated) {
                    (None, None) => return MaximalAnswer::GaveUp,
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
                return MaximalAnswer::Violated(FeasibleRun {
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
                MaximalAnswer::Violated(FeasibleRun {
                    violated_at: order.len(),
                    order,
                    is_shortest: self.is_past(self.nodes[number as usize].level),
                })
            }
            None => MaximalAnswer::Safe,
        }
    }

    /// Whether no node waits that has fewer relevant events.
    fn is_past(&self, level: u32) -> bool {
        self.whole.is_past(level) && self.stuck.is_past(level)
    }

    /// Finds out how far threads can come.
    fn look(&mut self, prefix: &Prefix) {
        if self.question.reductions.dead_ends {
            self.ahead.look(self.question.rules, prefix)
        } else {
            self.ahead.look_nowhere(self.question.rules)
        }
    }

    /// Adds what can follow a prefix.
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

    /// The events that have to be tried after a prefix.
    fn events(&mut self, prefix: &Prefix) -> Vec<u32> {
        let question = self.question;
        if !question.reductions.commutation {
            return prefix.enabled(question.rules).collect();
        }
        let to_come = self.stubborn.to_come(prefix, &self.ahead);
        let landmarks = match &mut self.outlook {
            Some(outlook) => outlook.landmarks(prefix.state, to_come).to_vec(),
            None => vec![u64::MAX],
        };
        let outlook = self.outlook.as_ref();
        let to_the_end = question.goal.complete;
        self.stubborn
            .choose(prefix, &self.ahead, outlook, &landmarks, to_the_end)
            .to_vec()
    }

    /// Adds a prefix, after all that can do no harm has happened in it.
    fn add(&mut self, mut prefix: Prefix, origin: Option<(u32, u32)>, level: u32) {
        let question = self.question;
        self.settle(&mut prefix, |_| {});
        let Reductions {
            absorption,
            dead_ends,
            subsumption,
            ..
        } = question.reductions;
        if let Some(outlook) = &mut self.outlook
            && absorption
            && outlook.is_hopeless(prefix.state)
        {
            return;
        }
        let key = self.packing.pack(&prefix);
        let entry = self.found.entry(key);
        let place = entry.index() as u32;
        let of_key = entry.or_insert_with(|| smallvec![]);
        let nodes = &self.nodes;
        let outlook = self.outlook.as_ref().filter(|_| subsumption);
        let is_known = of_key.iter().any(|&other| {
            let other = nodes[other as usize].state;
            other == prefix.state
                || outlook.is_some_and(|outlook| outlook.covers(prefix.state, other))
        });
        if is_known {
            return;
        }
        if dead_ends {
            self.beyond.look(question.rules, &prefix);
            let to_come = self.stubborn.to_come(&prefix, &self.beyond);
            if let Some(outlook) = &mut self.outlook
                && !outlook.may_fall(prefix.state, to_come)
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

    /// Lets everything happen that does no harm, and reports each event. What is ahead of the prefix that it came from is
    /// known.
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

    /// The events up to a node. Those that happened because they do no harm happen again.
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
