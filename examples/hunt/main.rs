//! A hunt, told in `docs/explore.md`: a bug is predicted by one run, made to happen, searched for, repeated and mended. Each step is a test,
//! and all but the last fail: `cargo test --example hunt predicted`, then `confirmed`, `searched` and `mended`.

use std::time::Duration;

use portent::{
    event,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread,
};

/// Two workers do a job each; how many results are there when none is left to be done?
fn collected(work: fn(&AtomicUsize, &Mutex<Vec<u32>>, u32)) -> usize {
    let left = AtomicUsize::with_name("left", 2);
    let results = Mutex::with_name("results", Vec::new());
    thread::scope(|s| {
        for job in [3, 4] {
            let (left, results) = (&left, &results);
            s.spawn(move || work(left, results, job));
        }
        // Whoever collects has something else to do first: an eternity for a computer.
        thread::sleep(Duration::from_millis(50));
        while left.load(SeqCst) > 0 {
            thread::yield_now();
        }
        event!(collected);
        results.lock().unwrap().len()
    })
}

fn counts_first(left: &AtomicUsize, results: &Mutex<Vec<u32>>, job: u32) {
    let result = job * job;
    left.fetch_sub(1, SeqCst);
    results.lock().unwrap().push(result);
    event!(stored);
}

fn stores_first(left: &AtomicUsize, results: &Mutex<Vec<u32>>, job: u32) {
    let result = job * job;
    results.lock().unwrap().push(result);
    event!(stored);
    left.fetch_sub(1, SeqCst);
}

#[portent::test(property = "always (collected -> always !stored)")]
fn predicted() {
    assert_eq!(collected(counts_first), 2, "a result is lost");
}

#[portent::test(property = "always (collected -> always !stored)", confirm)]
fn confirmed() {
    assert_eq!(collected(counts_first), 2, "a result is lost");
}

#[portent::test(explore = "random")]
fn searched() {
    assert_eq!(collected(counts_first), 2, "a result is lost");
}

#[portent::test(
    explore = "source",
    property = "always (collected -> always !stored)",
    strict
)]
fn mended() {
    assert_eq!(collected(stores_first), 2, "a result is lost");
}

fn main() {
    let (broken, fixed) = (collected(counts_first), collected(stores_first));
    println!("{broken} results, as nearly always; {fixed} if they are stored first, as always");
}
