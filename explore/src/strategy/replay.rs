//! One run, whose choices are known.

use super::{Choice, End, Next, Point, Strategy};
use crate::run::Run;

/// Follows a schedule, and goes on by itself where that ends.
#[derive(Debug)]
pub struct Replay {
    schedule: Vec<u32>,
    /// The first choice that was not possible.
    left: Option<usize>,
}

impl Replay {
    /// Follows this schedule.
    #[must_use]
    pub fn new(schedule: Vec<u32>) -> Replay {
        Replay {
            schedule,
            left: None,
        }
    }
}

impl Strategy for Replay {
    fn choose(&mut self, at: &Point<'_>, _: &Run) -> Choice {
        let wanted = self.schedule.get(at.step).map(|&thread| thread as usize);
        let chosen = match wanted {
            Some(thread) if self.left.is_none() && at.enabled.contains(thread) => Some(thread),
            Some(_) => {
                self.left.get_or_insert(at.step);
                at.stay(at.enabled)
            }
            None => at.stay(at.enabled),
        };
        Choice::Run(chosen.expect("a point is where somebody can go on"))
    }

    fn pick(&mut self, at: usize, values: u32) -> u32 {
        match self.schedule.get(at) {
            Some(&value) if value < values => value,
            _ => 0,
        }
    }

    fn finished(&mut self, _: &Run, _: End) -> Next {
        Next::Enough
    }

    fn wants_clocks(&self) -> bool {
        false
    }

    fn restart(&mut self) {
        self.left = None;
    }
}
