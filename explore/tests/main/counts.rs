//! How many runs a search needs: exactly as many as there are classes.

use portent_explore::{
    Explorer, Report, Stopped,
    strategy::{Exhaustive, Flipping, Optimal, Preemption, Source, Strategy},
};

use crate::programs;

fn source(program: impl Fn()) -> Report {
    let report = Explorer::new()
        .strategy(Source::new)
        .keep_going()
        .check(&program);
    assert_eq!(report.stopped, Stopped::Exhausted, "{report}");
    let optimal = Explorer::new()
        .strategy(Optimal::new)
        .keep_going()
        .check(&program);
    assert_eq!(
        (optimal.executions, optimal.blocked, optimal.deadlocks),
        (report.executions, 0, report.deadlocks),
        "{optimal}"
    );
    report
}

/// Executions, cut runs, deadlocks.
fn counts(program: impl Fn()) -> (u64, u64, u64) {
    let report = source(program);
    (report.executions, report.blocked, report.deadlocks)
}

#[test]
fn updates_of_one_number() {
    assert_eq!(counts(|| programs::updates(2, 3)), (20, 0, 0));
    assert_eq!(counts(|| programs::updates(3, 2)), (90, 0, 0));
}

#[test]
fn loads_and_stores_of_one_number() {
    assert_eq!(counts(|| programs::loads_and_stores(2, 2)), (34, 0, 0));
    assert_eq!(counts(|| programs::loads_and_stores(2, 3)), (328, 0, 0));
}

#[test]
fn critical_sections() {
    for (threads, times, expected) in [
        (3, 1, 6),
        (4, 1, 24),
        (3, 2, 90),
        (4, 2, 2520),
        (2, 7, 3432),
    ] {
        assert_eq!(
            counts(|| programs::sections(threads, times)),
            (expected, 0, 0),
            "{threads} threads, {times} sections each"
        );
    }
}

#[test]
fn one_writer_and_readers() {
    assert_eq!(counts(|| programs::readers(8)), (256, 0, 0));
}

#[test]
fn philosophers() {
    assert_eq!(counts(|| programs::philosophers(3)), (7, 0, 1));
    assert_eq!(counts(|| programs::philosophers(5)), (31, 0, 1));
}

/// Where source sets run in vain, wake-up trees do not.
#[test]
fn the_last_zero() {
    for (places, classes, in_vain) in [(5, 64, 15), (7, 320, 294), (10, 3328, 11_951)] {
        assert_eq!(
            counts(|| programs::last_zero(places)),
            (classes, in_vain, 0),
            "{places} places"
        );
    }
}

#[test]
fn a_table_by_compare_and_swap() {
    assert_eq!(counts(|| programs::indexer(11)), (1, 0, 0));
    assert_eq!(counts(|| programs::indexer(12)), (8, 0, 0));
    assert_eq!(counts(|| programs::indexer(14)), (512, 0, 0));
}

#[test]
fn blocks_for_files() {
    assert_eq!(counts(|| programs::file_system(13)), (1, 0, 0));
    assert_eq!(counts(|| programs::file_system(16)), (8, 0, 0));
    assert_eq!(counts(|| programs::file_system(20)), (128, 0, 0));
}

#[test]
fn crossed_locks_have_three_runs_and_one_is_a_deadlock() {
    assert_eq!(counts(programs::crossed_locks), (3, 0, 1));
}

#[test]
fn all_interleavings_are_of_the_same_classes() {
    for program in [
        (|| programs::updates(2, 3)) as fn(),
        || programs::loads_and_stores(2, 2),
        || programs::sections(3, 1),
        programs::crossed_locks,
    ] {
        let all = Explorer::new()
            .strategy(Exhaustive::new)
            .keep_going()
            .check(program);
        let classes = source(program).classes;
        assert_eq!(all.classes, classes);
        assert!(Some(all.executions) >= classes);
    }
}

/// Programs that show where searches differ: how many classes they have, and how many runs flipping makes in vain.
#[test]
fn races_flipped() {
    fn writes(variables: &'static [&'static [usize]]) -> impl Fn() {
        move || programs::writes(variables)
    }
    type Row = (&'static str, Box<dyn Fn()>, u64, u64);
    let programs: [Row; 9] = [
        (
            "two write, one looks",
            Box::new(programs::write_and_look),
            3,
            0,
        ),
        (
            "two of three write the same",
            Box::new(writes(&[&[0], &[1], &[0]])),
            2,
            0,
        ),
        ("three read", Box::new(|| programs::readers_only(3)), 1, 0),
        (
            "two writes each",
            Box::new(writes(&[&[0, 0], &[1, 0]])),
            3,
            0,
        ),
        ("crossed locks", Box::new(programs::crossed_locks), 3, 0),
        (
            "three unlocked updates",
            Box::new(|| programs::loads_and_stores(3, 1)),
            36,
            0,
        ),
        (
            "three locked updates",
            Box::new(|| programs::sections(3, 1)),
            6,
            0,
        ),
        (
            "two unlocked updates each",
            Box::new(|| programs::loads_and_stores(2, 2)),
            34,
            0,
        ),
        ("philosophers", Box::new(|| programs::philosophers(3)), 7, 1),
    ];
    for (name, program, classes, in_vain) in programs {
        assert_eq!(source(&program).executions, classes, "{name}");
        let report = Explorer::new()
            .strategy(Flipping::new)
            .keep_going()
            .check(&program);
        assert_eq!(
            (report.executions, report.blocked),
            (classes, in_vain),
            "{name}"
        );
    }
}

/// Two threads that load and store once: 6 interleavings, in two of which nobody is interrupted.
#[test]
fn interruptions() {
    let mut runs = Vec::new();
    for bound in 0..4 {
        let report = Explorer::new()
            .strategy(move || Preemption::new(bound))
            .check(|| programs::loads_and_stores(2, 1));
        runs.push((report.executions, report.stopped));
    }
    assert_eq!(
        runs,
        [
            (2, Stopped::Bound),
            (4, Stopped::Bound),
            (6, Stopped::Exhausted),
            (6, Stopped::Exhausted)
        ]
    );
}

/// How many runs of a program there are in which whoever has waited longest is notified, if no run is in vain.
fn first_waiters<S: Strategy + 'static>(
    program: impl Fn(),
    strategy: impl Fn() -> S + 'static,
) -> u64 {
    let report = Explorer::new()
        .strategy(strategy)
        .first_waiter()
        .check(program);
    assert_eq!(
        (report.stopped, report.blocked, report.notes.len()),
        (Stopped::Exhausted, 0, 0),
        "{report}"
    );
    report.executions
}

/// Counts of the literature.
#[test]
fn large_counts() {
    let programs: [(fn(), u64); 3] = [
        (|| programs::sections(5, 2), 113_400),
        (|| programs::file_system(26), 8192),
        (|| programs::indexer(16), 32_768),
    ];
    for (program, classes) in programs {
        assert_eq!(first_waiters(program, Source::new), classes);
    }
    // The others meet their objects in the middle of runs, where trees are not searched.
    let sections = || programs::sections(5, 2);
    assert_eq!(first_waiters(sections, Optimal::new), 113_400);
}

/// A ring of places, with one mutex and two conditions: two who put and two who take, two items each.
#[test]
fn bounded_buffers() {
    for (capacity, classes) in [(1, 50_264), (2, 18_252), (3, 10_548)] {
        let program = || programs::bounded_buffer(2, 2, capacity);
        assert_eq!(
            first_waiters(program, Source::new),
            classes,
            "room for {capacity}"
        );
        assert_eq!(
            first_waiters(program, Optimal::new),
            classes,
            "room for {capacity}"
        );
    }
}

/// The largest counts, where time is given for them: `PORTENT_CASES=5000`.
#[test]
fn very_large_counts() {
    let asked = std::env::var("PORTENT_CASES").ok();
    let asked: u64 = asked.and_then(|asked| asked.parse().ok()).unwrap_or(0);
    // One who puts or takes in each of six threads is the largest of the kind that always runs.
    let program = || programs::bounded_buffer(3, 1, 2);
    let classes = first_waiters(program, Source::new);
    assert_eq!(first_waiters(program, Optimal::new), classes);
    println!("3 + 3: {classes}");
    if asked >= 5_000 {
        let program = || programs::bounded_buffer(4, 1, 2);
        assert_eq!(first_waiters(program, Source::new), 1_938_816);
        let program = || programs::sections(4, 3);
        assert_eq!(first_waiters(program, Source::new), 369_600);
        assert_eq!(first_waiters(program, Optimal::new), 369_600);
    }
}
