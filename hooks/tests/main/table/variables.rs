//! Variables, atomics, and what is done once.

use portent_hooks::{
    Shared,
    sync::{
        LazyLock, Once, OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};
use portent_monitor_core::{
    Operation::{Read, Update, Write},
    Role,
};

use super::{Move, Scenario, compare, compare_pairs, one_then_other, says};

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
