//! Whether forks and events give threads the same names.
//!
//! If a recording gives a thread one name where it is forked and another where it acts, the order between the two is lost: the
//! actions of the thread seem concurrent with everything done before it existed.

use crate::{Event, Id, Op, ThreadId};

/// The forked threads, and the acting ones.
///
/// ```
/// use portent_monitor_core::{Event, Forks, Op, Symbols};
///
/// let mut s = Symbols::default();
/// let [main, worker, stray] = ["main", "worker", "stray"].map(|name| s.threads.intern(name).unwrap());
/// let x = s.vars.intern("x")?;
/// let mut forks = Forks::default();
/// forks.take(&Event::new(main, Op::Fork(worker)));
/// assert_eq!(forks.mismatch(), None);
/// forks.take(&Event::new(stray, Op::Write(x, None)));
/// assert_eq!(forks.mismatch(), Some((worker, stray)));
/// forks.take(&Event::new(worker, Op::Write(x, None)));
/// assert_eq!(forks.mismatch(), None);
/// # Ok::<(), portent_monitor_core::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Forks {
    threads: Vec<Thread>,
    /// Whether any thread is forked: most log traces have no fork.
    has_forks: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Thread {
    is_forked: bool,
    acts: bool,
}

impl Forks {
    /// Takes the next event.
    #[inline]
    pub fn take(&mut self, event: &Event) {
        for thread in event.threads() {
            thread.entry(&mut self.threads).acts = true;
        }
        if let Op::Fork(child) = event.op {
            child.entry(&mut self.threads).is_forked = true;
            self.has_forks = true;
        }
    }

    /// A forked thread that does nothing, and an acting thread that is never forked, if there are both. The first thread needs
    /// no fork.
    pub fn mismatch(&self) -> Option<(ThreadId, ThreadId)> {
        if !self.has_forks {
            return None;
        }
        let all = || ThreadId::first(self.threads.len()).zip(&self.threads);
        let silent = all().find(|(_, thread)| thread.is_forked && !thread.acts);
        let stray = all().filter(|(_, thread)| !thread.is_forked && thread.acts);
        Some((silent?.0, { stray }.nth(1)?.0))
    }
}
