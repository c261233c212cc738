//! Interleavings with nearly equal probability: a thread goes on with a probability proportional to its remaining steps.
//!
//! A plain random walk prefers interleavings in which threads take turns; of `n` steps of one thread and `m` of another it finds
//! "all of the one first" with a chance of 1 in 2^n. If it is known how many steps each has left, all interleavings of steps that never
//! wait are equally likely. That is learnt from the runs before; a thread that does more than ever counts as having one left.
//!
//! After Zhao, Wolff, Mathur, Roychoudhury, "Selectively Uniform Concurrency Testing" (2025).

use super::{Choice, End, Next, Point, Strategy};
use crate::{random::Random as Numbers, run::Run, thread_set::MOST_THREADS};

/// Nearly uniform walks.
#[derive(Debug)]
pub struct Uniform {
    seed: u64,
    runs: u64,
    left: u64,
    numbers: Numbers,
    /// The most steps that each thread ever had.
    most: [u32; MOST_THREADS],
    done: [u32; MOST_THREADS],
}

impl Uniform {
    /// So many walks; those of the same seed are the same.
    #[must_use]
    pub fn new(seed: u64, runs: u64) -> Uniform {
        Uniform {
            seed,
            runs,
            left: runs,
            numbers: Numbers::new(seed),
            most: [1; MOST_THREADS],
            done: [0; MOST_THREADS],
        }
    }

    fn weight(&self, thread: usize) -> usize {
        self.most[thread].saturating_sub(self.done[thread]).max(1) as usize
    }
}

impl Strategy for Uniform {
    fn choose(&mut self, at: &Point<'_>, _: &Run) -> Choice {
        let all: usize = at.enabled.map(|thread| self.weight(thread)).sum();
        let mut nth = self.numbers.below(all);
        let mut chosen = at.current;
        for thread in at.enabled {
            chosen = thread;
            match nth.checked_sub(self.weight(thread)) {
                Some(rest) => nth = rest,
                None => break,
            }
        }
        self.done[chosen] += 1;
        Choice::Run(chosen)
    }

    fn pick(&mut self, _: usize, values: u32) -> u32 {
        self.numbers.below(values as usize) as u32
    }

    fn finished(&mut self, _: &Run, _: End) -> Next {
        for (most, done) in self.most.iter_mut().zip(&mut self.done) {
            *most = (*most).max(std::mem::take(done));
        }
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            Next::Enough
        } else {
            Next::Keep(0)
        }
    }

    fn wants_clocks(&self) -> bool {
        false
    }

    fn restart(&mut self) {
        *self = Uniform::new(self.seed, self.runs);
    }
}
