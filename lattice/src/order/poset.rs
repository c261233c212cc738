//! The relevant events of one property (one binding of its parameters), partially ordered.

use portent_monitor_core::ChainId;

portent_monitor_core::ids! {
    /// An event of a [`Poset`]: its index in observed order, from 0.
    pub struct EventIndex(pub u32);
}

/// Events in observed order, each on a chain and with a vector clock over the chains.
///
/// An event is the `clock[chain]`-th of its chain (from 1); `e` precedes `f` iff `e`'s own component
/// is at most that component in `f`.
#[derive(Clone, Debug, Default)]
pub struct Poset {
    width: usize,
    chain_of: Vec<ChainId>,
    /// The clock of event `e` is at `e * width`.
    clocks: Vec<u32>,
    /// The number of each event in the run that contains these events.
    numbers: Vec<u64>,
    /// The events of each chain in order.
    chains: Vec<Vec<EventIndex>>,
}

impl Poset {
    /// A poset over `width` chains without events.
    pub fn new(width: usize) -> Self {
        Poset {
            width,
            chain_of: Vec::new(),
            clocks: Vec::new(),
            numbers: Vec::new(),
            chains: vec![Vec::new(); width],
        }
    }

    /// Appends the next event in observed order, which is also the next event of the run.
    ///
    /// # Panics
    ///
    /// If the clock does not have one component for each chain, or does not count the event itself.
    pub fn push(&mut self, chain: ChainId, clock: &[u32]) -> EventIndex {
        let number = self.numbers.last().map_or(0, |last| last + 1);
        self.push_numbered(chain, clock, number)
    }

    /// Appends the next event in observed order, which has this number in the run: a lookahead counts
    /// all events of the run, those in between that are not of this poset included.
    ///
    /// # Panics
    ///
    /// As [`push`](Poset::push).
    pub fn push_numbered(&mut self, chain: ChainId, clock: &[u32], number: u64) -> EventIndex {
        assert_eq!(clock.len(), self.width, "one component for each chain");
        assert_eq!(
            clock[chain.index()] as usize,
            self.chains[chain.index()].len() + 1,
            "counts itself"
        );
        let event = EventIndex(self.chain_of.len() as u32);
        self.chain_of.push(chain);
        self.clocks.extend_from_slice(clock);
        self.numbers.push(number);
        self.chains[chain.index()].push(event);
        event
    }

    /// Forgets all events, but keeps their memory; from now on there are `width` chains.
    pub fn clear(&mut self, width: usize) {
        self.width = width;
        self.chain_of.clear();
        self.clocks.clear();
        self.numbers.clear();
        self.chains.resize(width, Vec::new());
        self.chains.iter_mut().for_each(Vec::clear);
    }

    /// Adds chains without events, so that there are `width` of them.
    ///
    /// ```
    /// use portent_lattice::laboratory::Poset;
    /// use portent_monitor_core::ChainId;
    ///
    /// let mut poset = Poset::new(1);
    /// let a = poset.push(ChainId::from(0), &[1]);
    /// poset.widen(2);
    /// let b = poset.push(ChainId::from(1), &[1, 1]);
    /// assert_eq!(poset.clock(a), [1, 0]);
    /// assert!(poset.precedes(a, b));
    /// ```
    pub fn widen(&mut self, width: usize) {
        if width <= self.width {
            return;
        }
        let mut clocks = Vec::with_capacity(self.chain_of.len() * width);
        for clock in self.clocks.chunks_exact(self.width.max(1)) {
            clocks.extend_from_slice(clock);
            clocks.resize(clocks.len() + width - self.width, 0);
        }
        self.clocks = clocks;
        self.chains.resize(width, Vec::new());
        self.width = width;
    }

    /// Forgets the first events, `prefix` of each chain; clocks no longer count them.
    pub(crate) fn forget(&mut self, prefix: &[u32]) {
        let events = prefix.iter().map(|&n| n as usize).sum::<usize>();
        self.chain_of.drain(..events);
        self.numbers.drain(..events);
        self.clocks.drain(..events * self.width);
        for clock in self.clocks.chunks_exact_mut(self.width.max(1)) {
            for (count, forgotten) in clock.iter_mut().zip(prefix) {
                *count = count.saturating_sub(*forgotten);
            }
        }
        self.chains.iter_mut().for_each(Vec::clear);
        for (event, chain) in self.chain_of.iter().enumerate() {
            self.chains[chain.index()].push(EventIndex(event as u32));
        }
    }

    /// The cut of the first events.
    pub(crate) fn prefix(&self, events: usize) -> Vec<u32> {
        let mut cut = vec![0; self.width];
        for &chain in &self.chain_of[..events] {
            cut[chain.index()] += 1;
        }
        cut
    }

    /// All events in observed order.
    pub fn events(&self) -> impl Iterator<Item = EventIndex> + Clone + use<> {
        (0..self.chain_of.len() as u32).map(EventIndex)
    }

    /// The number of chains.
    pub fn width(&self) -> usize {
        self.width
    }

    /// All chains, in the order of a clock's components.
    ///
    /// ```
    /// use portent_lattice::laboratory::Poset;
    /// use portent_monitor_core::ChainId;
    ///
    /// let mut poset = Poset::new(2);
    /// let event = poset.push(ChainId::from(1), &[0, 1]);
    /// let with_events: Vec<ChainId> = poset.chains().filter(|&chain| !poset.chain(chain).is_empty()).collect();
    /// assert_eq!(with_events, [poset.chain_of(event)]);
    /// ```
    #[inline]
    pub fn chains(
        &self,
    ) -> impl DoubleEndedIterator<Item = ChainId> + ExactSizeIterator + Clone + use<> {
        ChainId::first(self.width)
    }

    /// The number of events.
    pub fn len(&self) -> usize {
        self.chain_of.len()
    }

    /// Whether there are no events.
    pub fn is_empty(&self) -> bool {
        self.chain_of.is_empty()
    }

    /// The events of a chain in order.
    #[inline]
    pub fn chain(&self, chain: ChainId) -> &[EventIndex] {
        &self.chains[chain.index()]
    }

    /// The chain of an event.
    #[inline]
    pub fn chain_of(&self, event: EventIndex) -> ChainId {
        self.chain_of[event.index()]
    }

    /// The number of an event in the whole run, from 0.
    pub fn number(&self, event: EventIndex) -> u64 {
        self.numbers[event.index()]
    }

    /// The clock of an event.
    pub fn clock(&self, event: EventIndex) -> &[u32] {
        &self.clocks[event.index() * self.width..][..self.width]
    }

    /// Whether `first` comes before `second` in every run (or is the same event).
    pub fn precedes(&self, first: EventIndex, second: EventIndex) -> bool {
        let chain = self.chain_of(first).index();
        self.clock(first)[chain] <= self.clock(second)[chain]
    }
}
