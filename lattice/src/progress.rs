//! Lets someone else see how far a search is while it runs.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

#[derive(Debug, Default)]
struct Counters {
    levels: AtomicU64,
    level: AtomicU64,
    cuts: AtomicU64,
    nodes: AtomicU64,
}

/// What a search counts while it runs; clones share the counts. The default is that nobody looks.
///
/// ```
/// use portent_lattice::{Options, Progress};
///
/// let progress = Progress::watched();
/// let options = Options::default().progress(progress.clone());
/// // ... in another thread, as often as one likes:
/// assert_eq!((progress.level(), progress.cuts()), (0, 0));
/// # let _ = options;
/// ```
#[derive(Clone, Debug, Default)]
pub struct Progress(Option<Arc<Counters>>);

impl Progress {
    /// Counts that can be looked at.
    pub fn watched() -> Progress {
        Progress(Some(Arc::default()))
    }

    /// How many levels the search that is running now has at most; 0 before the first.
    pub fn levels(&self) -> u64 {
        self.read(|counters| &counters.levels)
    }

    /// The level that was made last, by whatever search is running now.
    pub fn level(&self) -> u64 {
        self.read(|counters| &counters.level)
    }

    /// The cuts that all searches have visited so far.
    pub fn cuts(&self) -> u64 {
        self.read(|counters| &counters.cuts)
    }

    /// The symbolic nodes and feasible prefixes that the other engines have looked at so far.
    pub fn nodes(&self) -> u64 {
        self.read(|counters| &counters.nodes)
    }

    // The counts are shown and nothing else follows from them, so no order is asked for.
    fn read(&self, which: impl Fn(&Counters) -> &AtomicU64) -> u64 {
        let counters = self.0.as_deref();
        counters.map_or(0, |counters| which(counters).load(Ordering::Relaxed))
    }

    pub(crate) fn begin(&self, levels: usize) {
        if let Some(counters) = &self.0 {
            counters.levels.store(levels as u64, Ordering::Relaxed);
            counters.level.store(0, Ordering::Relaxed);
        }
    }

    pub(crate) fn made(&self, level: usize, cuts: u64) {
        if let Some(counters) = &self.0 {
            counters.level.store(level as u64, Ordering::Relaxed);
            counters.cuts.fetch_add(cuts, Ordering::Relaxed);
        }
    }

    pub(crate) fn looked_at(&self, nodes: u64) {
        if let Some(counters) = &self.0 {
            counters.nodes.fetch_add(nodes, Ordering::Relaxed);
        }
    }
}

/// Equal progress is the same progress.
impl PartialEq for Progress {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(two)) => Arc::ptr_eq(one, two),
            (None, None) => true,
            _ => false,
        }
    }
}

impl Eq for Progress {}
