//! Conditions on single variables that hold together in some closed cut, where each variable is written by one thread.
//!
//! Then the conditions of a thread hold for stretches of its events, and the least closed cut in which all threads are inside such a
//! stretch is found by advancing any thread that is not: cuts only grow.

use portent_monitor_core::{Cut, Place, ThreadId};

use super::guards::Guards;
use crate::engine::conjunctive::Trajectory;

/// The least closed cut in which all conditions of one of the conjunctions hold. `None` if undecided because several threads
/// write a variable; `events` are those of the slice.
pub(super) fn hold_together(
    guards: &Guards,
    events: &[u32],
    conjunctions: &[Vec<Trajectory>],
) -> Option<Option<Vec<u32>>> {
    let threads: Option<Vec<_>> = { conjunctions.iter() }
        .map(|conjunction| of_threads(guards, events, conjunction))
        .collect();
    let cuts = threads?
        .into_iter()
        .filter_map(|all| least_cut(guards, &all?));
    Some(cuts.min_by_key(|cut| cut.iter().map(|&n| u64::from(n)).sum::<u64>()))
}

/// Where conditions of a thread hold: from this count of its events on, up to but not including that one.
struct Stretches {
    thread: ThreadId,
    good: Vec<(u32, u32)>,
}

/// The stretches of all threads. The inner `None`: a condition never holds; the outer: a condition involves several threads.
fn of_threads(
    guards: &Guards,
    events: &[u32],
    conjunction: &[Trajectory],
) -> Option<Option<Vec<Stretches>>> {
    let mut all: Vec<Stretches> = Vec::new();
    for trajectory in conjunction {
        let mut thread = None;
        let mut good = Vec::new();
        let mut since = trajectory.initially.then_some(0);
        for &(event, holds) in &trajectory.writes {
            let place = guards.places[events[event.index()] as usize];
            if thread.is_some_and(|thread| thread != place.thread) {
                return None;
            }
            thread = Some(place.thread);
            match (since, holds) {
                (Some(from), false) => {
                    good.push((from, place.position));
                    since = None;
                }
                (None, true) => since = Some(place.position),
                _ => {}
            }
        }
        good.extend(since.map(|from| (from, u32::MAX)));
        let Some(thread) = thread else {
            if good.is_empty() {
                return Some(None);
            }
            continue;
        };
        match all.iter_mut().find(|other| other.thread == thread) {
            Some(other) => other.good = intersection(&other.good, &good),
            None => all.push(Stretches { thread, good }),
        }
    }
    Some(Some(all))
}

fn intersection(one: &[(u32, u32)], other: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let pairs =
        { one.iter() }.flat_map(|a| other.iter().map(move |b| (a.0.max(b.0), a.1.min(b.1))));
    pairs.filter(|(from, to)| from < to).collect()
}

fn least_cut(guards: &Guards, all: &[Stretches]) -> Option<Vec<u32>> {
    let mut cut = Cut::default();
    loop {
        let mut changed = false;
        for stretches in all {
            let count = cut.count(stretches.thread);
            let next = stretches.good.partition_point(|&(_, to)| to <= count);
            let &(from, _) = stretches.good.get(next)?;
            if from > count {
                let place = Place {
                    thread: stretches.thread,
                    position: from,
                };
                guards.trace.join_need(place, &mut cut);
                changed = true;
            }
        }
        if !changed {
            break;
        }
        guards.trace.close(&mut cut);
    }
    let mut counts = cut.counts().to_vec();
    counts.resize(guards.threads.len(), 0);
    Some(counts)
}
