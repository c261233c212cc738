//! At each point, any thread that can go on, with equal probability.

use super::{Choice, End, Next, Point, Strategy};
use crate::{random::Random as Numbers, run::Run};

/// Random walks.
#[derive(Debug)]
pub struct Random {
    numbers: Numbers,
    seed: u64,
    runs: u64,
    left: u64,
}

impl Random {
    /// Makes this many walks. The same seed gives the same walks.
    #[must_use]
    pub fn new(seed: u64, runs: u64) -> Random {
        Random {
            numbers: Numbers::new(seed),
            seed,
            runs,
            left: runs,
        }
    }
}

impl Strategy for Random {
    fn choose(&mut self, at: &Point<'_>, _: &Run) -> Choice {
        let nth = self.numbers.below(at.enabled.len());
        let mut enabled = at.enabled;
        let chosen = enabled.nth(nth);
        Choice::Run(chosen.expect("a point is where somebody can go on"))
    }

    fn pick(&mut self, _: usize, values: u32) -> u32 {
        self.numbers.below(values as usize) as u32
    }

    fn finished(&mut self, _: &Run, _: End) -> Next {
        self.left = self.left.saturating_sub(1);
        if self.left > 0 {
            Next::Keep(0)
        } else {
            Next::Enough
        }
    }

    fn wants_clocks(&self) -> bool {
        false
    }

    fn restart(&mut self) {
        *self = Random::new(self.seed, self.runs);
    }
}
