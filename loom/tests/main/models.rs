//! How models are explored.

use std::sync::{
    Arc as Native,
    atomic::{AtomicUsize as NativeUsize, Ordering::Relaxed},
};

use loom::{
    model::Builder,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    thread,
};

use crate::failure;

fn lost_update() {
    let count = Arc::new(AtomicUsize::new(0));
    let other = thread::spawn({
        let count = count.clone();
        move || count.store(count.load(SeqCst) + 1, SeqCst)
    });
    count.store(count.load(SeqCst) + 1, SeqCst);
    other.join().unwrap();
    assert_eq!(count.load(SeqCst), 2, "an update is lost");
}

#[test]
fn a_bound_leaves_nothing_out_that_is_small() {
    for bound in [None, Some(0)] {
        let found = std::panic::catch_unwind(move || {
            let mut builder = Builder::new();
            builder.preemption_bound = bound;
            builder.check(lost_update);
        });
        assert!(found.is_err(), "{bound:?}");
    }
}

#[test]
fn it_stops_after_so_many_runs() {
    let runs = Native::new(NativeUsize::new(0));
    let mut builder = Builder::new();
    builder.max_permutations = Some(20);
    builder.check({
        let runs = Native::clone(&runs);
        move || {
            runs.fetch_add(1, Relaxed);
            let count = Arc::new(AtomicUsize::new(0));
            let threads = [(); 3].map(|()| {
                let count = count.clone();
                thread::spawn(move || {
                    count.fetch_add(1, SeqCst);
                    count.fetch_add(1, SeqCst);
                })
            });
            for thread in threads {
                thread.join().unwrap();
            }
        }
    });
    // The first ones are repeated, to see whether the program does the same again.
    assert_eq!(runs.load(Relaxed), 20 + 8);
}

#[test]
fn who_waits_says_so() {
    loom::model(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let other = flag.clone();
        thread::spawn(move || other.store(true, SeqCst));
        while !flag.load(SeqCst) {
            thread::yield_now();
        }
    });
    let text = failure(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let other = flag.clone();
        thread::spawn(move || other.store(true, SeqCst));
        while !flag.load(SeqCst) {}
    });
    assert!(text.contains("more than 10000 steps"), "{text}");
}
