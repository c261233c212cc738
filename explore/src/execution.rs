//! A finished run, for callers that inspect each of them.

use crate::{
    describe,
    engine::State,
    operation::Kind,
    run::{Event, Place},
    strategy::End,
};

/// A finished run.
pub struct Execution<'a> {
    state: &'a State,
    end: End,
}

/// An event of a finished run.
pub struct Happened<'a> {
    state: &'a State,
    number: usize,
}

impl<'a> Execution<'a> {
    pub(crate) fn new(state: &'a State, end: End) -> Execution<'a> {
        Execution { state, end }
    }

    /// Its events, in order.
    pub fn events(&self) -> impl Iterator<Item = Happened<'a>> + use<'a> {
        let state = self.state;
        (0..state.run.events().len()).map(move |number| Happened { state, number })
    }

    /// Data races: pairs of unordered accesses of one plain variable, by the numbers of their events. Empty unless races are looked for.
    pub fn data_races(&self) -> impl Iterator<Item = (usize, usize)> + use<'a> {
        let races = self.state.run.data_races().iter();
        races.map(|race| (race.first as usize, race.second as usize))
    }

    /// Whether it failed other than by violating a property, or was cut short.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.end == End::Cut
            || !self.state.faults.is_empty()
            || !self.state.run.data_races().is_empty()
    }

    /// Whether it ended in a deadlock.
    #[must_use]
    pub fn is_deadlock(&self) -> bool {
        self.end == End::Deadlock
    }

    /// The schedule, as a text with which the run can be replayed.
    #[must_use]
    pub fn token(&self) -> String {
        describe::token(self.state)
    }

    pub(crate) fn state(&self) -> &'a State {
        self.state
    }

    /// The choices, point by point.
    #[must_use]
    pub fn schedule(&self) -> &[u32] {
        &self.state.schedule
    }
}

impl Happened<'_> {
    fn event(&self) -> &Event {
        &self.state.run.events()[self.number]
    }

    /// Its thread; 0 is the main thread.
    #[must_use]
    pub fn thread(&self) -> usize {
        usize::from(self.event().thread)
    }

    /// The kind of operation.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.event().op.kind
    }

    /// The name of the object.
    #[must_use]
    pub fn object(&self) -> String {
        describe::subject(self.state, self.number)
    }

    /// The place in the source.
    #[must_use]
    pub fn place(&self) -> Place {
        self.event().place
    }

    /// Its vector clock: for each thread, how many of its events come before this one in every equivalent run, itself included. There
    /// may be more counts than threads.
    #[must_use]
    pub fn clock(&self) -> &[u16] {
        self.state.run.clock(self.number)
    }
}
