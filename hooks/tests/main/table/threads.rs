//! Parking, spawning and joining, and rounds of a barrier.

use std::time::Duration;

use portent_hooks::{sync::Barrier, thread};
use portent_monitor_core::{
    Access, Operation,
    Operation::{Fork, Join, Notify, Wait, Waiting},
    Role,
};

use super::{access, compare, one_then_other, says, step};

#[test]
fn parking() {
    let condition = Role::Condition;
    let soon = Duration::from_millis(1);
    compare(
        "unpark, then park",
        says(&[Notify], &[Wait], condition),
        |turns| {
            thread::scope(|s| {
                let parked = s.spawn(|| {
                    turns.at(1, || {
                        thread::park();
                        step(2);
                    });
                });
                s.spawn(move || {
                    turns.at(0, || {
                        step(1);
                        parked.thread().unpark();
                    });
                });
            });
        },
    );
    compare(
        "park, then unpark",
        says(&[Waiting], &[Notify], condition),
        |turns| {
            thread::scope(|s| {
                let parked = s.spawn(|| {
                    turns.at(0, || {
                        step(1);
                        thread::park_timeout(soon);
                    });
                });
                s.spawn(move || {
                    turns.at(1, || {
                        parked.thread().unpark();
                        step(2);
                    });
                });
            });
        },
    );
    compare(
        "unpark, then unpark",
        says(&[Notify], &[Notify], condition),
        |turns| {
            let there = thread::current();
            one_then_other(turns, || there.unpark(), || there.unpark());
        },
    );
    // Whoever comes later finds no token.
    thread::park_timeout(soon);
}

#[test]
fn threads() {
    let forks = access(Fork, Role::Thread) == Access::Contribute;
    compare("fork, then the child", forks, |_| {
        step(1);
        thread::spawn(|| step(2)).join().unwrap();
    });
    let joins = access(Join, Role::Thread) == Access::Observe;
    compare("the child, then join", joins, |_| {
        thread::spawn(|| step(1)).join().unwrap();
        step(2);
    });
    compare("the child, then the end of a scope", joins, |_| {
        thread::scope(|s| drop(s.spawn(|| step(1))));
        step(2);
    });
}

#[test]
fn rounds() {
    let arrives = access(Operation::Barrier, Role::Arrival) == Access::Contribute;
    let waits = access(Operation::Barrier, Role::Departure) == Access::Await;
    for leads in [false, true] {
        compare("arriving, then going on", arrives && waits, |turns| {
            let barrier = Barrier::new(2);
            let (barrier, mine, other) = (&barrier, usize::from(leads), usize::from(!leads));
            thread::scope(|s| {
                s.spawn(move || {
                    turns.at(mine, || step(1));
                    barrier.wait();
                });
                s.spawn(move || {
                    turns.at(other, || {});
                    barrier.wait();
                    step(2);
                });
            });
        });
    }
    compare("going on, then going on", false, |turns| {
        let barrier = Barrier::new(2);
        let barrier = &barrier;
        thread::scope(|s| {
            s.spawn(move || {
                barrier.wait();
                turns.at(0, || step(1));
            });
            s.spawn(move || {
                barrier.wait();
                turns.at(1, || step(2));
            });
        });
    });
}
