//! What is known about one binding: its observed run, and the search for other runs that are violated.

use std::sync::Arc;

use portent_monitor_core::{Id, Value};
use portent_monitor_dsl::{Stepper, Verdict};

use super::{
    kept::{Context, KeptStep},
    live::Live,
    plan::Plan,
    rest::{Resting, Workplaces},
    stream::{Memory, Room, Stream},
};
use crate::{
    automaton::ProductState,
    engine::{
        Limit, Savings,
        enumerate::{Peak, Search},
    },
    error::Error,
    intake::Arrival,
    options::Engine,
    order::{Past, Restriction},
    report::{Lattice, Observed, Predicted, PropertyReport, Rows, Why},
    witness::Replay,
};

/// The slice of one binding, full or not.
#[derive(Clone, Debug)]
pub(super) struct Track {
    /// The number of its first step in the run.
    first: Option<u64>,
    steps: u64,
    /// The observed run. It is not a [`Replay`], which borrows its monitor and reads every gauge at each step: this one is
    /// stepped with every event that arrives, and usually needs a single lookup.
    observed: Stepper,
    /// Which of the run's events are steps, for levels: a stream has its own restriction.
    order: Restriction,
    /// For each chain, how many events forgotten by the restriction are still known to levels.
    offsets: Vec<u32>,
    search: Phase,
    /// The violated run that was found.
    predicted: Option<Arc<Predicted>>,
    /// Whether it was reported.
    pub(super) reported: bool,
    /// Whether a call of [`close_levels`](Track::close_levels) is scheduled.
    pub(super) is_scheduled: bool,
}

#[derive(Clone, Debug)]
enum Phase {
    /// After every step it is known whether some run is violated.
    Streams(Box<Stream>),
    /// A stream packed until its next step, when there are very many bindings.
    Rests(Resting),
    /// Levels are made when they are complete.
    GoesOn(Box<Live>),
    /// A violation was found, or nothing is left to find. The last level had this many events, not counting the forgotten ones.
    Over(usize, Box<Search<ProductState>>),
    /// The same, for a stream.
    Streamed(Streamed),
}

/// The results of a stream that is over.
#[derive(Clone, Copy, Debug, Default)]
struct Streamed {
    nodes: u64,
    dropped: u64,
    limit: Option<Limit>,
}

impl Streamed {
    fn new(stream: &Stream) -> Streamed {
        let (dropped, limit) = stream.omitted();
        Streamed {
            nodes: stream.nodes(),
            dropped,
            limit,
        }
    }
}

/// Data shared by the searches of one property.
pub(super) struct Shared<'a> {
    /// How steps are streamed, if they are.
    pub(super) plan: Option<&'a Arc<Plan>>,
    pub(super) room: Room,
    pub(super) memory: &'a mut Memory,
}

impl Track {
    pub(super) fn new(context: Context<'_>, plan: Option<&Arc<Plan>>) -> Result<Track, Error> {
        let initial = |name: &str| {
            let variable = context.monitor.alphabet().variable(name)?;
            Some(context.initial[variable.index()].clone())
        };
        let observed = context.monitor.start_with(initial)?;
        let search = match plan {
            // A property violated before the first event is left to levels.
            Some(plan) if !plan.is_violated_at_once() => {
                let stream = Stream::new(Arc::clone(plan), context.monitor, context.initial);
                Phase::Streams(Box::new(stream))
            }
            _ => {
                let live = Live::new(context.monitor, context.initial, context.options);
                Phase::GoesOn(Box::new(live))
            }
        };
        Ok(Track {
            first: None,
            steps: 0,
            observed,
            order: Restriction::default(),
            offsets: Vec::new(),
            search,
            predicted: None,
            reported: false,
            is_scheduled: false,
        })
    }

    /// The number of its first step in the run.
    pub(super) fn first(&self) -> Option<u64> {
        self.first
    }

    /// Why its search is not exhaustive, if it is not.
    pub(super) fn limit(&self) -> Option<Limit> {
        match &self.search {
            Phase::Streams(stream) => stream.omitted().1,
            Phase::Rests(resting) => resting.limit(),
            Phase::Streamed(streamed) => streamed.limit,
            Phase::GoesOn(live) => live.result().limit,
            Phase::Over(_, result) => result.limit,
        }
    }

    /// The number of steps kept for it.
    pub(super) fn kept(&self) -> usize {
        match &self.search {
            Phase::Streams(stream) => stream.kept(),
            Phase::Rests(resting) => resting.kept(),
            Phase::GoesOn(live) => live.kept(),
            Phase::Over(..) | Phase::Streamed(_) => 0,
        }
    }

    /// Takes a step. A violation of the observed run is known at once.
    pub(super) fn take(
        &mut self,
        arrival: &Arrival<'_>,
        kept: &Arc<KeptStep>,
        context: Context<'_>,
        shared: &mut Shared<'_>,
    ) -> Result<(), Error> {
        self.first.get_or_insert(kept.number);
        self.steps += 1;
        if !self.observed.verdict().is_final() {
            let writes = kept.step.writes.iter().cloned();
            self.observed.step(kept.step.event, writes)?;
        }
        match &self.search {
            Phase::Streams(_) => self.stream(arrival, kept, context, shared),
            Phase::Rests(_) => {
                self.wake(&mut shared.memory.workplaces);
                self.stream(arrival, kept, context, shared)
            }
            Phase::GoesOn(_) | Phase::Over(..) => {
                self.take_level(arrival, kept, context, &mut shared.memory.past)
            }
            Phase::Streamed(_) => Ok(()),
        }
    }

    /// Unpacks the stream, if it rests.
    fn wake(&mut self, workplaces: &mut Workplaces) {
        let idle = Phase::Streamed(Streamed::default());
        self.search = match std::mem::replace(&mut self.search, idle) {
            Phase::Rests(resting) => Phase::Streams(workplaces.wake(resting)),
            other => other,
        };
    }

    /// Packs the stream until its next step.
    fn rest(&mut self, workplaces: &mut Workplaces) {
        let idle = Phase::Streamed(Streamed::default());
        self.search = match std::mem::replace(&mut self.search, idle) {
            Phase::Streams(stream) => Phase::Rests(workplaces.rest(stream)),
            other => other,
        };
    }

    fn stream(
        &mut self,
        arrival: &Arrival<'_>,
        kept: &Arc<KeptStep>,
        context: Context<'_>,
        shared: &mut Shared<'_>,
    ) -> Result<(), Error> {
        let Phase::Streams(stream) = &mut self.search else {
            return Ok(());
        };
        let room = shared.room;
        let mut found = None;
        if !stream.knows(kept) {
            let again = shared
                .plan
                .and_then(|plan| stream.begin_again(plan, kept, room, context, shared.memory));
            match again {
                Some((again, early)) => (**stream, found) = (again, early),
                None => {
                    self.make_levels(context);
                    return self.take_level(arrival, kept, context, &mut shared.memory.past);
                }
            }
        }
        let now = stream.take(arrival, kept, room, shared.memory);
        let found = found.or(now);
        let is_observed = self.observed.verdict() == Verdict::Violated;
        if found.is_none() && !is_observed && stream.goes_on() {
            stream.tidy(arrival.positions, room, context, shared.memory);
            if room.is_crowded {
                self.rest(&mut shared.memory.workplaces);
            }
            return Ok(());
        }
        if is_observed {
            let run = stream.observed_run(self.observed.decided_after(), context);
            self.predicted = Some(Arc::new(run));
        } else if let Some(story) = found {
            self.predicted = Some(Arc::new(stream.predicted(&story, context)?));
        }
        self.search = Phase::Streamed(Streamed::new(stream));
        Ok(())
    }

    /// No automaton is left that could be streamed: continues with levels.
    fn make_levels(&mut self, context: Context<'_>) {
        let Phase::Streams(stream) = &mut self.search else {
            return;
        };
        let live = stream.levels(context);
        self.offsets = stream.offsets();
        self.order = std::mem::take(&mut stream.order);
        self.search = Phase::GoesOn(Box::new(live));
    }

    fn take_level(
        &mut self,
        arrival: &Arrival<'_>,
        kept: &Arc<KeptStep>,
        context: Context<'_>,
        past: &mut Past,
    ) -> Result<(), Error> {
        self.order.find_past(arrival.clock, past);
        for (count, offset) in past.counts.iter_mut().zip(&self.offsets) {
            *count += offset;
        }
        let (level, result) = match &mut self.search {
            Phase::GoesOn(live) => (live.level(), live.result_mut()),
            Phase::Over(level, result) => (*level, result.as_mut()),
            Phase::Streams(_) | Phase::Rests(_) | Phase::Streamed(_) => return Ok(()),
        };
        // It could have come next at a cut whose level is gone. So it is too if some event is
        // forgotten that it need not wait for: that event is in every cut of this level, so those
        // that do not follow it, the past of this one among them, are too few for the level; or
        // else other cuts were left out, and that was noted then.
        if !past.whole || past.len() < level {
            result.miss();
        }
        let Phase::GoesOn(live) = &mut self.search else {
            return Ok(());
        };
        let origin = arrival.chain;
        let chain = self.order.push(origin, arrival.clock[origin.index()]);
        *chain.entry(&mut past.counts) += 1;
        live.push(chain, &past.counts, Arc::clone(kept));
        if !live.goes_on() {
            self.close(context)?;
        }
        Ok(())
    }

    /// The number of the event of the run with which the current level becomes complete.
    pub(super) fn deadline(&self, lookahead: u32) -> Option<u64> {
        match &self.search {
            Phase::GoesOn(live) => Some(live.next_number()? + u64::from(lookahead)),
            _ => None,
        }
    }

    /// Makes all levels that are complete with the run's event `now`.
    pub(super) fn close_levels(
        &mut self,
        now: u64,
        lookahead: u32,
        context: Context<'_>,
        memory: &mut Memory,
    ) -> Result<(), Error> {
        while self.deadline(lookahead).is_some_and(|due| due <= now) {
            let Phase::GoesOn(live) = &mut self.search else {
                break;
            };
            live.advance(context.options, false, &mut memory.levels);
            if let Some(prefix) = live.forget(context.options, &mut memory.spares) {
                self.order.forget(&prefix);
            }
            if !live.goes_on() {
                self.close(context)?;
            }
        }
        Ok(())
    }

    /// The run has ended: makes the remaining levels.
    pub(super) fn finish(
        &mut self,
        context: Context<'_>,
        memory: &mut Memory,
    ) -> Result<(), Error> {
        let Phase::GoesOn(live) = &mut self.search else {
            return Ok(());
        };
        while live.goes_on() && live.level() < live.kept() {
            let at_end = live.level() + 1 == live.kept();
            live.advance(context.options, at_end, &mut memory.levels);
        }
        if live.level() == live.kept() {
            live.end(context.options);
        }
        self.close(context)
    }

    /// Forgets all but the result of a search that is over.
    fn close(&mut self, context: Context<'_>) -> Result<(), Error> {
        let Phase::GoesOn(live) = &self.search else {
            return Ok(());
        };
        if let Some(predicted) = live.predicted(context)? {
            self.predicted = Some(Arc::new(predicted));
        }
        self.search = Phase::Over(live.level(), Box::new(live.result().clone()));
        Ok(())
    }

    /// Whether there is a violated run that was not reported yet.
    pub(super) fn has_news(&self) -> bool {
        let is_violated = self.predicted.is_some() || self.observed.verdict() == Verdict::Violated;
        is_violated && !self.reported
    }

    /// What is known, for a search that is over; `binding` are the values of the parameters.
    pub(super) fn report(&self, binding: Vec<Value>, context: Context<'_>) -> PropertyReport {
        let searched = self.searched();
        let mut predicted = match (&self.predicted, &self.search) {
            (Some(predicted), _) => Predicted::clone(predicted),
            // Until the search has found the run violated soonest, the observed one is shown.
            (None, Phase::GoesOn(live)) if self.observed.verdict() == Verdict::Violated => {
                live.observed_run(self.observed.decided_after(), context)
            }
            (None, _) => Predicted::default(),
        };
        // Events that arrived since then may have been too late for a level that was made.
        predicted.shortest &= searched.exhaustive;
        let property = context.monitor.property();
        let names = property.parameters().iter().cloned();
        PropertyReport {
            name: property.name().to_owned(),
            binding: names.zip(binding).collect(),
            kind: property.kind(),
            states: context.monitor.states(),
            relevant: self.steps,
            observed: Observed {
                verdict: self.observed.verdict(),
                step: self.observed.decided_after(),
            },
            predicted,
            runs: None,
            under_strong: None,
            lattice: searched,
            text: property.full_text().to_owned(),
            start: Rows::new(
                Replay::new(context.monitor, context.initial),
                context.symbols,
            )
            .moment(),
            why: Why::default(),
            picture: None,
        }
    }

    /// What was searched so far.
    fn searched(&self) -> Lattice {
        let lattice = Lattice {
            engine: Engine::Enumerate,
            levels: self.steps + 1,
            cuts: None,
            widest: None,
            nodes: 0,
            exhaustive: true,
            dropped: 0,
            limit: None,
            frontier: Peak::default(),
            saved: Savings::default(),
            ordered_by_locks: None,
        };
        let streamed = match &self.search {
            Phase::Streams(stream) => Streamed::new(stream),
            Phase::Rests(resting) => Streamed::new(&Workplaces::default().wake(resting.clone())),
            Phase::Streamed(streamed) => *streamed,
            Phase::GoesOn(live) => return with_levels(lattice, live.result()),
            Phase::Over(_, result) => return with_levels(lattice, result),
        };
        Lattice {
            engine: Engine::Intervals,
            nodes: streamed.nodes,
            exhaustive: streamed.limit.is_none(),
            dropped: streamed.dropped,
            limit: streamed.limit,
            ..lattice
        }
    }
}

fn with_levels(lattice: Lattice, result: &Search<ProductState>) -> Lattice {
    Lattice {
        nodes: result.nodes,
        exhaustive: result.limit.is_none(),
        dropped: result.left_out.dropped,
        limit: result.limit,
        frontier: result.peak,
        saved: Savings {
            emptied: result.left_out.emptied,
            ..Savings::default()
        },
        ..lattice
    }
}
