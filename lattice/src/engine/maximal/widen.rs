//! One instance of a property under the maximal model: from its slice to the events of the whole
//! trace, and from a violated prefix of those back to a run of the slice.

use super::{
    examine::examine,
    rules::Rules,
    search::{MaximalAnswer, MaximalSearched, Question},
    state::Prefix,
};
use crate::{
    automaton::{ActionId, Machine, Numbered, StateIndex},
    engine::{Answer, Searched, Task, Violation},
    options::Options,
    order::EventIndex,
};

/// Where the events of a slice are in the trace.
pub(crate) struct Origin<'a> {
    pub(crate) rules: &'a Rules,
    /// For each event of the slice its index in the trace.
    pub(crate) events: Vec<u32>,
}

/// Looks for a violated run that is feasible, within the memory limit. The run may end where
/// it is violated.
///
/// # Errors
///
/// What is wrong with the run that was found: a defect. Looked for in debug builds only.
pub(crate) fn widen(
    task: &Task,
    origin: &Origin<'_>,
    options: &Options,
) -> Result<Searched, String> {
    match task {
        Task::Table(problem) => {
            let (automaton, numbers) = options.goal.automaton(&problem.automaton);
            let actions = problem.actions.iter();
            let actions = actions.map(|action| numbers[action.0 as usize]);
            let hopeful = automaton.may_become(|verdict| options.goal.is_bad(verdict, true));
            origin.search(actions, &automaton, Some(&hopeful), options)
        }
        Task::Open(_, actions, product) => {
            let actions = actions.iter().copied();
            origin.search(actions, &Numbered::new(product.as_ref()), None, options)
        }
    }
}

impl Origin<'_> {
    fn search<M: Machine<State = StateIndex>>(
        &self,
        actions: impl Iterator<Item = ActionId>,
        machine: &M,
        hopeful: Option<&[bool]>,
        options: &Options,
    ) -> Result<Searched, String> {
        let mut of_trace = vec![None; self.rules.len()];
        for (&event, action) in self.events.iter().zip(actions) {
            of_trace[event as usize] = Some(action);
        }
        let question = Question {
            rules: self.rules,
            actions: &of_trace,
            machine,
            hopeful,
            goal: options.goal,
            progress: &options.progress,
            stop: &options.stop,
        };
        let MaximalSearched {
            answer,
            nodes,
            left,
        } = question.search(question.nodes_in(options.memory));
        Ok(match answer {
            MaximalAnswer::Safe => Searched::in_full(Answer::Safe, nodes),
            MaximalAnswer::GaveUp => Searched {
                left,
                ..Searched::in_full(Answer::GaveUp, nodes)
            },
            MaximalAnswer::Violated(prefix) => {
                let violation = self.violation(prefix)?;
                Searched::in_full(Answer::Violated(violation), nodes)
            }
        })
    }

    /// The run of a prefix: completed if going on in observed order does that.
    fn violation(&self, mut order: Vec<usize>) -> Result<Violation, String> {
        let mut index = vec![None; self.rules.len()];
        for (number, &event) in self.events.iter().enumerate() {
            index[event as usize] = Some(EventIndex(number as u32));
        }
        let violated_at = order.iter().filter(|&&event| index[event].is_some());
        let violated_at = violated_at.count();
        let end = order.len();
        self.go_on(&mut order);
        if order.len() < self.rules.len() {
            order.truncate(end);
        }
        if cfg!(debug_assertions) {
            examine(self.rules, &order)?;
        }
        Ok(Violation {
            run: order.into_iter().filter_map(|event| index[event]).collect(),
            violated_at,
            is_shortest: true,
        })
    }

    /// Adds what can still happen, the first in observed order first.
    fn go_on(&self, order: &mut Vec<usize>) {
        let mut prefix = Prefix::empty(self.rules, StateIndex(0));
        for &event in order.iter() {
            prefix.happen(self.rules, event as u32);
        }
        while let Some(event) = prefix.enabled(self.rules).min() {
            prefix.happen(self.rules, event);
            order.push(event as usize);
        }
    }
}
