//! The programs of `examples/` that are recorded while they run, once: what is wrong is predicted, and what is right is silent.

#[path = "../examples/cache/cache.rs"]
mod cache;
#[path = "../examples/queue/queue.rs"]
mod queue;

use cache::Fill;
use queue::First;

#[portent::test(property = "always (collected -> always !stored)", expect_violation)]
fn a_queue_that_counts_too_early() {
    queue::run(8, First::CountDown);
}

#[portent::test(property = "always (collected -> always !stored)", strict)]
fn a_queue() {
    assert_eq!(queue::run(8, First::Store), 8);
}

#[portent::test(
    spec = "examples/cache/cache.portent",
    causality = "maximal",
    expect_violation
)]
fn a_cache_that_keeps_old_values() {
    cache::run(Fill::Always);
}

#[portent::test(spec = "examples/cache/cache.portent", causality = "maximal", strict)]
fn a_cache() {
    assert_eq!(cache::run(Fill::IfFresh), (2, 2));
}
