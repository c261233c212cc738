//! One search on several OS threads.
//!
//! A search by source sets is a path of points with open branches. An idle worker takes the open branch nearest to the root, which is
//! likely to be the largest. The points above it are shared from then on: every worker below them adds the races that it
//! finds there, and on its way back *claims* an open branch. In a claimed branch all threads sleep whose branches were claimed before,
//! finished or not, since some worker does search those. So no class is searched twice, and none is left out.

use std::sync::{
    Arc, Condvar, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed},
};

use crate::thread_set::ThreadSet;

/// What is common of a point.
#[derive(Debug)]
pub(crate) struct Common(Mutex<Branches>);

/// Branches of a point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Branches {
    /// Threads by which some run of interest begins.
    pub(crate) backtrack: ThreadSet,
    /// Threads whose runs somebody searches, or has.
    pub(crate) claimed: ThreadSet,
}

impl Common {
    pub(crate) fn new(branches: Branches) -> Arc<Common> {
        Arc::new(Common(Mutex::new(branches)))
    }

    pub(crate) fn open(&self) -> MutexGuard<'_, Branches> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Work that is looked for and offered.
#[derive(Debug)]
pub(crate) struct Exchange<W> {
    workers: usize,
    offers: Mutex<Offers<W>>,
    changed: Condvar,
    /// How many wait for work.
    hungry: AtomicUsize,
    over: AtomicBool,
    runs: AtomicU64,
    has_leader: AtomicBool,
}

#[derive(Debug)]
struct Offers<W> {
    work: Vec<W>,
    idle: usize,
}

impl<W> Exchange<W> {
    /// For this many workers; `first` is what there is to do.
    pub(crate) fn new(workers: usize, first: W) -> Exchange<W> {
        Exchange {
            workers,
            offers: Mutex::new(Offers {
                work: vec![first],
                idle: 0,
            }),
            changed: Condvar::new(),
            hungry: AtomicUsize::new(0),
            over: AtomicBool::new(false),
            runs: AtomicU64::new(0),
            has_leader: AtomicBool::new(false),
        }
    }

    /// Whether somebody waits for work.
    #[inline]
    pub(crate) fn is_hungry(&self) -> bool {
        self.hungry.load(Relaxed) > 0
    }

    /// Whether there is nothing left to do, or nothing more is to be done.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Relaxed)
    }

    /// Something to do for somebody who waits.
    pub(crate) fn offer(&self, work: W) {
        let mut offers = self.lock();
        offers.work.push(work);
        self.show(&offers);
        self.changed.notify_one();
    }

    /// Waits for something to do; `None` if nobody has anything to do any more.
    pub(crate) fn take(&self) -> Option<W> {
        let mut offers = self.lock();
        offers.idle += 1;
        self.show(&offers);
        loop {
            if self.is_over() {
                return None;
            }
            if let Some(work) = offers.work.pop() {
                offers.idle -= 1;
                self.show(&offers);
                return Some(work);
            }
            if offers.idle == self.workers {
                drop(offers);
                self.stop();
                return None;
            }
            offers = self
                .changed
                .wait(offers)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Nothing more is to be done.
    pub(crate) fn stop(&self) {
        let _offers = self.lock();
        self.over.store(true, Relaxed);
        self.changed.notify_all();
    }

    /// So many get nothing of what is offered.
    fn show(&self, offers: &Offers<W>) {
        let hungry = offers.idle.saturating_sub(offers.work.len());
        self.hungry.store(hungry, Relaxed);
    }

    /// One run more; how many there were.
    pub(crate) fn count(&self) -> u64 {
        self.runs.fetch_add(1, Relaxed) + 1
    }

    /// Whether whoever asks is the one to speak for all: the first who does.
    pub(crate) fn leads(&self) -> bool {
        !self.has_leader.swap(true, Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, Offers<W>> {
        self.offers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
