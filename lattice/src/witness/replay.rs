//! A run, followed step by step with the monitor itself.

use portent_monitor_core::Value;
use portent_monitor_dsl::{Explanation, Letter, Monitor, StateId, VariableId, Verdict};

use crate::intake::Step;

/// A verdict that becomes final later than this is not explained, because an explanation examines the whole run
/// repeatedly.
const EXPLAINED: usize = 100_000;

/// Follows a run: the monitor's state and the values of the property's variables after each step.
#[derive(Clone, Debug)]
pub(crate) struct Replay<'a> {
    monitor: &'a Monitor,
    state: StateId,
    values: Vec<Value>,
    /// For each variable, whether its value is known. If not, the stored value is one that the
    /// property cannot distinguish from it.
    known: Vec<bool>,
    steps: u64,
    decided_after: Option<u64>,
    /// The letters so far, if the run is remembered.
    trail: Option<Vec<Letter>>,
}

impl<'a> Replay<'a> {
    /// A run that begins with these values.
    pub(crate) fn new(monitor: &'a Monitor, initial: &[Value]) -> Self {
        let state = monitor.initial_with(initial);
        Replay::from_state(monitor, state, initial.to_vec(), true)
    }

    /// A run whose beginning is unknown, except for the state that it led to and equivalent values.
    pub(crate) fn resume(monitor: &'a Monitor, (state, values): (StateId, Vec<Value>)) -> Self {
        Replay::from_state(monitor, state, values, false)
    }

    /// A run that has reached a [position](Self::position).
    pub(crate) fn at(monitor: &'a Monitor, (state, values): (StateId, Vec<Value>)) -> Self {
        Replay::from_state(monitor, state, values, true)
    }

    fn from_state(monitor: &'a Monitor, state: StateId, values: Vec<Value>, known: bool) -> Self {
        Replay {
            monitor,
            state,
            known: vec![known; values.len()],
            values,
            steps: 0,
            decided_after: monitor.verdict(state).is_final().then_some(0),
            trail: None,
        }
    }

    /// Remembers the run from its beginning, which is now, so that its verdict can be explained.
    pub(crate) fn remembering(mut self) -> Self {
        let alphabet = self.monitor.alphabet();
        let initial = alphabet.reads_variables();
        let initial = initial.then(|| alphabet.letter(None, &self.values));
        self.trail = Some(initial.into_iter().collect());
        self
    }

    /// Why the verdict is final; `None` if it is open, became final too late, or the run was not remembered.
    pub(crate) fn explain(&self) -> Option<Explanation> {
        let trail = self.trail.as_deref().filter(|run| run.len() <= EXPLAINED)?;
        self.monitor.explain(trail)
    }

    pub(crate) fn monitor(&self) -> &'a Monitor {
        self.monitor
    }

    /// Takes a step.
    pub(crate) fn step(&mut self, step: &Step) {
        for (variable, value) in &step.writes {
            self.values[variable.index()] = value.clone();
            self.known[variable.index()] = true;
        }
        self.steps += 1;
        if self.decided_after.is_some() {
            return;
        }
        let letter = self.monitor.alphabet().letter(step.event, &self.values);
        self.state = self.monitor.next(self.state, letter);
        if let Some(trail) = self.trail.as_mut().filter(|run| run.len() <= EXPLAINED) {
            trail.push(letter);
        }
        if self.verdict().is_final() {
            self.decided_after = Some(self.steps);
        }
    }

    /// The values that a step would overwrite, in an order in which they can be restored from the last to the
    /// first.
    pub(crate) fn overwritten_by(
        &self,
        step: &Step,
    ) -> impl Iterator<Item = (VariableId, Value)> + use<> {
        let before = step
            .writes
            .iter()
            .enumerate()
            .map(|(place, (variable, _))| {
                let sooner = step.writes[..place].iter().rev();
                let value = { sooner }
                    .find(|(other, _)| other == variable)
                    .map_or(&self.values[variable.index()], |(_, value)| value);
                (*variable, value.clone())
            });
        before.collect::<Vec<_>>().into_iter()
    }

    /// Whether the property cannot distinguish the values of the variables from those of another run, now or later.
    pub(crate) fn reads_same_values(&self, other: &Replay<'_>) -> bool {
        let alphabet = self.monitor.alphabet();
        let values = self.values.iter().zip(&other.values);
        let mut variables = alphabet.iter_variables().zip(values);
        variables.all(|((variable, _), (one, another))| {
            let cells = |value| alphabet.cells(variable, value);
            one == another || cells(one).is_some_and(|one| Some(one) == cells(another))
        })
    }

    /// The monitor's state and the values of the variables, for continuing from there.
    pub(crate) fn position(self) -> (StateId, Vec<Value>) {
        (self.state, self.values)
    }

    pub(crate) fn state(&self) -> StateId {
        self.state
    }

    pub(crate) fn verdict(&self) -> Verdict {
        self.monitor.verdict(self.state)
    }

    /// The number of steps after which the verdict became final, if it did.
    pub(crate) fn decided_after(&self) -> Option<u64> {
        self.decided_after
    }

    /// The value of each variable, if it is known.
    pub(crate) fn values(&self) -> impl Iterator<Item = Option<&Value>> {
        let values = self.values.iter().zip(&self.known);
        values.map(|(value, known)| known.then_some(value))
    }
}
