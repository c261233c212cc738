//! Small programs on which some search once missed something.

use std::sync::Arc;

use portent_explore::{
    Explorer, Report,
    strategy::{Flipping, Optimal, Source, Strategy},
};
use portent_hooks::{
    sync::atomic::{AtomicU32, Ordering::SeqCst},
    thread,
};

type Variables = Arc<[AtomicU32; 5]>;

/// Threads that share some variables, which are met before there is a choice.
fn program(bodies: &[fn(&Variables)]) {
    let variables: Variables = Arc::new([const { AtomicU32::new(0) }; 5]);
    for variable in variables.iter() {
        variable.load(SeqCst);
    }
    let threads: Vec<_> = bodies
        .iter()
        .map(|&body| {
            let variables = Arc::clone(&variables);
            thread::spawn(move || body(&variables))
        })
        .collect();
    for thread in threads {
        let _ = thread.join();
    }
}

fn search<S: Strategy + 'static>(strategy: fn() -> S, bodies: &[fn(&Variables)]) -> Report {
    let report = Explorer::new()
        .strategy(strategy)
        .keep_going()
        .check(|| program(bodies));
    assert!(
        report.stopped == portent_explore::Stopped::Exhausted,
        "{report}"
    );
    report
}

/// All searches agree on how many classes there are, and on how many fail.
fn agree(bodies: &[fn(&Variables)]) -> (u64, u64) {
    let source = search(Source::new, bodies);
    let optimal = search(Optimal::new, bodies);
    let flipping = search(Flipping::new, bodies);
    assert_eq!(optimal.notes, Vec::<String>::new());
    assert_eq!(optimal.blocked, 0);
    for other in [&optimal, &flipping] {
        assert_eq!(
            (source.executions, source.failed),
            (other.executions, other.failed)
        );
    }
    (source.executions, source.failed)
}

/// The thread that is to turn a race round may sleep: then another initial has to be taken, and all races have to be looked at.
#[test]
fn the_chosen_thread_sleeps() {
    let (_, failed) = agree(&[
        |v| {
            if v[0].fetch_add(1, SeqCst) == 1 {
                v[1].store(1, SeqCst);
            }
        },
        |v| assert_ne!(v[1].load(SeqCst), 1),
        |v| {
            v[1].store(2, SeqCst);
            v[0].fetch_add(1, SeqCst);
        },
    ]);
    assert!(failed > 0);
}

/// After the first write two threads are alike, but only before it their order matters.
#[test]
fn threads_that_are_alike_only_later() {
    let alike = |v: &Variables| {
        if v[0].fetch_add(1, SeqCst) == 0 {
            assert_eq!(v[1].load(SeqCst), 1);
        }
    };
    let (_, failed) = agree(&[
        |v| {
            v[1].store(1, SeqCst);
            if v[0].fetch_add(1, SeqCst) == 0 {
                assert_eq!(v[1].load(SeqCst), 1);
            }
        },
        alike,
    ]);
    assert!(failed > 0);
}

/// A sequence must not be compared with a tree by guessing what depends on what.
#[test]
fn dependence_is_known_in_trees() {
    agree(&[
        |v| {
            v[0].load(SeqCst);
            v[1].fetch_add(1, SeqCst);
        },
        |v| {
            v[0].load(SeqCst);
            v[2].store(1, SeqCst);
            v[2].load(SeqCst);
            v[1].fetch_add(1, SeqCst);
        },
        |v| {
            v[0].fetch_add(1, SeqCst);
            v[2].store(2, SeqCst);
            v[0].store(3, SeqCst);
            v[2].store(4, SeqCst);
        },
    ]);
}

/// A latest conflict that cannot be turned round hides an earlier one that can.
#[test]
fn an_earlier_conflict() {
    let report = search(
        Source::new,
        &[
            |v| assert_eq!(v[0].load(SeqCst), 0),
            |v| {
                v[0].load(SeqCst);
                v[1].store(1, SeqCst);
            },
            |v| {
                if v[1].load(SeqCst) == 1 {
                    v[0].store(1, SeqCst);
                }
            },
        ],
    );
    assert!(report.failed > 0);
}
