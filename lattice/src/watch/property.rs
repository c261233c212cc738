//! One property of a running program: which events are steps of which of its bindings.

use std::{cmp::Reverse, collections::BinaryHeap, sync::Arc};

use portent_monitor_core::Symbols;
use smallvec::SmallVec;

use super::{
    kept::{Context, KeptStep},
    plan::Plan,
    stream::{Memory, Room},
    track::{Shared, Track},
};
use crate::{
    engine::Limit,
    error::Error,
    intake::{
        Arrival, Binding, BindingId, Blocks, Inequalities, JoinId, Joins, PropertyStep, Viewer,
        is_silent,
    },
    options::Options,
    report::PropertyReport,
};

/// The bindings that a step is given to.
type Takers = SmallVec<[JoinId; 2]>;

/// An event as each binding sees it.
#[derive(Clone, Debug, Default)]
struct Readings {
    steps: Vec<Arc<KeptStep>>,
    /// The bindings, each with the index of its step.
    takers: Vec<(JoinId, usize)>,
}

impl Readings {
    /// Gives these bindings this step, except those that already have one.
    fn add(&mut self, step: Arc<KeptStep>, to: impl Iterator<Item = JoinId>) {
        let reading = self.steps.len();
        self.steps.push(step);
        self.takers.extend(to.map(|id| (id, reading)));
    }

    /// Keeps only the first step of each binding, in the order of the bindings.
    fn keep_first(&mut self) {
        self.takers.sort_unstable();
        self.takers.dedup_by_key(|(id, _)| *id);
    }
}

/// A property under watch.
#[derive(Clone, Debug)]
pub(super) struct Watched {
    steps: u64,
    /// How its steps are streamed, if they are.
    plan: Option<Arc<Plan>>,
    /// Whether only streams keep its steps, for their witnesses.
    keeps_little: bool,
    memory: Memory,
    joins: Joins,
    /// One for each of the joins.
    tracks: Blocks<Track>,
    /// Whether there were more bindings than allowed. No more are added then, because they would lack the steps of those left
    /// out.
    is_cut: bool,
    /// For each binding of events, the joins that its last step was given to, and the number of tracks at that time.
    takers: Blocks<(usize, Takers)>,
    /// Empty between two events; its memory is reused for the next.
    readings: Readings,
    /// With a lookahead, the tracks whose current levels become complete, by the numbers of the
    /// events that complete them.
    deadlines: BinaryHeap<Reverse<(u64, JoinId)>>,
}

fn context<'a>(viewer: &'a Viewer, symbols: &'a Symbols, options: &'a Options) -> Context<'a> {
    Context {
        monitor: viewer.monitor(),
        initial: viewer.initial(),
        symbols,
        options,
        bindings: viewer.bindings(),
        binding: None,
    }
}

impl Watched {
    pub(super) fn new(viewer: &Viewer, options: &Options) -> Result<Watched, Error> {
        let property = viewer.monitor().property();
        let inequalities = Inequalities::new(property.inequalities());
        let plan = Plan::new(viewer.monitor(), viewer.initial(), options).map(Arc::new);
        let track = Track::new(context(viewer, &Symbols::default(), options), plan.as_ref())?;
        let mut tracks = Blocks::default();
        tracks.push(track);
        Ok(Watched {
            steps: 0,
            keeps_little: plan.as_ref().is_some_and(|plan| plan.keeps_little()),
            plan,
            memory: Memory::default(),
            joins: Joins::new(property.parameters().len(), inequalities),
            tracks,
            is_cut: false,
            takers: Blocks::default(),
            readings: Readings::default(),
            deadlines: BinaryHeap::new(),
        })
    }

    /// Takes what the property sees of an event, and adds the resulting reports to `news`.
    pub(super) fn take(
        &mut self,
        arrival: &Arrival<'_>,
        property_step: &PropertyStep<'_>,
        options: &Options,
        news: &mut Vec<PropertyReport>,
    ) -> Result<(), Error> {
        let viewer = property_step.viewer;
        let context = context(viewer, arrival.symbols, options);
        if self.steps >= u64::from(u32::MAX) {
            return Err(Error::TooManyEvents);
        }
        let room = Room::new(context, self.tracks.len());
        self.steps += 1;
        // Writes concern all bindings.
        let concerns_others = !property_step.step.writes.is_empty() && self.joins.arity() > 0;
        if viewer.others().is_empty() && !concerns_others {
            let takers = self.takers(property_step.binding, viewer, options);
            let is_little = self.keeps_little && viewer.is_bound() && is_silent(arrival.event);
            let spares = &mut self.memory.spares;
            let here = if is_little {
                spares.show_bound(arrival, property_step.step)
            } else {
                spares.keep(arrival, property_step.step)
            };
            let given = { takers.iter() }
                .try_for_each(|&id| self.give(id, arrival, &here, room, context, viewer, news));
            self.takers[property_step.binding.index()].1 = takers;
            self.memory.spares.let_go(here);
            return given;
        }
        // The event as seen by each binding that it makes, in order of precedence; all other bindings see only its writes.
        let mut readings = std::mem::take(&mut self.readings);
        let others = viewer.others().iter();
        let all = std::iter::once((property_step.binding, property_step.step))
            .chain(others.map(|other| (other.binding_id, &other.step)));
        for (binding, _) in all.clone() {
            self.add_joins(viewer.bindings().get(binding), options);
        }
        for (binding, step) in all {
            let binding = viewer.bindings().get(binding);
            let containing = self.joins.containing(binding);
            readings.add(self.memory.spares.keep(arrival, step), containing);
        }
        if let Some(elsewhere) = property_step.step.elsewhere() {
            let elsewhere = self.memory.spares.keep(arrival, &elsewhere);
            readings.add(elsewhere, self.joins.ids());
        }
        readings.keep_first();
        let given = { readings.takers.iter() }.try_for_each(|&(id, reading)| {
            let kept = &readings.steps[reading];
            self.give(id, arrival, kept, room, context, viewer, news)
        });
        for kept in readings.steps.drain(..) {
            self.memory.spares.let_go(kept);
        }
        readings.takers.clear();
        self.readings = readings;
        given
    }

    /// Gives a step to one binding.
    #[allow(clippy::too_many_arguments)]
    fn give(
        &mut self,
        id: JoinId,
        arrival: &Arrival<'_>,
        kept: &Arc<KeptStep>,
        room: Room,
        context: Context<'_>,
        viewer: &Viewer,
        news: &mut Vec<PropertyReport>,
    ) -> Result<(), Error> {
        self.learn(kept, context);
        let of_binding = Context {
            binding: Some(self.joins.get(id)),
            ..context
        };
        let mut shared = Shared {
            plan: self.plan.as_ref(),
            room,
            memory: &mut self.memory,
        };
        self.tracks[id.index()].take(arrival, kept, of_binding, &mut shared)?;
        self.report_news(id, viewer, context, news);
        self.schedule(id, context.options);
        Ok(())
    }

    /// The joins that contain a binding, in order, taken out of the cache to be put back; they are computed again only if joins
    /// were added.
    fn takers(&mut self, id: BindingId, viewer: &Viewer, options: &Options) -> Takers {
        self.takers.extend_to(id.index() + 1, Default::default);
        let known = self.tracks.len();
        let (of, takers) = &mut self.takers[id.index()];
        if *of == known {
            return std::mem::take(takers);
        }
        let binding = viewer.bindings().get(id);
        self.add_joins(binding, options);
        let mut takers: Takers = self.joins.containing(binding).collect();
        takers.sort_unstable();
        self.takers[id.index()].0 = self.tracks.len();
        takers
    }

    /// Makes tracks for a binding and its joins with all others, unless there are too many.
    fn add_joins(&mut self, binding: &Binding, options: &Options) {
        if self.is_cut {
            return;
        }
        let Ok(origins) = self.joins.add(binding, options.max_bindings) else {
            self.is_cut = true;
            return;
        };
        for origin in origins {
            let mut track = self.tracks[origin.index()].clone();
            track.is_scheduled = false;
            self.tracks.push(track);
        }
    }

    /// Whether there were more bindings than allowed, so that only the first ones were watched.
    pub(super) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Why some search is not exhaustive, if one is not.
    pub(super) fn limit(&self) -> Option<Limit> {
        self.tracks.iter().find_map(Track::limit)
    }

    /// Adds the action of a step to the plan, if steps are streamed.
    fn learn(&mut self, kept: &KeptStep, context: Context<'_>) {
        if let Some(plan) = &self.plan
            && plan.class(&kept.step).is_none()
        {
            let plan = plan.with(context.monitor, &kept.step, context.options);
            self.plan = plan.map(Arc::new);
        }
    }

    /// The event `now` has arrived, whether or not it is a step of this property: makes the levels of all bindings that
    /// it completes, and adds what was found to `news`.
    pub(super) fn close_levels(
        &mut self,
        now: u64,
        viewer: &Viewer,
        symbols: &Symbols,
        options: &Options,
        news: &mut Vec<PropertyReport>,
    ) -> Result<(), Error> {
        let context = context(viewer, symbols, options);
        if now == 0 {
            // Without parameters there is an instance even before the first event.
            self.report_news(self.joins.root(), viewer, context, news);
        }
        let Some(lookahead) = options.lookahead else {
            return Ok(());
        };
        while let Some(&Reverse((deadline, id))) = self.deadlines.peek()
            && deadline <= now
        {
            self.deadlines.pop();
            let track = &mut self.tracks[id.index()];
            track.is_scheduled = false;
            track.close_levels(now, lookahead, context, &mut self.memory)?;
            self.report_news(id, viewer, context, news);
            self.schedule(id, options);
        }
        Ok(())
    }

    /// Schedules the levels of a binding to be made when they are complete.
    fn schedule(&mut self, id: JoinId, options: &Options) {
        let track = &mut self.tracks[id.index()];
        if let Some(deadline) = options.lookahead.and_then(|l| track.deadline(l))
            && !std::mem::replace(&mut track.is_scheduled, true)
        {
            self.deadlines.push(Reverse((deadline, id)));
        }
    }

    /// A violation in a partial binding is reported once the binding is full.
    fn report_news(
        &mut self,
        id: JoinId,
        viewer: &Viewer,
        context: Context<'_>,
        news: &mut Vec<PropertyReport>,
    ) {
        let track = &mut self.tracks[id.index()];
        if track.has_news() && self.joins.is_full(id) {
            track.reported = true;
            let binding = viewer.bindings().values(self.joins.get(id));
            news.push(track.report(binding, context));
        }
    }

    /// The number of steps kept, for all bindings together.
    pub(super) fn kept(&self) -> usize {
        self.tracks.iter().map(Track::kept).sum()
    }

    fn instances(&self) -> impl Iterator<Item = JoinId> + '_ {
        self.joins.ids().filter(|&id| self.joins.is_full(id))
    }

    /// The run has ended: reports on every full binding, in the order of their first steps.
    pub(super) fn finish(
        &mut self,
        viewer: &Viewer,
        symbols: &Symbols,
        options: &Options,
    ) -> Result<Vec<PropertyReport>, Error> {
        let mut instances: Vec<JoinId> = self.instances().collect();
        let order = |&id: &JoinId| (self.tracks[id.index()].first(), self.joins.get(id).clone());
        instances.sort_by_cached_key(order);
        let context = context(viewer, symbols, options);
        let mut reports = Vec::with_capacity(instances.len());
        for id in instances {
            let track = &mut self.tracks[id.index()];
            track.finish(context, &mut self.memory)?;
            let binding = viewer.bindings().values(self.joins.get(id));
            reports.push(track.report(binding, context));
        }
        Ok(reports)
    }
}
