//! Closed cuts against all cuts of small random traces: a cut can be reached if the events that it has, in the order in which
//! they were observed, are a run.

use std::collections::HashMap;

use portent_monitor_core::{Cut, Event, LockId, Op, Place, Reorderings, ThreadId, VarId};
use portent_testing::{Rng, sharing};

/// Where each event is, and which write it reads if it reads.
struct Observed {
    places: Vec<Place>,
    read: Vec<Option<usize>>,
}

fn observe(events: &[Event]) -> Observed {
    let mut counts: HashMap<ThreadId, u32> = HashMap::new();
    let mut last: HashMap<VarId, usize> = HashMap::new();
    let (mut places, mut read) = (Vec::new(), Vec::new());
    for (index, event) in events.iter().enumerate() {
        let count = counts.entry(event.thread).or_default();
        *count += 1;
        places.push(Place {
            thread: event.thread,
            position: *count,
        });
        read.push(match event.op {
            Op::Read(var) | Op::Update(var, _) => last.get(&var).copied(),
            _ => None,
        });
        if let Op::Write(var, _) | Op::Update(var, _) = event.op {
            last.insert(var, index);
        }
    }
    Observed { places, read }
}

/// Whether the events of a cut are a run in the order in which they were observed.
fn is_run(events: &[Event], observed: &Observed, kept: &[bool]) -> bool {
    let mut last: HashMap<VarId, usize> = HashMap::new();
    let mut held: HashMap<LockId, Vec<(ThreadId, bool)>> = HashMap::new();
    for (index, event) in events.iter().enumerate().filter(|&(index, _)| kept[index]) {
        let thread = event.thread;
        let before = || (0..index).map(|other| (other, &events[other]));
        let misses_fork =
            before().any(|(other, earlier)| earlier.op == Op::Fork(thread) && !kept[other]);
        let misses_child =
            before().any(|(other, earlier)| event.op == Op::Join(earlier.thread) && !kept[other]);
        // A thread that logged nothing has been forked before it is joined, too.
        let misses_life = before().any(|(other, earlier)| {
            matches!((&earlier.op, &event.op), (Op::Fork(a), Op::Join(b)) if a == b) && !kept[other]
        });
        if misses_fork || misses_child || misses_life {
            return false;
        }
        match event.op {
            Op::Lock(lock) | Op::ReadLock(lock) => {
                let exclusive = matches!(event.op, Op::Lock(_));
                let holders = held.entry(lock).or_default();
                let excludes =
                    |&(other, its): &(ThreadId, bool)| other != thread && (its || exclusive);
                if holders.iter().any(excludes) {
                    return false;
                }
                holders.push((thread, exclusive));
            }
            Op::Unlock(lock) | Op::ReadUnlock(lock) => {
                let hold = (thread, matches!(event.op, Op::Unlock(_)));
                let holders = held.entry(lock).or_default();
                let index = holders.iter().position(|&other| other == hold);
                holders.remove(index.expect("the trace is disciplined"));
            }
            Op::Read(var) | Op::Update(var, _)
                if last.get(&var) != observed.read[index].as_ref() =>
            {
                return false;
            }
            _ => {}
        }
        if let Op::Write(var, _) | Op::Update(var, _) = event.op {
            last.insert(var, index);
        }
    }
    true
}

/// All cuts that are runs.
fn all_runs(events: &[Event], observed: &Observed) -> Vec<Vec<u32>> {
    let mut lengths = [0; 4];
    for place in &observed.places {
        lengths[place.thread.index()] = place.position;
    }
    let mut runs = Vec::new();
    let mut counts = [0; 4];
    loop {
        let within = |place: &Place| place.position <= counts[place.thread.index()];
        let kept: Vec<bool> = observed.places.iter().map(within).collect();
        if is_run(events, observed, &kept) {
            runs.push(counts.to_vec());
        }
        let Some(next) = (0..4).find(|&thread| counts[thread] < lengths[thread]) else {
            return runs;
        };
        counts[next] += 1;
        counts[..next].fill(0);
    }
}

fn padded(cut: &Cut) -> Vec<u32> {
    let mut counts = cut.counts().to_vec();
    counts.resize(4, 0);
    counts
}

#[test]
fn the_closure_is_the_least_cut_that_is_a_run() {
    let mut grown = 0;
    for seed in 0..1500 {
        let mut rng = Rng::new(seed);
        let events = sharing(&mut rng, 40);
        let observed = observe(&events);
        let mut trace = Reorderings::default();
        for (event, place) in events.iter().zip(&observed.places) {
            assert_eq!(trace.step(event).unwrap(), *place);
        }
        let runs = all_runs(&events, &observed);
        let least = |wanted: &[u32]| {
            let contains = |run: &&Vec<u32>| run.iter().zip(wanted).all(|(has, want)| has >= want);
            let mut found = runs.iter().filter(contains).cloned();
            let first = found.next().expect("the whole trace is a run");
            found.fold(first, |a, b| {
                a.iter().zip(b).map(|(x, y)| *x.min(&y)).collect()
            })
        };
        for _ in 0..8 {
            let mut cut = Cut::default();
            for _ in 0..rng.between(1, 3) {
                if let Some(index) = (!events.is_empty()).then(|| rng.below(events.len())) {
                    let place = observed.places[index];
                    if rng.one_in(2) {
                        trace.join_need(place, &mut cut);
                    } else {
                        trace.join_past(place, &mut cut);
                    }
                }
            }
            let wanted = padded(&cut);
            trace.close(&mut cut);
            let closed = padded(&cut);
            grown += usize::from(closed != wanted);
            assert_eq!(
                closed,
                least(&wanted),
                "seed {seed}: {wanted:?} in {events:#?}"
            );
            assert!(
                runs.contains(&closed),
                "seed {seed}: {closed:?} in {events:#?}"
            );
        }
    }
    assert!(grown > 300, "the closure had something to do: {grown}");
}
