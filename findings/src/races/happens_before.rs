//! Races that happens-before leaves open.
//!
//! Two accesses can both be next iff the earlier one is not in the past of what the later one's thread did before. (That they are not
//! ordered by synchronisation alone, as race detectors often ask, is certain of the first such pair only: others may never happen.) So one
//! vector clock a thread is enough, and each variable keeps the numbers of its accesses by chain, kind and location: those that are not in
//! a clock are counted by a search for its count.

use std::borrow::Cow;

use portent_monitor_core::{Causality, ChainId, Error, Event, Id, LocId};

use super::{Earlier, Later, Side, Tally};
use crate::record::{AccessKind, EventId, Record, accesses};

/// Finds them while events arrive.
#[derive(Clone, Debug, Default)]
pub(crate) struct Races {
    causality: Causality,
    /// The accesses of each chain.
    chains: Vec<Vec<EventId>>,
    vars: Vec<Vec<OfChain>>,
    pub(crate) tally: Tally,
}

/// The accesses of one variable by one chain.
#[derive(Clone, Debug)]
struct OfChain {
    chain: ChainId,
    /// The number of the last of each kind.
    last: [u32; 3],
    groups: Vec<Group>,
}

/// Those of one kind in one location.
#[derive(Clone, Debug)]
struct Group {
    kind: AccessKind,
    loc: Option<LocId>,
    numbers: Vec<u32>,
}

impl Races {
    pub(crate) fn take(
        &mut self,
        event: &Event,
        id: EventId,
        next_since: Option<EventId>,
    ) -> Result<(), Error> {
        let accesses = accesses(event);
        if accesses.is_empty() {
            self.causality.step_with(event, false, |_, _| ())?;
            return Ok(());
        }
        let past = past(&mut self.causality, event);
        let mut racy = None;
        for &(var, kind) in &accesses {
            let side = Side::new(event.loc, var, kind);
            let later = Later {
                id,
                var,
                kind,
                side,
                next_since,
            };
            for earlier in self.vars.get(var.index()).into_iter().flatten() {
                let known = past.get(earlier.chain.index()).copied().unwrap_or(0);
                let conflicting = AccessKind::ALL.into_iter().filter(|&k| kind.conflicts(k));
                if conflicting.map(|k| earlier.last[k as usize]).max() <= Some(known) {
                    continue;
                }
                let events = &self.chains[earlier.chain.index()];
                for group in earlier.groups.iter().filter(|g| kind.conflicts(g.kind)) {
                    let before = group.numbers.partition_point(|&number| number <= known);
                    if let Some(&last) = group.numbers[before..].last() {
                        let earlier = Earlier {
                            side: Side::new(group.loc, var, group.kind),
                            kind: group.kind,
                            last: events[last as usize - 1],
                            count: (group.numbers.len() - before) as u64,
                        };
                        self.tally.add(earlier, &later);
                        racy = Some(side);
                    }
                }
            }
        }
        if let Some(side) = racy {
            self.tally.add_event(side);
        }
        let place = |chain: ChainId, clock: &portent_monitor_core::Clock| (chain, clock.get(chain));
        let Some((chain, number)) = self.causality.step_with(event, true, place)? else {
            return Ok(());
        };
        chain.entry(&mut self.chains).push(id);
        for (var, kind) in accesses {
            note(var.entry(&mut self.vars), (chain, number), kind, event.loc);
        }
        Ok(())
    }
}

/// What must have happened for an event to be next in all of its threads.
fn past<'c>(causality: &'c mut Causality, event: &Event) -> Cow<'c, [u32]> {
    if event.partners().is_empty() {
        return Cow::Borrowed(causality.past(event.thread));
    }
    let mut all: Vec<u32> = Vec::new();
    for thread in event.threads() {
        let past = causality.past(thread);
        all.resize(all.len().max(past.len()), 0);
        for (known, &count) in all.iter_mut().zip(past) {
            *known = count.max(*known);
        }
    }
    Cow::Owned(all)
}

/// Keeps an access for those that come later.
fn note(
    var: &mut Vec<OfChain>,
    (chain, number): (ChainId, u32),
    kind: AccessKind,
    loc: Option<LocId>,
) {
    let index = match var.iter().position(|of_chain| of_chain.chain == chain) {
        Some(index) => index,
        None => {
            var.push(OfChain {
                chain,
                last: [0; 3],
                groups: Vec::new(),
            });
            var.len() - 1
        }
    };
    let of_chain = &mut var[index];
    of_chain.last[kind as usize] = number;
    let mut groups = of_chain.groups.iter_mut();
    match groups.find(|group| group.kind == kind && group.loc == loc) {
        Some(group) => group.numbers.push(number),
        None => of_chain.groups.push(Group {
            kind,
            loc,
            numbers: vec![number],
        }),
    }
}

/// For each pair of events that can both be next, what must have happened for that, in observed order.
pub(crate) fn witnesses(
    record: &Record,
    pairs: &[[EventId; 2]],
) -> Result<Vec<Vec<EventId>>, Error> {
    let mut wanted: Vec<EventId> = pairs.iter().flatten().copied().collect();
    wanted.sort_unstable();
    wanted.dedup();
    let Some(&end) = wanted.last() else {
        return Ok(Vec::new());
    };
    let mut pasts: Vec<Vec<u32>> = Vec::with_capacity(wanted.len());
    let mut causality = Causality::default();
    let mut places: Vec<(ChainId, u32)> = Vec::new();
    for id in record.ids().take_while(|&id| id <= end) {
        let event = record.event(id);
        if wanted[pasts.len()] == id {
            pasts.push(past(&mut causality, &event).into_owned());
        }
        let place = |chain: ChainId, clock: &portent_monitor_core::Clock| (chain, clock.get(chain));
        places.extend(causality.step_with(&event, true, place)?);
    }
    let past_of = |id: EventId| {
        let index = wanted.binary_search(&id).unwrap_or(0);
        &pasts[index]
    };
    let within = |past: &[u32], id: EventId| {
        let (chain, number) = places[id.index()];
        past.get(chain.index())
            .is_some_and(|&count| number <= count)
    };
    let run = |pair: &[EventId; 2]| {
        let [one, other] = pair.map(past_of);
        let needed = |id: &EventId| within(one, *id) || within(other, *id);
        EventId::first(places.len()).filter(needed).collect()
    };
    Ok(pairs.iter().map(run).collect())
}
