//! All equivalent runs, one by one: what every engine has to agree with.
//!
//! Shares no code with the analyzer. The order is the definition's, pair by pair; every linear
//! extension is followed by a stepper of its own; a cut is the set of the events in it.

#![allow(dead_code)] // every test file uses a part

use std::collections::HashSet;

use portent_monitor_core::{Event, Symbols, Value, definition::Relation};
use portent_monitor_dsl::{EventId, Monitor, Stepper, VariableId, Verdict};
use portent_testing::{RunModel, Runs, may_follow};

/// What a property sees of a step.
type Deed = (Option<EventId>, Vec<(VariableId, Value)>);

/// What all runs together say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Truth {
    pub(crate) total: u64,
    pub(crate) violated: u64,
    pub(crate) satisfied: u64,
    pub(crate) pending: u64,
    pub(crate) ok: u64,
    pub(crate) cuts: u64,
    pub(crate) widest: u64,
    /// The fewest events after which some run is violated.
    pub(crate) soonest: Option<u64>,
    pub(crate) observed: Option<(Verdict, Option<u64>)>,
}

/// A trace seen by a property without parameters.
pub(crate) struct Oracle {
    pub(crate) relation: Relation,
    /// The indices of the relevant events.
    pub(crate) relevant: Vec<usize>,
    deeds: Vec<Deed>,
    start: Stepper,
}

impl Oracle {
    pub(crate) fn new(
        events: &[Event],
        symbols: &Symbols,
        monitor: &Monitor,
        initial: impl FnMut(&str) -> Option<Value>,
    ) -> Oracle {
        let alphabet = monitor.alphabet();
        let mut relevant = Vec::new();
        let mut deeds = Vec::new();
        for (index, event) in events.iter().enumerate() {
            let name = event.action().and_then(|action| action.name);
            let name = name.and_then(|name| alphabet.event(symbols.names.name(name)));
            let writes: Vec<(VariableId, Value)> = event
                .writes()
                .filter_map(|(var, value)| {
                    let variable = alphabet.variable(symbols.vars.name(var))?;
                    Some((variable, value?.clone()))
                })
                .collect();
            if name.is_some() || !writes.is_empty() {
                relevant.push(index);
                deeds.push((name, writes));
            }
        }
        Oracle {
            relation: Relation::new(events),
            relevant,
            deeds,
            start: monitor.start_with(initial).expect("initial values"),
        }
    }

    /// Follows every run; `None` if there are more than `most`.
    pub(crate) fn truth(&self, most: u64) -> Option<Truth> {
        let mut truth = Truth::default();
        let mut cuts = HashSet::new();
        cuts.insert(0u64);
        if self.start.verdict() == Verdict::Violated {
            truth.soonest = Some(0);
        }
        self.runs(&self.start, 0, most, &mut truth, &mut cuts)?;
        truth.cuts = cuts.len() as u64;
        let levels = (0..=self.relevant.len() as u32)
            .map(|level| cuts.iter().filter(|cut| cut.count_ones() == level).count());
        truth.widest = levels.max().unwrap_or(0) as u64;
        let mut observed = self.start.clone();
        for (event, writes) in &self.deeds {
            observed.step(*event, writes.iter().cloned()).expect("fits");
        }
        truth.observed = Some((observed.verdict(), observed.decided_after()));
        Some(truth)
    }

    fn runs(
        &self,
        stepper: &Stepper,
        done: u64,
        most: u64,
        truth: &mut Truth,
        cuts: &mut HashSet<u64>,
    ) -> Option<()> {
        let events = self.relevant.len();
        if done.count_ones() as usize == events {
            truth.total += 1;
            match stepper.verdict() {
                Verdict::Violated => truth.violated += 1,
                Verdict::Satisfied => truth.satisfied += 1,
                Verdict::Pending => truth.pending += 1,
                Verdict::Ok | Verdict::Unknown => truth.ok += 1,
            }
            return (truth.total <= most).then_some(());
        }
        for next in (0..events).filter(|next| done >> next & 1 == 0) {
            let ready = (0..events).filter(|&other| other != next).all(|other| {
                done >> other & 1 == 1
                    || !self
                        .relation
                        .precedes(self.relevant[other], self.relevant[next])
            });
            if !ready {
                continue;
            }
            let mut stepper = stepper.clone();
            let (event, writes) = &self.deeds[next];
            stepper.step(*event, writes.iter().cloned()).expect("fits");
            let done = done | 1 << next;
            cuts.insert(done);
            if stepper.verdict() == Verdict::Violated {
                let soon = u64::from(done.count_ones());
                truth.soonest = Some(truth.soonest.map_or(soon, |sooner| sooner.min(soon)));
            }
            self.runs(&stepper, done, most, truth, cuts)?;
        }
        Some(())
    }

    /// Whether an order of the relevant events is an equivalent run.
    pub(crate) fn is_run(&self, run: &[usize]) -> bool {
        let raw: Vec<usize> = run.iter().map(|&index| self.relevant[index]).collect();
        self.relation.check_run(&self.relevant, &raw, false).is_ok()
    }

    /// After how many events of a run it is violated, if it is.
    pub(crate) fn violated_after(&self, run: &[usize]) -> Option<u64> {
        let mut stepper = self.start.clone();
        for &index in run {
            let (event, writes) = &self.deeds[index];
            stepper.step(*event, writes.iter().cloned()).expect("fits");
        }
        match stepper.verdict() {
            Verdict::Violated => stepper.decided_after(),
            _ => None,
        }
    }

    /// The fewest pairs that a run which is violated after `violated_at` events has the other way
    /// round than observed, if no run is violated sooner.
    pub(crate) fn fewest_swaps(&self, violated_at: u64) -> Option<u64> {
        let mut fewest = None;
        self.swaps(&self.start, 0, 0, violated_at, &mut fewest);
        fewest
    }

    fn swaps(
        &self,
        stepper: &Stepper,
        done: u64,
        swapped: u64,
        violated_at: u64,
        fewest: &mut Option<u64>,
    ) {
        if u64::from(done.count_ones()) == violated_at {
            if stepper.verdict() == Verdict::Violated {
                *fewest = Some(fewest.map_or(swapped, |fewer| fewer.min(swapped)));
            }
            return;
        }
        let events = self.relevant.len();
        for next in (0..events).filter(|next| done >> next & 1 == 0) {
            let missing = |other: &usize| done >> other & 1 == 0;
            let raw = |index: usize| self.relevant[index];
            let mut before = (0..next).filter(missing);
            if before.any(|other| self.relation.precedes(raw(other), raw(next))) {
                continue;
            }
            // It overtakes what was observed before it and is not there yet.
            let overtaken = (0..next).filter(missing).count() as u64;
            let mut stepper = stepper.clone();
            let (event, writes) = &self.deeds[next];
            stepper.step(*event, writes.iter().cloned()).expect("fits");
            let done = done | 1 << next;
            self.swaps(&stepper, done, swapped + overtaken, violated_at, fewest);
        }
    }

    /// The fewest relevant events after which some feasible prefix of the trace is violated.
    pub(crate) fn soonest_feasible(&self, events: &[Event]) -> Option<u64> {
        let mut soonest = None;
        self.feasible(events, &mut Vec::new(), &self.start, 0, &mut soonest);
        soonest
    }

    /// The fewest relevant events after which some run that leaves things out is violated.
    pub(crate) fn soonest_leaving_out(&self, events: &[Event]) -> Option<u64> {
        let runs = Runs::new(events, RunModel::Strong);
        // The values of variables depend on what was done alone: of two writes the order is as observed.
        let mut seen: HashSet<(Vec<usize>, usize)> = HashSet::new();
        let mut open = vec![(Vec::new(), self.start.clone())];
        let mut soonest: Option<u64> = None;
        while let Some((done, stepper)) = open.pop() {
            if !seen.insert((done.clone(), stepper.state().index())) {
                continue;
            }
            if stepper.verdict() == Verdict::Violated {
                let is_relevant = |event: &&usize| self.relevant.contains(event);
                let steps = done.iter().filter(is_relevant).count() as u64;
                soonest = Some(soonest.map_or(steps, |sooner| sooner.min(steps)));
                continue;
            }
            for event in (0..events.len()).filter(|&event| runs.may_follow(&done, event)) {
                let mut stepper = stepper.clone();
                if let Ok(index) = self.relevant.binary_search(&event) {
                    let (event, writes) = &self.deeds[index];
                    stepper.step(*event, writes.iter().cloned()).expect("fits");
                }
                let mut longer = done.clone();
                longer.push(event);
                longer.sort_unstable();
                open.push((longer, stepper));
            }
        }
        soonest
    }

    fn feasible(
        &self,
        events: &[Event],
        order: &mut Vec<usize>,
        stepper: &Stepper,
        steps: u64,
        soonest: &mut Option<u64>,
    ) {
        if stepper.verdict() == Verdict::Violated {
            *soonest = Some(soonest.map_or(steps, |sooner| sooner.min(steps)));
            return;
        }
        for event in 0..events.len() {
            if order.contains(&event) || !may_follow(events, order, event) {
                continue;
            }
            order.push(event);
            match self.relevant.binary_search(&event) {
                Ok(index) => {
                    let mut stepper = stepper.clone();
                    let (event, writes) = &self.deeds[index];
                    stepper.step(*event, writes.iter().cloned()).expect("fits");
                    self.feasible(events, order, &stepper, steps + 1, soonest);
                }
                Err(_) => self.feasible(events, order, stepper, steps, soonest),
            }
            order.pop();
        }
    }

    /// Checks a witness by the definition of causality and by following it.
    pub(crate) fn examine(&self, run: &[usize], violated_at: usize) {
        let raw: Vec<usize> = run.iter().map(|&index| self.relevant[index]).collect();
        self.relation
            .check_run(&self.relevant, &raw, false)
            .expect("an equivalent run");
        let mut stepper = self.start.clone();
        for &index in &run[..violated_at] {
            assert_ne!(stepper.verdict(), Verdict::Violated, "violated sooner");
            let (event, writes) = &self.deeds[index];
            stepper.step(*event, writes.iter().cloned()).expect("fits");
        }
        assert_eq!(stepper.verdict(), Verdict::Violated);
    }

    /// Checks the end of a witness: some order of the other events leads to where it begins.
    pub(crate) fn examine_end(&self, run: &[usize], violated_at: usize) {
        let events = self.relevant.len();
        let before = (0..events).filter(|event| !run.contains(event));
        let before = before.fold(0u64, |set, event| set | 1 << event);
        let mut tried = HashSet::new();
        let found = self.leads(
            &mut Vec::new(),
            &self.start,
            before,
            run,
            violated_at,
            &mut tried,
        );
        assert!(found, "nothing leads to {run:?}, violated at {violated_at}");
    }

    fn leads(
        &self,
        order: &mut Vec<usize>,
        stepper: &Stepper,
        before: u64,
        run: &[usize],
        violated_at: usize,
        tried: &mut HashSet<(u64, usize)>,
    ) -> bool {
        if before == 0 {
            return self.is_violated(stepper.clone(), order, run, violated_at);
        }
        // The values of variables depend on the cut alone, as writes of one do not commute.
        if !tried.insert((before, stepper.state().index())) {
            return false;
        }
        let events = self.relevant.len();
        (0..events)
            .filter(|next| before >> next & 1 == 1)
            .any(|next| {
                let precedes = |other: usize| {
                    let (other, next) = (self.relevant[other], self.relevant[next]);
                    other != next && self.relation.precedes(other, next)
                };
                if (0..events).any(|other| !order.contains(&other) && precedes(other)) {
                    return false;
                }
                let mut stepper = stepper.clone();
                let (event, writes) = &self.deeds[next];
                stepper.step(*event, writes.iter().cloned()).expect("fits");
                order.push(next);
                let before = before & !(1 << next);
                let found = self.leads(order, &stepper, before, run, violated_at, tried);
                order.pop();
                found
            })
    }

    /// Whether a run is violated after this many events, and not sooner.
    fn is_violated(
        &self,
        mut stepper: Stepper,
        order: &[usize],
        run: &[usize],
        violated_at: usize,
    ) -> bool {
        let whole: Vec<usize> = order.iter().chain(run).map(|&e| self.relevant[e]).collect();
        self.relation
            .check_run(&self.relevant, &whole, false)
            .expect("an equivalent run");
        for &index in &run[..violated_at - order.len()] {
            if stepper.verdict() == Verdict::Violated {
                return false;
            }
            let (event, writes) = &self.deeds[index];
            stepper.step(*event, writes.iter().cloned()).expect("fits");
        }
        stepper.verdict() == Verdict::Violated
    }
}
