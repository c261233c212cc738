//! One run, which is told point by point.

use super::{Choice, End, Next, Point, Strategy};
use crate::{run::Run, token::Chosen};

/// One run that goes as it is told. Beyond that, and where it cannot, nobody is interrupted.
#[derive(Debug)]
pub(crate) struct Replay {
    schedule: Vec<u32>,
}

impl Replay {
    pub(crate) fn new(schedule: Vec<u32>) -> Replay {
        Replay { schedule }
    }
}

impl Strategy for Replay {
    fn choose(&mut self, at: &Point<'_>, _: &Run) -> Choice {
        let stay = at.stay(at.enabled).unwrap_or_default();
        match self.schedule.get(at.step).map(|entry| Chosen::of(*entry)) {
            Some(Chosen::Thread(thread)) if at.enabled.has(thread) => Choice::Run(thread as usize),
            _ => Choice::Run(stay),
        }
    }

    fn pick(&mut self, at: usize, values: u32) -> u32 {
        match self.schedule.get(at).map(|entry| Chosen::of(*entry)) {
            Some(Chosen::Value(value)) if value < values => value,
            _ => 0,
        }
    }

    fn finished(&mut self, _: &Run, _: End) -> Next {
        Next::Enough
    }

    fn wants_clocks(&self) -> bool {
        true
    }

    fn restart(&mut self) {}
}
