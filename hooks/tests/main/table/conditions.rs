//! Condition variables.

use std::time::Duration;

use portent_hooks::{
    sync::{Condvar, Mutex},
    thread,
};
use portent_monitor_core::{
    Operation::{Lock, Notify, Unlock, Wait, Waiting},
    Role,
};

use super::{Turns, compare, one_then_other, says, step};

/// Until somebody waits who had the mutex: that can be seen without a step.
fn until_free<T: std::fmt::Debug>(mutex: &Mutex<T>) {
    while format!("{mutex:?}").contains("<locked>") {
        std::thread::yield_now();
    }
}

#[test]
fn conditions() {
    let condition = Role::Condition;
    type Waited = (Mutex<bool>, Condvar);
    let world = || -> Waited { (Mutex::new(false), Condvar::new()) };
    let soon = Duration::from_millis(1);
    compare(
        "notify, then notify",
        says(&[Notify], &[Notify], condition),
        |turns| {
            let (_, turned) = world();
            one_then_other(turns, || turned.notify_one(), || turned.notify_all());
        },
    );
    compare(
        "notify, then the begin of a wait",
        says(&[Notify], &[Waiting], condition),
        |turns| {
            let (mutex, turned) = world();
            one_then_other(
                turns,
                || turned.notify_one(),
                || {
                    let guard = mutex.lock().unwrap();
                    drop(turned.wait_timeout(guard, soon).unwrap());
                },
            );
        },
    );
    // Somebody waits from turn 1 on; the rest is what happens meanwhile.
    let while_one_waits = |turns: &Turns,
                           before: &(dyn Fn() + Sync),
                           meanwhile: &(dyn Fn(&Waited) + Sync),
                           afterwards: &(dyn Fn(&Waited) + Sync),
                           awake: &(dyn Fn() + Sync)| {
        let world = world();
        thread::scope(|s| {
            let (mutex, turned) = &world;
            s.spawn(move || {
                let guard = turns.at(0, || {
                    let guard = mutex.lock().unwrap();
                    before();
                    guard
                });
                drop(turned.wait(guard).unwrap());
                turns.at(2, awake);
            });
            s.spawn(|| {
                turns.at(1, || {
                    until_free(&world.0);
                    meanwhile(&world);
                });
            });
            s.spawn(|| turns.at(3, || afterwards(&world)));
        });
    };
    let first = || step(1);
    let second = || step(2);
    let nothing = || {};
    compare(
        "the begin of a wait, then notify",
        says(&[Waiting], &[Notify], condition),
        |turns| {
            while_one_waits(
                turns,
                &first,
                &|(_, turned)| {
                    turned.notify_one();
                    step(2);
                },
                &|_| {},
                &nothing,
            );
        },
    );
    compare(
        "notify, then the end of a wait",
        says(&[Notify], &[Wait], condition),
        |turns| {
            while_one_waits(
                turns,
                &nothing,
                &|(_, turned)| {
                    step(1);
                    turned.notify_one();
                },
                &|_| {},
                &second,
            );
        },
    );
    let through_lock = says(&[Waiting], &[Lock], Role::Lock);
    compare(
        "the begin of a wait, then a section",
        through_lock,
        |turns| {
            while_one_waits(
                turns,
                &first,
                &|(mutex, turned)| {
                    drop(mutex.lock().unwrap());
                    step(2);
                    turned.notify_one();
                },
                &|_| {},
                &nothing,
            );
        },
    );
    let through_lock = says(&[Unlock], &[Wait], Role::Lock);
    compare("a section, then the end of a wait", through_lock, |turns| {
        let (mutex, turned) = world();
        let (mutex, turned) = (&mutex, &turned);
        thread::scope(|s| {
            s.spawn(move || {
                let guard = turns.at(0, || mutex.lock().unwrap());
                drop(turned.wait(guard).unwrap());
                step(2);
            });
            s.spawn(move || {
                turns.at(1, || {
                    until_free(mutex);
                    step(1);
                    drop(mutex.lock().unwrap());
                });
            });
            s.spawn(move || turns.at(2, || turned.notify_one()));
        });
    });
    // It comes to know of step 1 through the mutex, between the begin and the end of its wait.
    let expected = says(&[Wait], &[Notify], condition) || says(&[Notify], &[Notify], condition);
    compare("the end of a wait, then notify", expected, |turns| {
        let (mutex, turned) = world();
        let (mutex, turned) = (&mutex, &turned);
        thread::scope(|s| {
            s.spawn(move || {
                let guard = turns.at(0, || mutex.lock().unwrap());
                let guard = turned.wait(guard).unwrap();
                turns.at(3, || drop(guard));
            });
            s.spawn(move || {
                turns.at(1, || {
                    until_free(mutex);
                    step(1);
                    drop(mutex.lock().unwrap());
                });
            });
            s.spawn(move || turns.at(2, || turned.notify_one()));
            s.spawn(move || {
                turns.at(4, || {
                    turned.notify_one();
                    step(2);
                });
            });
        });
    });
}
