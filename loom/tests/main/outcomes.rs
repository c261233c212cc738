//! Which outcomes there are. Two of these programs have outcomes that loom 0.7.2 does not show.

use std::{
    collections::BTreeSet,
    sync::{Arc as Native, Mutex as NativeMutex},
};

use loom::{
    sync::{
        Arc,
        atomic::{
            AtomicBool, AtomicUsize,
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

/// A thread looks at a flag before it sets it, and does nothing with what it sees. That must not hide the outcome in which it is faster; loom
/// 0.7.2 makes one run (its issue 392).
#[test]
fn an_unused_relaxed_load_hides_nothing() {
    let seen = outcomes(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let other = thread::spawn({
            let flag = flag.clone();
            move || {
                flag.load(Relaxed);
                flag.store(true, Relaxed);
            }
        });
        let outcome = flag.load(Relaxed);
        other.join().unwrap();
        outcome
    });
    assert_eq!(seen, BTreeSet::from([false, true]));
}

/// The values of an entry and its key, looked at in this order by one thread while another one sets both and clears them again.
fn value_and_key(clear_key: fn(&AtomicUsize)) -> (usize, usize) {
    let entry = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
    let writer = thread::spawn({
        let entry = entry.clone();
        move || {
            let (key, value) = &*entry;
            key.store(1, SeqCst);
            value.store(1, SeqCst);
            value.store(0, SeqCst);
            clear_key(key);
        }
    });
    let reader = thread::spawn(move || {
        let (key, value) = &*entry;
        let value = value.load(SeqCst);
        (value, key.load(SeqCst))
    });
    writer.join().unwrap();
    reader.join().unwrap()
}

/// A load more, of which nobody sees anything, must not drop `(1, 0)`; with loom 0.7.2 it does (its issue 166).
#[test]
fn a_redundant_load_drops_nothing() {
    let without = outcomes(|| value_and_key(|key| key.store(0, SeqCst)));
    let with = outcomes(|| {
        value_and_key(|key| {
            key.load(SeqCst);
            key.store(0, SeqCst);
        })
    });
    assert_eq!(without, BTreeSet::from([(0, 0), (0, 1), (1, 0), (1, 1)]));
    assert_eq!(with, without);
}
