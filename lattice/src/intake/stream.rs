//! The one entrance for events, wherever they come from: a trace, a running program, a scheduler.
//!
//! An event is looked at by all properties, checked against those before it, and put in its place in the causal order. What
//! comes out is an [`Arrival`] if some property takes it for a step: who sees what in it, on which chain it is, and what its
//! clock counts. A record for later and a search that goes on are made of the same arrivals.
//!
//! **There is one clock for all properties.** It ticks for what is a step of any of them; the order among the steps of one
//! property, or of one binding, follows by counting (`order::restriction`). So each event is stamped once however
//! many properties there are, and events that were stamped elsewhere can be taken as they are.
//!
//! **The intake owns the names of its run.** Ids mean something only together with the symbols that gave them, and what a
//! property makes of an id is looked up by name when the id is first met and by number from then on: so the ids of a run must
//! mean the same from its first event to its last, and who takes the events sees to that best. Whoever makes events, a reader
//! or a program, borrows the symbols to do so. Only where several consumers take the same events, as where hooks have one
//! table for all who listen, the symbols of each catch up with those that the events were made with, and a name is stored
//! twice. Names outlive a run, and other symbols may take their place only before its first event, when nothing is remembered
//! of ids.
//!
//! An id that the symbols never gave is refused, and with it the event, before anybody looks at it.

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
    /// One of the properties that look at a run.
    pub(crate) struct PropertyIndex(u32);
}

/// What an intake may take in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IntakeLimits {
    /// How many bytes the clocks of threads and objects may take. From where they take more, events are ordered as they were
    /// observed: that allows for fewer runs, and for none that the clocks would not.
    pub(crate) clocks: u64,
    /// How many bindings of its parameters a property may meet. The steps of others are not taken.
    pub(crate) bindings: usize,
    /// Whether anybody asks where the threads stand.
    pub(crate) positions: bool,
}

impl IntakeLimits {
    /// Everything, and for those who want to know where threads stand.
    pub(crate) const NONE: IntakeLimits = IntakeLimits {
        clocks: u64::MAX,
        bindings: usize::MAX,
        positions: true,
    };
}

/// Takes the events of a run one by one, in observed order.
#[derive(Clone, Debug)]
pub(crate) struct Intake {
    /// The names of the run, and of those before it.
    symbols: Symbols,
    viewers: Vec<Viewer>,
    /// Refuses what cannot happen; `None` if whoever gives the events has seen to that.
    discipline: Option<Discipline>,
    /// How events are ordered, which the first one decides.
    order: Option<Order>,
    limits: IntakeLimits,
    clock_budget: ClockBudget,
    events: u64,
    threads: Threads,
    positions: ThreadPositions,
    names: Names,
    waits: Waits,
    /// Whether the threads that act are those that are forked, in a trace.
    forks: Forks,
    /// Of the current event, kept for their memory: whose step it is, under which binding, what its
    /// clock counts, and its text.
    seen: Vec<(PropertyIndex, BindingId)>,
    clock: Vec<u32>,
    text: String,
}

/// How events are ordered.
#[derive(Clone, Debug)]
enum Order {
    /// By what they do.
    Computed(Box<Causality>),
    /// By the stamps that they bring.
    Given(Stamps),
    /// As they were observed, since their clocks take too much memory.
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
    /// For each chain how many of its events are in the past of this one, itself included; what is
    /// beyond the end counts 0.
    pub(crate) clock: &'a [u32],
    /// Whether that is its place. Otherwise it comes after all before it, and there are no clocks any more.
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
    /// What the properties see that take it for a step, in their order.
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
    /// An intake for these properties. `initial` gives the initial values that the trace tells, by
    /// the names of variables; `admitted` says that a [`Discipline`] has seen the events before.
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

    /// Takes the next event of the run, and orders it by what it does.
    ///
    /// # Errors
    ///
    /// If the event has an id that the symbols never gave, a value does not fit its variable, or the event cannot follow those
    /// before it: then it has left no trace, and the next one may be given. If a number does not fit 32 bits, or there are too many
    /// threads, the run cannot go on.
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

    /// Takes the next event of the run, which brings its place in the causal order. It may be one of
    /// few that were stamped: clocks may count events that nobody gives.
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

    /// Whether the event was made with the symbols of this run, as far as its ids tell.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownSymbol`].
    #[inline(always)]
    pub(crate) fn check_names(&self, event: &Event) -> Result<(), Error> {
        let unknown = self.symbols.find_unknown(event);
        unknown.map_or(Ok(()), |kind| Err(Error::UnknownSymbol { kind }))
    }

    /// Nobody has refused the event.
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

    /// Forgets the run, and is ready for the next one with the same initial values. The symbols stay, and may now be replaced.
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

    /// The same, to make the next event with, or to put others in their place before the first event of a run.
    pub(crate) fn symbols_mut(&mut self) -> &mut Symbols {
        &mut self.symbols
    }

    /// The properties.
    pub(crate) fn viewers(&self) -> &[Viewer] {
        &self.viewers
    }

    /// How many events were taken.
    pub(crate) fn events(&self) -> u64 {
        self.events
    }

    /// How many threads did something.
    pub(crate) fn threads(&self) -> usize {
        self.threads.count
    }

    /// How events are ordered by what they do, as far as they were taken; `None` before the first, and if
    /// they bring their place.
    pub(crate) fn causality(&self) -> Option<&Causality> {
        match &self.order {
            Some(Order::Computed(causality)) => Some(causality),
            _ => None,
        }
    }

    /// Whether the clocks took too much memory, so that events are ordered as they were observed.
    pub(crate) fn is_order_lost(&self) -> bool {
        matches!(self.order, Some(Order::Observed))
    }

    /// The run has ended: there is nothing left to be ordered.
    pub(crate) fn forget_order(&mut self) {
        self.order = None;
    }

    /// Says what is wrong if the run ends here, unless whoever gives the events has seen to that.
    pub(crate) fn check_end(&self) -> Result<(), Error> {
        let discipline = self.discipline.as_ref();
        discipline.map_or(Ok(()), |discipline| Ok(discipline.finish(&self.symbols)?))
    }

    /// Who is forked, and who acts.
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

/// Lets every property look at an event, and notes which of them take it for a step.
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
            // Which binding it is of is found out when nobody has refused it.
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

/// The threads that did something.
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
