//! Every hook against the table of edges: two threads do something with one object, one after the other, and nothing
//! else orders them. An event before the first is before an event after the second if, and only if, the table says so.
//!
//! No expectation is written down here: a scenario names the operations that happen, and asks the table.

mod conditions;
mod locks;
mod messages;
mod threads;
mod variables;

use std::sync::atomic::{AtomicUsize, Ordering};

use portent_hooks::{Recording, event, thread};
use portent_monitor_core::{Access, Operation, Role, Value, access_of};

pub(super) fn access(operation: Operation, role: Role) -> Access {
    access_of(operation, role).unwrap_or_else(|| panic!("{operation} has no {role:?}"))
}

/// Whether one of these operations on an object comes before one of those, in which the object has this role.
pub(super) fn says(first: &[Operation], second: &[Operation], role: Role) -> bool {
    first.iter().any(|&first| {
        let first = access(first, role);
        second
            .iter()
            .any(|&second| first.orders(access(second, role)))
    })
}

/// What happens when, in a program that is not hooked.
#[derive(Default)]
pub(super) struct Turns(AtomicUsize);

impl Turns {
    pub(super) fn at<R>(&self, turn: usize, f: impl FnOnce() -> R) -> R {
        while self.0.load(Ordering::Acquire) != turn {
            std::thread::yield_now();
        }
        let done = f();
        self.0.store(turn + 1, Ordering::Release);
        done
    }
}

pub(super) fn step(number: i64) {
    event!(step, number);
}

/// Whether step 1 was before step 2 in what `f` did; the same whatever else is recorded.
pub(super) fn was_ordered(scenario: &str, f: impl Fn(&Turns)) -> bool {
    let [relevant, everything] =
        [Recording::relevant(["step"]), Recording::everything()].map(|how| {
            let (recording, mut stream) = how.start();
            let entered = recording.enter();
            f(&Turns::default());
            drop(entered);
            let events = stream.finish();
            let stamp = |number| {
                let mut found = events.iter().filter(|recorded| {
                    let action = recorded.event.action();
                    action.is_some_and(|action| action.args == [Value::Int(number)])
                });
                let first = found.next().expect("it was recorded");
                assert!(
                    found.next().is_none(),
                    "{scenario}: {number} is there twice"
                );
                &first.stamp
            };
            stamp(1).precedes(stamp(2))
        });
    assert_eq!(relevant, everything, "{scenario}: whatever is recorded");
    relevant
}

/// Something that one thread does with an object alone: its operations, as far as others see them.
pub(super) struct Move<W> {
    name: &'static str,
    operations: &'static [Operation],
    act: fn(&W),
}

/// All pairs of moves.
pub(super) fn compare_pairs<W: Sync>(role: Role, world: impl Fn() -> W, moves: &[Move<W>]) {
    for first in moves {
        for second in moves {
            let name = format!("{}, then {}", first.name, second.name);
            let ordered = was_ordered(&name, |turns| {
                let world = world();
                thread::scope(|s| {
                    s.spawn(|| {
                        turns.at(0, || {
                            step(1);
                            (first.act)(&world);
                        });
                    });
                    s.spawn(|| {
                        turns.at(1, || {
                            (second.act)(&world);
                            step(2);
                        });
                    });
                });
            });
            let expected = says(first.operations, second.operations, role);
            assert_eq!(ordered, expected, "{name}");
        }
    }
}

#[track_caller]
pub(super) fn compare(name: &str, expected: bool, f: impl Fn(&Turns)) {
    assert_eq!(was_ordered(name, f), expected, "{name}");
}

/// What somebody does with an object, and what another does then.
pub(super) type Scenario<W> = (
    &'static str,
    &'static [Operation],
    &'static [Operation],
    fn(&W),
    fn(&W),
);

/// Step 1 and `first` in one thread, then `second` and step 2 in another.
pub(super) fn one_then_other(
    turns: &Turns,
    first: impl FnOnce() + std::marker::Send,
    second: impl FnOnce() + std::marker::Send,
) {
    thread::scope(|s| {
        s.spawn(|| {
            turns.at(0, || {
                step(1);
                first();
            });
        });
        s.spawn(|| {
            turns.at(1, || {
                second();
                step(2);
            });
        });
    });
}
