//! One run, which is told point by point.

use super::{Choice, End, Next, Point, Strategy};
use crate::{confirm::Plan, run::Run, thread_set::MOST_THREADS, token::Chosen};

/// One run that goes as it is told. Beyond that, and where it cannot, nobody is interrupted.
#[derive(Debug)]
pub(crate) struct Replay {
    schedule: Vec<u32>,
    /// If threads of the schedule are those of another run: their names that do not depend on when they were spawned.
    paths: Option<Vec<u64>>,
}

impl Replay {
    pub(crate) fn new(schedule: Vec<u32>) -> Replay {
        Replay {
            schedule,
            paths: None,
        }
    }

    /// What was planned with the threads of another run.
    pub(crate) fn planned(plan: &Plan) -> Replay {
        Replay {
            schedule: plan.schedule.clone(),
            paths: Some(plan.paths.clone()),
        }
    }

    /// Which thread is meant.
    fn meant(&self, thread: u32, at: &Point<'_>) -> Option<usize> {
        let Some(paths) = &self.paths else {
            return Some(thread as usize);
        };
        let path = paths.get(thread as usize)?;
        at.threads.iter().position(|thread| thread.path == *path)
    }
}

impl Strategy for Replay {
    fn choose(&mut self, at: &Point<'_>, _: &Run) -> Choice {
        let stay = at.stay(at.enabled).unwrap_or_default();
        match self.schedule.get(at.step).map(|entry| Chosen::of(*entry)) {
            Some(Chosen::Thread(thread)) => match self.meant(thread, at) {
                Some(thread) if thread < MOST_THREADS && at.enabled.contains(thread) => {
                    Choice::Run(thread)
                }
                _ => Choice::Run(stay),
            },
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
