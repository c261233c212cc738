//! Interleavings with nearly equal probability: a thread runs with a probability proportional to its remaining steps.
//!
//! A plain random walk prefers interleavings in which threads take turns. If one thread has `n` steps, it finds "all of them before any
//! other thread's" with a chance of only 1 in 2^n. With the number of remaining steps known, all interleavings of steps that never
//! block are equally likely. Earlier runs provide these numbers; a thread that does more than ever before counts as having one step left.
//!
//! After Zhao, Wolff, Mathur, Roychoudhury, "Selectively Uniform Concurrency Testing" (2025).

use super::{Choice, End, Next, Point, Strategy};
use crate::{random::Random as Numbers, run::Run, thread_set::MOST_THREADS};

/// Random walks that are nearly uniform over interleavings.
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
    /// Makes this many walks. The same seed gives the same walks.
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
