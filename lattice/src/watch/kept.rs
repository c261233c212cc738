//! Steps, as long as some search needs them, and how they are shown.

use std::{num::NonZeroU64, sync::Arc};

use portent_monitor_core::{Symbols, ThreadId, Value};
use portent_monitor_dsl::Monitor;

use crate::{
    intake::{LineNote, Step},
    options::Options,
    order::EventIndex,
    report::{Actor, Overtaking, Row, Rows},
    witness::{self, Replay, Steps},
};

/// What is common to the searches of one property.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) monitor: &'a Monitor,
    pub(super) initial: &'a [Value],
    pub(super) symbols: &'a Symbols,
    pub(super) options: &'a Options,
}

/// A step, as long as some search needs it.
#[derive(Debug)]
pub(super) struct KeptStep {
    pub(super) thread: ThreadId,
    pub(super) line: Option<NonZeroU64>,
    /// Its number in the run, all events counted.
    pub(super) number: u64,
    pub(super) step: Step,
    pub(super) note: Option<LineNote>,
}

/// The rows of a run of steps, `forgotten` ones before the first of them.
pub(super) fn rows(
    replay: Replay<'_>,
    run: &[EventIndex],
    steps: &[Arc<KeptStep>],
    forgotten: u64,
    context: Context<'_>,
) -> Vec<Row> {
    let mut rows = Rows::new(replay, context.symbols);
    let row = |&event: &EventIndex| {
        let kept = &steps[event.index()];
        rows.step(&kept.step);
        let actor = Actor {
            thread: kept.thread,
            line: kept.line,
            note: kept.note.as_ref().map(|note| note.note(context.symbols)),
        };
        rows.row(forgotten as u32 + event.0, &kept.step, actor)
    };
    run.iter().map(row).collect()
}

/// Who overtakes whom in a run of steps, `forgotten` ones before the first of them.
pub(super) fn overtakings(
    start: &Replay<'_>,
    steps: &[Arc<KeptStep>],
    forgotten: u64,
    run: &[EventIndex],
    violated_at: usize,
) -> Vec<Overtaking> {
    let mut all = witness::overtakings(start, &steps, run, violated_at);
    for overtaking in &mut all {
        let events = std::iter::once(&mut overtaking.event).chain(&mut overtaking.overtaken);
        events.for_each(|event| *event += forgotten as u32);
    }
    all
}

impl Steps for &[Arc<KeptStep>] {
    fn step(&self, event: EventIndex) -> &Step {
        &self[event.index()].step
    }

    fn thread(&self, event: EventIndex) -> ThreadId {
        self[event.index()].thread
    }
}
