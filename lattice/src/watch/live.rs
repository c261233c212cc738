//! The ongoing search of one slice, level by level, and the events that it still needs.
//!
//! With a lookahead, levels are made as events arrive, and the first events of the run are soon in
//! every cut. They are forgotten, except those that a witness should show. For that, an older level is
//! remembered: a witness begins at one of its cuts, in one of the states there; how a run gets there is
//! no longer known. Once the search has gone far enough beyond that level, the next one replaces it, and
//! the events before it are dropped.

use std::sync::Arc;

use portent_monitor_core::{ChainId, Value};
use portent_monitor_dsl::{Monitor, StateId, Verdict};

use super::kept::{Context, KeptRun, KeptStep, Spares};
use crate::{
    automaton::{ActionId, Product, ProductState},
    engine::Limit,
    engine::enumerate::{
        self, Configuration, LabelledPoset, Lists, Search, StateList, Sweep, Workspace,
    },
    error::Error,
    options::Options,
    order::{Counts, EventIndex, ObservedCuts, Poset, Requirements},
    report::Predicted,
    witness::{self, Replay, swaps},
};

/// At least this many actions of a product are kept, whether they are needed or not.
const FEW_ACTIONS: u32 = 64;

/// Memory for the next level, shared by all searches.
pub(super) type LevelSpace = Workspace<u64, StateList<ProductState>>;

/// An ongoing search.
#[derive(Clone, Debug)]
pub(super) struct Live {
    monitor: Monitor,
    /// The number of forgotten events. The fields below do not count these.
    forgotten: u64,
    /// The state of the observed run after the forgotten events: the monitor's state, and the values of variables.
    before: (StateId, Vec<Value>),
    steps: Vec<Arc<KeptStep>>,
    poset: Poset,
    requirements: Requirements,
    actions: Vec<ActionId>,
    product: Product,
    /// With this many actions it pays to look for those no longer needed.
    many_actions: u32,
    sweep: Sweep<ProductState, StateList<ProductState>>,
    /// Levels at which a witness may begin: the older one now, and the newer one when the older one is forgotten.
    older: Sweep<ProductState, StateList<ProductState>>,
    newer: Sweep<ProductState, StateList<ProductState>>,
}

impl Live {
    pub(super) fn new(monitor: &Monitor, initial: &[Value], options: &Options) -> Live {
        let product = Product::new(monitor.clone(), initial);
        let before = Replay::new(monitor, initial).position();
        Live::of_product(product, monitor, before, options)
    }

    /// A search that knows nothing of the first steps except the state of the observed run after them.
    pub(super) fn beginning(
        monitor: &Monitor,
        before: &(StateId, Vec<Value>),
        forgotten: u64,
        options: &Options,
    ) -> Live {
        let product = Product::beginning(monitor.clone(), before.0, &before.1);
        let mut live = Live::of_product(product, monitor, before.clone(), options);
        live.forgotten = forgotten;
        live.result_mut().limit = Some(Limit::History);
        live
    }

    fn of_product(
        product: Product,
        monitor: &Monitor,
        before: (StateId, Vec<Value>),
        options: &Options,
    ) -> Live {
        let (poset, requirements) = (Poset::new(0), Requirements::default());
        let sets = sets(
            LabelledPoset::new(&poset, &requirements, &[]),
            &product,
            options,
        );
        let sweep = Sweep::new(&sets, product.initial(), &[], false);
        Live {
            monitor: monitor.clone(),
            forgotten: 0,
            before,
            steps: Vec::new(),
            older: sweep.clone(),
            newer: sweep.clone(),
            sweep,
            poset,
            requirements,
            actions: Vec::new(),
            product,
            many_actions: FEW_ACTIONS,
        }
    }

    /// The number of events kept.
    pub(super) fn kept(&self) -> usize {
        self.steps.len()
    }

    /// The number of events in each cut of the current level, without the forgotten ones.
    pub(super) fn level(&self) -> usize {
        self.sweep.level()
    }

    /// The number in the run of the first event past the observed cut of the current level, if there
    /// is one. Every cut of the level lacks that event or an earlier one, so the lookahead of such a cut
    /// ends no later than the same number of events past this one.
    pub(super) fn next_number(&self) -> Option<u64> {
        let next = self.steps.get(self.level());
        next.filter(|_| self.goes_on()).map(|step| step.number)
    }

    /// Whether there is anything left to find.
    pub(super) fn goes_on(&self) -> bool {
        self.sweep.goes_on()
    }

    pub(super) fn result(&self) -> &Search<ProductState> {
        &self.sweep.result
    }

    pub(super) fn result_mut(&mut self) -> &mut Search<ProductState> {
        &mut self.sweep.result
    }

    /// Takes the next event; its clock does not count the forgotten events.
    pub(super) fn push(&mut self, chain: ChainId, clock: &[u32], kept: Arc<KeptStep>) {
        self.poset.widen(clock.len());
        let event = self.poset.push_numbered(chain, clock, kept.number);
        self.requirements.push(&self.poset, event);
        let step = &kept.step;
        self.actions
            .push(self.product.act(step.event, &step.writes));
        self.steps.push(kept);
    }

    /// Makes the next level, whose events are all known.
    pub(super) fn advance(&mut self, options: &Options, at_end: bool, space: &mut LevelSpace) {
        let labelled = LabelledPoset::new(&self.poset, &self.requirements, &self.actions);
        let sets = sets(labelled, &self.product, options);
        let ceiling = Counts::from_elem(u32::MAX, self.poset.width());
        self.sweep.swap_workspace(space);
        self.sweep
            .advance(labelled, &sets, &ceiling, None, options, at_end);
        self.sweep.swap_workspace(space);
    }

    /// The run has ended at this level.
    pub(super) fn end(&mut self, options: &Options) {
        let labelled = LabelledPoset::new(&self.poset, &self.requirements, &self.actions);
        self.sweep.end(&sets(labelled, &self.product, options));
    }

    /// Drops events, if it is time; returns the cut that they form.
    pub(super) fn forget(&mut self, options: &Options, spares: &mut Spares) -> Option<Vec<u32>> {
        // No more often than the cost of the levels in between justifies.
        let stride = (options.lookahead? as usize).max(options.history).max(1);
        if self.sweep.level() < self.newer.level() + stride || !self.goes_on() {
            return None;
        }
        std::mem::swap(&mut self.older, &mut self.newer);
        self.newer.assign(&self.sweep);
        let settled = self.older.settled(&self.poset);
        if settled == 0 {
            return None;
        }
        let prefix = self.poset.prefix(settled);
        self.forgotten += settled as u64;
        let before = (self.before.0, std::mem::take(&mut self.before.1));
        let mut replay = Replay::at(&self.monitor, before);
        for kept in self.steps.drain(..settled) {
            replay.step(&kept.step);
            spares.let_go(kept);
        }
        self.before = replay.position();
        self.poset.forget(&prefix);
        self.requirements.renew(&self.poset);
        let are_many = { self.actions.iter() }.any(|action| action.0 >= self.many_actions);
        self.actions.drain(..settled);
        if are_many {
            self.renew_product();
        }
        for sweep in [&mut self.sweep, &mut self.older, &mut self.newer] {
            sweep.forget(&prefix);
        }
        Some(prefix)
    }

    /// A product with only the states and actions still in use.
    fn renew_product(&mut self) {
        let mut sweeps = [&mut self.sweep, &mut self.older, &mut self.newer];
        let states = sweeps.iter_mut().flat_map(|sweep| sweep.states_mut());
        self.product = self.product.renewed(states);
        for sweep in sweeps {
            sweep.sort_states();
        }
        let steps = self.steps.iter().map(|kept| &kept.step);
        self.actions = { steps }
            .map(|step| self.product.act(step.event, &step.writes))
            .collect();
        let actions = self.actions.iter().map(|action| action.0 + 1).max();
        self.many_actions = actions.map_or(0, |actions| 2 * actions).max(FEW_ACTIONS);
    }

    /// The observed run as far as it is known, which was violated after `violated_at` events.
    pub(super) fn observed_run(&self, violated_at: Option<u64>, context: Context<'_>) -> Predicted {
        self.kept_run().observed(&self.before, violated_at, context)
    }

    fn kept_run(&self) -> KeptRun<'_> {
        KeptRun {
            steps: &self.steps,
            forgotten: self.forgotten,
        }
    }

    /// The violated run that was found, in terms of the events that are known.
    pub(super) fn predicted(&self, context: Context<'_>) -> Result<Option<Predicted>, Error> {
        let search = self.result();
        let Some(mut spot) = search.found.clone() else {
            return Ok(None);
        };
        let bad_witness = |why: String| Error::BadWitness {
            property: context.monitor.property().name().to_owned(),
            why,
        };
        let width = self.poset.width();
        spot.cut.resize(width, 0);
        let labelled = LabelledPoset::new(&self.poset, &self.requirements, &self.actions);
        let observed = ObservedCuts::new(&self.poset);
        let starts = self.older.spots(width);
        let options = context.options;
        let way = enumerate::way(
            labelled,
            &self.product,
            &observed,
            &starts,
            &spot,
            search,
            options,
        );
        let Some((start, prefix)) = way else {
            return Err(bad_witness("no way leads to it".to_owned()));
        };
        let start = &starts[start];
        let shortest = search.limit.is_none();
        let violation = enumerate::complete(labelled, &self.product, start, prefix, shortest);
        let predicted = self.tell(context, start, &violation.run, violation.violated_at);
        if cfg!(debug_assertions) {
            witness::examine_order(&self.poset, &start.cut, &violation.run)
                .and_then(|()| self.examine(&predicted, options))
                .map_err(bad_witness)?;
        }
        Ok(Some(predicted))
    }

    /// The rows of a run that begins at a spot and is violated after this many events.
    fn tell(
        &self,
        context: Context<'_>,
        start: &Configuration<ProductState>,
        run: &[EventIndex],
        violated_at: usize,
    ) -> Predicted {
        let forgotten = self.forgotten + start.events() as u64;
        let replay = if forgotten == 0 {
            Replay::new(context.monitor, context.initial)
        } else {
            Replay::resume(context.monitor, self.product.read(&start.state))
        };
        let kept = self.kept_run();
        let overtakings = kept.overtakings(&replay, run, violated_at);
        let witness = kept.rows(replay, run, context);
        let number = |event: EventIndex| self.forgotten as u32 + event.0;
        let before = self.poset.chains().zip(&start.cut);
        let mut before: Vec<EventIndex> = before
            .flat_map(|(chain, &count)| &self.poset.chain(chain)[..count as usize])
            .map(|&event| EventIndex(number(event)))
            .collect();
        before.sort_unstable();
        let run: Vec<EventIndex> = run.iter().map(|&event| EventIndex(number(event))).collect();
        let (swaps, swaps_omitted) = swaps(&before, &run);
        Predicted {
            witness_omitted: false,
            violated: true,
            witness: Some(witness),
            left_out: Vec::new(),
            violated_at: Some(forgotten + violated_at as u64),
            swaps,
            swaps_omitted,
            overtakings,
            shortest: self.result().limit.is_none(),
            forgotten,
        }
    }

    /// Says why the rows are not those of a run violated at the given position. The rows come from the monitor itself, not from
    /// the search.
    fn examine(&self, predicted: &Predicted, options: &Options) -> Result<(), String> {
        let rows = predicted.witness.as_deref().unwrap_or_default();
        let violated_at = predicted.violated_at.unwrap_or_default() - predicted.forgotten;
        let Some(last) = (violated_at as usize).checked_sub(1) else {
            return Ok(());
        };
        if let Some(early) = rows[..last]
            .iter()
            .position(|row| row.verdict == Verdict::Violated)
        {
            return Err(format!("violated already after {} events", early + 1));
        }
        if options
            .goal
            .is_bad(rows[last].verdict, last + 1 == rows.len())
        {
            Ok(())
        } else {
            Err(format!("{} there and not violated", rows[last].verdict))
        }
    }
}

fn sets<'a>(
    labelled: LabelledPoset<'a>,
    product: &'a Product,
    options: &Options,
) -> Lists<'a, Product> {
    Lists {
        labelled,
        machine: product,
        goal: options.goal,
        absorb: options.reductions.absorption,
    }
}
