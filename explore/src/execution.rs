//! A run that has ended, for those who want to look at it.

use crate::{
    describe,
    engine::State,
    operation::Kind,
    run::{Event, Place},
    strategy::End,
};

/// A run that has ended.
pub struct Execution<'a> {
    state: &'a State,
    end: End,
}

/// One event of it.
pub struct Happened<'a> {
    state: &'a State,
    number: usize,
}

impl<'a> Execution<'a> {
    pub(crate) fn new(state: &'a State, end: End) -> Execution<'a> {
        Execution { state, end }
    }

    /// What happened, in order.
    pub fn events(&self) -> impl Iterator<Item = Happened<'a>> + use<'a> {
        let state = self.state;
        (0..state.run.events().len()).map(move |number| Happened { state, number })
    }

    /// Accesses of one plain variable that nothing orders: the numbers of both events, if data races are looked for.
    pub fn data_races(&self) -> impl Iterator<Item = (usize, usize)> + use<'a> {
        let races = self.state.run.data_races().iter();
        races.map(|race| (race.first as usize, race.second as usize))
    }

    /// Whether something went wrong in it, other than that a property is violated, or it was cut short, so that not all of it was done.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.end == End::Cut
            || !self.state.faults.is_empty()
            || !self.state.run.data_races().is_empty()
    }

    /// Whether nobody could go on.
    #[must_use]
    pub fn is_deadlock(&self) -> bool {
        self.end == End::Deadlock
    }

    /// The schedule, as a text by which the run can be repeated.
    #[must_use]
    pub fn token(&self) -> String {
        describe::token(self.state)
    }

    pub(crate) fn state(&self) -> &'a State {
        self.state
    }

    /// What was chosen, point by point.
    #[must_use]
    pub fn schedule(&self) -> &[u32] {
        &self.state.schedule
    }
}

impl Happened<'_> {
    fn event(&self) -> &Event {
        &self.state.run.events()[self.number]
    }

    /// Which thread; 0 is the first.
    #[must_use]
    pub fn thread(&self) -> usize {
        usize::from(self.event().thread)
    }

    /// What it did.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.event().op.kind
    }

    /// What the object is called that it did it with.
    #[must_use]
    pub fn object(&self) -> String {
        describe::subject(self.state, self.number)
    }

    /// Where.
    #[must_use]
    pub fn place(&self) -> Place {
        self.event().place
    }

    /// How many events of each thread it comes after in every equivalent run, itself included. There may be more counts than
    /// threads.
    #[must_use]
    pub fn clock(&self) -> &[u16] {
        self.state.run.clock(self.number)
    }
}
