//! The streaming search of one binding: after every step it is known whether some run of the steps so far is violated.
//!
//! The engine knows chains, classes and clocks. This file keeps the steps behind them as long as a witness may show them: at
//! least the last few. Of older steps only the origins of the stories are left: a state of the property that some order of the
//! forgotten steps leads to. A story whose beginning cannot be given this way, because it has a forgotten step after one that
//! is kept, is still a violation, but has no witness to show.

use std::sync::Arc;

use portent_monitor_core::{ChainId, Id, Value};
use portent_monitor_dsl::{Monitor, StateId, Verdict};

use super::{
    kept::{Context, KeptRun, KeptStep, Spares},
    live::{LevelSpace, Live},
    log::Log,
    plan::Plan,
    rest::{AT_HAND, Workplaces},
    steps::Steps,
};
use crate::{
    automaton::{ActionId, ProductState},
    engine::{
        Limit, Violation,
        streaming::{
            Bounds, By, Extent, LiveThread, Placed, Pruning, Scratch, Streaming, Turn, arrange,
        },
    },
    error::Error,
    intake::{Arrival, ThreadPositions},
    order::{EventIndex, Packed, Past, Poset, Restriction},
    report::Predicted,
    witness::{self, Replay, minimize_swaps, swaps},
};

/// At least this many steps are kept for a witness, whatever the options say.
const LEAST_KEPT: usize = 64;
/// All bindings of a property together keep about this many steps and events, if each of them can have a few.
const KEPT_IN_ALL: usize = 1 << 17;
const FEW: usize = 8;
/// The order of at least this many events is always kept.
const FEW_EVENTS: usize = 16;
/// At least this many nodes are kept; one event may always make a quarter of them.
const FEW_NODES: usize = 4 * FEW;
/// After this many events a search is tidied, because that costs more than an event; sooner if it is packed in between, because
/// its size costs more.
const LATER: usize = 64;
const SOON: usize = 4;
/// About this many counts may be examined to make the new nodes of one event.
const NEW_COUNTS: usize = 1 << 18;
/// Longer witnesses are not rid of unnecessary swaps, because the other bindings would have to wait.
const SHORT: usize = 256;

/// How much each search may keep, depending on how many there are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// The steps that a witness may show.
    steps: usize,
    /// The events whose order is kept.
    events: usize,
    /// Whether there are very many searches, which are packed between two steps.
    pub(super) is_crowded: bool,
    /// How often the watch was narrowed.
    narrowed: u32,
}

impl Room {
    pub(super) fn new(context: Context<'_>, searches: usize) -> Room {
        let share = (KEPT_IN_ALL / searches.max(1)).max(FEW);
        Room {
            steps: context.options.history.max(LEAST_KEPT).min(share),
            events: (share.clamp(FEW_EVENTS, 1024) >> context.options.narrowed).max(FEW_EVENTS),
            is_crowded: searches > AT_HAND,
            narrowed: context.options.narrowed,
        }
    }

    /// The bounds of the engine. Where moves make cycles, there are as many nodes as orders, and keeping more than a few
    /// hundred finds nothing more.
    fn bounds(self, plan: &Plan, width: usize) -> Bounds {
        let (nodes, beam) = if plan.moves.is_chain() {
            (2000, 256)
        } else {
            (256, 64)
        };
        let nodes = (nodes >> self.narrowed).max(FEW_NODES);
        let beam = (beam >> self.narrowed).max(FEW_NODES / 4);
        Bounds {
            history: self.events,
            nodes,
            beam,
            // With many chains a node is expensive, and one event must not take long.
            new_nodes: (NEW_COUNTS / (width * width).max(1)).clamp(8, nodes / 4),
            pause: if self.is_crowded { SOON } else { LATER },
            pruning: Pruning::ALL,
        }
    }
}

/// Memory shared by the searches of a property, because only one of them takes a step at a time.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    scratch: Scratch,
    pub(super) spares: Spares,
    pub(super) levels: LevelSpace,
    pub(super) workplaces: Workplaces,
    /// The past of the current step.
    pub(super) past: Past,
    /// Scratch space for a clock.
    clock: Vec<u32>,
    threads: Vec<LiveThread>,
    /// Used when steps are forgotten: the order of all of them, and a story placed in it.
    poset: Poset,
    placed: Placed,
}

/// An ongoing search.
#[derive(Clone, Debug)]
pub(super) struct Stream {
    pub(super) plan: Arc<Plan>,
    pub(super) search: Streaming,
    /// Which of the run's events are steps, except for the settled ones.
    pub(super) order: Restriction,
    /// The number, among all steps, of the first one that the search has seen.
    pub(super) first: u32,
    /// For each chain, how many events seen by the search are no longer in the restriction.
    pub(super) settled: Vec<u32>,
    /// With this many steps it pays to forget some again.
    pub(super) full: usize,
    /// The steps kept, and the number of forgotten steps before them.
    pub(super) steps: Steps,
    pub(super) log: Log,
    pub(super) forgotten: u32,
    /// For each chain, how many events seen by the search are forgotten.
    pub(super) forgotten_counts: Vec<u32>,
    /// The state of the observed run after the forgotten steps.
    pub(super) before: (StateId, Vec<Value>),
    /// The states in which stories begin, as far as they are known.
    pub(super) origins: Vec<Option<ProductState>>,
    /// Steps whose other orders were lost when the search began again.
    pub(super) lost: u64,
    /// The packed counts while the stream rests.
    pub(super) counts: Packed,
}

impl Stream {
    pub(super) fn new(plan: Arc<Plan>, monitor: &Monitor, initial: &[Value]) -> Stream {
        Stream {
            search: Streaming::new(&plan.moves),
            origins: vec![Some(plan.product.initial()); plan.moves.initial().len()],
            ..Stream::empty(plan, Replay::new(monitor, initial).position())
        }
    }

    /// A stream without a search.
    pub(super) fn empty(plan: Arc<Plan>, before: (StateId, Vec<Value>)) -> Stream {
        Stream {
            plan,
            search: Streaming::default(),
            order: Restriction::default(),
            first: 0,
            settled: Vec::new(),
            full: 0,
            steps: Steps::default(),
            log: Log::default(),
            forgotten: 0,
            forgotten_counts: Vec::new(),
            before,
            origins: Vec::new(),
            lost: 0,
            counts: Packed::default(),
        }
    }

    /// Whether anything can still be found.
    pub(super) fn goes_on(&self) -> bool {
        self.search.goes_on() || !self.plan.is_complete
    }

    /// The number of steps kept.
    pub(super) fn kept(&self) -> usize {
        self.steps.len()
    }

    /// The number of nodes made.
    pub(super) fn nodes(&self) -> u64 {
        self.search.made()
    }

    /// The number of nodes dropped, and why the search is not exhaustive.
    pub(super) fn omitted(&self) -> (u64, Option<Limit>) {
        let omissions = self.search.omissions();
        let limit = match (omissions.nodes, omissions.late + self.lost) {
            (0, 0) => None,
            (0, _) => Some(Limit::History),
            _ => Some(Limit::Nodes),
        };
        (omissions.nodes, limit)
    }

    /// Whether the search knows the class of a step.
    pub(super) fn knows(&self, kept: &KeptStep) -> bool {
        self.plan.class(&kept.step).is_some()
    }

    /// Takes the next step, which [is known](Stream::knows); returns the story of a run violated by it.
    pub(super) fn take(
        &mut self,
        arrival: &Arrival<'_>,
        kept: &Arc<KeptStep>,
        room: Room,
        memory: &mut Memory,
    ) -> Option<Vec<Turn>> {
        let mut past = std::mem::take(&mut memory.past);
        self.order.find_past(arrival.clock, &mut past);
        let origin = arrival.chain;
        let chain = self.order.push(origin, arrival.clock[origin.index()]);
        *chain.entry(&mut past.counts) += 1;
        let found = self.take_at(chain, &past, kept, room, memory);
        memory.past = past;
        found
    }

    /// Takes the next step, whose place in the order is known.
    fn take_at(
        &mut self,
        chain: ChainId,
        past: &Past,
        kept: &Arc<KeptStep>,
        room: Room,
        memory: &mut Memory,
    ) -> Option<Vec<Turn>> {
        let class = self.plan.class(&kept.step)?;
        self.lost += u64::from(!past.whole);
        let width = past.counts.len();
        self.settled.resize(width, 0);
        self.forgotten_counts.resize(width, 0);
        let counts = past.counts.iter().zip(&self.settled);
        let Memory { scratch, clock, .. } = memory;
        clock.clear();
        clock.extend(counts.map(|(n, settled)| n + settled));
        let moves = &self.plan.moves;
        let bounds = room.bounds(&self.plan, width);
        let found = self
            .search
            .arrive(moves, &bounds, scratch, chain, class, clock);
        for (count, forgotten) in clock.iter_mut().zip(&self.forgotten_counts) {
            *count = count.saturating_sub(*forgotten);
        }
        self.log.push(chain, class, clock);
        self.steps.push(kept);
        if found.is_none() {
            self.search.narrow(moves, &bounds);
        }
        found
    }

    /// Drops what is no longer needed, if it is time.
    pub(super) fn tidy(
        &mut self,
        positions: &ThreadPositions,
        room: Room,
        context: Context<'_>,
        memory: &mut Memory,
    ) {
        let bounds = room.bounds(&self.plan, self.settled.len());
        if !self.search.is_due(&bounds) && self.steps.len() < self.full.max(2 * room.steps) {
            return;
        }
        let mut count = 0;
        for position in positions.iter() {
            self.order.find_past(position.clock, &mut memory.past);
            let known = memory.past.counts.iter().zip(&self.settled);
            if count == memory.threads.len() {
                memory.threads.push(LiveThread::default());
            }
            let here = &mut memory.threads[count];
            here.chain = position.chain.and_then(|chain| self.order.chain(chain));
            here.clock.clear();
            here.clock.extend(known.map(|(a, b)| a + b));
            count += 1;
        }
        let threads = &mut memory.threads[..count];
        self.search
            .tidy(&self.plan.moves, &bounds, &mut memory.scratch, threads);
        let now = &mut memory.clock;
        now.clear();
        now.extend(self.search.settled_counts());
        self.settled.resize(now.len(), 0);
        for (settled, now) in self.settled.iter_mut().zip(now.iter_mut()) {
            // A search that has begun again may have settled less.
            let more = now.saturating_sub(*settled);
            *settled += more;
            *now = more;
        }
        self.order.forget(now);
        if self.steps.len() >= 2 * room.steps {
            self.forget(room, context, memory);
        }
        self.full = self.steps.len() + room.steps;
    }

    /// Forgets the first steps, except for the last few and those not settled.
    fn forget(&mut self, room: Room, context: Context<'_>, memory: &mut Memory) {
        let settled = (self.first + self.search.settled()) - self.forgotten;
        let count = (settled as usize).min(self.steps.len() - room.steps);
        if count < room.steps / 2 {
            return;
        }
        let number = self.forgotten + count as u32 - self.first;
        let Memory {
            scratch,
            poset,
            placed,
            spares,
            ..
        } = memory;
        self.log.fill(poset);
        let prefix = poset.prefix(count);
        let mut origins = Vec::new();
        let mut search = std::mem::take(&mut self.search);
        search.forget_stories(number, scratch, |turns| {
            origins.push(self.state_after(poset, turns, count, placed));
            origins.len() as u32 - 1
        });
        self.search = search;
        self.origins = origins;
        let mut replay = Replay::at(context.monitor, self.before.clone());
        self.steps.forget(count, &mut replay, spares);
        self.before = replay.position();
        self.log.forget(count, &prefix);
        self.forgotten += count as u32;
        for (all, more) in self.forgotten_counts.iter_mut().zip(prefix) {
            *all += more;
        }
    }

    /// The state that the beginning of a story leads to with the first steps that are kept, if there is room for all of them in it.
    fn state_after(
        &self,
        poset: &Poset,
        turns: &[Turn],
        count: usize,
        placed: &mut Placed,
    ) -> Option<ProductState> {
        self.arrange(poset, turns, Extent::First(count), placed)?;
        let mut state = self.origin(turns)?;
        for &event in &placed.run[..count] {
            let (event, writes) = self.steps.read(event);
            let action = self.plan.product.find(event, writes)?;
            state = self.plan.product.step(&state, action);
        }
        Some(state)
    }

    fn origin(&self, turns: &[Turn]) -> Option<ProductState> {
        match turns.first()?.by {
            By::Origin(origin) => self.origins[origin as usize].clone(),
            By::Event(_) => None,
        }
    }

    fn arrange(
        &self,
        poset: &Poset,
        turns: &[Turn],
        extent: Extent,
        placed: &mut Placed,
    ) -> Option<()> {
        let forgotten = self.forgotten - self.first;
        let class = |event: EventIndex| self.log.class(event);
        let moves = &self.plan.moves;
        arrange(poset, moves, turns, forgotten, extent, class, placed)
    }

    /// Begins again with a plan that knows another action: from the start or, if that is forgotten, from the state of the
    /// observed run there; returns the story of a violated run if one is found. `None` if there is no such plan.
    pub(super) fn begin_again(
        &self,
        plan: &Arc<Plan>,
        next: &KeptStep,
        room: Room,
        context: Context<'_>,
        memory: &mut Memory,
    ) -> Option<(Stream, Option<Vec<Turn>>)> {
        let all = self.steps.all(context);
        let plan = match self.forgotten {
            0 => Arc::clone(plan),
            _ => {
                let steps = all.iter().map(|kept| &kept.step).chain([&next.step]);
                Arc::new(Plan::beginning(
                    context.monitor,
                    &self.before,
                    steps,
                    context.options,
                )?)
            }
        };
        let mut again = Stream::new(plan, context.monitor, context.initial);
        again.order = self.order.clone();
        again.before = self.before.clone();
        again.forgotten = self.forgotten;
        again.first = self.forgotten;
        again.lost = self.lost + u64::from(self.forgotten);
        let mut found = None;
        let poset = self.log.poset();
        for (event, kept) in poset.events().zip(&all) {
            let past = Past {
                counts: poset.clock(event).to_vec(),
                whole: true,
            };
            let chain = poset.chain_of(event);
            found = found.or(again.take_at(chain, &past, kept, room, memory));
        }
        // The restriction has already forgotten what was settled.
        let settled = self.settled.iter().zip(&self.forgotten_counts);
        again.settled = settled.map(|(settled, gone)| settled - gone).collect();
        Some((again, found))
    }

    /// The same search by levels, beginning with the first step kept.
    pub(super) fn levels(&self, context: Context<'_>) -> Live {
        let (monitor, options) = (context.monitor, context.options);
        let mut live = match self.forgotten {
            0 => Live::new(monitor, context.initial, options),
            forgotten => Live::beginning(monitor, &self.before, u64::from(forgotten), options),
        };
        let poset = self.log.poset();
        for (event, kept) in poset.events().zip(self.steps.all(context)) {
            let chain = poset.chain_of(event);
            live.push(chain, poset.clock(event), kept);
        }
        live
    }

    /// For each chain, how many of the events forgotten by the restriction are still among the steps.
    pub(super) fn offsets(&self) -> Vec<u32> {
        let settled = self.settled.iter().zip(&self.forgotten_counts);
        settled.map(|(settled, gone)| settled - gone).collect()
    }

    /// The observed run as far as it is known, which was violated after `violated_at` steps.
    pub(super) fn observed_run(&self, violated_at: Option<u64>, context: Context<'_>) -> Predicted {
        let steps = self.steps.all(context);
        self.run_of(&steps)
            .observed(&self.before, violated_at, context)
    }

    fn run_of<'s>(&self, steps: &'s [Arc<KeptStep>]) -> KeptRun<'s> {
        KeptRun {
            steps,
            forgotten: u64::from(self.forgotten),
        }
    }

    /// The violated run of a story.
    pub(super) fn predicted(
        &self,
        turns: &[Turn],
        context: Context<'_>,
    ) -> Result<Predicted, Error> {
        let without_witness = Predicted {
            violated: true,
            forgotten: u64::from(self.forgotten),
            ..Predicted::default()
        };
        let poset = self.log.poset();
        let mut placed = Placed::default();
        let (Some(()), Some(state)) = (
            self.arrange(&poset, turns, Extent::Needed, &mut placed),
            self.origin(turns),
        ) else {
            return Ok(without_witness);
        };
        let mut run = placed.run;
        let steps = self.steps.all(context);
        let begin = || match self.forgotten {
            0 => Replay::new(context.monitor, context.initial),
            _ => Replay::resume(context.monitor, self.plan.product.read(&state)),
        };
        let Some(mut violated_at) = violated_at(begin(), &run, &steps) else {
            // Only possible if the run does not begin in the assumed state.
            debug_assert!(self.forgotten > 0, "a story of all steps is a violation");
            return Ok(without_witness);
        };
        if self.forgotten == 0 && run.len() <= SHORT {
            let mut violation = Violation {
                run,
                violated_at,
                is_shortest: false,
            };
            let actions: Option<Vec<ActionId>> = { steps.iter() }
                .map(|kept| self.plan.product.find(kept.step.event, &kept.step.writes))
                .collect();
            if let Some(actions) = actions {
                let (product, goal) = (&self.plan.product, context.options.goal);
                minimize_swaps(&mut violation, &poset, &actions, product, goal);
            }
            (run, violated_at) = (violation.run, violation.violated_at);
        }
        if cfg!(debug_assertions) {
            let bad_witness = |why: String| Error::BadWitness {
                property: context.monitor.property().name().to_owned(),
                why,
            };
            witness::examine_order(&poset, &vec![0; poset.width()], &run).map_err(bad_witness)?;
            if self::violated_at(begin(), &run, &steps) != Some(violated_at) {
                return Err(bad_witness("not violated there".to_owned()));
            }
        }
        let numbers: Vec<EventIndex> = { run.iter() }
            .map(|event| EventIndex(self.forgotten + event.0))
            .collect();
        let (swaps, swaps_omitted) = swaps(&[], &numbers);
        let overtakings = self.run_of(&steps).overtakings(&begin(), &run, violated_at);
        Ok(Predicted {
            witness: Some(self.run_of(&steps).rows(begin(), &run, context)),
            violated_at: Some(u64::from(self.forgotten) + violated_at as u64),
            swaps,
            swaps_omitted,
            overtakings,
            shortest: self.forgotten == 0 && violated_at <= 1,
            ..without_witness
        })
    }
}

/// The number of events after which a run is violated.
fn violated_at(
    mut replay: Replay<'_>,
    run: &[EventIndex],
    steps: &[Arc<KeptStep>],
) -> Option<usize> {
    if replay.verdict() == Verdict::Violated {
        return Some(0);
    }
    run.iter()
        .position(|event| {
            replay.step(&steps[event.index()].step);
            replay.verdict() == Verdict::Violated
        })
        .map(|place| place + 1)
}
