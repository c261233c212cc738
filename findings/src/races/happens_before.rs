//! Races under happens-before.
//!
//! Two accesses can both be next iff the earlier one is not in the past of what the later one's thread did before. (Race
//! detectors often ask only whether synchronisation alone orders the two; if it does not, that proves a race for the first
//! such pair only, because later ones may never happen.) So one vector clock per thread suffices.
//!
//! The writes of a variable are ordered, and so is each read after the write that it saw and before the next. If the last
//! write, and for a write the reads since then, are in the past of an access, all earlier ones are: so most accesses examine
//! only these, and are kept in one list. For a variable that has a race they are sorted by chain, kind and location, and those
//! that are not in a clock are counted by a binary search.

use portent_monitor_core::{ChainId, Error, Event, Id, LocId, VarId};

use super::{
    Earlier, Later, RaceSide, Tally,
    clocks::{Clocks, Tick, join},
};
use crate::{
    record::{AccessKind, EventId, Record, accesses},
    run::Run,
};

/// Finds them while events arrive.
#[derive(Clone, Debug, Default)]
pub(crate) struct HappensBeforeRaces {
    clocks: Clocks,
    vars: Vec<OfVar>,
    pub(crate) tally: Tally,
}

/// The accesses of one variable.
#[derive(Clone, Debug, Default)]
struct OfVar {
    /// The last write or update.
    write: Option<Tick>,
    /// The last read of each chain since then.
    reads: Vec<Tick>,
    /// Those not sorted yet.
    all: Vec<Access>,
    /// The others; empty for a variable without races.
    sorted: Vec<OfChain>,
}

#[derive(Clone, Copy, Debug)]
struct Access {
    tick: Tick,
    id: EventId,
}

/// The accesses of one variable by one chain.
#[derive(Clone, Debug)]
struct OfChain {
    chain: ChainId,
    groups: Vec<Group>,
}

/// The accesses of one kind in one location.
#[derive(Clone, Debug)]
struct Group {
    kind: AccessKind,
    loc: Option<LocId>,
    /// Their events and numbers.
    all: Vec<(u32, EventId)>,
}

impl HappensBeforeRaces {
    /// The number of chains.
    pub(crate) fn chains(&self) -> usize {
        self.clocks.chains()
    }

    /// Takes an event that the record has already.
    pub(crate) fn take(
        &mut self,
        event: &Event,
        id: EventId,
        next_since: Option<EventId>,
        record: &Record,
    ) -> Result<(), Error> {
        let accesses = accesses(event);
        if accesses.is_empty() {
            self.clocks.step(event, false)?;
            return Ok(());
        }
        let past = self.clocks.past(event);
        let mut racy = None;
        for &(var, kind) in &accesses {
            let Some(of_var) = self.vars.get_mut(var.index()) else {
                continue;
            };
            if of_var.has_no_race(kind, &past) {
                continue;
            }
            let side = RaceSide::new(event.loc, var, kind);
            let later = Later {
                id,
                var,
                kind,
                side,
                next_since,
            };
            for earlier in of_var.races(later, &past, record) {
                self.tally.add(earlier, &later);
                racy = Some(side);
            }
        }
        if let Some(side) = racy {
            self.tally.add_event(side);
        }
        let Some(tick) = self.clocks.step(event, true)? else {
            return Ok(());
        };
        for (var, kind) in accesses {
            var.entry(&mut self.vars).note(Access { tick, id }, kind);
        }
        Ok(())
    }
}

impl OfVar {
    /// Whether an access with this past has no race, judging by the last accesses; otherwise it may have one.
    #[inline]
    fn has_no_race(&self, kind: AccessKind, past: &[u32]) -> bool {
        self.write.is_none_or(|write| write.is_in(past))
            && (kind == AccessKind::Read || self.reads.iter().all(|read| read.is_in(past)))
    }

    /// The races of an access with this past.
    fn races(
        &mut self,
        later: Later,
        past: &[u32],
        record: &Record,
    ) -> impl Iterator<Item = Earlier> {
        self.sort(later.var, record);
        self.sorted.iter().flat_map(move |of_chain| {
            let known = { past.get(of_chain.chain.index()) }.map_or(0, |&count| count);
            let groups = of_chain.groups.iter();
            let groups = groups.filter(move |group| later.kind.conflicts(group.kind));
            groups.filter_map(move |group| {
                let before = group.all.partition_point(|&(number, _)| number <= known);
                let after = &group.all[before..];
                let &(_, last) = after.last()?;
                Some(Earlier {
                    side: RaceSide::new(group.loc, later.var, group.kind),
                    kind: group.kind,
                    last,
                    count: after.len() as u64,
                })
            })
        })
    }

    /// Sorts the accesses not sorted yet.
    #[cold]
    fn sort(&mut self, var: VarId, record: &Record) {
        for Access { tick, id } in self.all.drain(..) {
            let kinds = accesses(&record.event(id));
            let kind = kinds.iter().find(|(other, _)| *other == var);
            let kind = kind.map_or(AccessKind::Write, |&(_, kind)| kind);
            let chain = tick.chain;
            let index = match self.sorted.iter().position(|other| other.chain == chain) {
                Some(index) => index,
                None => {
                    let groups = Vec::new();
                    self.sorted.push(OfChain { chain, groups });
                    self.sorted.len() - 1
                }
            };
            let groups = &mut self.sorted[index].groups;
            let loc = record.loc(id);
            let mut same = groups
                .iter_mut()
                .filter(|group| group.kind == kind && group.loc == loc);
            match same.next() {
                Some(group) => group.all.push((tick.number, id)),
                None => groups.push(Group {
                    kind,
                    loc,
                    all: vec![(tick.number, id)],
                }),
            }
        }
    }

    /// Keeps an access for comparison with later ones.
    #[inline]
    fn note(&mut self, access: Access, kind: AccessKind) {
        self.all.push(access);
        if kind != AccessKind::Read {
            self.write = Some(access.tick);
            self.reads.clear();
            return;
        }
        let mut reads = self.reads.iter_mut();
        match reads.find(|read| read.chain == access.tick.chain) {
            Some(read) => *read = access.tick,
            None => self.reads.push(access.tick),
        }
    }
}

/// At most about this many counts of clocks are kept at once,
const MOST_COUNTS: usize = 1 << 22;
/// for at most this many pairs.
const MOST_PAIRS: usize = 4096;

/// Makes witnesses of pairs of events that can both be next.
pub(crate) struct Witnesses {
    /// The accesses that are next in some pair,
    wanted: Vec<EventId>,
    /// and the events that must have happened before each.
    pasts: Vec<Vec<u32>>,
    /// All events up to the last of these, by their chains.
    chains: Vec<Vec<EventId>>,
}

impl Witnesses {
    /// The number of pairs whose witnesses can be made at once.
    pub(crate) fn at_once(chains: usize) -> usize {
        (MOST_COUNTS / 2 / chains.max(1)).clamp(1, MOST_PAIRS)
    }

    /// Goes through the events as far as the pairs extend.
    pub(crate) fn new(record: &Record, pairs: &[[EventId; 2]]) -> Result<Witnesses, Error> {
        let mut wanted: Vec<EventId> = pairs.iter().flatten().copied().collect();
        wanted.sort_unstable();
        wanted.dedup();
        let last = wanted.last().map_or(0, |last| last.index() + 1);
        let mut pasts: Vec<Vec<u32>> = Vec::with_capacity(wanted.len());
        let mut clocks = Clocks::default();
        let mut chains: Vec<Vec<EventId>> = Vec::new();
        for id in record.ids().take(last) {
            let event = record.event(id);
            if wanted[pasts.len()] == id {
                pasts.push(clocks.past(&event).into_owned());
            }
            if let Some(tick) = clocks.step(&event, true)? {
                tick.chain.entry(&mut chains).push(id);
            }
        }
        Ok(Witnesses {
            wanted,
            pasts,
            chains,
        })
    }

    /// The events that must have happened for both events of a pair to be next.
    pub(crate) fn witness(&self, pair: &[EventId; 2]) -> Run {
        let mut past: Vec<u32> = Vec::new();
        for id in pair {
            if let Ok(index) = self.wanted.binary_search(id) {
                join(&mut past, &self.pasts[index]);
            }
        }
        past.resize(self.chains.len(), 0);
        let chains = self.chains.iter().map(Vec::as_slice);
        Run::of(chains.zip(past.iter().map(|&count| count as usize)))
    }
}
