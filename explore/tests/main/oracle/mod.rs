//! Random small programs: what the explorer finds against every interleaving, by an interpreter that shares no code with it.
//!
//! | file | |
//! |---|---|
//! | `program` | what threads may do, and random programs |
//! | `state`, `state/` | what a program has got to, and what each thread can do next |
//! | `interpreter` | every interleaving, by copying states; classes from the definition |
//! | `explored` | the same programs on the hooks, under the explorer |
//! | `named` | programs on which some search once went wrong |
//!
//! `PORTENT_CASES=5000` asks for more programs of each mix.

mod explored;
mod interpreter;
mod named;
mod program;
mod state;

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
};

use portent_explore::{
    Explorer,
    strategy::{Exhaustive, Flipping, Optimal, Preemption, Source},
};
use portent_testing::Rng;

use self::{
    explored::{Found, Run, explore},
    interpreter::{Class, Expected, enumerate},
    program::{Instruction, Mix, Part, Program},
};

/// Programs with more interleavings are left out where many are asked for, and where not.
const MOST: usize = 30_000;
const MOST_AT_ONCE: usize = 6_000;
/// Programs with more are not run in all of their interleavings.
const FEW: usize = 1_000;

/// How many programs of each mix are asked for.
fn cases() -> Option<usize> {
    let told = env::var("PORTENT_CASES").ok();
    told.and_then(|told| told.parse().ok())
}

/// What was seen of one mix.
#[derive(Debug, Default)]
struct Totals {
    programs: usize,
    interleavings: usize,
    classes: u64,
    deadlocked: usize,
    failed: usize,
    /// Runs in vain, of source sets and where races are flipped.
    blocked: u64,
    flipped_in_vain: u64,
    /// Programs in which wake-up trees were given up, because of a choice.
    without_trees: usize,
    /// Orders in which threads write variables, and those that were seen in the runs of source sets themselves.
    orders: usize,
    seen_orders: usize,
    /// How many were run in all of their interleavings.
    exhausted: usize,
}

/// Compares all searches with what there is, for many programs of a mix. `PORTENT_SEED` asks for other ones.
fn compare(mix: &Mix, seed: u64) -> Totals {
    let other = env::var("PORTENT_SEED").ok();
    let other: u64 = other.and_then(|other| other.parse().ok()).unwrap_or(0);
    let mut rng = Rng::new(seed + other);
    let mut totals = Totals::default();
    let (cases, most) = match cases() {
        Some(cases) => (cases, MOST),
        None => (300, MOST_AT_ONCE),
    };
    while totals.programs < cases {
        let program = Program::random(&mut rng, mix);
        let Some(expected) = enumerate(&program, most) else {
            continue;
        };
        totals.add(&program, &expected);
    }
    println!("{}: {totals:?}", mix.name);
    // Of few programs one may be unlucky.
    assert!(
        totals.programs < 300 || totals.blocked * 50 <= totals.classes,
        "more than 2 % of runs are in vain: {totals:?}"
    );
    totals
}

impl Totals {
    fn add(&mut self, program: &Program, expected: &Expected) {
        self.programs += 1;
        self.interleavings += expected.interleavings;
        self.classes += expected.classes.len() as u64;
        let deadlocks = expected.classes.values();
        self.deadlocked += deadlocks.filter(|deadlock| **deadlock).count();
        self.failed += failed(expected);

        let source = || Explorer::new().strategy(Source::new);
        let found = explore(program, false, 1, source());
        once(program, expected, "source", &found);
        self.blocked += found.report.blocked;
        self.orders += expected.orders.len();
        self.seen_orders += orders(program, expected, &found);

        let found = explore(program, true, 1, Explorer::new().strategy(Optimal::new));
        once(program, expected, "optimal", &found);
        let gave_up = { found.report.notes.iter() }.any(|note| note.contains("wake-up trees"));
        self.without_trees += usize::from(gave_up);
        assert!(gave_up || found.report.blocked == 0, "{program}");

        let found = explore(program, false, 1, Explorer::new().strategy(Flipping::new));
        once(program, expected, "flipping", &found);
        self.flipped_in_vain += found.report.blocked;

        if self.programs.is_multiple_of(3) {
            let found = explore(program, false, 3, Explorer::new());
            once(program, expected, "in parallel", &found);
        }
        if self.programs % 3 == 1 && expected.interleavings < FEW {
            self.exhausted += 1;
            let all = Explorer::new().strategy(|| Preemption::new(u32::MAX));
            all_of(
                program,
                expected,
                "preemption",
                &explore(program, false, 1, all),
            );
            let all = Explorer::new().strategy(Exhaustive::new);
            all_of(
                program,
                expected,
                "exhaustive",
                &explore(program, false, 1, all),
            );
        }
    }
}

/// How many classes have a thread that panics.
fn failed(expected: &Expected) -> usize {
    let classes = expected.classes.keys();
    classes
        .filter(|class| class.ends.contains(&Some(u32::MAX)))
        .count()
}

/// The orders of the writes in all classes together are what all interleavings show; how many the runs themselves show.
fn orders(program: &Program, expected: &Expected, found: &Found) -> usize {
    let mut all = BTreeSet::new();
    let mut seen = BTreeSet::new();
    for run in &found.runs {
        seen.insert(run.writes.iter().map(|write| write.0).collect::<Vec<_>>());
        linearise(&run.writes, &mut Vec::new(), &mut all);
    }
    assert_eq!(all, expected.orders, "{program}\n{}", found.report);
    seen.len()
}

/// Adds all orders in which these events can come. `taken` are those that came already.
fn linearise(
    events: &[(usize, Vec<u16>)],
    taken: &mut Vec<usize>,
    orders: &mut BTreeSet<Vec<usize>>,
) {
    if taken.len() == events.len() {
        orders.insert(taken.iter().map(|event| events[*event].0).collect());
        return;
    }
    for (number, (_, row)) in events.iter().enumerate() {
        let is_next = (0..events.len()).all(|other| {
            let (by, own) = &events[other];
            other == number || taken.contains(&other) || row[*by] < own[*by]
        });
        if is_next && !taken.contains(&number) {
            taken.push(number);
            linearise(events, taken, orders);
            taken.pop();
        }
    }
}

/// Every class was seen, and none twice.
fn once(program: &Program, expected: &Expected, name: &str, found: &Found) {
    let seen = all_of(program, expected, name, found);
    assert_eq!(
        seen,
        found.runs.len(),
        "{name}: a class was seen twice\n{program}\n{}",
        found.report
    );
    let deadlocks = expected.classes.values().filter(|deadlock| **deadlock);
    assert_eq!(
        found.report.deadlocks,
        deadlocks.count() as u64,
        "{name}\n{program}"
    );
    let fails =
        |(class, deadlock): (&Class, &bool)| *deadlock || class.ends.contains(&Some(u32::MAX));
    let failed = expected
        .classes
        .iter()
        .filter(|class| fails(*class))
        .count();
    assert_eq!(
        found.report.failed, failed as u64,
        "{name}\n{program}\n{}",
        found.report
    );
}

/// Every class was seen, and nothing else; how many.
fn all_of(program: &Program, expected: &Expected, name: &str, found: &Found) -> usize {
    let report = &found.report;
    let mut seen: BTreeMap<&Class, bool> = BTreeMap::new();
    for Run {
        class, is_deadlock, ..
    } in &found.runs
    {
        assert_eq!(
            expected.classes.get(class),
            Some(is_deadlock),
            "{name}: there is no such run\n{program}\n{class:?}\nbut\n{:#?}\n{report}",
            expected.classes
        );
        seen.insert(class, *is_deadlock);
    }
    for class in expected.classes.keys() {
        assert!(
            seen.contains_key(class),
            "{name}: {} of {} classes\n{program}\n{class:?}\n{report}",
            seen.len(),
            expected.classes.len()
        );
    }
    seen.len()
}

/// One test for each mix: its parts, how often threads may wake up for no reason, and what has to have been seen.
macro_rules! mixes {
    ($($test:ident: $($part:ident)+, spurious $spurious:literal, seed $seed:literal, $($seen:ident)*;)*) => {$(
        #[test]
        fn $test() {
            let totals = compare(
                &Mix {
                    name: stringify!($test),
                    parts: &[$(Part::$part),+],
                    spurious: $spurious,
                },
                $seed,
            );
            // Few programs may show nothing of it.
            $(assert!(totals.programs < 300 || totals.$seen > 0, "{totals:?}");)*
        }
    )*};
}

mixes! {
    variables: Variables, spurious 0, seed 1, exhausted;
    mutexes: Variables Mutexes, spurious 0, seed 2, deadlocked;
    read_write_locks: Variables Mutexes ReadWrite, spurious 0, seed 3, deadlocked;
    conditions: Variables Mutexes Conditions, spurious 0, seed 4, deadlocked;
    channels: Variables Channel, spurious 0, seed 5, deadlocked;
    all_of_these: Variables Mutexes ReadWrite Conditions Channel, spurious 0, seed 6, deadlocked;
    tried_mutexes: Variables Mutexes Tries, spurious 0, seed 7, deadlocked;
    tried_mutexes_and_conditions: Variables Mutexes Tries Conditions, spurious 0, seed 8, deadlocked;
    // Beyond those of the notes.
    failures: Variables Mutexes ReadWrite Failures, spurious 0, seed 9, failed;
    tried_read_write_locks: Variables ReadWrite ReadWriteTries, spurious 0, seed 10, deadlocked;
    tried_channels: Variables Channel ChannelTries, spurious 0, seed 11, deadlocked;
    spurious_wake_ups: Variables Conditions Tokens, spurious 1, seed 12, deadlocked;
    barriers: Variables Barrier Mutexes, spurious 0, seed 13, deadlocked;
    tokens: Variables Tokens, spurious 0, seed 14, deadlocked;
    done_once: Variables Once, spurious 0, seed 15, exhausted;
    timed: Variables Mutexes Conditions Channel Tokens Timed, spurious 0, seed 16, deadlocked;
}
