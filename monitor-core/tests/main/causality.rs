//! The clocks against the definition, on random traces; and what chains cost.

use std::{collections::HashMap, mem::discriminant};

use portent_monitor_core::{
    Causality, Chains, Clock, Event, Flow, Op, Stamp, ThreadClock, ThreadId, VarId,
    definition::Relation,
};
use portent_testing::{Rng, stamped};

use crate::random;

/// Compares the stamps of the relevant events with the relation, pair by pair.
fn check(events: &[Event], relevant: &[bool], seed: u64) {
    let relation = Relation::new(events);
    let mut causality = Causality::default();
    let stamps: Vec<Option<Stamp>> = events
        .iter()
        .zip(relevant)
        .map(|(event, &relevant)| causality.step(event, relevant).unwrap())
        .collect();
    check_held_otherwise(events, &stamps, seed);
    let stamped: Vec<(usize, &Stamp)> = stamps
        .iter()
        .enumerate()
        .filter_map(|(i, s)| Some((i, s.as_ref()?)))
        .collect();
    for &(i, a) in &stamped {
        let mut counts = vec![0; causality.chains()];
        for &(j, b) in &stamped {
            let expected = relation.precedes(j, i);
            assert_eq!(
                b.precedes(a),
                expected,
                "seed {seed}: {j} ≼ {i} in {events:#?}"
            );
            assert_eq!(
                b.clock.le(&a.clock),
                expected,
                "seed {seed}: whole clocks of {j}, {i}"
            );
            counts[b.chain.index()] += u32::from(expected);
        }
        // A component is exactly the number of relevant events of its chain in the past.
        let clock: Vec<u32> = (0..counts.len())
            .map(|c| a.clock.counts().get(c).copied().unwrap_or(0))
            .collect();
        assert_eq!(clock, counts, "seed {seed}: counts of {i}");
    }
}

/// Clocks that nobody shares, as in a running program, are the same clocks.
fn check_held_otherwise(events: &[Event], stamps: &[Option<Stamp>], seed: u64) {
    let mut flow = Flow::<ThreadClock<Box<Clock>>>::default();
    let mut chains = Chains::default();
    let mut told = HashMap::<ThreadId, Clock>::new();
    for (event, stamp) in events.iter().zip(stamps) {
        if let Op::Join(child) = event.op
            && let Some(chain) = flow.thread(child).end()
        {
            chains.release(chain);
        }
        flow.step(event, |thread| {
            let Some(stamp) = stamp else { return };
            let number = thread.tick(|past| chains.acquire(past)).unwrap();
            let chain = thread.chain().unwrap().id();
            assert_eq!(
                (chain, number),
                (stamp.chain, stamp.number()),
                "seed {seed}"
            );
            // What is told of each change gives the same clock.
            let told = told.entry(event.thread).or_default();
            if thread.take_news() {
                thread.tell_news(told, |_, _| {});
            }
            told.raise(chain, number);
            assert_eq!(*told, *stamp.clock, "seed {seed}");
            assert_eq!(thread.clock(), *stamp.clock, "seed {seed}");
        });
    }
}

#[test]
fn clocks_are_the_definition_restricted_to_relevant_events() {
    let mut seen = Vec::new();
    for seed in 0..12_000 {
        let mut rng = Rng::new(seed);
        let length = 10 + rng.below(70);
        let events = random::ops(&mut rng, length);
        let sparse = 1 + rng.below(4);
        let relevant: Vec<bool> = events.iter().map(|_| rng.one_in(sparse)).collect();
        check(&events, &relevant, seed);
        for event in events {
            if !seen.contains(&discriminant(&event.op)) {
                seen.push(discriminant(&event.op));
            }
        }
    }
    assert_eq!(
        seen.len(),
        18,
        "every operation that orders anything was tried"
    );
}

#[test]
fn clocks_that_events_bring_are_kept_and_writes_added() {
    for seed in 0..3_000 {
        let mut rng = Rng::new(seed);
        let length = 5 + rng.below(50);
        let events = stamped(&mut rng, length);
        let sparse = 1 + rng.below(4);
        let relevant: Vec<bool> = events.iter().map(|_| rng.one_in(sparse)).collect();
        check(&events, &relevant, seed);
    }
}

fn thread(index: usize) -> ThreadId {
    ThreadId::from_index(index).unwrap()
}

#[test]
fn a_hundred_thousand_tasks_need_few_chains() {
    let counter = VarId::from_index(0).unwrap();
    let main = thread(0);
    let mut causality = Causality::default();
    let mut longest = 0;
    let mut step = |causality: &mut Causality, event, relevant| {
        if let Some(stamp) = causality.step(&event, relevant).unwrap() {
            longest = longest.max(stamp.clock.counts().len());
        }
    };
    // Eight at a time; each batch is joined before the next one starts.
    for batch in 0..12_500 {
        let tasks: Vec<ThreadId> = (1..=8).map(|i| thread(batch * 8 + i)).collect();
        for &task in &tasks {
            step(&mut causality, Event::new(main, Op::Fork(task)), false);
        }
        for &task in &tasks {
            step(&mut causality, Event::new(task, Op::Read(counter)), true);
        }
        for &task in &tasks {
            step(&mut causality, Event::new(main, Op::Join(task)), false);
        }
    }
    assert_eq!((causality.chains(), longest), (8, 8));
}

#[test]
fn a_chain_is_not_reused_by_a_thread_that_does_not_know_of_its_end() {
    let x = VarId::from_index(0).unwrap();
    let (main, child, other) = (thread(0), thread(1), thread(2));
    let mut causality = Causality::default();
    causality
        .step(&Event::new(main, Op::Fork(child)), false)
        .unwrap();
    let first = causality
        .step(&Event::new(child, Op::Read(x)), true)
        .unwrap()
        .unwrap();
    causality
        .step(&Event::new(main, Op::Join(child)), false)
        .unwrap();
    // Nobody told this thread of the join.
    let second = causality
        .step(&Event::new(other, Op::Read(x)), true)
        .unwrap()
        .unwrap();
    assert!(!first.precedes(&second) && !second.precedes(&first));
    assert_ne!(first.chain, second.chain);
    // The main thread was told, so it may take over.
    let third = causality
        .step(&Event::new(main, Op::Read(x)), true)
        .unwrap()
        .unwrap();
    assert_eq!(first.chain, third.chain);
    assert!(first.precedes(&third));
}

#[test]
fn an_ended_thread_gives_its_chain_back_without_a_join() {
    let x = VarId::from_index(0).unwrap();
    let mut causality = Causality::default();
    for task in 0..1_000 {
        causality
            .step(&Event::new(thread(task), Op::Write(x, None)), true)
            .unwrap();
        causality.end(thread(task));
    }
    assert_eq!(causality.chains(), 1);
}

#[test]
fn several_properties_share_one_stream() {
    let mut rng = Rng::new(7);
    let events = random::ops(&mut rng, 60);
    let mut writes = Causality::default();
    let mut everything = Causality::default();
    let mut counts = (0, 0);
    for event in &events {
        let relevant = event.writes().next().is_some();
        counts.0 += usize::from(writes.step(event, relevant).unwrap().is_some());
        counts.1 += usize::from(everything.step(event, true).unwrap().is_some());
    }
    assert_eq!(counts.1, events.len());
    assert_eq!(
        counts.0,
        events
            .iter()
            .filter(|e| e.writes().next().is_some())
            .count()
    );
}

#[test]
fn random_linearisations_are_equivalent_runs_and_others_are_not() {
    for seed in 0..500 {
        let mut rng = Rng::new(seed);
        let events = random::ops(&mut rng, 40);
        let relation = Relation::new(&events);
        let relevant: Vec<usize> = (0..events.len()).filter(|_| !rng.one_in(3)).collect();
        let mut rest = relevant.clone();
        let mut run = Vec::new();
        while !rest.is_empty() {
            let ready: Vec<usize> = rest
                .iter()
                .copied()
                .filter(|&e| rest.iter().all(|&o| o == e || !relation.precedes(o, e)))
                .collect();
            let next = ready[rng.below(ready.len())];
            run.push(next);
            rest.retain(|&e| e != next);
        }
        relation.check_run(&relevant, &run, false).unwrap();
        relation
            .check_run(&relevant, &run[..run.len() / 2], true)
            .unwrap();
        if let Some(i) = (1..run.len()).find(|&i| relation.precedes(run[i - 1], run[i])) {
            run.swap(i - 1, i);
            relation.check_run(&relevant, &run, false).unwrap_err();
        }
    }
}
