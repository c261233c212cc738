//! Posets of whole logs, generated ones of the same shape, and questions to ask of them.

#![allow(dead_code)] // every test and bench uses a part

pub(crate) mod questions;
pub(crate) mod read;

use portent_lattice::laboratory::Poset;
use portent_monitor_core::ChainId;

pub(crate) const CHORD: (&str, &str) = ("chord.log", r"(?<host>\S*) (?<clock>{.*})\n(?<event>.*)");
pub(crate) const SIMPLEDB: (&str, &str) =
    ("simpledb.log", r"(?<event>.*)\n(?<host>\S*) (?<clock>{.*})");
pub(crate) const TSVIZ: (&str, &str) = (
    "tsviz_shared_var_4_threads.log",
    r"(?<timestamp>(\d*)) (?<event>.*)\n(?<host>\w*) (?<clock>.*)",
);

/// A log of processes that send each other messages, from a seed: every `period`-th event of a
/// process waits for what another one has last done.
pub(crate) fn generated(processes: usize, events: usize, period: u32, seed: u64) -> Poset {
    let mut state = seed;
    let mut random = move |n: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    let mut poset = Poset::new(processes);
    let mut clocks = vec![vec![0u32; processes]; processes];
    for _ in 0..events {
        let me = random(processes);
        if clocks[me][me] % period == period - 1 {
            let theirs = clocks[random(processes)].clone();
            for (mine, theirs) in clocks[me].iter_mut().zip(theirs) {
                *mine = (*mine).max(theirs);
            }
        }
        clocks[me][me] += 1;
        poset.push(ChainId::from(me as u32), &clocks[me]);
    }
    poset
}
