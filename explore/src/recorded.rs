//! A recorded run, and the order in which a witness of it is executed.
//!
//! Each step of the witness is preceded by exactly those recorded steps that it depends on; the remaining steps follow at the end. So
//! every prefix of the new order is closed under the order of the run, and can be executed by a program whose threads communicate only
//! through the hooks.

use std::num::NonZeroU64;

use portent_lattice::Report;
use portent_monitor_core::{Causality, Event, Operation, Symbols};

use crate::error::Error;

/// A run recorded by a test, by a sidecar or in a file, in the order in which it happened.
///
/// ```
/// use portent_explore::RecordedRun;
/// use portent_hooks::{Recording, Shared};
///
/// let (recording, mut stream) = Recording::everything().start();
/// let entered = recording.enter();
/// Shared::with_name("x", 0).set(1);
/// drop(entered);
/// let events: Vec<_> = stream.finish().into_iter().map(|recorded| recorded.event).collect();
/// let run = RecordedRun::new(events, portent_hooks::symbols());
/// assert_eq!(run.events().len(), 1);
/// ```
#[derive(Clone, Debug)]
pub struct RecordedRun {
    events: Vec<Event>,
    symbols: Symbols,
}

/// Steps of a recorded run in a different order that is to happen: those of a witness, up to the step that violates the property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    steps: Vec<usize>,
}

/// The order in which a recorded run is to be executed.
pub(crate) struct Order {
    /// Events by their indices.
    pub(crate) events: Vec<u32>,
    /// How many of them belong to the witness.
    pub(crate) until: usize,
    /// Whether the steps of the witness come in its order, with none moved forward because another one depends on it.
    pub(crate) is_possible: bool,
}

impl RecordedRun {
    /// A run of these events with their names. Events without a line get one: their number, from 1.
    pub fn new(events: impl IntoIterator<Item = Event>, symbols: Symbols) -> RecordedRun {
        let numbered = events.into_iter().zip(1..).map(|(mut event, number)| {
            event.line = event.line.or(NonZeroU64::new(number));
            event
        });
        RecordedRun {
            events: numbered.collect(),
            symbols,
        }
    }

    /// The events, in order.
    #[must_use]
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The names of threads and objects.
    #[must_use]
    pub fn symbols(&self) -> &Symbols {
        &self.symbols
    }

    /// Whether it contains synchronisation, as a recording of everything does if threads synchronise at all.
    pub(crate) fn has_operations(&self) -> bool {
        let mut operations = self.events.iter().filter_map(|event| event.op.operation());
        operations.any(|operation| !matches!(operation, Operation::Event | Operation::Write))
    }

    /// The order for a witness.
    pub(crate) fn order(&self, witness: &Witness) -> Result<Order, Error> {
        let count = self.events.len();
        let mut pasts: Vec<Option<Vec<u32>>> = vec![None; count];
        let mut is_wanted = vec![false; count];
        for &step in &witness.steps {
            let wanted = is_wanted.get_mut(step);
            *wanted.ok_or(Error::Witness {
                step,
                events: count,
            })? = true;
        }
        let mut causality = Causality::default();
        let mut chains: Vec<Vec<u32>> = Vec::new();
        for (number, event) in self.events.iter().enumerate() {
            let placed = causality.step_with(event, true, |chain, clock| {
                (
                    chain.index(),
                    is_wanted[number].then(|| clock.counts().to_vec()),
                )
            })?;
            let Some((chain, past)) = placed else {
                continue;
            };
            if chains.len() <= chain {
                chains.resize_with(chain + 1, Vec::new);
            }
            chains[chain].push(number as u32);
            pasts[number] = past;
        }
        Ok(carried_out(&witness.steps, &pasts, &chains, count))
    }
}

/// Everything that the steps depend on, then the rest. The past of each step is given as a number of events per chain.
fn carried_out(
    steps: &[usize],
    pasts: &[Option<Vec<u32>>],
    chains: &[Vec<u32>],
    count: usize,
) -> Order {
    let mut events = Vec::with_capacity(count);
    let mut is_emitted = vec![false; count];
    let mut taken = vec![0; chains.len()];
    let mut is_possible = true;
    for &step in steps {
        is_possible &= !is_emitted[step];
        let start = events.len();
        let past = pasts[step].iter().flatten();
        for ((chain, taken), &until) in chains.iter().zip(&mut taken).zip(past) {
            let until = until as usize;
            if until > *taken {
                events.extend_from_slice(&chain[*taken..until]);
                *taken = until;
            }
        }
        events[start..].sort_unstable();
        for &event in &events[start..] {
            is_emitted[event as usize] = true;
        }
    }
    let until = events.len();
    events.extend((0..count as u32).filter(|&event| !is_emitted[event as usize]));
    Order {
        events,
        until,
        is_possible,
    }
}

impl Witness {
    /// These events of a recorded run, by their indices from 0, in this order.
    pub fn new(steps: impl IntoIterator<Item = usize>) -> Witness {
        Witness {
            steps: steps.into_iter().collect(),
        }
    }

    /// The witness of the first violated property in a report on this run; `None` if there is none. The report must refer to
    /// the same events, with the same lines.
    #[must_use]
    pub fn of(report: &Report, run: &RecordedRun) -> Option<Witness> {
        let violated = { report.properties.iter() }.find(|one| one.predicted.violated)?;
        let witness = violated.predicted.witness.as_ref()?;
        let until = usize::try_from(violated.predicted.violated_at?).ok()?;
        let index = |line: NonZeroU64| {
            let line = Some(line);
            { run.events.iter() }.position(|event| event.line == line)
        };
        let steps: Option<Vec<usize>> = witness
            .iter()
            .take(until)
            .map(|row| row.line.and_then(index))
            .collect();
        Some(Witness { steps: steps? })
    }

    /// The events, by their indices.
    #[must_use]
    pub fn steps(&self) -> &[usize] {
        &self.steps
    }
}
