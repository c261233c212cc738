//! Random priorities that change at a few random steps.
//!
//! A bug that appears when `d` steps come in a certain order is found with a guaranteed probability: at least 1 in `n · k^(d-1)`, with `n`
//! threads, `k` steps and depth `d`. The number of steps is taken from the longest run so far.
//!
//! After Burckhardt, Kothari, Musuvathi, Nagarakatte, "A Randomized Scheduler with Probabilistic Guarantees" (2010).

use super::{Choice, End, Next, Point, Strategy};
use crate::{random::Random as Numbers, run::Run, thread_set::MOST_THREADS};

/// Random priorities.
#[derive(Debug)]
pub struct Pct {
    seed: u64,
    runs: u64,
    depth: usize,
    left: u64,
    numbers: Numbers,
    /// Of each thread; 0 if it has none yet. The highest goes on.
    priorities: [u64; MOST_THREADS],
    /// At which steps somebody comes last from then on, who has the turn then.
    changes: Vec<usize>,
    steps: usize,
}

impl Pct {
    /// Makes this many runs, for bugs of this depth: the number of steps that have to come in a certain order. The same seed gives the
    /// same runs.
    #[must_use]
    pub fn new(seed: u64, runs: u64, depth: usize) -> Pct {
        let mut pct = Pct {
            seed,
            runs,
            depth: depth.max(1),
            left: runs,
            numbers: Numbers::new(seed),
            priorities: [0; MOST_THREADS],
            changes: Vec::new(),
            steps: 1,
        };
        pct.prepare();
        pct
    }

    fn prepare(&mut self) {
        self.priorities = [0; MOST_THREADS];
        self.changes.clear();
        for _ in 1..self.depth {
            let step = self.numbers.below(self.steps);
            self.changes.push(step);
        }
    }

    /// The thread of the highest priority. All initial ones are above those of changes, which are their numbers.
    fn highest(&mut self, at: &Point<'_>) -> usize {
        let mut best = (0, 0);
        for thread in at.enabled {
            if self.priorities[thread] == 0 {
                self.priorities[thread] = self.numbers.any() | 1 << 63;
            }
            best = best.max((self.priorities[thread], thread));
        }
        best.1
    }
}

impl Strategy for Pct {
    fn choose(&mut self, at: &Point<'_>, _: &Run) -> Choice {
        for change in 0..self.changes.len() {
            if self.changes[change] == at.step {
                let thread = self.highest(at);
                self.priorities[thread] = change as u64 + 1;
            }
        }
        Choice::Run(self.highest(at))
    }

    fn pick(&mut self, _: usize, values: u32) -> u32 {
        self.numbers.below(values as usize) as u32
    }

    fn finished(&mut self, run: &Run, _: End) -> Next {
        self.steps = self.steps.max(run.events().len());
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            return Next::Enough;
        }
        self.prepare();
        Next::Keep(0)
    }

    fn wants_clocks(&self) -> bool {
        false
    }

    fn restart(&mut self) {
        *self = Pct::new(self.seed, self.runs, self.depth);
    }
}
