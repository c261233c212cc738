//! The work that remains once all events are known: witnesses, cycles of lock orders, and names for everything.

use portent_monitor_core::{Cut, LockId, Op, Reorderings, ThreadId};
use rustc_hash::FxHashSet;

use crate::{
    Error, Finder, Model, Report, atomicity,
    check::{Checker, Claim},
    deadlocks::{
        choices::{Choices, beside, product},
        patterns,
        realise::realise,
    },
    describe::Names,
    finder::Races,
    races::{RacePair, happens_before::Witnesses},
    record::EventId,
    report::{AtomicityCounts, DeadlockCounts, Finding, Kind, Label, RaceCounts, Warning},
    run::Run,
};

/// Replaying witnesses may take at most this many steps in all.
const MOST_CHECKED: usize = 1 << 27;
/// The search for cycles of lock orders ends after this many steps.
const MOST_STEPS: u64 = 20_000_000;

/// The work after the last event.
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
            sections: self.finder.sections(),
        }
    }

    /// Whether a witness is valid according to the independent checker, if there is time to ask it.
    fn is_run(&mut self, run: &Run, claim: &Claim) -> bool {
        let record = &self.finder.record;
        let checker = self.checker.get_or_insert_with(|| Checker::new(record));
        let steps = checker.steps(run);
        if self.checked.saturating_add(steps) > MOST_CHECKED {
            self.unchecked += 1;
            return false;
        }
        self.checked += steps;
        checker.check_run(run, claim).is_ok()
    }

    /// Whether a block is in a cycle of transactions, according to the same checker.
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
        let all = tally.pairs(|_| true);
        report.races = Some(RaceCounts {
            accesses: self.finder.material.accesses,
            location_pairs: all.len() as u64,
            event_pairs: all.iter().map(|pair| pair.pairs).sum(),
            events: tally.racy_events,
            locations: tally.racy_locations() as u64,
            exhaustive: tally.dropped == 0,
        });
        let at_least = tally.dropped > 0;
        let pairs = if self.finder.suppressions.is_empty() {
            all
        } else {
            report.suppressed += tally.pairs(|pair| self.is_suppressed(pair)).len() as u64;
            tally.pairs(|pair| !self.is_suppressed(pair))
        };
        match races {
            Races::HappensBefore(races) => {
                for pairs in pairs.chunks(Witnesses::at_once(races.chains())) {
                    let events: Vec<[EventId; 2]> = pairs.iter().map(|pair| pair.events).collect();
                    let witnesses = Witnesses::new(&self.finder.record, &events)?;
                    for pair in pairs {
                        let run = witnesses.witness(&pair.events);
                        report.findings.push(self.race(pair, Some(run), at_least));
                    }
                }
            }
            Races::Strong(_) => {
                for pair in &pairs {
                    let run = self.reordering(&pair.events);
                    report.findings.push(self.race(pair, Some(run), at_least));
                }
            }
        }
        Ok(())
    }

    /// Whether the race of one variable is not to be reported.
    fn is_suppressed(&self, pair: &RacePair) -> bool {
        let (finder, names) = (self.finder, self.names());
        let mut locations =
            { pair.events.iter() }.filter_map(|&id| names.record.location(id, names.symbols));
        finder
            .suppressions
            .has_variable(names.symbols.vars.name(pair.var))
            || locations.any(|loc| finder.suppressions.has_location(loc))
    }

    /// Whether a deadlock is not to be reported in which a lock is taken, or wanted, here: the one that is wanted by the thread before.
    fn is_hidden(&self, id: EventId, before: LockId) -> bool {
        let (finder, names) = (self.finder, self.names());
        let participant = names.participant(id);
        let lock = names.lock(before);
        let held = participant.holds.iter().filter(|held| held.lock == lock);
        let taken = held.filter_map(|held| held.loc.as_deref());
        let mut locations = participant.row.loc.as_deref().into_iter().chain(taken);
        locations.any(|loc| finder.suppressions.has_location(loc))
    }

    /// The least closed cut in which events are next.
    pub(crate) fn reordering(&self, events: &[EventId]) -> Run {
        let mut cut = Cut::default();
        if let Some(trace) = &self.finder.trace {
            for &id in events {
                trace.join_past(self.finder.record.place(id), &mut cut);
            }
            trace.close(&mut cut);
        }
        Run::of_cut(&cut, &self.finder.record)
    }

    /// A race, and a run that may show it.
    pub(crate) fn race(&mut self, pair: &RacePair, run: Option<Run>, at_least: bool) -> Finding {
        let names = self.names();
        let run = run.filter(|run| self.is_run(run, &Claim::Race(pair.events)));
        let label = match (&run, pair.observed) {
            (Some(_), true) => Label::Observed,
            (Some(_), false) => Label::Shown,
            (None, _) => Label::Possible,
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
            with_blocks: Vec::new(),
            stands_for: pair.pairs.to_string(),
            at_least,
            witness: run
                .map(|run| names.witness(&run, &pair.events, self.finder.options.witness_rows)),
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
        let acquires: Vec<_> = finder
            .acquires
            .all
            .iter()
            .map(|(acquire, _)| acquire)
            .collect();
        let limits = patterns::Limits {
            patterns: finder.options.max_patterns,
            steps: MOST_STEPS,
        };
        let found = patterns::find(&acquires, limits);
        let mut counts = DeadlockCounts {
            acquires: finder.material.acquires,
            patterns: found.patterns.len() as u64,
            exhaustive: found.limit.is_none(),
            limit: found.limit,
            ..DeadlockCounts::default()
        };
        let mut all: u128 = 0;
        let mut choices = Choices::default();
        let mut realised: Vec<Vec<usize>> = Vec::new();
        for pattern in &found.patterns {
            let lists: Vec<&[EventId]> = { pattern.iter() }
                .map(|&index| finder.acquires.all[index].1.as_slice())
                .collect();
            all = all.saturating_add(product(&lists));
            choices.begin(pattern);
            let next = pattern.iter().cycle().skip(1);
            let mut waits = pattern.iter().zip(next);
            let is_sure = waits.all(|(&one, &next)| acquires[one].surely_waits_for(acquires[next]));
            realised.push(self.add_choices(&lists, is_sure, trace, &mut choices));
        }
        // A cycle that was not examined, or a merged location, may add to any of them.
        let may_miss = !counts.exhaustive || !choices.is_split;
        let mut is_certain = Vec::with_capacity(choices.groups.len());
        let mut certain: FxHashSet<&str> = FxHashSet::default();
        for group in &choices.groups {
            let at_least = group.at_least || may_miss;
            let (key, number) = (group.key.clone(), group.choices());
            let mut finding =
                self.deadlock(key, &group.events, group.cut.as_ref(), number, at_least);
            let locks = group.locks.iter();
            finding.locks = locks.map(|&lock| self.names().lock(lock)).collect();
            is_certain.push(finding.label != Label::Possible);
            if finding.label != Label::Possible {
                certain.insert(&group.key);
            }
            if group.is_suppressed {
                report.suppressed += 1;
            } else {
                report.findings.push(finding);
            }
        }
        let has_certain = |groups: &&Vec<usize>| groups.iter().any(|&group| is_certain[group]);
        counts.deadlocks = realised.iter().filter(has_certain).count() as u64;
        counts.location_tuples = certain.len() as u64;
        counts.locations_exhaustive = !may_miss;
        counts.choices = all.to_string();
        if let Some(limit) = counts.limit {
            report.warnings.push(Warning::cut(limit));
        }
        report.deadlocks = Some(counts);
    }

    /// Adds the choices of a pattern by their locations; returns the groups of those that a run reaches. It may be uncertain
    /// whether its threads wait for each other.
    fn add_choices(
        &self,
        lists: &[&[EventId]],
        is_sure: bool,
        trace: &Reorderings,
        choices: &mut Choices,
    ) -> Vec<usize> {
        let record = &self.finder.record;
        let can_happen = is_sure && self.realised(lists, trace).is_some();
        let mut realised = Vec::new();
        for (tuple, is_suppressed) in self.told_apart(choices.split(lists, record)) {
            let lists: Vec<&[EventId]> = tuple.iter().map(Vec::as_slice).collect();
            let found = can_happen.then(|| self.realised(&lists, trace)).flatten();
            let is_realised = found.is_some();
            let (cut, events) = match found {
                Some((cut, events)) => (Some(cut), events),
                None => (None, lists.iter().map(|list| list[0]).collect()),
            };
            let group = choices.group((self.key(&events), is_suppressed), &events, cut, record);
            if is_realised {
                realised.push(group);
            }
            let lists = beside(&events, &tuple, record);
            match self.finder.options.model {
                _ if !is_realised => choices.add_possible(group, &lists),
                // Each thread ends only once.
                Model::HappensBefore => choices.add_realised(group),
                Model::Strong => choices.count_realised(group, &lists, trace, record),
            }
        }
        realised
    }

    /// The choices of tuples that are to be reported, and those tuples of which some are not.
    fn told_apart(&self, tuples: Vec<Vec<Vec<EventId>>>) -> Vec<(Vec<Vec<EventId>>, bool)> {
        let suppressions = &self.finder.suppressions;
        if suppressions.is_empty() {
            return tuples.into_iter().map(|tuple| (tuple, false)).collect();
        }
        let names = self.names();
        let mut all = Vec::new();
        for tuple in tuples {
            let wanted: Vec<LockId> = { tuple.iter() }
                .filter_map(|list| names.record.wanted(list[0]))
                .collect();
            let mut locks = wanted.iter();
            if locks.any(|&lock| suppressions.has_lock(names.symbols.locks.name(lock))) {
                all.push((tuple, true));
                continue;
            }
            let before = wanted.iter().cycle().skip(wanted.len() - 1);
            let lists = tuple.iter().zip(before).map(|(list, &before)| {
                let ids = list.iter().copied();
                ids.filter(|&id| !self.is_hidden(id, before)).collect()
            });
            let shown: Vec<Vec<EventId>> = lists.collect();
            let is_whole = shown == tuple;
            if !is_whole {
                all.push((tuple, true));
            }
            if shown.iter().all(|list| !list.is_empty()) {
                all.push((shown, false));
            }
        }
        all
    }

    /// The events of a pattern that some run reaches all at once.
    pub(crate) fn realised(
        &self,
        lists: &[&[EventId]],
        trace: &Reorderings,
    ) -> Option<(Cut, Vec<EventId>)> {
        let record = &self.finder.record;
        match self.finder.options.model {
            Model::Strong => realise(lists, trace, record),
            // This model predicts none, so only the end of the trace can show one.
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

    /// The identity of a deadlock: the locations where its locks are wanted.
    pub(crate) fn key(&self, events: &[EventId]) -> String {
        let names = self.names();
        let mut keys: Vec<String> = { events.iter() }
            .map(|&id| {
                let row = names.row(id);
                let wanted = names.record.wanted(id).map(|lock| names.lock(lock));
                let access = format!("{} {}", row.op, wanted.unwrap_or_default());
                row.loc.unwrap_or(access)
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
        at_least: bool,
    ) -> Finding {
        let names = self.names();
        let record = &self.finder.record;
        let claim = Claim::Deadlock(events.to_vec());
        let run = cut.map(|cut| Run::of_cut(cut, record));
        let run = run.filter(|run| self.is_run(run, &claim));
        let is_end = |&id: &EventId| matches!(record.event(id).op, Op::Request(_));
        let label = match (&run, events.iter().all(is_end)) {
            (Some(_), true) => Label::Observed,
            (Some(_), false) => Label::Shown,
            (None, _) => Label::Possible,
        };
        let participants: Vec<_> = events.iter().map(|&id| names.waiting(id)).collect();
        let locks = participants.iter().filter_map(|one| one.row.object.clone());
        Finding {
            kind: Kind::Deadlock,
            label,
            key,
            locks: locks.collect(),
            participants,
            variables: Vec::new(),
            block: None,
            with_blocks: Vec::new(),
            stands_for: choices.to_string(),
            at_least,
            witness: run.map(|run| names.witness(&run, events, self.finder.options.witness_rows)),
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
            let finding = Finding {
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
                with_blocks: { found.others.iter() }
                    .map(|&other| self.finder.symbols.names.name(other).to_owned())
                    .collect(),
                stands_for: found.transactions.to_string(),
                at_least: false,
                witness: is_cycle.then(|| {
                    names.witness(&Run::from(&run[..]), &[], self.finder.options.witness_rows)
                }),
            };
            if self.finder.suppressions.suppresses(&finding) {
                report.suppressed += 1;
            } else {
                report.findings.push(finding);
            }
        }
    }
}
