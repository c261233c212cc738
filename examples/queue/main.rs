//! A work queue that loses a result in one run of very many. `cargo test --example queue` runs it once, recording, and tells how;
//! `cargo run --release --example queue` runs it a thousand times as it is, and sees nothing.

mod queue;

use std::env;

use queue::{First, lost};

const JOBS: u64 = 8;

fn main() {
    let runs = env::args().nth(1).map_or(Ok(1000), |runs| runs.parse());
    let runs: u64 = runs.expect("a number of runs");
    for (first, name) in [(First::CountDown, "as it is"), (First::Store, "mended")] {
        let lost = lost(runs, JOBS, first);
        println!("{name}: {lost} of {runs} runs lost a result");
    }
}

/// It fails.
#[portent::test(property = "always (collected -> always !stored)")]
fn every_result_is_collected() {
    queue::run(JOBS, First::CountDown);
}

#[portent::test(property = "always (collected -> always !stored)", strict)]
fn every_result_is_collected_if_it_is_stored_first() {
    queue::run(JOBS, First::Store);
}
