//! Which run comes next: one file per strategy, behind one small trait.
//!
//! | strategy | runs | when to use it |
//! |---|---|---|
//! | [`Source`] | one of every class, and some that are cut short | the default |
//! | [`Optimal`] | exactly one of every class | where source sets cut many runs short |
//! | [`Flipping`] | one of every class, by flipping races | for comparison |
//! | [`Exhaustive`] | every interleaving | tiny programs, for comparison |
//! | [`Preemption`] | every interleaving with few preemptions | where there are too many classes |
//! | [`Random`], [`Uniform`], [`Pct`] | a random sample | where all of these take too long |
//! | [`Guided`] | a few, towards a place in the source | to check a suspicion |
//! | [`Steered`] | a few, towards a state of a property's monitor | to make a certain violation happen |

mod exhaustive;
mod flipping;
mod follow;
mod guided;
mod hold;
mod optimal;
mod pct;
mod preemption;
mod random;
mod replay;
mod script;
mod source;
mod steered;
mod target;
mod uniform;

pub use exhaustive::Exhaustive;
pub use flipping::Flipping;
pub(crate) use follow::{Deviation, Follow, Instead, Outcome, SharedOutcome};
pub use guided::Guided;
pub(crate) use hold::Hold;
pub use optimal::Optimal;
pub use pct::Pct;
pub use preemption::Preemption;
pub use random::Random;
pub(crate) use replay::{Course, Replay, Wanted};
pub(crate) use script::Script;
pub(crate) use source::Path;
pub use source::Source;
pub use steered::Steered;
pub use target::Target;
pub use uniform::Uniform;

use portent_hooks::control::given_name;

use crate::{
    engine::{Seen, Thread},
    object::Body,
    operation::{ObjectIndex, Op, dependent},
    relevance::Relevance,
    run::Run,
    thread_set::ThreadSet,
};

/// Decides which runs are made.
///
/// A run is a sequence of *points*. At each of them there is a choice: the next thread, or one of several values. The
/// prefix that a run shares with the previous one is repeated without asking the strategy.
pub trait Strategy {
    /// Chooses the next thread.
    fn choose(&mut self, at: &Point<'_>, run: &Run) -> Choice;

    /// Chooses one of that many values.
    fn pick(&mut self, at: usize, values: u32) -> u32;

    /// Called when a run has ended, before [`finished`](Strategy::finished): the effect of its last step is known now.
    #[doc(hidden)]
    fn over(&mut self, _: &Point<'_>) {}

    /// Called when a run has ended: decides how the search continues.
    fn finished(&mut self, run: &Run, end: End) -> Next;

    /// Called before the first run: whether there is one to make.
    fn begins(&mut self) -> bool {
        true
    }

    /// The state from which the search can be resumed, if it can: one line of numbers for each point.
    #[doc(hidden)]
    fn save(&self) -> Option<Vec<[u64; 6]>> {
        None
    }

    /// An estimate of the completed fraction of the search, from 0 to 1.
    fn part(&self) -> Option<f64> {
        None
    }

    /// Whether the strategy uses clocks and races. Runs are faster without them.
    fn wants_clocks(&self) -> bool;

    /// Whether no two runs that were not cut short are equivalent.
    fn visits_classes_once(&self) -> bool {
        false
    }

    /// A remark about the search for the report.
    fn remark(&self) -> Option<String> {
        None
    }

    /// Forgets everything; the search starts again from the beginning.
    fn restart(&mut self);
}

/// A point of a run at which a thread is to be chosen.
pub struct Point<'a> {
    /// Its number.
    pub step: usize,
    /// The thread that ran last.
    pub current: usize,
    /// The threads that can proceed.
    pub enabled: ThreadSet,
    /// The next operation of each thread.
    pub(crate) pending: &'a [Op],
    /// The threads that have announced an operation, whether or not they can proceed.
    pub(crate) parked: ThreadSet,
    pub(crate) threads: &'a [Thread],
    pub(crate) objects: &'a [Seen],
    /// The events of the run so far that properties refer to.
    pub(crate) relevance: Option<&'a Relevance>,
}

impl Point<'_> {
    /// The thread that ran last if it is in this set, or else the lowest-numbered one.
    #[inline]
    #[must_use]
    pub fn stay(&self, among: ThreadSet) -> Option<usize> {
        if among.contains(self.current) {
            Some(self.current)
        } else {
            among.first()
        }
    }
}

impl Point<'_> {
    /// The object itself, of one of its sides.
    pub(crate) fn whole(&self, object: ObjectIndex) -> ObjectIndex {
        match self.objects.get(object as usize) {
            Some(Seen {
                body: Body::Side, ..
            }) => object - 1,
            _ => object,
        }
    }

    /// What an object was called.
    pub(crate) fn given_name(&self, object: ObjectIndex) -> Option<String> {
        self.objects.get(object as usize)?.given.map(given_name)
    }

    /// What an object is called that was not, but for a number: its type and where it was made.
    pub(crate) fn made_name(&self, object: ObjectIndex) -> Option<String> {
        let object = self.objects.get(object as usize)?;
        let made = object.made?;
        Some(format!("{}@{}:{}", object.kind, made.file(), made.line()))
    }
}

/// A strategy's decision at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// This thread runs.
    Run(usize),
    /// The rest of the run is equivalent to one that was seen: it is finished without being looked at.
    Drain,
}

/// How the search continues after a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// With a run that shares this many points with the last one.
    Keep(usize),
    /// There is nothing left to search.
    Exhausted,
    /// Nothing is left within the bound of the strategy, but there is more beyond it.
    Bounded,
    /// The requested number of runs has been made.
    Enough,
    /// The search starts again and earlier runs do not count, for this reason.
    Restart(&'static str),
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// All threads have ended.
    Complete,
    /// No thread can proceed.
    Deadlock,
    /// It was cut because the rest of it had been seen: see [`Choice::Drain`].
    Blocked,
    /// It was stopped because it had too many steps or an error occurred.
    Cut,
}

/// Those of the threads asleep at the previous point whose next operations commute with the step taken since.
fn still_asleep(mut asleep: ThreadSet, at: &Point<'_>, run: &Run) -> ThreadSet {
    if asleep.is_empty() {
        return asleep;
    }
    let last = run.last_chosen().expect("a thread was chosen before");
    asleep.remove(usize::from(last.thread));
    for thread in asleep {
        if dependent(at.pending[thread], last.op) {
            asleep.remove(thread);
        }
    }
    asleep
}
