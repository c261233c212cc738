//! Which run comes next: one file a strategy, behind one small trait.
//!
//! | strategy | runs | when |
//! |---|---|---|
//! | [`Source`] | at least one of every class, never two | the default |
//! | [`Optimal`] | exactly one of every class | where source sets run in vain |
//! | [`Flipping`] | the same by flipping races | to compare |
//! | [`Exhaustive`] | every interleaving | tiny programs, to compare |
//! | [`Preemption`] | every interleaving with few interruptions | where classes are too many |
//! | [`Random`], [`Uniform`], [`Pct`] | some | where all of these are too many |
//! | [`Guided`] | few, to a place in the source | where it is known what is suspected |
//! | [`Steered`] | few, to a state of a property's monitor | where it is known what is to happen |

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
pub(crate) use follow::{Did, Follow, Lost, Reached, Told};
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

/// A way to search.
///
/// A run is a sequence of *points*, at each of which there is something to choose: a thread, or one of several values. The
/// beginning that a run shares with the one before is repeated without asking.
pub trait Strategy {
    /// Which thread goes on.
    fn choose(&mut self, at: &Point<'_>, run: &Run) -> Choice;

    /// Which of that many values is taken.
    fn pick(&mut self, at: usize, values: u32) -> u32;

    /// A run has ended: what its last step came to is known now.
    #[doc(hidden)]
    fn over(&mut self, _: &Point<'_>) {}

    /// A run has ended.
    fn finished(&mut self, run: &Run, end: End) -> Next;

    /// Before the first run: whether there is one.
    fn begins(&mut self) -> bool {
        true
    }

    /// Where the search is to go on, if it can be stopped and resumed: one line of numbers for each point.
    #[doc(hidden)]
    fn save(&self) -> Option<Vec<[u64; 6]>> {
        None
    }

    /// An estimate of which part of the search is done, from 0 to 1.
    fn part(&self) -> Option<f64> {
        None
    }

    /// Whether it looks at clocks and races. Without them runs are faster.
    fn wants_clocks(&self) -> bool;

    /// Whether each run that was not cut short is in a class of its own.
    fn visits_classes_once(&self) -> bool {
        false
    }

    /// What a reader of the report has to know of the search.
    fn remark(&self) -> Option<String> {
        None
    }

    /// Forgets everything: the search begins anew.
    fn restart(&mut self);
}

/// Where a thread is to be chosen.
pub struct Point<'a> {
    /// Its number.
    pub step: usize,
    /// Who went on last.
    pub current: usize,
    /// Who can go on.
    pub enabled: ThreadSet,
    /// What each thread wants to do.
    pub(crate) pending: &'a [Op],
    /// Who wants to do something, now or later.
    pub(crate) parked: ThreadSet,
    pub(crate) threads: &'a [Thread],
    pub(crate) objects: &'a [Seen],
    /// What properties saw of the run so far.
    pub(crate) relevance: Option<&'a Relevance>,
}

impl Point<'_> {
    /// The thread that went on last if it is one of these, else the lowest.
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

/// What is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// This thread goes on.
    Run(usize),
    /// Whatever comes is known already: the run is brought to its end, and not looked at.
    Drain,
}

/// How the search goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The next run shares that many points with the last one.
    Keep(usize),
    /// There is nothing left to be searched.
    Exhausted,
    /// There is nothing left within the bound of the strategy, but there is beyond it.
    Bounded,
    /// As many runs as were wanted.
    Enough,
    /// Everything so far does not count, for this reason.
    Restart(&'static str),
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// All threads have ended.
    Complete,
    /// Nobody can go on.
    Deadlock,
    /// It was drained.
    Blocked,
    /// It was stopped: it had too many steps, or something went wrong.
    Cut,
}

/// Which of those that slept at the point before still do: those that do not notice what happened.
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
