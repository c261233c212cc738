//! A cache that keeps an old value for ever, in one run of very many. `cargo test --example cache` runs it once, recording, and tells
//! how; `cargo run --release --example cache` runs it a thousand times as it is, and sees nothing;
//! `cargo run --example cache explore` runs it in every order that makes a difference, until that happens.

mod cache;

use std::env;

use cache::{Fill, is_up_to_date, stale};
use portent::explore::Explorer;

const FILLS: [(Fill, &str); 2] = [(Fill::Always, "as it is"), (Fill::IfFresh, "mended")];

fn main() {
    let asked = env::args().nth(1);
    if asked.as_deref() == Some("explore") {
        return explore();
    }
    let runs = asked.map_or(Ok(1000), |runs| runs.parse());
    let runs: u64 = runs.expect("a number of runs");
    for (fill, name) in FILLS {
        let stale = stale(runs, fill);
        println!("{name}: {stale} of {runs} runs kept an old value");
    }
}

fn explore() {
    for (fill, name) in FILLS {
        let report = Explorer::new().check(move || is_up_to_date(fill));
        println!("{name}: {report}\n");
    }
}

/// It fails.
#[portent::test(spec = "examples/cache/cache.portent", causality = "maximal")]
fn what_is_cached_is_fresh() {
    cache::run(Fill::Always, cache::LATER);
}

#[portent::test(spec = "examples/cache/cache.portent", causality = "maximal", strict)]
fn what_is_cached_is_fresh_if_it_is_looked_at_again() {
    cache::run(Fill::IfFresh, cache::LATER);
}
