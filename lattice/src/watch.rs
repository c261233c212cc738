//! Online: events come one by one while the program runs, and levels are made as they become known.
//!
//! A level is complete when every event that can extend it is known. A thread that is silent, or
//! that nobody has heard of yet, may still do something that is unordered with everything so far;
//! only a lookahead closes a level before the end of the run. With a lookahead of L events, a level
//! of cuts with k events asks for nothing past event k + L: the oldest event that is missing
//! in such a cut is at most the k-th. So L events after it a level is made and the one before it is
//! gone, and the answer is the same as offline with that lookahead. Without one, all levels are
//! made at the end.

use portent_monitor_core::{Event, Symbols, Value};
use portent_monitor_dsl::Monitor;
use smallvec::SmallVec;

use crate::{
    ActionId, Poset, StateIndex,
    enumerate::{self, Ground, Lists, Needs, Observed, Sweep},
    error::Error,
    options::{Model, Options},
    product::{Machine, Product},
    record::Record,
    solve::Solution,
    violation::Violation,
};

/// Watches a running program for one property without parameters.
///
/// ```
/// use portent_lattice::{Options, Watch};
/// use portent_monitor_core::{Action, Event, Op, Symbols};
/// use portent_monitor_dsl::Property;
///
/// let mut s = Symbols::default();
/// let threads = [s.threads.intern("T1")?, s.threads.intern("T2")?];
/// let [open, land] = [s.names.intern("open")?, s.names.intern("land")?];
/// let event = |thread: usize, name| {
///     let action = Action { name: Some(name), ..Action::default() };
///     Event::new(threads[thread], Op::Event(Box::new(action)))
/// };
///
/// let monitor = Property::parse("always (land -> once open)")?.monitor()?;
/// let options = Options { lookahead: Some(1), ..Options::default() };
/// let mut watch = Watch::new(monitor, |_| None, options)?;
/// assert_eq!(watch.take(&event(0, open), &s)?, None);
/// let found = watch.take(&event(1, land), &s)?.expect("a prediction while the program runs");
/// assert_eq!(found.violated_at, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Watch {
    record: Record,
    product: Product,
    poset: Poset,
    needs: Needs,
    actions: Vec<ActionId>,
    sweep: Sweep<SmallVec<[StateIndex; 2]>>,
    options: Options,
}

impl Watch {
    /// Begins to watch; `initial` gives initial values by the names of variables.
    ///
    /// # Errors
    ///
    /// [`Error::NoInitialValue`], [`Error::WrongType`]; [`Error::Parametric`] if the property has
    /// parameters: their values are known only when a run has ended; [`Error::MaximalOnline`].
    pub fn new(
        monitor: Monitor,
        initial: impl FnMut(&str) -> Option<Value>,
        options: Options,
    ) -> Result<Watch, Error> {
        if !monitor.property().parameters().is_empty() {
            return Err(Error::Parametric {
                property: monitor.property().name().to_owned(),
            });
        }
        if options.causality == Model::Maximal {
            return Err(Error::MaximalOnline);
        }
        let record = Record::new(monitor.clone(), initial, u64::MAX)?;
        let product = Product::new(monitor, record.initial());
        let (poset, needs) = (Poset::new(0), Needs::default());
        let sets = sets(needs.ground(&poset, &[]), &product, &options);
        let sweep = Sweep::new(&sets, product.initial(), &[], false);
        Ok(Watch {
            sweep,
            record,
            product,
            poset,
            needs,
            actions: Vec::new(),
            options,
        })
    }

    /// Takes the next event. The first time that some equivalent run of what is known is violated,
    /// it is returned.
    ///
    /// # Errors
    ///
    /// As [`Checker::take`](crate::Checker::take).
    pub fn take(&mut self, event: &Event, symbols: &Symbols) -> Result<Option<Violation>, Error> {
        let before = self.record.steps().len();
        let seen = self.record.see(event, symbols)?;
        self.record.take(event, seen)?;
        if self.record.steps().len() == before {
            return Ok(None);
        }
        let step = self.record.steps()[before];
        let action = ActionId(step.deed.0);
        for deed in self.product.acts()..self.record.deeds().len() {
            self.product.act(&self.record.deeds()[deed]);
        }
        self.poset.widen(self.record.chains());
        let mut clock = self.record.clock(before).to_vec();
        clock.resize(self.poset.width(), 0);
        let event = self.poset.push(step.chain as usize, &clock);
        self.needs.push(&self.poset, event);
        self.actions.push(action);
        let past: usize = clock.iter().map(|&n| n as usize).sum::<usize>() - 1;
        if past < self.sweep.level() {
            // It could have come next at a cut whose level is gone.
            self.sweep.result.miss();
        }
        let found = self.sweep.result.found.is_some();
        if let Some(lookahead) = self.options.lookahead {
            while self.sweep.level() + (lookahead as usize) < self.poset.len() {
                if !self.advance(false) {
                    break;
                }
            }
        }
        Ok(if found { None } else { self.violation() })
    }

    /// The run has ended: makes the remaining levels and says what was found.
    pub fn finish(mut self) -> Solution {
        while self.sweep.level() < self.poset.len() {
            let last = self.sweep.level() + 1 == self.poset.len();
            if !self.advance(last) {
                break;
            }
        }
        if self.sweep.level() == self.poset.len() {
            let sets = sets(self.ground(), &self.product, &self.options);
            let mut sweep = self.sweep.clone();
            sweep.end(&sets);
            self.sweep = sweep;
        }
        let search = &self.sweep.result;
        let mut solution = Solution {
            engine: "enumerate",
            nodes: search.nodes,
            dropped: search.left_out.dropped,
            limit: search.limit,
            peak: search.peak,
            ..Solution::default()
        };
        solution.saved.emptied = search.left_out.emptied;
        solution.violation = self.violation();
        solution
    }

    /// How many events the cuts of the current level have.
    pub fn level(&self) -> usize {
        self.sweep.level()
    }

    fn ground(&self) -> Ground<'_> {
        self.needs.ground(&self.poset, &self.actions)
    }

    fn advance(&mut self, at_end: bool) -> bool {
        if !self.sweep.goes_on() {
            return false;
        }
        let ground = self.needs.ground(&self.poset, &self.actions);
        let sets = sets(ground, &self.product, &self.options);
        let ceiling = vec![u32::MAX; self.poset.width()];
        self.sweep
            .advance(ground, &sets, &ceiling, None, &self.options, at_end);
        true
    }

    /// The violated run that was found, in terms of the events that are known.
    fn violation(&self) -> Option<Violation> {
        let search = &self.sweep.result;
        let mut spot = search.found.clone()?;
        spot.cut.resize(self.poset.width(), 0);
        let observed = Observed::new(&self.poset);
        let ground = self.ground();
        let prefix = enumerate::way(
            ground,
            &self.product,
            &observed,
            &spot,
            search,
            &self.options,
        )?;
        let shortest = search.limit.is_none();
        Some(enumerate::complete(ground, &self.product, prefix, shortest))
    }
}

fn sets<'a>(ground: Ground<'a>, product: &'a Product, options: &Options) -> Lists<'a, Product> {
    Lists {
        ground,
        machine: product,
        goal: options.goal,
        absorb: options.reductions.absorption,
    }
}
