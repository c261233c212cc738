//! What is done when all events are there: witnesses, cycles of lock orders, and names for everything.

use portent_monitor_core::{Cut, Op, Reorderings, ThreadId};
use rustc_hash::FxHashMap;

use crate::{
    Error, Finder, Model, Report, atomicity,
    check::{Checker, Claim},
    deadlocks::{patterns, realise::realise},
    describe::{Names, in_observed_order},
    races::{RacePair, happens_before},
    record::EventId,
    report::{AtomicityCounts, DeadlockCounts, Finding, Kind, Label, RaceCounts},
};

/// To carry witnesses out is not worth more than this many steps in all.
const MOST_CHECKED: usize = 1 << 27;
/// The search for cycles of lock orders ends after this many steps.
const MOST_STEPS: u64 = 20_000_000;
/// Of a pattern, this many tuples of locations are tried.
const MOST_TUPLES: usize = 64;

/// What is done when all events are there.
pub(crate) struct End<'f> {
    pub(crate) finder: &'f Finder,
    pub(crate) checker: Option<Checker<'f>>,
    pub(crate) checked: usize,
    pub(crate) unchecked: usize,
}

impl<'f> End<'f> {
    fn names(&self) -> Names<'f> {
        Names {
            record: &self.finder.record,
            symbols: &self.finder.symbols,
            trace: self.finder.trace.as_ref(),
        }
    }

    /// Whether a witness is one, according to those who know nothing of how it was found.
    fn is_run(&mut self, run: &[EventId], claim: &Claim) -> bool {
        if self.checked.saturating_add(run.len()) > MOST_CHECKED {
            self.unchecked += 1;
            return false;
        }
        self.checked += run.len();
        let record = &self.finder.record;
        let checker = self.checker.get_or_insert_with(|| Checker::new(record));
        checker.check(run, claim).is_ok()
    }

    /// Whether a block is in a cycle of transactions, according to the same.
    fn is_cycle(&mut self, found: &atomicity::Violation) -> bool {
        let record = &self.finder.record;
        let checker = self.checker.get_or_insert_with(|| Checker::new(record));
        checker.check_cycle(found.begin, &found.cycle).is_ok()
    }

    pub(crate) fn add_races(&mut self, report: &mut Report) -> Result<(), Error> {
        let Some(races) = &self.finder.races else {
            return Ok(());
        };
        let tally = races.tally();
        let pairs = tally.pairs();
        report.races = Some(RaceCounts {
            accesses: self.finder.material.accesses,
            location_pairs: pairs.len() as u64,
            event_pairs: pairs.iter().map(|pair| pair.pairs).sum(),
            events: tally.racy_events,
            locations: tally.racy_locations() as u64,
            exhaustive: tally.dropped == 0,
        });
        let events: Vec<[EventId; 2]> = pairs.iter().map(|pair| pair.events).collect();
        match self.finder.options.model {
            Model::HappensBefore => {
                // A clock for each event of interest: not for too many at once.
                for (pairs, events) in pairs.chunks(64).zip(events.chunks(64)) {
                    let runs = happens_before::witnesses(&self.finder.record, events)?;
                    for (pair, run) in pairs.iter().zip(runs) {
                        report.findings.push(self.race(pair, &run, false));
                    }
                }
            }
            Model::Strong => {
                for pair in &pairs {
                    let run = self.reordering(&pair.events);
                    let at_least = tally.dropped > 0;
                    report.findings.push(self.race(pair, &run, at_least));
                }
            }
        }
        Ok(())
    }

    /// The least closed cut in which events are next, in observed order.
    pub(crate) fn reordering(&self, events: &[EventId]) -> Vec<EventId> {
        let mut cut = Cut::default();
        if let Some(trace) = &self.finder.trace {
            for &id in events {
                trace.join_past(self.finder.record.place(id), &mut cut);
            }
            trace.close(&mut cut);
        }
        in_observed_order(&cut, &self.finder.record)
    }

    pub(crate) fn race(&mut self, pair: &RacePair, run: &[EventId], at_least: bool) -> Finding {
        let names = self.names();
        let [first, second] = pair.events;
        let is_run = self.is_run(run, &Claim::Race(pair.events));
        let label = match (is_run, pair.observed) {
            (true, true) => Label::Observed,
            (true, false) => Label::Shown,
            (false, _) => Label::Possible,
        };
        let var = |var| self.finder.symbols.vars.name(var).to_owned();
        let mut variables = vec![var(pair.var)];
        variables.extend(pair.others.iter().map(|&other| var(other)));
        let participants: Vec<_> = pair.events.map(|id| names.participant(id)).into();
        let mut sides = [0, 1].map(|side| match &participants[side].row.loc {
            Some(loc) => loc.clone(),
            None => format!("{} {}", pair.kinds[side].name(), variables[0]),
        });
        sides.sort_unstable();
        Finding {
            kind: Kind::Race,
            label,
            key: sides.join(", "),
            participants,
            variables,
            locks: Vec::new(),
            block: None,
            stands_for: pair.pairs.to_string(),
            at_least,
            witness: (label != Label::Possible).then(|| {
                let shown: Vec<EventId> = run.iter().copied().chain([first, second]).collect();
                names.witness(&shown, self.finder.options.witness_rows)
            }),
        }
    }

    pub(crate) fn add_deadlocks(&mut self, report: &mut Report) {
        let finder = self.finder;
        let Some(trace) = finder
            .trace
            .as_ref()
            .filter(|_| finder.options.hunt.deadlocks)
        else {
            return;
        };
        let wishes: Vec<_> = finder.wishes.all.iter().map(|(wish, _)| wish).collect();
        let limits = patterns::Limits {
            patterns: finder.options.max_patterns,
            steps: MOST_STEPS,
        };
        let (patterns, exhaustive) = patterns::find(&wishes, limits);
        let mut choices: u128 = 0;
        let mut deadlocks = 0;
        // By their keys: one report for each tuple of locations.
        let mut known: FxHashMap<String, Label> = FxHashMap::default();
        let mut possible: Vec<(Vec<EventId>, u128)> = Vec::new();
        for pattern in &patterns {
            let lists: Vec<&[EventId]> = { pattern.iter() }
                .map(|&index| finder.wishes.all[index].1.as_slice())
                .collect();
            let product = lists.iter().map(|list| list.len() as u128);
            let product = product.fold(1, u128::saturating_mul);
            choices = choices.saturating_add(product);
            let (mut is_realised, mut is_certain) = (false, false);
            for tuple in self.tuples(&lists) {
                let lists: Vec<&[EventId]> = tuple.iter().map(Vec::as_slice).collect();
                let Some((cut, events)) = self.realised(&lists, trace) else {
                    continue;
                };
                is_realised = true;
                let label = *known.entry(self.key(&events)).or_insert_with_key(|key| {
                    let finding = self.deadlock(key.clone(), &events, Some(&cut), product);
                    let label = finding.label;
                    report.findings.push(finding);
                    label
                });
                is_certain |= label != Label::Possible;
            }
            deadlocks += u64::from(is_certain);
            if !is_realised {
                possible.push((lists.iter().map(|list| list[0]).collect(), product));
            }
        }
        let certain = known.values().filter(|label| **label != Label::Possible);
        let tuples = certain.count() as u64;
        for (events, product) in possible {
            known.entry(self.key(&events)).or_insert_with_key(|key| {
                let finding = self.deadlock(key.clone(), &events, None, product);
                report.findings.push(finding);
                Label::Possible
            });
        }
        report.deadlocks = Some(DeadlockCounts {
            acquires: self.finder.material.acquires,
            patterns: patterns.len() as u64,
            choices: choices.to_string(),
            deadlocks,
            location_tuples: tuples,
            exhaustive,
        });
    }

    /// The lists of a pattern, split by locations.
    fn tuples(&self, lists: &[&[EventId]]) -> Vec<Vec<Vec<EventId>>> {
        let mut tuples: Vec<Vec<Vec<EventId>>> = vec![Vec::new()];
        for list in lists {
            let mut by_loc: Vec<(_, Vec<EventId>)> = Vec::new();
            for &id in *list {
                let loc = self.finder.record.loc(id);
                match by_loc.iter_mut().find(|(other, _)| *other == loc) {
                    Some((_, ids)) => ids.push(id),
                    None => by_loc.push((loc, vec![id])),
                }
            }
            // Where there are too many, they are not told apart.
            if tuples.len() * by_loc.len() > MOST_TUPLES {
                by_loc = vec![(None, list.to_vec())];
            }
            let longer = |tuple: &Vec<Vec<EventId>>| {
                let longer = by_loc.iter().map(|(_, ids)| {
                    let mut tuple = tuple.clone();
                    tuple.push(ids.clone());
                    tuple
                });
                longer.collect::<Vec<_>>()
            };
            tuples = tuples.iter().flat_map(longer).collect();
        }
        tuples
    }

    /// The events of a pattern that some run comes to all at once.
    pub(crate) fn realised(
        &self,
        lists: &[&[EventId]],
        trace: &Reorderings,
    ) -> Option<(Cut, Vec<EventId>)> {
        let record = &self.finder.record;
        match self.finder.options.model {
            Model::Strong => realise(lists, trace, record),
            // It predicts none, so what there is is where the trace ends.
            Model::HappensBefore => {
                let is_request = |id: &EventId| matches!(record.event(*id).op, Op::Request(_));
                let last = lists
                    .iter()
                    .map(|list| list.last().copied().filter(is_request));
                let events: Vec<EventId> = last.collect::<Option<_>>()?;
                let mut cut = Cut::default();
                for thread in ThreadId::first(record.threads()) {
                    let done = record.of_thread(thread);
                    let waits = done.last().is_some_and(|last| events.contains(last));
                    let done = &done[..done.len() - usize::from(waits)];
                    if let Some(&last) = done.last() {
                        cut.include(record.place(last));
                    }
                }
                Some((cut, events))
            }
        }
    }

    /// What a deadlock is known by: where its locks are wanted.
    pub(crate) fn key(&self, events: &[EventId]) -> String {
        let names = self.names();
        let mut keys: Vec<String> = { events.iter() }
            .map(|&id| {
                let row = names.row(id);
                let access = || format!("{} {}", row.op, row.object.clone().unwrap_or_default());
                row.loc.clone().unwrap_or_else(access)
            })
            .collect();
        keys.sort_unstable();
        keys.join(", ")
    }

    pub(crate) fn deadlock(
        &mut self,
        key: String,
        events: &[EventId],
        cut: Option<&Cut>,
        choices: u128,
    ) -> Finding {
        let names = self.names();
        let record = &self.finder.record;
        let run = cut.map(|cut| in_observed_order(cut, record));
        let claim = Claim::Deadlock(events.to_vec());
        let is_run = run.as_ref().is_some_and(|run| self.is_run(run, &claim));
        let is_end = |&id: &EventId| matches!(record.event(id).op, Op::Request(_));
        let label = match (is_run, events.iter().all(is_end)) {
            (true, true) => Label::Observed,
            (true, false) => Label::Shown,
            (false, _) => Label::Possible,
        };
        let participants: Vec<_> = events.iter().map(|&id| names.participant(id)).collect();
        let locks = participants.iter().filter_map(|one| one.row.object.clone());
        Finding {
            kind: Kind::Deadlock,
            label,
            key,
            locks: locks.collect(),
            participants,
            variables: Vec::new(),
            block: None,
            stands_for: choices.to_string(),
            at_least: choices == u128::MAX,
            witness: run.filter(|_| label != Label::Possible).map(|mut run| {
                run.extend(events);
                names.witness(&run, self.finder.options.witness_rows)
            }),
        }
    }

    pub(crate) fn add_atomicity(&mut self, report: &mut Report) {
        if !self.finder.options.hunt.atomicity {
            return;
        }
        let violations = if self.finder.material.begun > 0 {
            atomicity::find(&self.finder.record)
        } else {
            Vec::new()
        };
        report.atomicity = Some(AtomicityCounts {
            begun: self.finder.material.begun,
            blocks: violations.len() as u64,
            transactions: violations.iter().map(|found| found.transactions).sum(),
        });
        let names = self.names();
        let record = &self.finder.record;
        for found in violations {
            let is_cycle = self.is_cycle(&found);
            let events = found.cycle.iter().flatten();
            let end = events.clone().max().copied().unwrap_or(found.begin);
            let run: Vec<EventId> = { record.ids() }
                .skip_while(|&id| id < found.begin)
                .take_while(|&id| id <= end)
                .collect();
            let participants: Vec<_> = events.map(|&id| names.participant(id)).collect();
            let of = |objects: &[&str]| {
                let mut all: Vec<String> = { participants.iter() }
                    .filter(|one| objects.contains(&one.row.op.as_str()))
                    .filter_map(|one| one.row.object.clone())
                    .collect();
                all.sort_unstable();
                all.dedup();
                all
            };
            let block = self.finder.symbols.names.name(found.block).to_owned();
            let begin = names.row(found.begin);
            report.findings.push(Finding {
                kind: Kind::Atomicity,
                label: if is_cycle {
                    Label::Observed
                } else {
                    Label::Possible
                },
                key: format!("{block} {}", begin.loc.unwrap_or_default())
                    .trim()
                    .to_owned(),
                variables: of(&["read", "write", "update"]),
                locks: of(&["lock", "unlock", "rlock", "runlock"]),
                participants,
                block: Some(block),
                stands_for: found.transactions.to_string(),
                at_least: false,
                witness: is_cycle.then(|| names.witness(&run, self.finder.options.witness_rows)),
            });
        }
    }
}
