//! Which outcomes there are. Two of these programs have outcomes that loom 0.7.2 does not show.

use std::{
    collections::BTreeSet,
    sync::{Arc as Native, Mutex as NativeMutex},
};

use loom::{
    sync::{
        Arc,
        atomic::{
            AtomicUsize,
            Ordering::{Relaxed, SeqCst},
        },
    },
    thread,
};

/// All that a model returns in its runs.
fn outcomes<T: Ord + Send + 'static>(model: fn() -> T) -> BTreeSet<T> {
    let seen = Native::new(NativeMutex::new(BTreeSet::new()));
    loom::model({
        let seen = Native::clone(&seen);
        move || {
            let outcome = model();
            seen.lock().unwrap().insert(outcome);
        }
    });
    std::mem::take(&mut *seen.lock().unwrap())
}

/// Two variables, a thread that writes both, and one that reads both.
fn two(
    write: fn(&AtomicUsize, &AtomicUsize),
    read: fn(&AtomicUsize, &AtomicUsize) -> (usize, usize),
) -> (usize, usize) {
    let both = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
    let writer = thread::spawn({
        let both = both.clone();
        move || write(&both.0, &both.1)
    });
    let outcome = read(&both.0, &both.1);
    writer.join().unwrap();
    outcome
}

#[test]
fn messages_arrive_in_order() {
    let seen = outcomes(|| {
        two(
            |data, flag| {
                data.store(1, SeqCst);
                flag.store(1, SeqCst);
            },
            |data, flag| (flag.load(SeqCst), data.load(SeqCst)),
        )
    });
    assert_eq!(seen, BTreeSet::from([(0, 0), (0, 1), (1, 1)]));
}

#[test]
fn store_buffers_are_not_seen() {
    let seen = outcomes(|| {
        let both = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
        let other = thread::spawn({
            let both = both.clone();
            move || {
                both.0.store(1, Relaxed);
                both.1.load(Relaxed)
            }
        });
        both.1.store(1, Relaxed);
        let mine = both.0.load(Relaxed);
        (mine, other.join().unwrap())
    });
    // (0, 0) is what only weaker orderings allow.
    assert_eq!(seen, BTreeSet::from([(0, 1), (1, 0), (1, 1)]));
}

/// A thread looks at a variable and does nothing with what it sees. That must not hide an outcome.
#[test]
fn an_unused_relaxed_load_hides_nothing() {
    let without = outcomes(|| {
        two(
            |x, y| {
                x.store(1, Relaxed);
                y.store(1, Relaxed);
            },
            |x, y| (x.load(Relaxed), y.load(Relaxed)),
        )
    });
    let with = outcomes(|| {
        two(
            |x, y| {
                y.load(Relaxed);
                x.store(1, Relaxed);
                x.load(Relaxed);
                y.store(1, Relaxed);
            },
            |x, y| {
                y.load(Relaxed);
                (x.load(Relaxed), y.load(Relaxed))
            },
        )
    });
    assert_eq!(without, BTreeSet::from([(0, 0), (0, 1), (1, 0), (1, 1)]));
    assert_eq!(with, without);
}

/// A load that is there twice must not drop `(1, 0)`.
#[test]
fn a_redundant_load_drops_nothing() {
    let seen = outcomes(|| {
        two(
            |x, y| {
                x.store(1, SeqCst);
                y.store(1, SeqCst);
            },
            |x, y| {
                x.load(SeqCst);
                (x.load(SeqCst), y.load(SeqCst))
            },
        )
    });
    assert_eq!(seen, BTreeSet::from([(0, 0), (0, 1), (1, 0), (1, 1)]));
}
