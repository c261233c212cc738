//! One property of a running program: which events are steps of which of its bindings.

use std::{
    cmp::Reverse,
    collections::{BTreeSet, BinaryHeap},
    sync::Arc,
};

use portent_monitor_core::{Causality, Event, Stamp, Symbols, Value};
use portent_monitor_dsl::Monitor;

use super::{
    live::{Context, Step},
    track::Track,
};
use crate::{
    error::Error,
    intake::{
        Bindings, Deed, JoinId, Joins, LineNote, Names, Occurrence, Relevance, Seen, initial_values,
    },
    options::Options,
    report::{Fit, PropertyReport},
};

/// A property that is watched.
#[derive(Clone, Debug)]
pub(super) struct Watched {
    relevance: Relevance,
    causality: Causality,
    initial: Arc<[Value]>,
    steps: u64,
    occurrence: Occurrence,
    bindings: Bindings,
    joins: Joins,
    /// One for each of the joins.
    tracks: Vec<Track>,
    /// With a lookahead, the tracks whose current levels become complete, by the numbers of the
    /// events that complete them.
    deadlines: BinaryHeap<Reverse<(u64, JoinId)>>,
}

impl Watched {
    pub(super) fn new(
        monitor: Monitor,
        initial: impl FnMut(&str) -> Option<Value>,
        options: &Options,
    ) -> Result<Watched, Error> {
        let initial = initial_values(&monitor, initial)?;
        let arity = monitor.property().parameters().len();
        let context = Context {
            monitor: &monitor,
            initial: &initial,
            symbols: &Symbols::default(),
            options,
        };
        let track = Track::new(context)?;
        Ok(Watched {
            relevance: Relevance::new(monitor),
            causality: Causality::default(),
            initial: initial.into(),
            steps: 0,
            occurrence: Occurrence::default(),
            bindings: Bindings::new(arity),
            joins: Joins::new(arity),
            tracks: vec![track],
            deadlines: BinaryHeap::new(),
        })
    }

    /// What the next event is to this property. Nothing is changed yet.
    pub(super) fn see(&mut self, event: &Event, symbols: &Symbols) -> Result<Option<Seen>, Error> {
        self.relevance.see(event, symbols)
    }

    /// Takes the next event, which was [seen](Self::see) and has this number in the run, and puts what
    /// was found by it into `news`.
    pub(super) fn take(
        &mut self,
        event: &Event,
        number: u64,
        seen: Option<Seen>,
        symbols: &Symbols,
        options: &Options,
        news: &mut Vec<PropertyReport>,
    ) -> Result<(), Error> {
        let stamp = self.causality.step(event, seen.is_some())?;
        let (monitor, initial) = (self.relevance.monitor().clone(), Arc::clone(&self.initial));
        let context = Context {
            monitor: &monitor,
            initial: &initial,
            symbols,
            options,
        };
        if let (Some(seen), Some(stamp)) = (seen, stamp) {
            self.occurrence.note(&seen);
            self.take_step(event, number, seen, &stamp, context, news)?;
        }
        if number == 0 {
            // Without parameters there is an instance before anything has happened.
            self.report_news(self.joins.root(), context, news);
        }
        self.close_levels(number, context, news)
    }

    fn take_step(
        &mut self,
        event: &Event,
        number: u64,
        seen: Seen,
        stamp: &Stamp,
        context: Context<'_>,
        news: &mut Vec<PropertyReport>,
    ) -> Result<(), Error> {
        let name = || context.monitor.property().name().to_owned();
        if self.steps >= u64::from(u32::MAX) {
            return Err(Error::TooManyEvents { property: name() });
        }
        let id = self.bindings.intern(&seen.binding);
        let binding = self.bindings.get(id);
        let limit = context.options.max_bindings;
        let origins = (self.joins.add(binding, limit)).map_err(|_| Error::TooManyBindings {
            property: name(),
            limit,
        })?;
        for origin in origins {
            let mut track = self.tracks[origin.index()].clone();
            track.is_scheduled = false;
            self.tracks.push(track);
        }
        let (deed, elsewhere) = Deed::read(seen);
        let step = |deed| {
            Arc::new(Step {
                thread: event.thread,
                line: event.line,
                number,
                deed,
                note: LineNote::by(event),
            })
        };
        let containing = BTreeSet::from_iter(self.joins.containing(binding));
        let mut takers: Vec<(JoinId, Arc<Step>)> = Vec::new();
        if let Some(elsewhere) = elsewhere.map(step) {
            let others = self.joins.ids().filter(|id| !containing.contains(id));
            takers.extend(others.map(|id| (id, Arc::clone(&elsewhere))));
        }
        let step = step(deed);
        takers.extend(containing.iter().map(|&id| (id, Arc::clone(&step))));
        for (id, step) in takers {
            self.tracks[id.index()].take(stamp, &step, context)?;
            self.report_news(id, context, news);
            self.schedule(id, context.options);
        }
        self.steps += 1;
        Ok(())
    }

    /// Makes the levels of all bindings that are complete with the event `now`, which need not be a
    /// step of any.
    fn close_levels(
        &mut self,
        now: u64,
        context: Context<'_>,
        news: &mut Vec<PropertyReport>,
    ) -> Result<(), Error> {
        let Some(lookahead) = context.options.lookahead else {
            return Ok(());
        };
        while let Some(&Reverse((deadline, id))) = self.deadlines.peek()
            && deadline <= now
        {
            self.deadlines.pop();
            let track = &mut self.tracks[id.index()];
            track.is_scheduled = false;
            track.close_levels(now, lookahead, context)?;
            self.report_news(id, context, news);
            self.schedule(id, context.options);
        }
        Ok(())
    }

    /// Sees to it that the levels of a binding are made when they are complete.
    fn schedule(&mut self, id: JoinId, options: &Options) {
        let track = &mut self.tracks[id.index()];
        if let Some(deadline) = options.lookahead.and_then(|l| track.deadline(l))
            && !std::mem::replace(&mut track.is_scheduled, true)
        {
            self.deadlines.push(Reverse((deadline, id)));
        }
    }

    /// What is violated in a binding that is not full is reported when it has become full.
    fn report_news(&mut self, id: JoinId, context: Context<'_>, news: &mut Vec<PropertyReport>) {
        let track = &mut self.tracks[id.index()];
        if self.joins.is_full(id) && track.has_news() {
            let binding = self.bindings.values(self.joins.get(id));
            news.push(track.report(binding, context));
        }
    }

    /// How many steps are kept, for all bindings together.
    pub(super) fn kept(&self) -> usize {
        self.tracks.iter().map(Track::kept).sum()
    }

    /// How it fits the run so far.
    pub(super) fn fit<'a>(&'a self, names: &'a Names, symbols: &'a Symbols) -> Fit<'a> {
        Fit {
            monitor: self.relevance.monitor(),
            initial: &self.initial,
            steps: self.steps,
            bindings: &self.bindings,
            occurrence: &self.occurrence,
            names,
            symbols,
        }
    }

    fn instances(&self) -> impl Iterator<Item = JoinId> + '_ {
        self.joins.ids().filter(|&id| self.joins.is_full(id))
    }

    /// The run has ended: says what is known of every full binding, in the order of their first
    /// steps.
    pub(super) fn finish(
        &mut self,
        symbols: &Symbols,
        options: &Options,
    ) -> Result<Vec<PropertyReport>, Error> {
        let mut instances: Vec<JoinId> = self.instances().collect();
        let order = |&id: &JoinId| (self.tracks[id.index()].first(), self.joins.get(id).clone());
        instances.sort_by_cached_key(order);
        let context = Context {
            monitor: self.relevance.monitor(),
            initial: &self.initial,
            symbols,
            options,
        };
        let mut reports = Vec::with_capacity(instances.len());
        for id in instances {
            let track = &mut self.tracks[id.index()];
            track.finish(context)?;
            let binding = self.bindings.values(self.joins.get(id));
            reports.push(track.report(binding, context));
        }
        Ok(reports)
    }
}
