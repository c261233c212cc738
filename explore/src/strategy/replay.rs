//! One run along a given schedule.

use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

use super::{Choice, End, Next, Point, Strategy};
use crate::{confirm::Plan, run::Run, token::Chosen};

/// What a run is to do, by point; where nothing is said, nobody is interrupted and the first value is taken.
pub(crate) type Wanted = BTreeMap<usize, u32>;

/// How a run went.
#[derive(Clone, Debug, Default)]
pub(crate) struct Course {
    /// What it did otherwise than the simplest one, in which whoever runs goes on, and else the first who can.
    pub(crate) deviations: Wanted,
    /// How often somebody was interrupted who could have gone on.
    pub(crate) preemptions: u32,
}

/// One run that goes as it is told. Beyond that, and where it cannot, nobody is interrupted.
#[derive(Debug)]
pub(crate) struct Replay {
    wanted: Wanted,
    /// If threads are those of another run: their names that do not depend on when they were spawned.
    paths: Option<Vec<u64>>,
    /// Where it is told how the run went, by those who ask for nothing else of it.
    course: Option<Rc<RefCell<Course>>>,
}

impl Replay {
    pub(crate) fn new(schedule: Vec<u32>) -> Replay {
        Replay {
            wanted: schedule.into_iter().enumerate().collect(),
            paths: None,
            course: None,
        }
    }

    /// What was planned with the threads of another run.
    pub(crate) fn planned(plan: &Plan) -> Replay {
        Replay {
            paths: Some(plan.paths.clone()),
            ..Replay::new(plan.schedule.clone())
        }
    }

    /// One that deviates where it is to, and tells where it did.
    pub(crate) fn deviating(wanted: Wanted, course: Rc<RefCell<Course>>) -> Replay {
        Replay {
            wanted,
            paths: None,
            course: Some(course),
        }
    }

    /// What is to be chosen.
    fn wanted(&self, at: usize) -> Option<Chosen> {
        self.wanted.get(&at).map(|entry| Chosen::of(*entry))
    }

    /// Which thread is meant.
    fn meant(&self, thread: u32, at: &Point<'_>) -> Option<u32> {
        let Some(paths) = &self.paths else {
            return Some(thread);
        };
        let path = paths.get(thread as usize)?;
        let meant = at.threads.iter().position(|thread| thread.path == *path)?;
        Some(meant as u32)
    }
}

impl Strategy for Replay {
    fn choose(&mut self, at: &Point<'_>, _: &Run) -> Choice {
        let stay = at.stay(at.enabled).unwrap_or_default();
        let meant = match self.wanted(at.step) {
            Some(Chosen::Thread(thread)) => self.meant(thread, at),
            _ => None,
        };
        let chosen = meant.filter(|&thread| at.enabled.has(thread));
        let chosen = chosen.map_or(stay, |thread| thread as usize);
        if chosen != stay
            && let Some(course) = &self.course
        {
            let course = &mut *course.borrow_mut();
            course.deviations.insert(at.step, chosen as u32);
            course.preemptions += u32::from(at.enabled.contains(at.current));
        }
        Choice::Run(chosen)
    }

    fn pick(&mut self, at: usize, values: u32) -> u32 {
        let value = match self.wanted(at) {
            Some(Chosen::Value(value)) if value < values => value,
            _ => 0,
        };
        if value > 0
            && let Some(course) = &self.course
        {
            let entry = Chosen::Value(value).entry();
            course.borrow_mut().deviations.insert(at, entry);
        }
        value
    }

    fn finished(&mut self, _: &Run, _: End) -> Next {
        Next::Enough
    }

    fn wants_clocks(&self) -> bool {
        self.course.is_none()
    }

    fn restart(&mut self) {}
}
