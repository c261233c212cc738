//! The search for a violation, one level at a time.
//!
//! Offline, all events are known, and levels are made until there are none left. Online, a level is
//! made as soon as every event that can extend it is known. Both use this sweep; nothing in it
//! depends on the number of events to come.

use super::{
    Peak,
    frontier::{LeftOut, LevelBounds, SHORT, Workspace},
    labelled::LabelledPoset,
    levels::Levels,
    parallel,
    path::{Configuration, MIN_CHECKPOINTS, checkpoint_bytes, trail_bytes},
    persistent::Persistent,
    sets::Sets,
    window::Window,
};
use crate::{engine::Limit, options::Options, order::EventIndex};

/// Persistent sets are given up if they have saved almost nothing by this many cuts.
const PATIENCE: u64 = 200_000;

/// Looking at fewer nodes than this is not worth several threads, as it takes little time per node.
const LONG: usize = if cfg!(test) { 8 } else { 1 << 15 };

/// With more chains than this a level is not made in full: a cut has as many successors as chains, and each
/// takes time proportional to the number of chains.
const MANY_CHAINS: usize = 256;
/// In that case, about this many counts may be examined for one level.
const LEVEL_WORK: usize = 1 << 21;

/// The result of a search, and how far it got.
#[derive(Clone, Debug)]
pub(crate) struct Search<S> {
    /// A first violation: no run is violated after fewer events, unless events were commuted.
    pub(crate) found: Option<Configuration<S>>,
    /// The number of cuts visited.
    pub(crate) nodes: u64,
    /// The number of cuts in the widest level.
    pub(crate) widest: u64,
    pub(crate) left_out: LeftOut,
    pub(crate) limit: Option<Limit>,
    /// Every cut of the lattice was visited.
    pub(crate) whole: bool,
    /// The search gave up after too many cuts.
    pub(crate) gave_up: bool,
    /// The search was stopped from outside.
    pub(crate) stopped: bool,
    /// The window, if it dropped cuts.
    pub(crate) window: Option<usize>,
    pub(crate) peak: Peak,
}

impl<S> Search<S> {
    /// An event arrived too late for a level that it could have extended.
    pub(crate) fn miss(&mut self) {
        self.left_out.suppressed += 1;
        self.limit.get_or_insert(Limit::Lookahead);
    }
}

/// A search that has reached some level.
#[derive(Clone, Debug)]
pub(crate) struct Sweep<S, N> {
    pub(super) levels: Levels<N>,
    pub(super) level: usize,
    /// The cut of the observed run in this level.
    pub(super) observed: Vec<u32>,
    pub(crate) result: Search<S>,
}

impl<T: Clone, N: Clone + Send + Sync> Sweep<T, N> {
    /// The level of the empty cut; `ceiling` bounds all future counts.
    pub(crate) fn new<S: Sets<State = T, Node = N>>(
        sets: &S,
        initial: T,
        ceiling: &[u32],
        at_end: bool,
    ) -> Self {
        let observed = vec![0; ceiling.len()];
        let levels = Levels::new(&observed, sets.only(initial), ceiling);
        let found = first_bad(&levels, sets, at_end, &observed, false);
        let result = Search {
            found,
            nodes: 1,
            widest: 1,
            left_out: LeftOut::default(),
            limit: None,
            whole: false,
            gave_up: false,
            stopped: false,
            window: None,
            peak: Peak::default(),
        };
        Sweep {
            levels,
            level: 0,
            observed,
            result,
        }
    }

    /// The number of events in the cuts of this level.
    pub(crate) fn level(&self) -> usize {
        self.level
    }

    /// Whether there is anything left to find.
    pub(crate) fn goes_on(&self) -> bool {
        self.result.found.is_none() && !self.result.stopped && self.levels.len() > 0
    }

    /// Copies another sweep, reusing its own memory.
    pub(crate) fn assign(&mut self, other: &Self) {
        self.levels.assign(&other.levels);
        self.level = other.level;
        self.observed.clone_from(&other.observed);
        self.result.clone_from(&other.result);
    }

    /// Exchanges the memory for later levels.
    pub(crate) fn swap_workspace(&mut self, workspace: &mut Workspace<u64, N>) {
        self.levels.swap_workspace(workspace);
    }

    /// Makes the next level. Every event that can extend this one is known.
    pub(crate) fn advance<S: Sets<State = T, Node = N>>(
        &mut self,
        labelled: LabelledPoset<'_>,
        sets: &S,
        ceiling: &[u32],
        persistent: Option<&Persistent>,
        options: &Options,
        at_end: bool,
    ) {
        let result = &mut self.result;
        let useless = result.nodes > PATIENCE && result.left_out.commuted * 50 < result.nodes;
        self.observed.resize(ceiling.len(), 0);
        let event = EventIndex(self.level as u32);
        self.observed[labelled.poset.chain_of(event).index()] += 1;
        let (width, why) = width(&self.levels, sets, options);
        let upper = labelled.top();
        let bounds = LevelBounds {
            upper: &upper,
            ceiling,
            lookahead: options.lookahead,
            window: Some(Window {
                observed: &self.observed,
                width,
            }),
            persistent: persistent.filter(|_| !useless),
            parallel: options.parallel,
            short: SHORT,
            stop: Some(&options.stop),
        };
        let before = (self.levels.bytes().0, self.levels.len() as u64);
        let left_out = self.levels.advance(labelled, bounds, sets);
        self.level += 1;
        if left_out.dropped > 0 {
            result.limit.get_or_insert(why);
            result.window = result.window.max(Some(width));
        } else if left_out.suppressed > 0 {
            result.limit.get_or_insert(Limit::Lookahead);
        }
        if options.stop.is_raised() {
            // The level may be unfinished.
            result.limit.get_or_insert(Limit::Time);
            result.stopped = true;
        }
        result.left_out.add(left_out);
        let after = self.levels.len() as u64;
        result.peak.note(before, &self.levels);
        result.nodes += after;
        options.progress.made(self.level, after);
        result.widest = result.widest.max(after);
        if result.found.is_none() {
            result.found = first_bad(&self.levels, sets, at_end, &self.observed, options.parallel);
        }
    }

    /// The run has ended with this level: states that are bad only at an end are bad now.
    pub(crate) fn end<S: Sets<State = T, Node = N>>(&mut self, sets: &S) {
        if self.result.found.is_none() {
            self.result.found = first_bad(&self.levels, sets, true, &self.observed, false);
        }
    }
}

/// The number of cuts of the next level that may be kept, and the limit that sets it.
fn width<S: Sets>(levels: &Levels<S::Node>, sets: &S, options: &Options) -> (usize, Limit) {
    let cuts = (levels.len() as u64).max(1);
    let heap = levels.heap_bytes(sets).div_ceil(cuts);
    let search = levels.walk_bytes(size_of::<S::Node>() as u64 + heap);
    // The path to the violation is searched for with the same window.
    let nodes = levels.nodes();
    let is_long = options.parallel && nodes.len() >= LONG;
    let states = parallel::sum(0..nodes.len(), is_long, |range| {
        let nodes = nodes[range].iter();
        nodes.map(|node| sets.len(node) as u64).sum()
    });
    let way = way_bytes::<S::State, _>(levels, states.div_ceil(cuts), MIN_CHECKPOINTS);
    let fits = options.memory / search.max(way);
    let fits = usize::try_from(fits).unwrap_or(usize::MAX).max(1);
    let chains = levels.width();
    match options.window {
        Some(window) if window <= fits => (window.max(1), Limit::Window),
        None if chains > MANY_CHAINS => {
            let bearable = (LEVEL_WORK / (chains * chains)).max(1);
            if bearable < fits {
                (bearable, Limit::Chains)
            } else {
                (fits, Limit::Memory)
            }
        }
        _ => (fits, Limit::Memory),
    }
}

/// The bytes that a walk back takes for each cut of a level, with this many states at each and this many checkpoints.
fn way_bytes<T, N: Clone + Send + Sync>(levels: &Levels<N>, states: u64, checkpoints: u64) -> u64 {
    let checkpoint = checkpoint_bytes::<T>(levels.strip_bytes(), states);
    levels.walk_bytes(trail_bytes::<T>(states)) + checkpoints * checkpoint
}

/// Of the violated cuts of a level, the one nearest the observed run.
fn first_bad<S: Sets>(
    levels: &Levels<S::Node>,
    sets: &S,
    at_end: bool,
    observed: &[u32],
    parallel: bool,
) -> Option<Configuration<S::State>> {
    let bad = |node: &S::Node| sets.bad(node, at_end);
    let nodes = levels.nodes();
    let is_long = parallel && nodes.len() >= LONG;
    let violated = parallel::sum(0..nodes.len(), is_long, |range| {
        u64::from(nodes[range].iter().any(|node| bad(node).is_some()))
    });
    if violated == 0 {
        return None;
    }
    let mut nearest: Option<(u64, Configuration<S::State>)> = None;
    levels.each(|node, cut| {
        let Some(state) = bad(node) else { return };
        let cut = cut();
        let counts = cut.iter().zip(observed);
        let distance = counts.map(|(a, b)| u64::from(a.abs_diff(*b))).sum();
        if nearest.as_ref().is_none_or(|(least, _)| distance < *least) {
            nearest = Some((distance, Configuration { cut, state }));
        }
    });
    nearest.map(|(_, spot)| spot)
}
