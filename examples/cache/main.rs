//! A cache that keeps an old value for ever, in one run of very many. `cargo test --example cache` runs it once, recording, and tells
//! how; `cargo run --release --example cache` runs it a thousand times as it is, and sees nothing.

mod cache;

use std::env;

use cache::{Fill, stale};

fn main() {
    let runs = env::args().nth(1).map_or(Ok(1000), |runs| runs.parse());
    let runs: u64 = runs.expect("a number of runs");
    for (fill, name) in [(Fill::Always, "as it is"), (Fill::IfFresh, "mended")] {
        let stale = stale(runs, fill);
        println!("{name}: {stale} of {runs} runs kept an old value");
    }
}

/// It fails.
#[portent::test(spec = "examples/cache/cache.portent", causality = "maximal")]
fn what_is_cached_is_fresh() {
    cache::run(Fill::Always);
}

#[portent::test(spec = "examples/cache/cache.portent", causality = "maximal", strict)]
fn what_is_cached_is_fresh_if_it_is_looked_at_again() {
    cache::run(Fill::IfFresh);
}
