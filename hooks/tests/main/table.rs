//! Every hook against the table of edges: two threads do something with one object, one after the other, and nothing
//! else orders them. An event before the first is before an event after the second if, and only if, the table says so.
//!
//! No expectation is written down here: a scenario names the operations that happen, and asks the table.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use portent_hooks::{
    Recording, Shared, event,
    sync::{
        Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock,
        atomic::{AtomicBool, AtomicU64},
        lock_api as raw, mpsc,
    },
    thread,
};
use portent_monitor_core::{
    Access, Operation,
    Operation::{
        Fork, Join, Lock, Notify, Read, ReadLock, ReadUnlock, Recv, Send, TryLock, TryRecv, Unlock,
        Update, Wait, Waiting, Write,
    },
    Role, Value, access_of,
};

fn access(operation: Operation, role: Role) -> Access {
    access_of(operation, role).unwrap_or_else(|| panic!("{operation} has no {role:?}"))
}

/// Whether one of these operations on an object comes before one of those, in which the object has this role.
fn says(first: &[Operation], second: &[Operation], role: Role) -> bool {
    first.iter().any(|&first| {
        let first = access(first, role);
        second
            .iter()
            .any(|&second| first.orders(access(second, role)))
    })
}

/// What happens when, in a program that is not hooked.
#[derive(Default)]
struct Turns(AtomicUsize);

impl Turns {
    fn at<R>(&self, turn: usize, f: impl FnOnce() -> R) -> R {
        while self.0.load(Ordering::Acquire) != turn {
            std::thread::yield_now();
        }
        let done = f();
        self.0.store(turn + 1, Ordering::Release);
        done
    }
}

fn step(number: i64) {
    event!(step, number);
}

/// Whether step 1 was before step 2 in what `f` did; the same whatever else is recorded.
fn was_ordered(scenario: &str, f: impl Fn(&Turns)) -> bool {
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
struct Move<W> {
    name: &'static str,
    operations: &'static [Operation],
    act: fn(&W),
}

/// All pairs of moves.
fn compare_pairs<W: Sync>(role: Role, world: impl Fn() -> W, moves: &[Move<W>]) {
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
fn compare(name: &str, expected: bool, f: impl Fn(&Turns)) {
    assert_eq!(was_ordered(name, f), expected, "{name}");
}

const MOVES_SHARED: [Move<Shared<u64>>; 5] = [
    Move {
        name: "get",
        operations: &[Read],
        act: |x| assert!(x.get() < 9),
    },
    Move {
        name: "with",
        operations: &[Read],
        act: |x| assert!(x.with(|x| *x) < 9),
    },
    Move {
        name: "set",
        operations: &[Write],
        act: |x| x.set(1),
    },
    Move {
        name: "replace",
        operations: &[Update],
        act: |x| assert!(x.replace(2) < 9),
    },
    Move {
        name: "update",
        operations: &[Update],
        act: |x| x.update(|x| *x += 1),
    },
];

#[test]
fn shared_variables() {
    compare_pairs(Role::Var, || Shared::new(0), &MOVES_SHARED);
}

#[test]
fn atomics() {
    use Ordering::{Relaxed, SeqCst};
    compare_pairs::<AtomicU64>(
        Role::Var,
        || AtomicU64::new(0),
        &[
            Move {
                name: "load",
                operations: &[Read],
                act: |x| assert!(x.load(Relaxed) < 9),
            },
            Move {
                name: "store",
                operations: &[Write],
                act: |x| x.store(1, Relaxed),
            },
            Move {
                name: "swap",
                operations: &[Update],
                act: |x| assert!(x.swap(2, SeqCst) < 9),
            },
            Move {
                name: "fetch_add",
                operations: &[Update],
                act: |x| assert!(x.fetch_add(1, SeqCst) < 9),
            },
            Move {
                name: "a compare_exchange that fails",
                operations: &[Read],
                act: |x| assert!(x.compare_exchange(77, 1, SeqCst, SeqCst).is_err()),
            },
            Move {
                name: "fetch_update",
                operations: &[Read, Update],
                act: |x| assert!(x.fetch_update(SeqCst, SeqCst, Some).is_ok()),
            },
        ],
    );
    compare_pairs::<AtomicBool>(
        Role::Var,
        || AtomicBool::new(false),
        &[
            Move {
                name: "load of a bool",
                operations: &[Read],
                act: |x| assert!(!x.load(Relaxed)),
            },
            Move {
                name: "fetch_and of a bool",
                operations: &[Update],
                act: |x| assert!(!x.fetch_and(true, Relaxed)),
            },
        ],
    );
}

/// What somebody does with an object, and what another does then.
type Scenario<W> = (
    &'static str,
    &'static [Operation],
    &'static [Operation],
    fn(&W),
    fn(&W),
);

/// Of something that happens once, `first` and `second` are not the same operation.
#[test]
fn what_is_done_once() {
    let scenarios: [Scenario<OnceLock<u64>>; 5] = [
        (
            "get None, then set",
            &[Read],
            &[Update],
            |x| assert!(x.get().is_none()),
            |x| {
                x.set(1).unwrap();
            },
        ),
        (
            "set, then get",
            &[Update],
            &[Read],
            |x| x.set(1).unwrap(),
            |x| {
                assert!(x.get().is_some());
            },
        ),
        (
            "set, then set",
            &[Update],
            &[Read],
            |x| x.set(1).unwrap(),
            |x| {
                assert!(x.set(2).is_err());
            },
        ),
        (
            "get_or_init twice",
            &[Update],
            &[Read],
            |x| assert_eq!(*x.get_or_init(|| 1), 1),
            |x| {
                assert_eq!(*x.get_or_init(|| 2), 1);
            },
        ),
        (
            "get None twice",
            &[Read],
            &[Read],
            |x| assert!(x.get().is_none()),
            |x| {
                assert!(x.get().is_none());
            },
        ),
    ];
    for (name, first, second, act, react) in scenarios {
        compare(name, says(first, second, Role::Var), |turns| {
            let cell = OnceLock::new();
            one_then_other(turns, || act(&cell), || react(&cell));
        });
    }
    let scenarios: [Scenario<Once>; 4] = [
        (
            "looked, then called",
            &[Read],
            &[Update],
            |x| assert!(!x.is_completed()),
            |x| {
                x.call_once(|| {});
            },
        ),
        (
            "called, then looked",
            &[Update],
            &[Read],
            |x| x.call_once(|| {}),
            |x| {
                assert!(x.is_completed());
            },
        ),
        (
            "called twice",
            &[Update],
            &[Read],
            |x| x.call_once(|| {}),
            |x| x.call_once(|| {}),
        ),
        (
            "called, then waited",
            &[Update],
            &[Read],
            |x| x.call_once_force(|_| {}),
            Once::wait,
        ),
    ];
    for (name, first, second, act, react) in scenarios {
        compare(name, says(first, second, Role::Var), |turns| {
            let once = Once::new();
            one_then_other(turns, || act(&once), || react(&once));
        });
    }
    compare("LazyLock", says(&[Update], &[Read], Role::Var), |turns| {
        let lazy = LazyLock::new(|| 7);
        one_then_other(turns, || assert_eq!(*lazy, 7), || assert_eq!(*lazy, 7));
    });
}

/// Step 1 and `first` in one thread, then `second` and step 2 in another.
fn one_then_other(
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

const SECTION: &[Operation] = &[Lock, Unlock];
const SHARED_SECTION: &[Operation] = &[ReadLock, ReadUnlock];

#[test]
fn sections() {
    compare_pairs::<Mutex<()>>(
        Role::Lock,
        || Mutex::new(()),
        &[
            Move {
                name: "a section",
                operations: SECTION,
                act: |x| drop(x.lock().unwrap()),
            },
            Move {
                name: "a section that was tried",
                operations: SECTION,
                act: |x| drop(x.try_lock().unwrap()),
            },
        ],
    );
    compare_pairs::<RwLock<()>>(
        Role::Lock,
        || RwLock::new(()),
        &[
            Move {
                name: "write",
                operations: SECTION,
                act: |x| drop(x.write().unwrap()),
            },
            Move {
                name: "try_write",
                operations: SECTION,
                act: |x| drop(x.try_write().unwrap()),
            },
            Move {
                name: "read",
                operations: SHARED_SECTION,
                act: |x| drop(x.read().unwrap()),
            },
            Move {
                name: "try_read",
                operations: SHARED_SECTION,
                act: |x| drop(x.try_read().unwrap()),
            },
        ],
    );
}

type RawMutex = lock_api::Mutex<raw::RawMutex, ()>;
type RawRwLock = lock_api::RwLock<raw::RawRwLock, ()>;

#[test]
fn sections_of_raw_locks() {
    compare_pairs::<RawMutex>(
        Role::Lock,
        || RawMutex::new(()),
        &[
            Move {
                name: "a raw section",
                operations: SECTION,
                act: |x| drop(x.lock()),
            },
            Move {
                name: "a raw section that was tried",
                operations: SECTION,
                act: |x| drop(x.try_lock().unwrap()),
            },
        ],
    );
    compare_pairs::<RawRwLock>(
        Role::Lock,
        || RawRwLock::new(()),
        &[
            Move {
                name: "a raw write",
                operations: SECTION,
                act: |x| drop(x.write()),
            },
            Move {
                name: "a raw read",
                operations: SHARED_SECTION,
                act: |x| drop(x.read()),
            },
            Move {
                name: "a raw read that was tried",
                operations: SHARED_SECTION,
                act: |x| drop(x.try_read_recursive().unwrap()),
            },
            Move {
                name: "a raw write that is downgraded",
                operations: &[Lock, Unlock, ReadLock, ReadUnlock],
                act: |x| drop(lock_api::RwLockWriteGuard::downgrade(x.write())),
            },
        ],
    );
}

/// Somebody holds the lock by `hold` while others try it and fail.
fn compare_tries<W: Sync + 'static, G>(
    kind: &str,
    world: impl Fn() -> W,
    hold: impl for<'w> Fn(&'w W) -> G + Sync,
    try_it: impl Fn(&W) + Sync,
    [lock, unlock]: [Operation; 2],
) {
    let (hold, try_it) = (&hold, &try_it);
    // Only from the first try on is a lock watched from outside.
    let world = || {
        let world = world();
        let held = hold(&world);
        try_it(&world);
        drop(held);
        world
    };
    compare(
        &format!("{kind}, then a failed try"),
        says(&[lock], &[TryLock], Role::Lock),
        |turns| {
            let world = world();
            thread::scope(|s| {
                s.spawn(|| {
                    let held = turns.at(0, || {
                        step(1);
                        hold(&world)
                    });
                    turns.at(2, || drop(held));
                });
                s.spawn(|| {
                    turns.at(1, || {
                        try_it(&world);
                        step(2);
                    });
                });
            });
        },
    );
    compare(
        &format!("a failed try, then the end of {kind}"),
        says(&[TryLock], &[unlock], Role::Lock),
        |turns| {
            let world = world();
            thread::scope(|s| {
                s.spawn(|| {
                    let held = turns.at(0, || hold(&world));
                    turns.at(2, || {
                        drop(held);
                        step(2);
                    });
                });
                s.spawn(|| {
                    turns.at(1, || {
                        step(1);
                        try_it(&world);
                    });
                });
            });
        },
    );
    compare(
        &format!("two failed tries of {kind}"),
        says(&[TryLock], &[TryLock], Role::Lock),
        |turns| {
            let world = world();
            thread::scope(|s| {
                s.spawn(|| {
                    let held = turns.at(0, || hold(&world));
                    turns.at(3, || drop(held));
                });
                s.spawn(|| {
                    turns.at(1, || {
                        step(1);
                        try_it(&world);
                    });
                });
                s.spawn(|| {
                    turns.at(2, || {
                        try_it(&world);
                        step(2);
                    });
                });
            });
        },
    );
}

#[test]
fn failed_tries() {
    // Never freed, so that a guard need not borrow from what the scenario makes.
    type Held<T> = &'static T;
    fn leaked<T>(value: T) -> Held<T> {
        Box::leak(Box::new(value))
    }
    // The first one does not know who holds the lock, and is counted.
    let (recording, stream) = Recording::relevant(["step"]).start();
    let (entered, first) = (recording.enter(), Mutex::new(()));
    let held = first.lock().unwrap();
    assert!(first.try_lock().is_err() && first.try_lock().is_err());
    drop((held, entered));
    assert_eq!(stream.counts().blind, 2);
    compare_tries(
        "a section",
        || leaked(Mutex::new(())),
        |x: &Held<Mutex<()>>| x.lock().unwrap(),
        |x| assert!(x.try_lock().is_err()),
        [Lock, Unlock],
    );
    compare_tries(
        "a write",
        || leaked(RwLock::new(())),
        |x: &Held<RwLock<()>>| x.write().unwrap(),
        |x| assert!(x.try_read().is_err()),
        [Lock, Unlock],
    );
    compare_tries(
        "a raw section",
        || leaked(RawMutex::new(())),
        |x: &Held<RawMutex>| x.lock(),
        |x| assert!(x.try_lock().is_none()),
        [Lock, Unlock],
    );
    compare_tries(
        "a raw write",
        || leaked(RawRwLock::new(())),
        |x: &Held<RawRwLock>| x.write(),
        |x| assert!(x.try_read().is_none()),
        [Lock, Unlock],
    );
    compare_tries(
        "a raw read",
        || leaked(RawRwLock::new(())),
        |x: &Held<RawRwLock>| x.read(),
        |x| assert!(x.try_write().is_none()),
        [ReadLock, ReadUnlock],
    );
    compare_tries(
        "a read",
        || leaked(RwLock::new(())),
        |x: &Held<RwLock<()>>| x.read().unwrap(),
        |x| assert!(x.try_write().is_err()),
        [ReadLock, ReadUnlock],
    );
}

#[test]
fn messages() {
    let open = mpsc::channel::<u8>;
    compare(
        "send, then recv",
        says(&[Send], &[Recv], Role::Message),
        |turns| {
            let (sender, receiver) = open();
            one_then_other(
                turns,
                move || sender.send(1).unwrap(),
                move || {
                    receiver.recv().unwrap();
                },
            );
        },
    );
    compare(
        "send, then send",
        says(&[Send], &[Send], Role::Sends),
        |turns| {
            let (sender, _receiver) = open();
            let other = sender.clone();
            let kept = sender.clone();
            one_then_other(turns, || kept.send(1).unwrap(), || other.send(2).unwrap());
        },
    );
    // What a later receive learns of an earlier one: through the order of the receives alone.
    compare(
        "recv, then recv",
        says(&[Recv], &[Recv], Role::Receives),
        |turns| {
            let (sender, receiver) = open();
            sender.send(1).unwrap();
            sender.send(2).unwrap();
            let receiver = std::sync::Mutex::new(receiver);
            let receive = || assert!(receiver.lock().unwrap().recv().is_ok());
            one_then_other(turns, receive, receive);
        },
    );
    compare(
        "recv, then send where there is room for one",
        says(&[Recv], &[Send], Role::Room),
        |turns| {
            let (sender, receiver) = mpsc::sync_channel(1);
            sender.send(1).unwrap();
            let receiver = std::sync::Mutex::new(receiver);
            one_then_other(
                turns,
                || assert!(receiver.lock().unwrap().recv().is_ok()),
                || sender.send(2).unwrap(),
            );
        },
    );
    compare(
        "recv, then send where there is no bound",
        says(&[Recv], &[Send], Role::Channel),
        |turns| {
            let (sender, receiver) = open();
            sender.send(1).unwrap();
            let receiver = std::sync::Mutex::new(receiver);
            one_then_other(
                turns,
                || assert!(receiver.lock().unwrap().recv().is_ok()),
                || sender.send(2).unwrap(),
            );
        },
    );
    compare(
        "finding nothing, then send",
        says(&[TryRecv], &[Send], Role::Channel),
        |turns| {
            let (sender, receiver) = open();
            let receiver = std::sync::Mutex::new(receiver);
            one_then_other(
                turns,
                || assert!(receiver.lock().unwrap().try_recv().is_err()),
                || sender.send(2).unwrap(),
            );
        },
    );
    let after_both = says(&[Send], &[TryRecv], Role::Channel);
    compare("send and recv, then finding nothing", after_both, |turns| {
        let (sender, receiver) = open();
        let receiver = std::sync::Mutex::new(receiver);
        let receiver = &receiver;
        let kept = &sender;
        thread::scope(|s| {
            s.spawn(|| {
                turns.at(0, || {
                    step(1);
                    kept.send(1).unwrap();
                });
            });
            s.spawn(|| turns.at(1, || assert!(receiver.lock().unwrap().recv().is_ok())));
            s.spawn(|| {
                turns.at(2, || {
                    assert!(receiver.lock().unwrap().try_recv().is_err());
                    step(2);
                });
            });
        });
    });
    compare(
        "finding nothing, twice",
        says(&[TryRecv], &[TryRecv], Role::Channel),
        |turns| {
            let (_sender, receiver) = open();
            let receiver = std::sync::Mutex::new(receiver);
            let look = || assert!(receiver.lock().unwrap().try_recv().is_err());
            one_then_other(turns, look, look);
        },
    );
    // A sender that waits for the receiver goes on after it.
    let waits = access(Send, Role::Delivery) == Access::Await;
    assert_eq!(access(Recv, Role::Delivery), Access::Contribute);
    compare("recv, then what follows a send without room", waits, |_| {
        let (sender, receiver) = mpsc::sync_channel(0);
        thread::scope(|s| {
            s.spawn(move || {
                step(1);
                receiver.recv().unwrap();
            });
            s.spawn(move || {
                sender.send(1).unwrap();
                step(2);
            });
        });
    });
    compare(
        "closing, then hearing of it",
        says(&[Notify], &[Wait], Role::Condition),
        |turns| {
            let (sender, receiver) = open();
            one_then_other(
                turns,
                move || drop(sender),
                move || {
                    assert!(receiver.recv().is_err());
                },
            );
        },
    );
}

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
