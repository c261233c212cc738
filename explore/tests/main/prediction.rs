//! What properties are told of explored programs, against every interleaving by an interpreter that shares no code with the explorer.
//!
//! Of each class of runs one is run, and its order stands for the others: together the linearisations of the relevant steps of all
//! classes have to be exactly what is relevant in all interleavings. And a property is violated if and only if some interleaving
//! violates it, which then is made to happen.

use std::{collections::BTreeSet, env, fmt, rc::Rc, sync::Arc};

use portent_explore::{Confirmation, Explorer, FailureKind, Kind, Stopped};
use portent_hooks::{
    Shared, event,
    sync::{
        Mutex,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    thread,
};
use portent_monitor_dsl::{Monitor, Property, Value, Verdict};
use portent_testing::Rng;

/// What a thread does at one place; each is one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Instruction {
    /// Of a variable that properties speak of, `x` or `y`.
    Write(usize, i64),
    /// The application event `a` or `b`.
    Event(usize),
    /// Of a variable that only orders threads; the value goes to the register.
    Read,
    Store(u32),
    /// Leaves the next instruction out if the register is not 0.
    Skip,
    Lock,
    Unlock,
}

struct Program(Vec<Vec<Instruction>>);

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        { self.0.iter() }.try_for_each(|thread| writeln!(f, "{thread:?}"))
    }
}

impl Program {
    fn random(rng: &mut Rng) -> Program {
        let threads = rng.between(2, 3);
        let mut thread = || {
            let mut instructions = Vec::new();
            let mut is_locked = false;
            for _ in 0..rng.between(1, if threads == 2 { 5 } else { 3 }) {
                instructions.push(match rng.below(8) {
                    0 | 1 => Instruction::Write(rng.below(2), rng.below(3) as i64),
                    2 | 3 => Instruction::Event(rng.below(2)),
                    4 => Instruction::Read,
                    5 => Instruction::Store(rng.below(2) as u32),
                    6 => Instruction::Skip,
                    _ if is_locked => Instruction::Unlock,
                    _ => Instruction::Lock,
                });
                match instructions.last() {
                    Some(Instruction::Lock) => is_locked = true,
                    Some(Instruction::Unlock) => is_locked = false,
                    _ => {}
                }
            }
            if is_locked {
                instructions.push(Instruction::Unlock);
            }
            instructions
        };
        Program((0..threads).map(|_| thread()).collect())
    }
}

/// A relevant step: who, which one of its thread, and what.
type Relevant = (usize, usize, Instruction);

/// What is relevant in every interleaving; `None` if there are too many.
fn interleavings(program: &Program) -> Option<BTreeSet<Vec<(usize, usize)>>> {
    Some(
        all(program)?
            .into_iter()
            .map(|run| run.iter().map(|step| (step.0, step.1)).collect())
            .collect(),
    )
}

fn all(program: &Program) -> Option<Vec<Vec<Relevant>>> {
    struct Search<'a> {
        program: &'a Program,
        run: Vec<Relevant>,
        found: Vec<Vec<Relevant>>,
        count: usize,
    }
    #[derive(Clone)]
    struct State {
        at: Vec<usize>,
        registers: Vec<u32>,
        relevant: Vec<usize>,
        order: u32,
        owner: Option<usize>,
    }
    impl Search<'_> {
        fn go(&mut self, state: &State) -> bool {
            let mut is_end = true;
            for thread in 0..self.program.0.len() {
                let mut next = state.clone();
                while self.program.0[thread].get(next.at[thread]) == Some(&Instruction::Skip) {
                    next.at[thread] += 1 + usize::from(next.registers[thread] != 0);
                }
                let Some(&instruction) = self.program.0[thread].get(next.at[thread]) else {
                    continue;
                };
                next.at[thread] += 1;
                let mut is_relevant = false;
                match instruction {
                    Instruction::Write(..) | Instruction::Event(_) => is_relevant = true,
                    Instruction::Read => next.registers[thread] = next.order,
                    Instruction::Store(value) => next.order = value,
                    Instruction::Lock if next.owner.is_some() => {
                        // A thread whose lock was left out keeps it for ever, which is an end, too.
                        continue;
                    }
                    Instruction::Lock => next.owner = Some(thread),
                    Instruction::Unlock if next.owner == Some(thread) => next.owner = None,
                    Instruction::Unlock | Instruction::Skip => {}
                }
                is_end = false;
                if is_relevant {
                    self.run.push((thread, next.relevant[thread], instruction));
                    next.relevant[thread] += 1;
                }
                let more = self.go(&next);
                if is_relevant {
                    self.run.pop();
                }
                if !more {
                    return false;
                }
            }
            if is_end {
                self.found.push(self.run.clone());
                self.count += 1;
            }
            self.count < 20_000
        }
    }
    let threads = program.0.len();
    let mut search = Search {
        program,
        run: Vec::new(),
        found: Vec::new(),
        count: 0,
    };
    let state = State {
        at: vec![0; threads],
        registers: vec![0; threads],
        relevant: vec![0; threads],
        order: 0,
        owner: None,
    };
    search.go(&state).then_some(search.found)
}

/// The program itself.
fn run(program: &Program) {
    struct Objects {
        variables: [Shared<i64>; 2],
        order: AtomicU32,
        mutex: Mutex<()>,
    }
    let objects = Arc::new(Objects {
        variables: [Shared::with_name("x", 0), Shared::with_name("y", 0)],
        order: AtomicU32::new(0),
        mutex: Mutex::new(()),
    });
    let threads: Vec<_> = { program.0.iter() }
        .map(|instructions| {
            let (objects, instructions) = (Arc::clone(&objects), instructions.clone());
            thread::spawn(move || {
                let mut guard = None;
                let mut register = 0;
                let mut at = 0;
                while let Some(instruction) = instructions.get(at) {
                    at += 1;
                    match *instruction {
                        Instruction::Write(variable, value) => {
                            objects.variables[variable].set(value)
                        }
                        Instruction::Event(0) => event!(a),
                        Instruction::Event(_) => event!(b),
                        Instruction::Read => register = objects.order.load(SeqCst),
                        Instruction::Store(value) => objects.order.store(value, SeqCst),
                        Instruction::Skip => at += usize::from(register != 0),
                        Instruction::Lock => guard = Some(objects.mutex.lock().unwrap()),
                        Instruction::Unlock => guard = None,
                    }
                }
                // One whose unlock was left out keeps the mutex.
                std::mem::forget(guard);
            })
        })
        .collect();
    for thread in threads {
        let _ = thread.join();
    }
}

fn monitor(text: &str) -> Monitor {
    Property::parse(text).unwrap().monitor().unwrap()
}

/// All linearisations of the relevant steps of a run, which are given by thread and clock.
fn linearisations(steps: &[(usize, Vec<u16>, u16)]) -> BTreeSet<Vec<(usize, usize)>> {
    fn go(
        steps: &[(usize, Vec<u16>, u16)],
        taken: &mut Vec<usize>,
        found: &mut BTreeSet<Vec<(usize, usize)>>,
    ) {
        if taken.len() == steps.len() {
            let number = |event: usize| {
                let thread = steps[event].0;
                steps[..event]
                    .iter()
                    .filter(|step| step.0 == thread)
                    .count()
            };
            found.insert(
                taken
                    .iter()
                    .map(|&event| (steps[event].0, number(event)))
                    .collect(),
            );
            return;
        }
        for event in 0..steps.len() {
            let is_free = (0..steps.len()).all(|other| {
                let (thread, _, index) = &steps[other];
                taken.contains(&other) || other == event || steps[event].1[*thread + 1] < *index
            });
            if is_free && !taken.contains(&event) {
                taken.push(event);
                go(steps, taken, found);
                taken.pop();
            }
        }
    }
    let mut found = BTreeSet::new();
    go(steps, &mut Vec::new(), &mut found);
    found
}

fn cases() -> usize {
    let told = env::var("PORTENT_CASES").ok();
    told.and_then(|told| told.parse().ok()).unwrap_or(5_000)
}

#[test]
fn the_orders_of_all_classes_together_are_what_all_interleavings_show() {
    let mut rng = Rng::new(41);
    let (mut programs, mut sequences, mut runs, mut all_runs, mut shown) = (0, 0, 0, 0, 0);
    while programs < cases() {
        let program = Program::random(&mut rng);
        let Some(expected) = interleavings(&program) else {
            continue;
        };
        programs += 1;
        let found = Arc::new(std::sync::Mutex::new((BTreeSet::new(), BTreeSet::new())));
        let union = Arc::clone(&found);
        let report = Explorer::new()
            .property(monitor("always (a || b || x < 9 || y < 9)"))
            .keep_going()
            .each(move |execution| {
                let relevant = execution.events().filter(|event| match event.kind() {
                    Kind::Event => true,
                    Kind::Write => ["x", "y"].contains(&event.object().as_str()),
                    _ => false,
                });
                let steps: Vec<(usize, Vec<u16>, u16)> = relevant
                    .map(|event| {
                        let thread = event.thread() - 1;
                        let clock = event.clock().to_vec();
                        let index = clock[thread + 1];
                        (thread, clock, index)
                    })
                    .collect();
                let (all, seen) = &mut *union.lock().unwrap();
                let linearisations = linearisations(&steps);
                let number = |event: usize| {
                    steps[..event]
                        .iter()
                        .filter(|step| step.0 == steps[event].0)
                        .count()
                };
                seen.insert(
                    (0..steps.len())
                        .map(|event| (steps[event].0, number(event)))
                        .collect::<Vec<_>>(),
                );
                all.extend(linearisations);
            })
            .check({
                let program = Rc::new(program.0.clone());
                move || run(&Program((*program).clone()))
            });
        assert_eq!(report.stopped, Stopped::Exhausted, "{program}{report}");
        let (union, seen) = std::mem::take(&mut *found.lock().unwrap());
        assert_eq!(union, expected, "{program}{report}");
        sequences += expected.len();
        runs += report.executions;
        all_runs += all(&program).map_or(0, |all| all.len());
        shown += seen.len();
    }
    println!(
        "{programs} programs: {all_runs} interleavings, {runs} runs; {sequences} relevant sequences, {shown} of them in the runs themselves"
    );
    assert!(sequences > 2 * programs && shown < sequences);
}

#[test]
fn a_property_is_violated_if_some_interleaving_violates_it_and_then_that_is_seen_to_happen() {
    let properties = [
        "always (b -> once a)",
        "property p { var x: int = 0 var y: int = 0 ltl: always (x >= y) }",
        "never: {}* a {}* b {}* a",
        "property p { event a var x: int = 0 ltl: always (a -> x == 0) }",
        "property p { event b var x: int = 0 var y: int = 0 ltl: always !(x == 2 && y == 1 && once b) }",
    ]
    .map(monitor);
    let mut rng = Rng::new(43);
    let (mut programs, mut violated, mut predicted) = (0, 0, 0);
    while programs < cases() / 5 {
        let program = Program::random(&mut rng);
        let Some(runs) = all(&program) else { continue };
        programs += 1;
        for monitor in &properties {
            let is_violated = runs.iter().any(|run| violates(monitor, run));
            let report = Explorer::new().property(monitor.clone()).check({
                let program = program.0.clone();
                move || run(&Program(program.clone()))
            });
            let failure =
                { report.failures.iter() }.find(|failure| failure.kind == FailureKind::Property);
            // Runs that end because of a lock that nobody gives back are failures, too, after which the search goes no further.
            let is_deadlocked = report
                .failures
                .iter()
                .any(|failure| failure.kind == FailureKind::Deadlock);
            if is_deadlocked && failure.is_none() {
                continue;
            }
            assert_eq!(
                failure.is_some(),
                is_violated,
                "{}\n{program}{report}",
                monitor.property().text()
            );
            violated += usize::from(is_violated);
            if let Some(failure) = failure {
                let confirmation = failure.confirmation.clone();
                predicted += usize::from(confirmation == Some(Confirmation::Confirmed));
                let is_seen = matches!(
                    confirmation,
                    Some(Confirmation::Observed | Confirmation::Confirmed)
                );
                assert!(is_seen, "{}\n{program}{report}", monitor.property().text());
            }
        }
    }
    println!(
        "{programs} programs: {violated} violated, {predicted} of them predicted and confirmed"
    );
    assert!(predicted > programs / 10);
}

#[test]
fn a_witness_that_the_program_leaves_is_not_reproduced_and_the_first_place_is_named() {
    // Not hooked, and so behind the back of the scheduler.
    let runs = std::sync::atomic::AtomicU32::new(0);
    let property = "property p { var ready: int = 0 var result: int = 0 ltl: always (ready > 0 -> result > 0) }";
    let report = Explorer::new()
        .repeat_runs(0)
        .max_shrinking_runs(0)
        .property(monitor(property))
        .check(|| {
            let is_first = runs.fetch_add(1, SeqCst) == 0;
            let result = Shared::with_name("result", 0);
            let told = (Shared::with_name("log", 0), Shared::with_name("ready", 0));
            let teller = thread::spawn(move || {
                if is_first {
                    told.0.set(1);
                    told.1.set(1);
                } else {
                    told.0.get();
                }
            });
            result.set(42);
            teller.join().unwrap();
        });
    let Some(Confirmation::NotReproduced(difference)) = &report.failures[0].confirmation else {
        panic!("{report}");
    };
    let (expected, did) = (difference.expected.as_deref(), difference.did.as_deref());
    assert_eq!(
        (difference.step, difference.thread.as_deref()),
        (0, Some("thread 1"))
    );
    let begins = |text: Option<&str>, what: &str| {
        text.is_some_and(|text| text.starts_with(&format!("{what} at {}:", file!())))
    };
    assert!(begins(expected, "`write log`"), "{difference}");
    assert!(begins(did, "it did `read log`"), "{difference}");
}

#[test]
fn a_witness_in_which_threads_are_spawned_in_another_order_is_confirmed() {
    let property = "property p { var ready: int = 0 var result: int = 0 ltl: always (ready > 0 -> result > 0) }";
    let report = Explorer::new().property(monitor(property)).check(|| {
        let other = thread::spawn(|| {
            let (first, ready) = (Shared::with_name("first", 0), Shared::with_name("ready", 0));
            first.set(1);
            thread::spawn(move || ready.set(1)).join().unwrap();
        });
        let (second, result) = (
            Shared::with_name("second", 0),
            Shared::with_name("result", 0),
        );
        second.set(1);
        thread::spawn(move || result.set(1)).join().unwrap();
        other.join().unwrap();
    });
    let confirmation = report.failures[0].confirmation.as_ref();
    assert_eq!(confirmation, Some(&Confirmation::Confirmed), "{report}");
}

#[test]
fn a_run_whose_variables_begin_with_nobody_knows_what_is_no_proof() {
    let report = Explorer::new()
        .property(monitor("always (x >= y)"))
        .check(|| Shared::with_name("y", 0).set(2));
    assert_eq!((report.failed, report.unchecked), (0, 1));
    assert!(!report.is_proof());
    let said = report.to_string();
    assert!(
        said.contains("no run wrote a variable that is called `x`"),
        "{said}"
    );
    assert!(said.contains("of 1 run: nobody knows"), "{said}");
}

#[test]
fn a_property_that_asks_for_operations_is_refused() {
    let property = "property p(l) { event take(l) on lock(l) ltl: always !take }";
    let report = Explorer::new().property(monitor(property)).check(|| {});
    assert_eq!(report.failures[0].kind, FailureKind::Unchecked);
    let said = report.to_string();
    assert!(
        said.contains("`p` has the event `take(l) on lock(l)`"),
        "{said}"
    );
}

fn violates(monitor: &Monitor, run: &[Relevant]) -> bool {
    let alphabet = monitor.alphabet();
    let mut stepper = monitor.start_with(|_| Some(Value::from(0))).unwrap();
    for (_, _, instruction) in run {
        match instruction {
            Instruction::Event(number) => {
                let Some(event) = alphabet.event(["a", "b"][*number]) else {
                    continue;
                };
                stepper.event(event);
            }
            Instruction::Write(variable, value) => {
                let Some(variable) = alphabet.variable(["x", "y"][*variable]) else {
                    continue;
                };
                stepper.write(variable, Value::from(*value)).unwrap();
            }
            _ => unreachable!("not relevant"),
        }
        if stepper.verdict() == Verdict::Violated {
            return true;
        }
    }
    false
}
