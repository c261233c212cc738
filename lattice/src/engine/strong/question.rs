//! The question whether some run that leaves things out is violated: its input, and how it is answered.

use std::cell::RefCell;

use portent_monitor_core::ChainId;
use portent_monitor_dsl::shape::{ActionClass, BadPrefixes};

use super::{
    cuts::CutSearch,
    guards::{Guards, UseKind},
    pass::{Pass, PassLimits, Passed},
};
use crate::{
    automaton::{ActionId, Automaton, StateIndex, TransitionSystem},
    engine::{
        linear,
        maximal::{FeasibilityAnswer, FeasibilitySearched, FeasibleRun, GoalAnalysis},
    },
    goal::Goal,
    options::Reductions,
    order::{Poset, UnrestrictedEvent},
    progress::Progress,
    stop::Stop,
};

/// The number of choices that the pass follows at once.
const MOST_CHOICES: usize = 4096;

/// Looks for a violated run that leaves things out, giving up after `max_nodes` nodes. For each event of the trace, `actions`
/// has its action on the automaton, or `None` if it is not a step of the property.
///
/// ```
/// use portent_lattice::{Reductions, laboratory::{ActionId, Automaton, StateIndex, maximal::FeasibilityAnswer, strong::{self, Guards}}};
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
/// // Violated if the second step comes first, as it does where the first thread never comes to its section.
/// let automaton = Automaton {
///     initial: StateIndex(0),
///     actions: 2,
///     next: [1, 2, 1, 1, 2, 2].map(StateIndex).to_vec(),
///     verdicts: vec![Verdict::Ok, Verdict::Satisfied, Verdict::Violated],
/// };
/// let actions = [None, Some(ActionId(0)), None, None, Some(ActionId(1)), None];
/// let found = strong::search(&Guards::new(&trace)?, &actions, &automaton, 1_000, Reductions::ALL);
/// let FeasibilityAnswer::Violated(run) = found.answer else { unreachable!() };
/// assert_eq!(run.order, [3, 4]);
/// # Ok::<(), portent_monitor_core::Error>(())
/// ```
pub fn search(
    guards: &Guards,
    actions: &[Option<ActionId>],
    automaton: &Automaton,
    max_nodes: usize,
    reductions: Reductions,
) -> FeasibilitySearched {
    let steps = Steps {
        actions: actions.to_vec(),
    };
    let (progress, stop) = (Progress::default(), Stop::default());
    let table = Some(automaton);
    let question = StrongQuestion::new(
        guards, &steps, automaton, table, reductions, &progress, &stop,
    );
    question.answer(max_nodes, u64::MAX).0
}

/// The effects of the events of a trace on the property.
pub(super) struct Steps {
    pub(super) actions: Vec<Option<ActionId>>,
}

impl Steps {
    pub(super) fn action(&self, event: u32) -> Option<ActionId> {
        self.actions[event as usize]
    }

    /// An action as a bit; actions too large for bits share the last.
    pub(super) fn bit(action: ActionId) -> u64 {
        1 << action.0.min(63)
    }

    pub(super) fn bits(&self, event: u32) -> u64 {
        self.action(event).map_or(0, Steps::bit)
    }
}

/// The input of a search. Only permanent violations are searched for: a run that has everything is one of happens-before.
pub(super) struct StrongQuestion<'a, M> {
    pub(super) guards: &'a Guards,
    pub(super) steps: &'a Steps,
    pub(super) machine: &'a M,
    table: Option<&'a Automaton>,
    analysis: Option<RefCell<GoalAnalysis<'a>>>,
    pub(super) reductions: Reductions,
    pub(super) progress: &'a Progress,
    pub(super) stop: &'a Stop,
}

impl<'a, M: TransitionSystem<State = StateIndex>> StrongQuestion<'a, M> {
    pub(super) fn new(
        guards: &'a Guards,
        steps: &'a Steps,
        machine: &'a M,
        table: Option<&'a Automaton>,
        reductions: Reductions,
        progress: &'a Progress,
        stop: &'a Stop,
    ) -> Self {
        let analysis = table.map(|table| RefCell::new(GoalAnalysis::new(table, Goal::default())));
        StrongQuestion {
            guards,
            steps,
            machine,
            table,
            analysis,
            reductions,
            progress,
            stop,
        }
    }

    pub(super) fn is_violated(&self, state: StateIndex) -> bool {
        Goal::default().is_bad(self.machine.verdict(&state), false)
    }

    /// Whether no sequence of steps violates a state.
    pub(super) fn is_hopeless(&self, state: StateIndex) -> bool {
        let analysis = self
            .analysis
            .as_ref()
            .filter(|_| self.reductions.absorption);
        analysis.is_some_and(|analysis| analysis.borrow().is_hopeless(state))
    }

    /// Whether some of these actions may violate a state.
    pub(super) fn may_fall(&self, state: StateIndex, actions: u64) -> bool {
        let analysis = self.analysis.as_ref().filter(|_| self.reductions.dead_ends);
        analysis.is_none_or(|analysis| analysis.borrow_mut().may_fall(state, actions))
    }

    /// Whether another state is violated whenever this one is.
    pub(super) fn covers(&self, state: StateIndex, other: StateIndex) -> bool {
        let analysis = self
            .analysis
            .as_ref()
            .filter(|_| self.reductions.subsumption);
        state == other || analysis.is_some_and(|analysis| analysis.borrow().covers(state, other))
    }

    /// The answer, and the work of the pass.
    pub(super) fn answer(&self, max_nodes: usize, work: u64) -> (FeasibilitySearched, u64) {
        // The pass follows one order of commuting events in place of all.
        if !self.reductions.commutation {
            return (CutSearch::new(self).run(max_nodes), 0);
        }
        let mut pass = Pass::new(self);
        let passed = pass.run(PassLimits {
            choices: MOST_CHOICES.min(max_nodes),
            work,
        });
        let (made, worked) = (pass.made, pass.work);
        let in_full = |answer| FeasibilitySearched {
            answer,
            nodes: made,
            left: 0,
        };
        match passed {
            Passed::Violated(kept, last) => {
                let run = self.observed(&kept, last);
                return (in_full(FeasibilityAnswer::Violated(run)), worked);
            }
            Passed::Through if self.speaks_for_all() => {
                return (in_full(FeasibilityAnswer::Safe), worked);
            }
            Passed::Through | Passed::GaveUp => {}
        }
        let mut found = CutSearch::new(self).run(max_nodes.saturating_sub(made).max(1));
        found.nodes += made;
        (found, worked)
    }

    /// A cut in observed order, up to where it is violated.
    pub(super) fn follow(&self, cut: &[u32]) -> Option<FeasibleRun> {
        let mut state = self.machine.initial();
        if self.is_violated(state) {
            return None;
        }
        for event in 0..self.guards.len() as u32 {
            let place = self.guards.places[event as usize];
            if let Some(action) = self.steps.action(event)
                && place.position <= cut[place.thread.index()]
            {
                state = self.machine.step(&state, action);
                if self.is_violated(state) {
                    return Some(self.observed(cut, event));
                }
            }
        }
        None
    }

    /// A cut in observed order, up to an event: violated there.
    fn observed(&self, kept: &[u32], last: u32) -> FeasibleRun {
        let order: Vec<usize> = (0..=last as usize)
            .filter(|&event| {
                let place = self.guards.places[event];
                place.position <= kept[place.thread.index()]
            })
            .collect();
        let steps = order
            .iter()
            .filter(|&&event| self.steps.actions[event].is_some());
        FeasibleRun {
            violated_at: order.len(),
            is_shortest: steps.count() <= 1,
            order,
        }
    }

    /// Whether the order of steps that can be swapped does not matter: they commute, write the same variable, or one needs the other.
    fn speaks_for_all(&self) -> bool {
        let Some(Ok(bad)) = self.table.map(BadPrefixes::new) else {
            return false;
        };
        let events: Vec<u32> = (0..self.guards.len() as u32)
            .filter(|&event| self.steps.action(event).is_some())
            .collect();
        let classes: Vec<ActionClass> = { events.iter() }
            .filter_map(|&event| Some(bad.class_of(self.steps.action(event)?)))
            .collect();
        let mut occurring = classes.clone();
        occurring.sort_unstable();
        occurring.dedup();
        let written: Vec<Vec<u32>> = { occurring.iter() }
            .map(|&class| self.written_by_all(&events, &classes, class))
            .collect();
        let mut poset = None;
        occurring.iter().enumerate().all(|(a, &one)| {
            (a + 1..occurring.len()).all(|b| {
                let other = occurring[b];
                bad.commute(one, other)
                    || written[a].iter().any(|object| written[b].contains(object))
                    || !linear::are_concurrent(
                        poset.get_or_insert_with(|| self.order(&events)),
                        &classes,
                        one,
                        other,
                    )
            })
        })
    }

    /// The variables that all steps of a class write.
    fn written_by_all(
        &self,
        events: &[u32],
        classes: &[ActionClass],
        class: ActionClass,
    ) -> Vec<u32> {
        let mut all: Option<Vec<u32>> = None;
        for (&event, _) in events.iter().zip(classes).filter(|(_, of)| **of == class) {
            let written = { self.guards.uses(event).iter() }
                .filter(|used| used.kind == UseKind::Write)
                .map(|used| used.object);
            match &mut all {
                None => all = Some(written.collect()),
                Some(all) => {
                    let written: Vec<u32> = written.collect();
                    all.retain(|object| written.contains(object));
                }
            }
        }
        all.unwrap_or_default()
    }

    /// The order of events by their needs.
    fn order(&self, events: &[u32]) -> Poset {
        let clocks: Vec<Vec<u32>> = { events.iter() }
            .map(|&event| {
                let place = self.guards.places[event as usize];
                let mut clock = self.guards.needs(event).to_vec();
                clock.resize(self.guards.threads.len(), 0);
                clock[place.thread.index()] = place.position;
                clock
            })
            .collect();
        Poset::restricted(events.iter().zip(&clocks).map(|(&event, clock)| {
            let thread = self.guards.places[event as usize].thread;
            UnrestrictedEvent {
                chain: ChainId::from(thread.index() as u32),
                clock,
                number: u64::from(event),
            }
        }))
    }
}
