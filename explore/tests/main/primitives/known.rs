//! Programs from the literature whose classes are known.

use std::{collections::VecDeque, sync::Arc};

use portent_explore::Explorer;
use portent_hooks::{
    sync::{
        Condvar, Mutex, RwLock,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    thread,
};

use super::{checked, counts, explore};
use crate::programs::threads;

/// One writes, all others read; by atomics.
fn readers(count: usize) {
    let number = AtomicU32::new(0);
    threads(count + 1, move |thread| {
        if thread == 0 {
            number.store(1, SeqCst);
        } else {
            number.load(SeqCst);
        }
    });
}

/// The same under a lock.
fn shared_readers(count: usize) {
    let number = RwLock::new(0);
    threads(count + 1, move |thread| {
        if thread == 0 {
            *number.write().unwrap() += 1;
        } else {
            let _ = *number.read().unwrap();
        }
    });
}

/// Each thread takes two forks.
fn philosophers(count: usize) {
    let forks: Vec<Mutex<()>> = (0..count).map(|_| Mutex::new(())).collect();
    let forks = Arc::new(forks);
    let spawned: Vec<_> = (0..count)
        .map(|number| {
            let forks = Arc::clone(&forks);
            thread::spawn(move || {
                let _left = forks[number].lock().unwrap();
                let _right = forks[(number + 1) % count].lock().unwrap();
            })
        })
        .collect();
    for thread in spawned {
        let _ = thread.join();
    }
}

/// One thread looks for the last zero of an array from behind, others each add one to what is before them.
fn last_zero(count: usize) {
    let numbers: Vec<AtomicU32> = (0..=count).map(|_| AtomicU32::new(0)).collect();
    threads(count + 1, move |thread| {
        if thread == 0 {
            let mut at = count;
            while numbers[at].load(SeqCst) != 0 {
                at -= 1;
            }
        } else {
            let before = numbers[thread - 1].load(SeqCst);
            numbers[thread].store(before + 1, SeqCst);
        }
    });
}

/// Producers and consumers at a buffer with two conditions.
fn buffer(producers: usize, consumers: usize, items: usize, capacity: usize) {
    struct Buffer {
        items: Mutex<VecDeque<usize>>,
        not_full: Condvar,
        not_empty: Condvar,
    }
    let buffer = Buffer {
        items: Mutex::new(VecDeque::new()),
        not_full: Condvar::new(),
        not_empty: Condvar::new(),
    };
    threads(producers + consumers, move |thread| {
        for item in 0..items {
            let mut guard = buffer.items.lock().unwrap();
            if thread < producers {
                while guard.len() == capacity {
                    guard = buffer.not_full.wait(guard).unwrap();
                }
                guard.push_back(item);
                buffer.not_empty.notify_one();
            } else {
                while guard.is_empty() {
                    guard = buffer.not_empty.wait(guard).unwrap();
                }
                guard.pop_front();
                buffer.not_full.notify_one();
            }
        }
    });
}

#[test]
fn one_writer_and_readers() {
    assert_eq!(counts(|| readers(8)), (256, 0, 0));
    assert_eq!(checked(|| shared_readers(3)), (8, 0, 0));
    assert_eq!(counts(|| shared_readers(8)), (256, 0, 0));
}

#[test]
fn philosophers_at_a_table() {
    assert_eq!(counts(|| philosophers(3)), (7, 0, 1));
    assert_eq!(counts(|| philosophers(5)), (31, 0, 1));
}

#[test]
fn the_last_zero() {
    assert_eq!(counts(|| last_zero(5)), (64, 15, 0));
    assert_eq!(counts(|| last_zero(7)), (320, 294, 0));
}

#[test]
fn a_bounded_buffer() {
    let first = |capacity| {
        let report = explore(Explorer::new().first_waiter(), || buffer(2, 2, 2, capacity));
        (report.executions, report.blocked, report.deadlocks)
    };
    assert_eq!(first(1), (50_264, 0, 0));
    assert_eq!(first(2), (18_252, 0, 0));
}

#[test]
fn one_producer_and_one_consumer() {
    assert_eq!(counts(|| buffer(1, 1, 2, 1)), (8, 0, 0));
}
