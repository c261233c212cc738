//! Atomicity violations against all runs of small random traces.

use std::collections::BTreeSet;

use portent_findings::{Hunt, Model, report::Label};
use portent_monitor_core::{Event, Marker, NameId, Op, definition::Relation};
use portent_testing::{Rng, RunModel, Runs, conflict, sharing, synchronising};

use crate::{
    brute::runs_of,
    hunt::{cases, find},
};

const ATOMICITY: Hunt = Hunt {
    races: false,
    deadlocks: false,
    atomicity: true,
};

/// Puts blocks into a trace, each with a name of its own, some of them nested or never ended.
fn with_blocks(rng: &mut Rng, mut events: Vec<Event>) -> Vec<Event> {
    for name in 0..3u32 {
        if events.is_empty() {
            break;
        }
        let at = rng.below(events.len());
        let thread = events[at].thread;
        let block = Some(NameId::from(name));
        let own: Vec<usize> = { at..events.len() }
            .filter(|&index| events[index].thread == thread)
            .collect();
        let length = rng.below(5);
        // Right before the next that the thread does: if it waits, that is when it goes on.
        if let Some(&next) = own.get(length + 1) {
            events.insert(next, Event::new(thread, Op::Marker(Marker::End, block)));
        }
        events.insert(at, Event::new(thread, Op::Marker(Marker::Begin, block)));
    }
    events
}

/// The transaction of each event: the index of its first event.
fn transactions(events: &[Event]) -> Vec<usize> {
    let mut depth = [0; 4];
    let mut current = [0; 4];
    let of = |(index, event): (usize, &Event)| {
        let thread = event.thread.index();
        if depth[thread] == 0 {
            current[thread] = index;
        }
        match event.op {
            Op::Marker(Marker::Begin, _) => depth[thread] += 1,
            Op::Marker(Marker::End, _) if depth[thread] > 0 => depth[thread] -= 1,
            _ => {}
        }
        current[thread]
    };
    events.iter().enumerate().map(of).collect()
}

/// The names of the blocks of a run that are in a cycle of its transactions: each comes before the next because of some of their events.
fn violated(run: &[Event]) -> BTreeSet<NameId> {
    let of = transactions(run);
    let relation = Relation::new(run);
    let count = run.len();
    let mut reaches = vec![0u64; count];
    for later in 0..count {
        for earlier in 0..later {
            if of[earlier] != of[later] && relation.precedes(earlier, later) {
                reaches[of[earlier]] |= 1 << of[later];
            }
        }
    }
    for through in 0..count {
        for from in 0..count {
            if reaches[from] >> through & 1 == 1 {
                reaches[from] |= reaches[through];
            }
        }
    }
    let in_cycle = (0..count).filter(|&index| reaches[index] >> index & 1 == 1);
    let block = |index: usize| match run[index].op {
        Op::Marker(Marker::Begin, block) => block,
        _ => None,
    };
    in_cycle.filter_map(block).collect()
}

/// The blocks that are in a cycle of some run.
pub(crate) fn violated_in_some_run(events: &[Event], model: RunModel) -> BTreeSet<NameId> {
    let runs = Runs::new(events, model);
    let mut all = BTreeSet::new();
    // What conflicts and is the other way round than observed.
    let swapped = |known: &Vec<(usize, usize)>, order: &[usize], next: usize| {
        let mut known = known.clone();
        let later = order.iter().filter(|&&other| other > next);
        let in_conflict = later.filter(|&&other| conflict(&events[other], &events[next]));
        known.extend(in_conflict.map(|&other| (other, next)));
        known.sort_unstable();
        known
    };
    runs.visit(Vec::new(), swapped, |_, order, _| {
        // A cycle stays one however the run goes on.
        if (0..events.len()).all(|event| !runs.may_follow(order, event)) {
            let run: Vec<Event> = order.iter().map(|&index| events[index].clone()).collect();
            all.extend(violated(&run));
        }
    });
    all
}

/// Compares, and returns whether there are any.
fn check(note: &str, events: &[Event]) -> bool {
    let mut expected = BTreeSet::new();
    for model in [Model::HappensBefore, Model::Strong] {
        expected = violated_in_some_run(events, runs_of(model));
        let observed = violated(events);
        assert_eq!(expected, observed, "{note}, {model:?}: {events:#?}");
        let report = find(events, model, ATOMICITY);
        let block = |finding: &portent_findings::report::Finding| {
            assert_eq!(finding.label, Label::Observed, "{note}: {events:#?}");
            let name = finding.block.as_ref().unwrap();
            NameId::from(name.parse::<u32>().unwrap())
        };
        let found: Vec<NameId> = report.findings.iter().map(block).collect();
        let blocks: BTreeSet<NameId> = found.iter().copied().collect();
        assert_eq!(blocks.len(), found.len(), "{note}, {model:?}: {events:#?}");
        assert_eq!(blocks, expected, "{note}, {model:?}: {events:#?}");
    }
    !expected.is_empty()
}

#[test]
fn blocks_are_violated_iff_their_transactions_are_in_a_cycle_of_some_run() {
    let (mut found, mut none) = (0, 0);
    for seed in 0..cases() {
        let mut rng = Rng::new(seed);
        let events = sharing(&mut rng, 20);
        let events = with_blocks(&mut rng, events);
        let is_violated = check(&format!("seed {seed}"), &events);
        *if is_violated { &mut found } else { &mut none } += 1;
    }
    assert!(found > 100 && none > 100, "{found}, {none}");
}

#[test]
fn blocks_are_violated_by_every_way_of_synchronising() {
    let (mut found, mut none) = (0, 0);
    for seed in 0..cases() {
        let mut rng = Rng::new(seed);
        let length = rng.between(6, 14);
        let events = synchronising(&mut rng, length);
        let events = with_blocks(&mut rng, events);
        let is_violated = check(&format!("seed {seed}"), &events);
        *if is_violated { &mut found } else { &mut none } += 1;
    }
    assert!(found > 100 && none > 100, "{found}, {none}");
}

#[test]
fn the_maximal_model_predicts_what_the_others_observe_and_more() {
    let (mut more, mut same) = (0, 0);
    for seed in 0..cases() / 5 {
        let mut rng = Rng::new(seed);
        let events = sharing(&mut rng, 9);
        let events = with_blocks(&mut rng, events);
        let [less, strong, all] = RunModel::ALL.map(|model| violated_in_some_run(&events, model));
        assert!(less == strong && strong.is_subset(&all), "seed {seed}");
        *if strong == all { &mut same } else { &mut more } += 1;
    }
    assert!(more > 20 && same > 20, "{more}, {same}");
}
