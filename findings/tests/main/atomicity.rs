//! Atomicity violations against all runs of small random traces.

use portent_findings::{Hunt, Model};
use portent_monitor_core::{Event, Marker, NameId, Op, ThreadId, VarId};
use portent_testing::{Rng, sharing};

use crate::{
    brute::AllRuns,
    hunt::{cases, find},
};

const ATOMICITY: Hunt = Hunt {
    races: false,
    deadlocks: false,
    atomicity: true,
};

/// A trace with blocks, each with a name of its own, some of them nested or never ended.
fn with_blocks(rng: &mut Rng) -> Vec<Event> {
    let mut events = sharing(rng, 24);
    for name in 0..3u32 {
        if events.is_empty() || events.len() > 24 {
            break;
        }
        let at = rng.below(events.len());
        let thread = events[at].thread;
        let block = Some(NameId::from(name));
        let own: Vec<usize> = { at..events.len() }
            .filter(|&index| events[index].thread == thread)
            .collect();
        let length = rng.below(5);
        if let Some(&end) = own.get(length) {
            events.insert(end + 1, Event::new(thread, Op::Marker(Marker::End, block)));
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

/// The blocks that are in a cycle of those events that a run has done.
fn violated(events: &[Event], done: u64) -> Vec<usize> {
    let of = transactions(events);
    let count = events.len();
    let mut reaches = vec![vec![false; count]; count];
    for later in 0..count {
        for earlier in 0..later {
            let kept = done >> earlier & 1 == 1 && done >> later & 1 == 1;
            if kept && of[earlier] != of[later] && depends(&events[earlier], &events[later]) {
                reaches[of[earlier]][of[later]] = true;
            }
        }
    }
    for through in 0..count {
        for from in 0..count {
            for to in 0..count {
                reaches[from][to] |= reaches[from][through] && reaches[through][to];
            }
        }
    }
    let is_block = |&index: &usize| matches!(events[index].op, Op::Marker(Marker::Begin, Some(_)));
    { 0..count }
        .filter(|&index| of[index] == index && reaches[index][index])
        .filter(is_block)
        .collect()
}

fn depends(one: &Event, other: &Event) -> bool {
    let access = |event: &Event| match event.op {
        Op::Read(var) => Some((var, false)),
        Op::Write(var, _) | Op::Update(var, _) => Some((var, true)),
        _ => None,
    };
    let is_conflict = |(a, w): (VarId, bool), (b, v): (VarId, bool)| a == b && (w || v);
    let conflict = { access(one).zip(access(other)) }.is_some_and(|(a, b)| is_conflict(a, b));
    let handover = match (&one.op, &other.op) {
        (Op::Unlock(a), Op::Lock(b) | Op::ReadLock(b)) => a == b,
        (Op::ReadUnlock(a), Op::Lock(b)) => a == b,
        _ => false,
    };
    let life = |event: &Event, op: &Op, is: fn(ThreadId) -> Op| *op == is(event.thread);
    one.thread == other.thread
        || conflict
        || handover
        || life(other, &one.op, Op::Fork)
        || life(one, &other.op, Op::Join)
        || matches!((&one.op, &other.op), (Op::Fork(a), Op::Join(b)) if a == b)
}

#[test]
fn blocks_are_violated_iff_their_transactions_are_in_a_cycle() {
    let (mut found, mut none) = (0, 0);
    for seed in 0..cases() {
        let events = with_blocks(&mut Rng::new(seed));
        let whole = (1u64 << events.len()) - 1;
        let expected = violated(&events, whole);
        for model in [Model::HappensBefore, Model::Strong] {
            let report = find(&events, model, ATOMICITY);
            let mut blocks: Vec<usize> = { report.findings.iter() }
                .map(|finding| {
                    let name: usize = finding.block.as_ref().unwrap().parse().unwrap();
                    let begin = Op::Marker(Marker::Begin, NameId::from_index(name));
                    events.iter().position(|event| event.op == begin).unwrap()
                })
                .collect();
            blocks.sort_unstable();
            assert_eq!(blocks, expected, "seed {seed}, {model:?}: {events:#?}");
        }
        *if expected.is_empty() {
            &mut none
        } else {
            &mut found
        } += 1;
        // No run that leaves something out has a cycle that the observed one has not.
        if seed % 10 == 0 && events.len() < 20 {
            for &done in &AllRuns::new(&events, Model::Strong).reached {
                let there = violated(&events, done);
                assert!(
                    there.iter().all(|block| expected.contains(block)),
                    "seed {seed}"
                );
            }
        }
    }
    assert!(found > 100 && none > 100, "{found}, {none}");
}
