//! Data races: two accesses of one variable that can both be next.
//!
//! Two threads access a variable (not both reads, and not both updates), and in some run both accesses can come next. There may be millions
//! of such pairs, so they are reported by *location pairs*: the two source locations, or, if the trace has none, the variable
//! and the kinds of access. The pairs of events of each are counted without examining every pair.

mod clocks;
pub(crate) mod happens_before;
pub(crate) mod strong;

use portent_monitor_core::{LocId, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::record::{AccessKind, EventId};

/// The identity of one event of a location pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum RaceSide {
    Loc(LocId),
    Access(VarId, AccessKind),
}

impl RaceSide {
    pub(crate) fn new(loc: Option<LocId>, var: VarId, kind: AccessKind) -> RaceSide {
        loc.map_or(RaceSide::Access(var, kind), RaceSide::Loc)
    }
}

/// The races between two locations.
#[derive(Clone, Debug)]
pub(crate) struct RacePair {
    /// Two events, in observed order: the first pair found, or the first that the observed run reaches.
    pub(crate) events: [EventId; 2],
    /// Whether the observed run reaches a point where both are next.
    pub(crate) observed: bool,
    pub(crate) kinds: [AccessKind; 2],
    /// The variable of these two.
    pub(crate) var: VarId,
    /// The number of pairs of events that it represents.
    pub(crate) pairs: u64,
    /// Other variables that race between these locations, up to a few.
    pub(crate) others: Vec<VarId>,
}

/// At most this many variables are named for each pair.
const MOST_OTHERS: usize = 8;

/// The races found so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    /// By variable, too: a variable that is not to be reported does not hide others.
    found: FxHashMap<OfVar, RacePair>,
    known: FxHashSet<(RaceSide, RaceSide)>,
    /// The first of each location pair that has not been reported yet.
    fresh: Vec<OfVar>,
    /// The number of events that race with an earlier one.
    pub(crate) racy_events: u64,
    /// The locations of these.
    racy_locations: FxHashSet<RaceSide>,
    /// The number of pairs of sets of accesses that were left out because there were too many to examine.
    pub(crate) dropped: u64,
}

/// Two sides, the lesser first, and the variable that they access.
type OfVar = (RaceSide, RaceSide, VarId);

/// Some accesses of one kind in one location, by one thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Earlier {
    pub(crate) side: RaceSide,
    pub(crate) kind: AccessKind,
    pub(crate) last: EventId,
    pub(crate) count: u64,
}

/// An access that races with earlier ones.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Later {
    pub(crate) id: EventId,
    pub(crate) var: VarId,
    pub(crate) kind: AccessKind,
    pub(crate) side: RaceSide,
    /// The event since which it was next in its thread, if not from the beginning.
    pub(crate) next_since: Option<EventId>,
}

impl Tally {
    /// An access races with some earlier ones.
    pub(crate) fn add(&mut self, earlier: Earlier, later: &Later) {
        let Later {
            id,
            var,
            kind,
            side,
            next_since,
        } = *later;
        let sides = (earlier.side.min(side), earlier.side.max(side));
        let key = (sides.0, sides.1, var);
        let observed = next_since.is_none_or(|since| since < earlier.last);
        let (known, fresh) = (&mut self.known, &mut self.fresh);
        let pair = self.found.entry(key).or_insert_with(|| {
            if known.insert(sides) {
                fresh.push(key);
            }
            RacePair {
                events: [earlier.last, id],
                observed,
                kinds: [earlier.kind, kind],
                var,
                pairs: 0,
                others: Vec::new(),
            }
        });
        if observed && !pair.observed {
            pair.events = [earlier.last, id];
            pair.observed = true;
            pair.kinds = [earlier.kind, kind];
        }
        pair.pairs += earlier.count;
    }

    /// An access races with an earlier one.
    pub(crate) fn add_event(&mut self, side: RaceSide) {
        self.racy_events += 1;
        self.racy_locations.insert(side);
    }

    pub(crate) fn racy_locations(&self) -> usize {
        self.racy_locations.len()
    }

    /// Whether there are pairs that have not been reported.
    pub(crate) fn has_fresh(&self) -> bool {
        !self.fresh.is_empty()
    }

    /// The pairs that have not been reported until now.
    pub(crate) fn take_fresh(&mut self) -> Vec<RacePair> {
        let fresh = std::mem::take(&mut self.fresh);
        { fresh.iter() }
            .filter_map(|key| self.found.get(key).cloned())
            .collect()
    }

    /// The pairs, as far as they are of some variables, in the order in which their second events were observed.
    pub(crate) fn pairs(&self, is_of: impl Fn(&RacePair) -> bool) -> Vec<RacePair> {
        let mut found: Vec<_> = self.found.iter().filter(|(_, pair)| is_of(pair)).collect();
        found.sort_by_key(|(key, pair)| (key.0, key.1, !pair.observed, pair.events[1], key.2));
        let mut pairs: Vec<RacePair> = Vec::new();
        let mut last = None;
        for (&(one, other, var), pair) in found {
            match pairs.last_mut().filter(|_| last == Some((one, other))) {
                Some(merged) => {
                    merged.pairs += pair.pairs;
                    if merged.others.len() < MOST_OTHERS {
                        merged.others.push(var);
                    }
                }
                None => pairs.push(pair.clone()),
            }
            last = Some((one, other));
        }
        pairs.sort_by_key(|pair| [pair.events[1], pair.events[0]]);
        pairs
    }
}
