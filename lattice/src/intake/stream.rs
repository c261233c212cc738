//! The only entrance for events, from any source: a trace, a running program, a scheduler.
//!
//! An event is matched against all properties, checked against earlier ones, and put in its place in the causal order. If some
//! property takes it for a step, the result is an [`Arrival`]: which properties see what in it, its chain, and its
//! clock. Records for later and ongoing searches are made from the same arrivals.
//!
//! **There is one clock for all properties.** It ticks for steps of any of them; the order among the steps of one
//! property, or of one binding, follows by counting (`order::restriction`). So each event is stamped once, however
//! many properties there are, and events that were stamped elsewhere can be taken as they are.
//!
//! **The intake owns the names of its run.** Ids mean something only together with the symbols that gave them, and what an id
//! means to a property is looked up by name when the id is first met and by number from then on: so the ids of a run must
//! mean the same from its first event to its last, and owning the symbols ensures this. The producer of the events, a reader
//! or a program, borrows the symbols to make them. Only if several consumers take the same events, as when hooks have one
//! table for all listeners, the symbols of each consumer catch up with those that the events were made with, and a name is
//! stored twice. Names outlive a run, and the symbols may be replaced only before its first event, when nothing is remembered
//! about ids.
//!
//! An event with an id that the symbols never gave is refused before any property sees it.

use portent_monitor_core::{
    Causality, ChainId, Clock, Discipline, Event, Forks, Stamp, Symbols, ThreadId, Value,
};
use portent_monitor_dsl::Monitor;

use super::{
    binding::BindingId, clock_budget::ClockBudget, occurrence::Names, stamps::Stamps, step::Step,
    text::EventText, thread_positions::ThreadPositions, viewer::Viewer, waits::Waits,
};
use crate::error::Error;

portent_monitor_core::ids! {
    /// One of the properties that watch a run.
    pub(crate) struct PropertyIndex(u32);
}

/// The limits of an intake.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IntakeLimits {
    /// The memory limit for the clocks of threads and objects. Beyond it, events are ordered as they were
    /// observed: this allows fewer runs, and none that the clocks would exclude.
    pub(crate) clocks: u64,
    /// The largest number of bindings of a property's parameters. Steps of other bindings are not taken.
    pub(crate) bindings: usize,
    /// Whether the positions of threads are tracked.
    pub(crate) positions: bool,
}

impl IntakeLimits {
    /// No limits, with thread positions.
    pub(crate) const NONE: IntakeLimits = IntakeLimits {
        clocks: u64::MAX,
        bindings: usize::MAX,
        positions: true,
    };
}

/// Takes the events of a run one by one, in observed order.
#[derive(Clone, Debug)]
pub(crate) struct Intake {
    /// The names of this run and of earlier ones.
    symbols: Symbols,
    viewers: Vec<Viewer>,
    /// Refuses impossible events; `None` if the caller has already checked them.
    discipline: Option<Discipline>,
    /// The kind of order, which the first event decides.
    order: Option<Order>,
    limits: IntakeLimits,
    clock_budget: ClockBudget,
    events: u64,
    threads: Threads,
    positions: ThreadPositions,
    names: Names,
    waits: Waits,
    /// Whether the acting threads are those that are forked, in a trace.
    forks: Forks,
    /// Buffers for the current event: the properties that it is a step of, their bindings, its
    /// clock, and its text.
    seen: Vec<(PropertyIndex, BindingId)>,
    clock: Vec<u32>,
    text: String,
}

/// How events are ordered.
#[derive(Clone, Debug)]
enum Order {
    /// By their effects.
    Computed(Box<Causality>),
    /// By the stamps that they carry.
    Given(Stamps),
    /// As observed, because their clocks take too much memory.
    Observed,
}

/// An event that is a step of some property.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival<'a> {
    /// Its number among all events of the run, from 0.
    pub(crate) number: u64,
    pub(crate) event: &'a Event,
    /// The names of the run.
    pub(crate) symbols: &'a Symbols,
    /// The chain that it is on, of all that are steps of some property.
    pub(crate) chain: ChainId,
    /// For each chain, how many of its events are in the past of this one, including itself; components past the end count
    /// as 0.
    pub(crate) clock: &'a [u32],
    /// Whether the clock is exact. Otherwise the event comes after all before it, and there are no more clocks.
    pub(crate) is_ordered: bool,
    /// The threads that may act after it.
    pub(crate) positions: &'a ThreadPositions,
    viewers: &'a [Viewer],
    seen: &'a [(PropertyIndex, BindingId)],
}

/// What one property sees of an arrival.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PropertyStep<'a> {
    pub(crate) property: PropertyIndex,
    pub(crate) viewer: &'a Viewer,
    pub(crate) step: &'a Step,
    pub(crate) binding: BindingId,
}

impl<'a> Arrival<'a> {
    /// What the properties that take it for a step see of it, in their order.
    pub(crate) fn property_steps(&self) -> impl Iterator<Item = PropertyStep<'a>> + use<'a> {
        let viewers = self.viewers;
        self.seen.iter().map(move |&(property, binding)| {
            let viewer = &viewers[property.index()];
            PropertyStep {
                property,
                viewer,
                step: viewer.step(),
                binding,
            }
        })
    }
}

impl Intake {
    /// An intake for these properties. `initial` gives the initial values in the trace, by
    /// the names of variables; `admitted` says that a [`Discipline`] has checked the events before.
    pub(crate) fn new(
        monitors: impl IntoIterator<Item = Monitor>,
        mut initial: impl FnMut(&str) -> Option<Value>,
        admitted: bool,
        limits: IntakeLimits,
    ) -> Result<Intake, Error> {
        let viewers = monitors
            .into_iter()
            .map(|monitor| Viewer::new(monitor, &mut initial, limits.bindings))
            .collect::<Result<_, _>>()?;
        Ok(Intake {
            symbols: Symbols::default(),
            viewers,
            discipline: (!admitted).then(Discipline::default),
            order: None,
            limits,
            clock_budget: ClockBudget::new(limits.clocks),
            events: 0,
            threads: Threads::default(),
            positions: ThreadPositions::default(),
            names: Names::default(),
            waits: Waits::default(),
            forks: Forks::default(),
            seen: Vec::new(),
            clock: Vec::new(),
            text: String::new(),
        })
    }

    /// Takes the next event of the run, and orders it by its effects.
    ///
    /// # Errors
    ///
    /// If the event has an id that the symbols never gave, a value does not fit its variable, or the event cannot follow
    /// earlier ones: then nothing has changed, and the next event may be given. If a number does not fit 32 bits, or there are
    /// too many threads, the run cannot continue.
    pub(crate) fn take<'a>(&'a mut self, event: &'a Event) -> Result<Option<Arrival<'a>>, Error> {
        self.check_names(event)?;
        let order = (self.order).get_or_insert_with(|| Order::Computed(Box::default()));
        if matches!(order, Order::Given(_)) {
            return Err(Error::MixedStamps);
        }
        look(
            &mut self.viewers,
            event,
            &self.symbols,
            &mut self.text,
            &mut self.seen,
        )?;
        if let Some(discipline) = &mut self.discipline {
            discipline.admit(event, &self.symbols)?;
        }
        self.forks.take(event);
        let Order::Computed(causality) = order else {
            return Ok(self.arrive(event, ChainId::from_index(0)));
        };
        let kept = &mut self.clock;
        let chain = causality.step_with(event, !self.seen.is_empty(), |chain, clock| {
            read_clock(clock, kept);
            chain
        })?;
        if self.clock_budget.is_spent(causality) {
            self.order = Some(Order::Observed);
        }
        Ok(self.arrive(event, chain))
    }

    /// Takes the next event of the run, which carries its place in the causal order. Only some of the run's events
    /// may be stamped: clocks may count events that are never given.
    ///
    /// # Errors
    ///
    /// As [`take`](Self::take); and if the stamp cannot follow those before it.
    pub(crate) fn take_stamped<'a>(
        &'a mut self,
        event: &'a Event,
        stamp: &Stamp,
    ) -> Result<Option<Arrival<'a>>, Error> {
        self.check_names(event)?;
        let order = (self.order).get_or_insert_with(|| Order::Given(Stamps::default()));
        let Order::Given(stamps) = order else {
            return Err(Error::MixedStamps);
        };
        look(
            &mut self.viewers,
            event,
            &self.symbols,
            &mut self.text,
            &mut self.seen,
        )?;
        read_clock(&stamp.clock, &mut self.clock);
        stamps.admit(stamp.chain, &self.clock)?;
        Ok(self.arrive(event, Some(stamp.chain)))
    }

    /// Checks that the event was made with the symbols of this run, as far as its ids show.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownSymbol`].
    #[inline(always)]
    pub(crate) fn check_names(&self, event: &Event) -> Result<(), Error> {
        let unknown = self.symbols.find_unknown(event);
        unknown.map_or(Ok(()), |kind| Err(Error::UnknownSymbol { kind }))
    }

    /// Takes an event that has passed all checks.
    fn arrive<'a>(&'a mut self, event: &'a Event, chain: Option<ChainId>) -> Option<Arrival<'a>> {
        let number = self.events;
        self.events += 1;
        for thread in event.threads() {
            self.threads.note(thread);
        }
        if self.limits.positions {
            let stamp = chain.map(|chain| (chain, self.clock.as_slice()));
            self.positions.note(event, stamp);
        }
        self.names.note(event);
        self.waits.note(event);
        let viewers = &mut self.viewers;
        self.seen.retain_mut(|(property, binding)| {
            let taken = viewers[property.index()].take();
            *binding = taken.unwrap_or_default();
            taken.is_some()
        });
        if self.seen.is_empty() {
            return None;
        }
        Some(Arrival {
            number,
            event,
            symbols: &self.symbols,
            chain: chain?,
            clock: &self.clock,
            is_ordered: !self.is_order_lost(),
            positions: &self.positions,
            viewers: &self.viewers,
            seen: &self.seen,
        })
    }

    /// Forgets the run, and prepares for the next one with the same initial values. The symbols stay, and may now be replaced.
    pub(crate) fn restart(&mut self) {
        for viewer in &mut self.viewers {
            viewer.restart();
        }
        if let Some(discipline) = &mut self.discipline {
            *discipline = Discipline::default();
        }
        self.order = None;
        self.clock_budget = ClockBudget::new(self.limits.clocks);
        self.events = 0;
        self.threads = Threads::default();
        self.positions = ThreadPositions::default();
        self.names = Names::default();
        self.waits = Waits::default();
        self.forks = Forks::default();
    }

    /// The names of the run.
    pub(crate) fn symbols(&self) -> &Symbols {
        &self.symbols
    }

    /// The names, for making the next event, or for replacing them before the first event of a run.
    pub(crate) fn symbols_mut(&mut self) -> &mut Symbols {
        &mut self.symbols
    }

    /// The properties.
    pub(crate) fn viewers(&self) -> &[Viewer] {
        &self.viewers
    }

    /// The number of events taken.
    pub(crate) fn events(&self) -> u64 {
        self.events
    }

    /// The number of threads that acted.
    pub(crate) fn threads(&self) -> usize {
        self.threads.count
    }

    /// The causal order of the events taken so far; `None` before the first, and if the events
    /// carry their place.
    pub(crate) fn causality(&self) -> Option<&Causality> {
        match &self.order {
            Some(Order::Computed(causality)) => Some(causality),
            _ => None,
        }
    }

    /// Whether the clocks took too much memory, so that events are ordered as observed.
    pub(crate) fn is_order_lost(&self) -> bool {
        matches!(self.order, Some(Order::Observed))
    }

    /// The run has ended: nothing is left to be ordered.
    pub(crate) fn forget_order(&mut self) {
        self.order = None;
    }

    /// Returns what is wrong if the run ends here, unless the caller checks events itself.
    pub(crate) fn check_end(&self) -> Result<(), Error> {
        let discipline = self.discipline.as_ref();
        discipline.map_or(Ok(()), |discipline| Ok(discipline.finish(&self.symbols)?))
    }

    /// The forked threads, and the acting ones.
    pub(crate) fn forks(&self) -> &Forks {
        &self.forks
    }

    /// The waits of the run.
    pub(crate) fn waits(&self) -> &Waits {
        &self.waits
    }

    /// The names that the run uses.
    pub(crate) fn names(&self) -> &Names {
        &self.names
    }
}

/// Shows an event to every property, and notes which of them take it for a step.
fn look(
    viewers: &mut [Viewer],
    event: &Event,
    symbols: &Symbols,
    text: &mut String,
    seen: &mut Vec<(PropertyIndex, BindingId)>,
) -> Result<(), Error> {
    seen.clear();
    let mut text = EventText::new(event, symbols, text);
    for (property, viewer) in viewers.iter_mut().enumerate() {
        if viewer.look(&mut text)? {
            // The binding is determined once every check has passed.
            seen.push((PropertyIndex(property as u32), BindingId::default()));
        }
    }
    Ok(())
}

/// The counts of a clock, as they are kept and compared here.
fn read_clock(clock: &Clock, kept: &mut Vec<u32>) {
    kept.clear();
    kept.extend_from_slice(clock.counts());
}

/// The threads that acted.
#[derive(Clone, Debug, Default)]
struct Threads {
    seen: Vec<bool>,
    count: usize,
}

impl Threads {
    fn note(&mut self, thread: ThreadId) {
        let index = thread.index();
        if index >= self.seen.len() {
            self.seen.resize(index + 1, false);
        }
        if !std::mem::replace(&mut self.seen[index], true) {
            self.count += 1;
        }
    }
}
