//! Random programs of tasks: their clocks against the order that really was.

use portent_hooks::{Recorded, Recording};
use portent_monitor_core::Op;

use super::{program, runtime};
use crate::{
    order::{Run, Seen},
    stress::{compare, same_offline},
};

fn recorded(seed: u64, threads: usize, everything: bool) -> (Run, Vec<Recorded>) {
    let runtime = runtime(threads);
    let builder = if everything {
        Recording::everything()
    } else {
        Recording::relevant(["happens"])
    };
    let (recording, mut stream) = builder.start();
    let entered = recording.enter();
    let run = program::run(seed, everything, &runtime);
    drop((entered, runtime));
    let events = stream.finish();
    let counts = stream.counts();
    assert_eq!(
        (counts.dropped, counts.foreign, counts.blind),
        (0, 0, 0),
        "seed {seed}"
    );
    (run, events)
}

/// How many programs of each kind; `PORTENT_CASES` asks for more.
fn cases(usual: u64) -> u64 {
    let asked = std::env::var("PORTENT_CASES").ok();
    asked.and_then(|cases| cases.parse().ok()).unwrap_or(usual)
}

fn clocks_are_the_order_that_was(threads: usize, first: u64, programs: u64, pairs: usize) {
    let (mut all, mut wakes, mut moves) = ([0; 2], 0, 0);
    for seed in first..first + programs {
        let (run, events) = recorded(seed, threads, false);
        let compared = compare(seed, &run, &events);
        all = [all[0] + compared[0], all[1] + compared[1]];
        for seen in run.logs.iter().flatten() {
            wakes += usize::from(matches!(seen, Seen::Woken(_)));
            moves += usize::from(matches!(seen, Seen::Recv(..)));
        }
    }
    let concurrent = all[0] - 2 * all[1];
    println!(
        "{programs} programs of tasks on {threads} threads, {} pairs of events, {concurrent} of them concurrent, \
         {wakes} wakes, {moves} messages",
        all[0]
    );
    assert!(all[0] >= pairs && concurrent * 20 > all[0]);
    assert!(wakes > programs as usize / 2 && moves > programs as usize / 2);
}

#[test]
fn clocks_of_tasks_on_one_thread_are_the_order_that_was() {
    clocks_are_the_order_that_was(1, 0, cases(1_000), 300_000);
}

#[test]
fn clocks_of_tasks_on_two_threads_are_the_order_that_was() {
    clocks_are_the_order_that_was(2, 50_000, cases(600), 200_000);
}

#[test]
fn clocks_of_everything_that_tasks_do_are_the_order_that_was() {
    for seed in 100_000..100_000 + cases(200) {
        let (run, events) = recorded(seed, 1 + seed as usize % 2, true);
        compare(seed, &run, &events);
        same_offline(&events);
        let forks = events
            .iter()
            .filter(|line| matches!(line.event.op, Op::Fork(_)));
        assert!(forks.count() >= 2, "seed {seed}");
    }
}
