//! Merge enumeration: every cut of the lattice, level by level, without hashing.
//!
//! | file | its notion |
//! |---|---|
//! | [`key`] | a cut packed in an integer |
//! | [`frontier`] | a sorted level; the next one by merging |
//! | [`levels`] | the same, with wider keys when they are needed |
//! | [`sets`], [`count`], [`path`] | what is kept at a cut: states, numbers of runs, ways back |
//! | [`reduce`], [`persistent`] | what need not be kept, what need not be visited |
//! | [`window`] | what is let go when there is too much |
//!
//! The weak point is width: a level of T concurrent threads with k events each has in the order of
//! k^(T-1) cuts. The other engines exist because of that.

mod count;
mod frontier;
mod ground;
mod key;
mod levels;
mod observed;
mod path;
mod persistent;
mod reduce;
mod sets;
mod window;

pub use count::RunCounts;
pub(crate) use ground::{Ground, Needs};
pub(crate) use observed::Observed;
pub(crate) use path::{Paths, Spot};
pub(crate) use persistent::Persistent;
pub(crate) use reduce::{Reducer, Saved};
pub(crate) use sets::{Bits, Lists, Sets};

use crate::{Poset, StateIndex, options::Options, product::Machine};
use count::Counting;
use frontier::{Bounds, LeftOut};
use levels::Levels;
use sets::Shape as ShapeRules;
use window::Window;

/// Persistent sets are given up if by so many cuts they have saved next to nothing.
const PATIENCE: u64 = 200_000;

/// Why a search did not look everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Limit {
    /// The window that was asked for.
    Window,
    /// The lookahead that was asked for.
    Lookahead,
    /// A window that was made necessary by the memory limit.
    Memory,
}

/// The size of a lattice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// How many levels there are: one more than events.
    pub levels: u64,
    /// How many consistent cuts.
    pub cuts: u64,
    /// How many of them in the widest level.
    pub widest: u64,
    /// The most bytes that two neighbouring levels took together, and how many cuts they had.
    pub peak: Peak,
}

/// The memory of a frontier at its widest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Peak {
    /// The bytes of keys, nodes and marks.
    pub bytes: u64,
    /// The cuts that took them.
    pub cuts: u64,
}

impl Peak {
    fn note(&mut self, before: (u64, u64), after: (u64, u64)) {
        if before.0 + after.0 > self.bytes {
            self.bytes = before.0 + after.0;
            self.cuts = before.1 + after.1;
        }
    }
}

/// Counts the consistent cuts of a poset; `None` if there are more than `max_cuts`, or if a level
/// does not fit in `memory` bytes.
///
/// ```
/// use portent_lattice::{Poset, shape};
///
/// // Two threads with two independent events each: a grid of 3 × 3 cuts.
/// let mut poset = Poset::new(2);
/// for clock in [[1, 0], [2, 0]] {
///     poset.push(0, &clock);
/// }
/// for clock in [[0, 1], [0, 2]] {
///     poset.push(1, &clock);
/// }
/// let shape = shape(&poset, u64::MAX, u64::MAX, false).unwrap();
/// assert_eq!((shape.cuts, shape.widest, shape.levels), (9, 3, 5));
/// ```
pub fn shape(poset: &Poset, max_cuts: u64, memory: u64, parallel: bool) -> Option<Shape> {
    let needs = Needs::of_poset(poset);
    let ground = Ground {
        poset,
        needs: &needs,
        actions: &[],
    };
    measure(ground, max_cuts, memory, parallel)
}

pub(crate) fn measure(
    ground: Ground<'_>,
    max_cuts: u64,
    memory: u64,
    parallel: bool,
) -> Option<Shape> {
    let top = ground.top();
    let mut levels = Levels::new(&vec![0; top.len()], (), &top);
    let bounds = everything(&top, parallel);
    let mut shape = Shape {
        levels: 1,
        cuts: 1,
        widest: 1,
        peak: Peak::default(),
    };
    for _ in 0..ground.poset.len() {
        if shape.cuts > max_cuts || levels.bytes().saturating_mul(2) > memory {
            return None;
        }
        let before = (levels.bytes(), levels.len() as u64);
        levels.advance(ground, bounds, &ShapeRules);
        let after = levels.len() as u64;
        shape.peak.note(before, (levels.bytes(), after));
        shape.levels += 1;
        shape.cuts += after;
        shape.widest = shape.widest.max(after);
    }
    (shape.cuts <= max_cuts).then_some(shape)
}

fn everything(upper: &[u32], parallel: bool) -> Bounds<'_> {
    Bounds {
        upper,
        lookahead: None,
        window: None,
        persistent: None,
        parallel,
    }
}

/// Counts all runs by their verdicts; meant for lattices whose size is known to be bearable.
pub(crate) fn count_runs<M: Machine>(
    ground: Ground<'_>,
    machine: &M,
    parallel: bool,
) -> RunCounts {
    let top = ground.top();
    let rules = Counting { ground, machine };
    let mut levels = Levels::new(&vec![0; top.len()], rules.one(), &top);
    for _ in 0..ground.poset.len() {
        levels.advance(ground, everything(&top, parallel), &rules);
    }
    let ways = levels.nodes().first().cloned().unwrap_or_default();
    rules.by_verdict(ways)
}

/// What a search found, and how far it looked.
#[derive(Clone, Debug, Default)]
pub(crate) struct Search {
    /// A first violation: no run is violated after fewer events, unless events were commuted.
    pub(crate) found: Option<Spot>,
    /// The cuts that were visited.
    pub(crate) nodes: u64,
    /// The most of them in one level.
    pub(crate) widest: u64,
    pub(crate) left_out: LeftOut,
    pub(crate) limit: Option<Limit>,
    /// Every cut of the lattice was visited.
    pub(crate) whole: bool,
    /// Gave up after too many cuts.
    pub(crate) gave_up: bool,
    /// The window, if cuts were dropped.
    pub(crate) window: Option<usize>,
    pub(crate) peak: Peak,
}

/// How a search is bounded beside the user's options.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    /// The last level to look at.
    pub(crate) levels: usize,
    /// After so many cuts the search gives up.
    pub(crate) nodes: u64,
    /// Whether to go on after a violation, to visit every cut.
    pub(crate) to_the_end: bool,
}

/// Searches for a violation.
pub(crate) fn search<S: Sets>(
    ground: Ground<'_>,
    sets: &S,
    initial: StateIndex,
    observed: &Observed,
    persistent: Option<&Persistent>,
    options: &Options,
    extent: Extent,
) -> Search {
    let top = ground.top();
    let last = ground.poset.len();
    let mut levels = Levels::new(&vec![0; top.len()], sets.only(initial), &top);
    let mut result = Search {
        nodes: 1,
        widest: 1,
        ..Search::default()
    };
    let mut persistent = persistent;
    let mut here = vec![0; top.len()];
    result.found = first_bad(&levels, sets, last == 0, &here);
    let mut made = 0;
    while made < last.min(extent.levels) && levels.len() > 0 {
        if result.found.is_some() && !extent.to_the_end {
            return result;
        }
        if result.nodes > extent.nodes {
            result.gave_up = true;
            return result;
        }
        observed.advance(ground.poset, made, &mut here);
        let (width, why) = width(&levels, options);
        let bounds = Bounds {
            upper: &top,
            lookahead: options.lookahead,
            window: Some(Window {
                observed: &here,
                width,
            }),
            persistent,
            parallel: options.parallel,
        };
        let before = (levels.bytes(), levels.len() as u64);
        let left_out = levels.advance(ground, bounds, sets);
        made += 1;
        if left_out.dropped > 0 {
            result.limit.get_or_insert(why);
            result.window = result.window.max(Some(width));
        } else if left_out.suppressed > 0 {
            result.limit.get_or_insert(Limit::Lookahead);
        }
        result.left_out.add(left_out);
        let after = levels.len() as u64;
        result.peak.note(before, (levels.bytes(), after));
        result.nodes += after;
        options.progress.made(made, after);
        result.widest = result.widest.max(after);
        if result.found.is_none() {
            result.found = first_bad(&levels, sets, made == last, &here);
        }
        if result.nodes > PATIENCE && result.left_out.commuted * 50 < result.nodes {
            persistent = None;
        }
    }
    result.whole = made == last && result.left_out == LeftOut::default();
    result
}

/// How many cuts of the next level may be kept, and by which limit.
fn width<N: Clone + Send + Sync>(levels: &Levels<N>, options: &Options) -> (usize, Limit) {
    // The level itself and, before it is narrowed, twice a window of the next.
    let fits = options.memory / (3 * levels.cut_bytes());
    let fits = usize::try_from(fits).unwrap_or(usize::MAX).max(1);
    match options.window {
        Some(window) if window <= fits => (window.max(1), Limit::Window),
        _ => (fits, Limit::Memory),
    }
}

/// Of the violated cuts of a level, the one nearest the observed run.
fn first_bad<S: Sets>(
    levels: &Levels<S::Node>,
    sets: &S,
    at_end: bool,
    observed: &[u32],
) -> Option<Spot> {
    let bad = levels.nodes().iter().enumerate();
    bad.filter_map(|(index, node)| Some((index, sets.bad(node, at_end)?)))
        .map(|(index, state)| Spot {
            cut: levels.cut(index),
            state,
        })
        .min_by_key(|spot| -> u64 {
            let counts = spot.cut.iter().zip(observed);
            counts.map(|(a, b)| u64::from(a.abs_diff(*b))).sum()
        })
}
