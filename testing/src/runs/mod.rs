//! All runs of a small trace, by trying every next event, for each of three models: the reference for tests. It uses no
//! clocks, sections or closures, and only decides for each event whether it may come after others.
//!
//! | file | |
//! |---|---|
//! | `feasible` | the maximal model, by its definition |
//! | `leaving_out` | the model `strong`, by its definition |
//!
//! Happens-before is [`Relation`], which is already a definition.

mod feasible;
mod leaving_out;

use std::collections::{HashMap, HashSet};

use portent_monitor_core::{Event, Op, VarId, definition::Relation};

pub use self::{
    feasible::{is_held, may_follow},
    leaving_out::{conflict, may_follow_leaving_out},
};

/// The runs that a model allows besides the observed one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunModel {
    /// Those in which every event comes after its predecessors in the observed run.
    HappensBefore,
    /// Those that leave things out.
    Strong,
    /// Those that also swap conflicting events.
    Maximal,
}

impl RunModel {
    /// All models: the runs of each are among those of the next.
    pub const ALL: [RunModel; 3] = [RunModel::HappensBefore, RunModel::Strong, RunModel::Maximal];
}

/// A trace of at most 64 events and its constraints on runs. Sets of events are bits.
///
/// ```
/// use portent_monitor_core::{Event, Op, Symbols};
/// use portent_testing::{RunModel, Runs};
///
/// let mut s = Symbols::default();
/// let (t1, t2, m) = (s.threads.intern("T1")?, s.threads.intern("T2")?, s.locks.intern("m")?);
/// let section = |t| [Op::Lock(m), Op::Unlock(m)].map(|op| Event::new(t, op));
/// let trace = [section(t1), section(t2)].concat();
///
/// let reached = RunModel::ALL.map(|model| Runs::new(&trace, model).reached());
/// assert!(!reached[0].contains(&0b1100), "the second section comes after the first,");
/// assert!(reached[1].contains(&0b1100), "or without it;");
/// assert_eq!(reached.map(|sets| sets.len()), [5, 7, 8]);
/// # Ok::<(), portent_monitor_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Runs<'e> {
    events: &'e [Event],
    model: RunModel,
    /// The events that must come before each event for its thread to reach it,
    next_after: Vec<u64>,
    /// and those that must come before it happens;
    before: Vec<u64>,
    /// the events that must not have happened,
    shut_out_by: Vec<u64>,
    /// and whether further conditions must be as observed.
    depends: Vec<bool>,
}

impl<'e> Runs<'e> {
    /// The runs of a trace.
    ///
    /// # Panics
    ///
    /// If it has more than 64 events.
    pub fn new(events: &'e [Event], model: RunModel) -> Runs<'e> {
        assert!(events.len() <= 64, "{} events", events.len());
        let all = 0..events.len();
        let relation = Relation::new(events);
        let bits = |of: &dyn Fn(usize, usize) -> bool| -> Vec<u64> {
            let set =
                |event| { all.clone() }.filter(move |&other| other != event && of(other, event));
            { all.clone() }
                .map(|event| set(event).fold(0, |bits, other| bits | 1 << other))
                .collect()
        };
        let is_hard =
            |other: usize, event: usize| other < event && feasible::is_before(events, other, event);
        let is_before = |other: usize, event: usize| match model {
            RunModel::HappensBefore => other < event && relation.precedes(other, event),
            RunModel::Strong => {
                let explains = || leaving_out::explains(events, other, event);
                is_hard(other, event) || other < event && explains()
            }
            RunModel::Maximal => is_hard(other, event),
        };
        let is_shut_out_by = |other: usize, event: usize| {
            let conflicts = || leaving_out::conflict(&events[event], &events[other]);
            model == RunModel::Strong && other > event && conflicts()
        };
        let depends = |event: &Event| {
            let op = &event.op;
            model != RunModel::HappensBefore
                && matches!(
                    op,
                    Op::Read(_)
                        | Op::Update(..)
                        | Op::Lock(_)
                        | Op::ReadLock(_)
                        | Op::Wait(..)
                        | Op::TryLock(_)
                        | Op::TryRecv(_)
                )
        };
        Runs {
            events,
            model,
            next_after: bits(&is_hard),
            before: bits(&is_before),
            shut_out_by: bits(&is_shut_out_by),
            depends: events.iter().map(depends).collect(),
        }
    }

    /// The events.
    pub fn events(&self) -> &'e [Event] {
        self.events
    }

    /// Whether an event may come after others, which are given in an order in which they may happen.
    pub fn may_follow(&self, order: &[usize], event: usize) -> bool {
        self.may_follow_set(set(order), order, event)
    }

    fn may_follow_set(&self, done: u64, order: &[usize], event: usize) -> bool {
        done >> event & 1 == 0
            && self.before[event] & !done == 0
            && self.shut_out_by[event] & done == 0
            && (!self.depends[event] || feasible::is_as_observed(self.events, order, event))
    }

    /// The events that are next in their threads after others.
    pub fn next(&self, done: u64) -> u64 {
        let is_next = |&event: &usize| self.is_next(done, event);
        { 0..self.events.len() }
            .filter(is_next)
            .fold(0, |set, event| set | 1 << event)
    }

    /// Whether an event is next in its thread after others: its thread's earlier events have happened, with everything they
    /// waited for.
    pub fn is_next(&self, done: u64, event: usize) -> bool {
        done >> event & 1 == 0 && self.next_after[event] & !done == 0
    }

    /// Calls `visit` once with each set of events that a run has done, for each value of `mark` among the runs to it, and with
    /// one of these runs. (Under the maximal model the next events also depend on the last writes; those are always
    /// distinguished.)
    pub fn visit<M: Clone + Eq + std::hash::Hash>(
        &self,
        start: M,
        mark: impl Fn(&M, &[usize], usize) -> M,
        mut visit: impl FnMut(u64, &[usize], &M),
    ) {
        type Node<M> = (u64, Vec<Option<usize>>, M);
        let mut seen: HashSet<Node<M>> = HashSet::new();
        let mut open: Vec<(Vec<usize>, M)> = vec![(Vec::new(), start)];
        while let Some((order, known)) = open.pop() {
            let done = set(&order);
            visit(done, &order, &known);
            for event in 0..self.events.len() {
                if !self.may_follow_set(done, &order, event) {
                    continue;
                }
                let known = mark(&known, &order, event);
                let mut longer = order.clone();
                longer.push(event);
                let writers = match self.model {
                    RunModel::Maximal => self.writers(&longer),
                    // They are as observed.
                    _ => {
                        longer.sort_unstable();
                        Vec::new()
                    }
                };
                if seen.insert((done | 1 << event, writers, known.clone())) {
                    open.push((longer, known));
                }
            }
        }
    }

    /// The last write of each variable.
    fn writers(&self, order: &[usize]) -> Vec<Option<usize>> {
        let mut last: HashMap<VarId, usize> = HashMap::new();
        for &event in order {
            last.extend(self.events[event].writes().map(|(var, _)| (var, event)));
        }
        let mut writers: Vec<Option<usize>> = Vec::new();
        for (event, this) in self.events.iter().enumerate() {
            writers.extend(this.writes().map(|(var, _)| {
                let is_last = last.get(&var) == Some(&event);
                is_last.then_some(event)
            }));
        }
        writers
    }

    /// The sets of events that runs have done.
    pub fn reached(&self) -> HashSet<u64> {
        let mut reached = HashSet::new();
        self.visit(
            (),
            |(), _, _| (),
            |done, _, ()| {
                reached.insert(done);
            },
        );
        reached
    }
}

/// Events as bits.
fn set(events: &[usize]) -> u64 {
    events.iter().fold(0, |set, event| set | 1 << event)
}
