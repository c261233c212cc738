//! Merge enumeration: every cut of the lattice, level by level, without hashing.
//!
//! | file | contents |
//! |---|---|
//! | [`key`] | a cut packed in an integer |
//! | [`level`] | a sorted level, as strips of neighbouring cuts |
//! | [`frontier`] | the next level, by merging |
//! | [`streams`], [`mark`] | what is merged: the cuts that each chain is advanced to |
//! | [`successors`] | the next level cut by cut, where strips are short |
//! | [`levels`] | the same, with wider keys when they are needed |
//! | [`sweep`] | the search for a violation, level by level |
//! | [`answer`] | the choice of reductions, and the run to the violation |
//! | [`sets`], [`count`], [`path`] | the data kept at a cut: states, numbers of runs, ways back |
//! | [`number`] | how large a number of runs can be |
//! | [`reduce`], [`persistent`], [`visible`] | which states need not be kept, and which cuts need not be visited |
//! | [`window`] | which cuts are dropped when there are too many |
//! | [`forget`] | forgetting events that are in every cut |
//!
//! The weak point is width: a level of T concurrent threads with k events each has in the order of
//! k^(T-1) cuts. The other engines exist because of this.

mod answer;
mod count;
mod forget;
mod frontier;
mod key;
mod labelled;
mod level;
mod levels;
mod lower_bound;
mod mark;
mod number;

mod parallel;
mod path;
mod persistent;
mod reduce;
mod sets;
mod streams;
mod successors;
mod sweep;
#[cfg(test)]
mod tests;
mod visible;
mod window;

pub(crate) use answer::{complete, search_open, search_table, way};
pub use count::RunCounts;
pub(crate) use labelled::LabelledPoset;

pub(crate) use path::{Configuration, Paths};
pub(crate) use persistent::Persistent;
pub(crate) use reduce::{Reducer, Saved};
pub(crate) use sets::{Bits, Lists, Sets, StateList};
pub(crate) use sweep::{Search, Sweep};
pub(crate) use visible::Visible;

use num_bigint::BigUint;

use crate::{
    automaton::{StateIndex, TransitionSystem},
    options::Options,
    order::{Poset, Requirements},
};
use count::RunCounter;
pub(crate) use frontier::Workspace;
use frontier::{LeftOut, LevelBounds, NodeRules, SHORT};
use levels::Levels;
use number::{Number, Words};
use sets::CutsAlone;

/// The size of a lattice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LatticeSize {
    /// The number of levels: one more than the number of events.
    pub levels: u64,
    /// The number of consistent cuts.
    pub cuts: u64,
    /// The number of cuts in the widest level.
    pub widest: u64,
    /// The most bytes that two neighbouring levels took together, and their number of cuts.
    pub peak: Peak,
}

/// The memory of a frontier at its widest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Peak {
    /// The bytes of keys, nodes and marks.
    pub bytes: u64,
    /// The number of cuts that took them.
    pub cuts: u64,
}

impl Peak {
    /// Records a level and the one made from it: bytes, and cuts.
    pub(crate) fn note<N: Clone + Send + Sync>(&mut self, before: (u64, u64), after: &Levels<N>) {
        let (level, marks) = after.bytes();
        let bytes = before.0 + level + marks;
        if bytes > self.bytes {
            self.bytes = bytes;
            self.cuts = before.1 + after.len() as u64;
        }
    }
}

/// Counts the consistent cuts of a poset; `None` if there are more than `max_cuts`, or if a level
/// does not fit in `memory` bytes.
///
/// ```
/// use portent_lattice::laboratory::{Poset, shape};
/// use portent_monitor_core::ChainId;
///
/// // Two threads with two independent events each: a grid of 3 × 3 cuts.
/// let mut poset = Poset::new(2);
/// for clock in [[1, 0], [2, 0]] {
///     poset.push(ChainId::from(0), &clock);
/// }
/// for clock in [[0, 1], [0, 2]] {
///     poset.push(ChainId::from(1), &clock);
/// }
/// let shape = shape(&poset, u64::MAX, u64::MAX, false).unwrap();
/// assert_eq!((shape.cuts, shape.widest, shape.levels), (9, 3, 5));
/// ```
pub fn shape(poset: &Poset, max_cuts: u64, memory: u64, parallel: bool) -> Option<LatticeSize> {
    let requirements = Requirements::of_poset(poset);
    let options = Options::default().memory(memory).parallel(parallel);
    measure(
        LabelledPoset::new(poset, &requirements, &[]),
        max_cuts,
        &options,
    )
}

/// Counts the cuts; `None` if there are more than `max_cuts`, or a level does not fit in memory.
pub(crate) fn measure(
    labelled: LabelledPoset<'_>,
    max_cuts: u64,
    options: &Options,
) -> Option<LatticeSize> {
    if lower_bound::cuts(labelled, max_cuts) > max_cuts {
        return None;
    }
    let top = labelled.top();
    let mut levels = Levels::new(&vec![0; top.len()], (), &top);
    let bounds = everything(&top, options.parallel);
    options.progress.begin(labelled.poset.len());
    let mut room = LevelRoom::default();
    let mut shape = LatticeSize {
        levels: 1,
        cuts: 1,
        widest: 1,
        peak: Peak::default(),
    };
    for _ in 0..labelled.poset.len() {
        let too_large = shape.cuts > max_cuts || !room.has_next(&levels, &CutsAlone, options);
        if too_large || options.stop.is_raised() {
            return None;
        }
        let before = (levels.bytes().0, levels.len() as u64);
        levels.advance(labelled, bounds, &CutsAlone);
        let after = levels.len() as u64;
        shape.peak.note(before, &levels);
        options.progress.made(shape.levels as usize, after);
        shape.levels += 1;
        shape.cuts += after;
        shape.widest = shape.widest.max(after);
    }
    (shape.cuts <= max_cuts).then_some(shape)
}

/// Visits every cut, and returns the number of cuts of each level.
pub(crate) fn each_level(
    labelled: LabelledPoset<'_>,
    parallel: bool,
    mut tell: impl FnMut(usize, u64),
) {
    let top = labelled.top();
    let mut levels = Levels::new(&vec![0; top.len()], (), &top);
    tell(0, 1);
    for level in 1..=labelled.poset.len() {
        levels.advance(labelled, everything(&top, parallel), &CutsAlone);
        tell(level, levels.len() as u64);
    }
}

fn everything(upper: &[u32], parallel: bool) -> LevelBounds<'_> {
    LevelBounds {
        upper,
        ceiling: upper,
        lookahead: None,
        window: None,
        persistent: None,
        parallel,
        short: SHORT,
        stop: None,
    }
}

/// The number of words that hold a number of runs of a poset.
pub(crate) fn number_words(poset: &Poset) -> u64 {
    number::bits(poset).div_ceil(64)
}

/// Counts all runs by their verdicts; `None` if a level does not fit in memory.
///
/// Here, states are numbers and the machine is known at run time only, because the enumeration is already compiled once for
/// each kind of number.
pub(crate) fn count_runs(
    labelled: LabelledPoset<'_>,
    machine: &dyn TransitionSystem<State = StateIndex>,
    options: &Options,
) -> Option<RunCounts> {
    match number::bits(labelled.poset) {
        0..=128 => count_by::<u128>(labelled, machine, options),
        129..=1024 => count_by::<Words<16>>(labelled, machine, options),
        _ => count_by::<BigUint>(labelled, machine, options),
    }
}

fn count_by<C: Number>(
    labelled: LabelledPoset<'_>,
    machine: &dyn TransitionSystem<State = StateIndex>,
    options: &Options,
) -> Option<RunCounts> {
    let top = labelled.top();
    let rules = RunCounter::<C>::new(labelled, machine);
    let mut levels = Levels::new(&vec![0; top.len()], rules.one(), &top);
    options.progress.begin(labelled.poset.len());
    let mut room = LevelRoom::default();
    for level in 1..=labelled.poset.len() {
        if !room.has_next(&levels, &rules, options) || options.stop.is_raised() {
            return None;
        }
        levels.advance(labelled, everything(&top, options.parallel), &rules);
        options.progress.made(level, levels.len() as u64);
    }
    let ways = levels.nodes().first().cloned().unwrap_or_default();
    Some(rules.by_verdict(ways))
}

/// Whether memory suffices for successive levels, none of which may lack a cut.
#[derive(Default)]
struct LevelRoom {
    /// The bytes of the previous level.
    before: u64,
}

impl LevelRoom {
    /// Whether there is room for the level after this one, if levels continue to grow at this rate.
    fn has_next<R: NodeRules>(
        &mut self,
        levels: &Levels<R::Node>,
        rules: &R,
        options: &Options,
    ) -> bool {
        let bytes = levels.bytes().0 + levels.heap_bytes(rules);
        // In tenths: the level grew by half at most, except for the first ones, which are small.
        let growth = (10 * bytes / self.before.max(1)).clamp(10, 15);
        self.before = bytes;
        // A level made in parts exists twice for a while.
        let next = (if options.parallel { 2 } else { 1 }) * bytes.saturating_mul(growth) / 10;
        let cuts = (levels.len() as u64).saturating_mul(8 + levels.width() as u64 / 8);
        bytes.saturating_add(next).saturating_add(cuts) <= options.memory
    }
}

/// How a search is bounded besides the user's options.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SearchExtent {
    /// The last level to examine.
    pub(crate) levels: usize,
    /// The search gives up after this many cuts.
    pub(crate) nodes: u64,
}

/// Searches all known events for a violation.
pub(crate) fn search<S: Sets>(
    labelled: LabelledPoset<'_>,
    sets: &S,
    initial: S::State,
    persistent: Option<&Persistent>,
    options: &Options,
    extent: SearchExtent,
) -> Search<S::State> {
    let top = labelled.top();
    let last = labelled.poset.len();
    let mut sweep = Sweep::new(sets, initial, &top, last == 0);
    options.progress.begin(last.min(extent.levels));
    while sweep.level() < last.min(extent.levels) && sweep.goes_on() {
        if sweep.result.nodes > extent.nodes {
            sweep.result.gave_up = true;
            break;
        }
        let at_end = sweep.level() + 1 == last;
        sweep.advance(labelled, sets, &top, persistent, options, at_end);
    }
    let visited_all = sweep.level() == last && sweep.result.left_out == LeftOut::default();
    sweep.result.whole = visited_all && !sweep.result.stopped;
    sweep.result
}
