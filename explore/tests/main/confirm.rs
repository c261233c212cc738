//! What was predicted from recordings is made to happen: random programs over all primitives are recorded as they run by themselves, and
//! run again in another order that the recording allows.

use std::{
    collections::HashMap,
    env,
    sync::{Arc, Mutex as StdMutex},
    time::Duration,
};

use portent_explore::{Confirmation, Explorer, RecordedRun, Witness};
use portent_hooks::{
    Recording, Shared, event,
    sync::{
        Barrier, Condvar, Mutex, OnceLock, RwLock,
        atomic::{AtomicBool, AtomicI64, AtomicU32, Ordering::SeqCst},
        mpsc,
    },
    thread,
};
use portent_lattice::{Checker, Options};
use portent_monitor_core::{Causality, Op, Stamp};
use portent_monitor_dsl::{Monitor, Property, Value, Verdict};
use portent_testing::Rng;

/// The variables that have a name.
const NAMES: [&str; 4] = ["x", "y", "z", "u"];

/// What a thread does at one place. Whatever it waits for comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Instruction {
    /// Of a variable that properties speak of.
    Write(usize, i64),
    Read(usize),
    Event(usize),
    Load,
    Store(u32),
    Add,
    /// Of a value that is seldom there.
    Exchange,
    /// Leaves the next one out if what was seen last is not 0.
    Skip,
    /// Around the next one.
    Locked(usize),
    Tried(usize),
    Shared,
    Exclusive,
    TriedShared,
    Send,
    TrySend,
    Initialise,
    IsInitialised,
    /// At the first thread, which waits for as many.
    Tell,
    /// Wakes up the first thread, which waits for the number of threads.
    Notify,
    Unpark,
}

#[derive(Clone, Debug)]
struct Program {
    threads: Vec<Vec<Instruction>>,
    /// Whether all threads meet in the middle.
    meet: bool,
    /// Whether the receiver tries, or waits.
    tries: bool,
}

fn random(rng: &mut Rng) -> Program {
    let instruction = |rng: &mut Rng| match rng.below(24) {
        0..=4 => Instruction::Write(rng.below(4), rng.below(3) as i64),
        5 => Instruction::Read(rng.below(4)),
        6 | 7 => Instruction::Event(rng.below(2)),
        8 => Instruction::Load,
        9 => Instruction::Store(rng.below(2) as u32),
        10 => Instruction::Add,
        11 => Instruction::Exchange,
        12 => Instruction::Skip,
        13 | 14 => Instruction::Locked(rng.below(2)),
        15 => Instruction::Tried(rng.below(2)),
        16 => Instruction::Shared,
        17 => Instruction::Exclusive,
        18 => Instruction::TriedShared,
        19 => Instruction::Send,
        20 => Instruction::TrySend,
        21 => Instruction::Initialise,
        22 => Instruction::IsInitialised,
        _ => Instruction::Unpark,
    };
    let count = rng.between(2, 3);
    let threads = (0..count)
        .map(|_| {
            let length = rng.between(1, 7);
            let mut steps: Vec<Instruction> = (0..length).map(|_| instruction(rng)).collect();
            steps.push(Instruction::Notify);
            if rng.below(3) == 0 {
                steps.insert(rng.below(steps.len()), Instruction::Tell);
            }
            steps
        })
        .collect();
    Program {
        threads,
        meet: rng.below(3) == 0,
        tries: rng.below(3) == 0,
    }
}

struct Objects {
    variables: [Shared<i64>; 4],
    number: AtomicU32,
    mutexes: [Mutex<()>; 2],
    shared: RwLock<u32>,
    once: OnceLock<u32>,
    told: AtomicU32,
    ended: Mutex<usize>,
    condition: Condvar,
    barrier: Barrier,
    main: thread::Thread,
}

fn run(program: &Program) {
    let count = program.threads.len();
    let objects = Arc::new(Objects {
        variables: NAMES.map(|name| Shared::with_name(name, 0)),
        number: AtomicU32::new(0),
        mutexes: [Mutex::new(()), Mutex::new(())],
        shared: RwLock::new(0),
        once: OnceLock::new(),
        told: AtomicU32::new(0),
        ended: Mutex::new(0),
        condition: Condvar::new(),
        barrier: Barrier::new(count),
        main: thread::current(),
    });
    let (sender, receiver) = mpsc::channel();
    let (bounded, room) = mpsc::sync_channel(1);
    let threads: Vec<_> = { program.threads.iter().cloned() }
        .map(|steps| {
            let objects = Arc::clone(&objects);
            let (sender, bounded, meet) = (sender.clone(), bounded.clone(), program.meet);
            thread::spawn(move || follow(&steps, &objects, &sender, &bounded, meet))
        })
        .collect();
    drop((sender, bounded));
    // The last one to end notifies; each has sent before.
    let mut ended = objects.ended.lock().unwrap();
    while *ended < count {
        ended = objects.condition.wait(ended).unwrap();
    }
    drop(ended);
    if program.tries {
        while receiver.try_recv().is_ok() {}
        let _ = room.recv_timeout(Duration::ZERO);
    } else {
        while receiver.recv().is_ok() {}
    }
    if objects.told.load(SeqCst) > 0 {
        thread::park();
    }
    for thread in threads {
        thread.join().unwrap();
    }
}

fn follow(
    steps: &[Instruction],
    objects: &Objects,
    sender: &mpsc::Sender<u32>,
    bounded: &mpsc::SyncSender<u32>,
    meet: bool,
) {
    let mut seen = 0;
    let mut at = 0;
    let middle = steps.len() / 2;
    let mut guards: Vec<Box<dyn std::any::Any>> = Vec::new();
    let mut held = Vec::new();
    while let Some(step) = steps.get(at) {
        if meet && at == middle {
            held.clear();
            seen += u32::from(objects.barrier.wait().is_leader());
        }
        at += 1;
        // What was locked is given back after the next instruction.
        let before = std::mem::take(&mut held);
        match *step {
            Instruction::Write(variable, value) => objects.variables[variable].set(value),
            Instruction::Read(variable) => seen = objects.variables[variable].get() as u32,
            Instruction::Event(0) => event!(a),
            Instruction::Event(_) => event!(b),
            Instruction::Load => seen = objects.number.load(SeqCst),
            Instruction::Store(value) => objects.number.store(value, SeqCst),
            Instruction::Add => seen = objects.number.fetch_add(1, SeqCst),
            Instruction::Exchange => {
                let swapped = objects.number.compare_exchange(7, 1, SeqCst, SeqCst);
                seen = swapped.unwrap_or_else(|seen| seen);
            }
            Instruction::Skip if seen != 0 && at + 1 < steps.len() && !meet => at += 1,
            Instruction::Skip => {}
            Instruction::Locked(number) if before.is_empty() => {
                held.push(Held::Mutex(objects.mutexes[number].lock().unwrap()));
            }
            Instruction::Tried(number) => {
                if let Ok(guard) = objects.mutexes[number].try_lock() {
                    held.push(Held::Mutex(guard));
                    seen = 1;
                }
            }
            Instruction::Shared if before.is_empty() => {
                let guard = objects.shared.read().unwrap();
                seen = *guard;
                held.push(Held::Read(guard));
            }
            Instruction::Exclusive if before.is_empty() => {
                let mut guard = objects.shared.write().unwrap();
                *guard += 1;
                held.push(Held::Write(guard));
            }
            Instruction::TriedShared => {
                if let Ok(guard) = objects.shared.try_read() {
                    held.push(Held::Read(guard));
                }
            }
            Instruction::Locked(_) | Instruction::Shared | Instruction::Exclusive => {}
            Instruction::Send => sender.send(seen).unwrap_or_default(),
            Instruction::TrySend => seen = u32::from(bounded.try_send(seen).is_ok()),
            Instruction::Initialise => {
                seen = *objects.once.get_or_init(|| objects.number.load(SeqCst));
            }
            Instruction::IsInitialised => seen = u32::from(objects.once.get().is_some()),
            Instruction::Tell => {
                objects.told.store(1, SeqCst);
                objects.main.unpark();
            }
            Instruction::Unpark => objects.main.unpark(),
            Instruction::Notify => {
                drop(before);
                guards.clear();
                *objects.ended.lock().unwrap() += 1;
                if seen == 0 {
                    objects.condition.notify_one();
                } else {
                    objects.condition.notify_all();
                }
                continue;
            }
        }
        drop(before);
    }
}

#[expect(dead_code)]
enum Held<'a> {
    Mutex(portent_hooks::sync::MutexGuard<'a, ()>),
    Read(portent_hooks::sync::RwLockReadGuard<'a, u32>),
    Write(portent_hooks::sync::RwLockWriteGuard<'a, u32>),
}

/// What a program does by itself.
fn recorded(program: impl FnOnce()) -> RecordedRun {
    let (recording, mut stream) = Recording::everything().start();
    let entered = recording.enter();
    program();
    drop(entered);
    drop(recording);
    let mut recorded = stream.finish();
    recorded.sort_by_key(|recorded| recorded.place);
    let events = recorded.into_iter().map(|recorded| recorded.event);
    RecordedRun::new(events, portent_hooks::symbols())
}

fn cases() -> usize {
    let told = env::var("PORTENT_CASES").ok();
    told.and_then(|told| told.parse().ok()).unwrap_or(1_000)
}

/// The writes of variables that have a name, in an order that the recording allows.
fn shuffled(run: &RecordedRun, rng: &mut Rng) -> Vec<usize> {
    let mut causality = Causality::default();
    let mut left: Vec<(usize, Stamp)> = Vec::new();
    for (number, event) in run.events().iter().enumerate() {
        let Op::Write(variable, _) = event.op else {
            causality.step(event, false).unwrap();
            continue;
        };
        let is_named = NAMES.contains(&run.symbols().vars.name(variable));
        if let Some(stamp) = causality.step(event, is_named).unwrap() {
            left.push((number, stamp));
        }
    }
    let mut order = Vec::new();
    while !left.is_empty() {
        let is_first = |at: usize| {
            !(0..left.len()).any(|other| other != at && left[other].1.precedes(&left[at].1))
        };
        let first: Vec<usize> = (0..left.len()).filter(|&at| is_first(at)).collect();
        order.push(left.remove(first[rng.below(first.len())]).0);
    }
    if rng.below(3) == 0 {
        order.truncate(rng.below(order.len() + 1));
    }
    order
}

/// Who wrote what, of the steps of a witness. Threads are counted as they are spawned.
fn wanted(run: &RecordedRun, witness: &[usize]) -> Vec<(usize, String)> {
    let mut threads = HashMap::new();
    for event in run.events() {
        if let Op::Fork(child) = event.op {
            threads.insert(child, threads.len() + 1);
        }
    }
    let step = |&step: &usize| {
        let event = &run.events()[step];
        let thread = threads.get(&event.thread).copied().unwrap_or_default();
        (
            thread,
            event
                .op
                .object(run.symbols())
                .unwrap_or_default()
                .to_owned(),
        )
    };
    witness.iter().map(step).collect()
}

/// The same of a run that is repeated.
fn replayed(token: &str, program: &Program) -> Vec<(usize, String)> {
    let seen = Arc::new(StdMutex::new(Vec::new()));
    let told = Arc::clone(&seen);
    Explorer::new()
        .replay(token)
        .unwrap()
        .each(move |execution| {
            let writes = execution
                .events()
                .filter(|event| event.kind() == portent_explore::Kind::Write);
            let named = writes.map(|event| (event.thread(), event.object()));
            let named = named.filter(|(_, name)| NAMES.contains(&name.as_str()));
            *told.lock().unwrap() = named.collect();
        })
        .check(|| run(program));
    std::mem::take(&mut *seen.lock().unwrap())
}

#[test]
fn whatever_order_a_recording_allows_happens_in_one_run() {
    let mut rng = Rng::new(61);
    let mut reordered = 0;
    for case in 0..cases() {
        let program = random(&mut rng);
        let recording = recorded(|| run(&program));
        let witness = shuffled(&recording, &mut rng);
        let attempt = Explorer::new()
            .confirm(&recording, &Witness::new(witness.clone()), || run(&program))
            .unwrap();
        assert_eq!(
            (&attempt.confirmation, attempt.runs),
            (&Confirmation::Confirmed, 1),
            "case {case}: {program:?}\n{}\n{witness:?}\n{attempt}",
            spelled(&recording)
        );
        let seen = replayed(attempt.token.as_deref().unwrap(), &program);
        let wanted = wanted(&recording, &witness);
        assert_eq!(
            seen[..wanted.len()],
            wanted,
            "case {case}: {program:?}\n{}\n{witness:?}\n{attempt}",
            spelled(&recording)
        );
        reordered += usize::from(!witness.is_sorted());
    }
    println!(
        "{} programs, {reordered} in another order than recorded",
        cases()
    );
    assert!(reordered * 10 > cases());
}

/// What the analyzer says of a recording.
fn report(run: &RecordedRun, monitor: &Monitor) -> portent_lattice::Report {
    let zero = |_: &str| Some(Value::from(0));
    let mut checker = Checker::new([monitor.clone()], zero, Options::default()).unwrap();
    checker.symbols_mut().catch_up(run.symbols()).unwrap();
    for event in run.events() {
        checker.take(event).unwrap();
    }
    checker.finish("run").unwrap()
}

#[test]
fn whatever_is_predicted_from_a_recording_is_confirmed_in_one_run() {
    let properties = [
        "always (b -> once a)",
        "property p { var x: int = 0 var y: int = 0 ltl: always (x >= y) }",
        "never: {}* a {}* b {}* a",
        "property p { event a var x: int = 0 ltl: always (a -> x == 0) }",
    ]
    .map(|text| Property::parse(text).unwrap().monitor().unwrap());
    let mut rng = Rng::new(67);
    let (mut predicted, mut only_predicted) = (0, 0);
    for case in 0..cases() / 4 {
        let program = random(&mut rng);
        let recording = recorded(|| run(&program));
        for monitor in &properties {
            let report = report(&recording, monitor);
            let Some(witness) = Witness::of(&report, &recording) else {
                continue;
            };
            let attempt = Explorer::new()
                .property(monitor.clone())
                .confirm(&recording, &witness, || run(&program))
                .unwrap();
            assert_eq!(
                (&attempt.confirmation, attempt.runs),
                (&Confirmation::Confirmed, 1),
                "case {case}: {}\n{program:?}\n{}\n{witness:?}\n{attempt}",
                monitor.property().text(),
                spelled(&recording)
            );
            predicted += 1;
            let observed = report.properties[0].observed.verdict;
            only_predicted += usize::from(observed != Verdict::Violated);
        }
    }
    println!(
        "{predicted} violations, {only_predicted} of them only predicted, each confirmed in one run"
    );
    assert!(only_predicted > 0);
}

/// The airline of the benchmarks, where nobody looks whether too many tickets are sold when the plane departs.
fn departure(tickets: i64, cushion: i64) {
    let seats = tickets - cushion;
    let office = Arc::new((AtomicI64::with_name("sold", 0), AtomicBool::new(false)));
    let mut sellers = Vec::new();
    for _ in 0..tickets {
        if office.1.load(SeqCst) {
            break;
        }
        let office = Arc::clone(&office);
        sellers.push(thread::spawn(move || {
            if office.0.fetch_add(1, SeqCst) >= seats {
                office.1.store(true, SeqCst);
            }
        }));
    }
    event!(departs);
    for seller in sellers {
        seller.join().unwrap();
    }
}

#[test]
fn an_overbooked_plane_is_predicted_and_confirmed_in_one_run() {
    let property =
        "property seats { event departs var sold: int = 0 ltl: always (departs -> sold <= 19) }";
    let monitor = Property::parse(property).unwrap().monitor().unwrap();
    let recording = recorded(|| departure(20, 1));
    let report = report(&recording, &monitor);
    let witness = Witness::of(&report, &recording).expect("a prediction");
    let attempt = Explorer::new()
        .property(monitor)
        .confirm(&recording, &witness, || departure(20, 1))
        .unwrap();
    assert_eq!(
        (&attempt.confirmation, attempt.runs),
        (&Confirmation::Confirmed, 1),
        "{attempt}"
    );
}

/// Two writes; which comes first the program leaves to chance.
fn two_writes(is_other: bool) {
    let (x, y) = (Shared::with_name("x", 0), Shared::with_name("y", 0));
    let turn = AtomicU32::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            x.set(1);
            if is_other {
                turn.load(SeqCst);
            }
            x.set(2);
        });
        scope.spawn(|| y.set(1));
    });
}

#[test]
fn what_does_something_else_is_not_reproduced_and_the_first_place_is_named() {
    let recording = recorded(|| two_writes(false));
    let is_write = |&event: &usize| recording.events()[event].writes().next().is_some();
    let mut writes: Vec<usize> = (0..recording.events().len()).filter(is_write).collect();
    writes.sort_by_key(|&event| recording.events()[event].op.object(recording.symbols()));
    let never = "property p { var x: int = 0 var y: int = 0 ltl: always (x < 5 || y < 5) }";
    let monitor = Property::parse(never).unwrap().monitor().unwrap();
    let attempt = Explorer::new()
        .property(monitor)
        .max_runs(20)
        .confirm(&recording, &Witness::new(writes), || two_writes(true))
        .unwrap();
    let Confirmation::NotReproduced(difference) = &attempt.confirmation else {
        panic!("{attempt}");
    };
    assert_eq!(difference.step, 1);
    let expected = difference.expected.as_deref().unwrap();
    assert!(expected.starts_with("`write x` at "), "{attempt}");
    let did = difference.did.as_deref().unwrap();
    assert!(did.starts_with("it did `read Atomic"), "{attempt}");
    assert!(did.contains("confirm.rs:"), "{attempt}");
    assert!(attempt.is_exhaustive, "{attempt}");
}

#[test]
fn a_recording_of_writes_alone_is_followed_by_holding_threads() {
    let whole = recorded(|| two_writes(true));
    let is_write = |event: &&portent_monitor_core::Event| event.writes().next().is_some();
    let writes: Vec<_> = { whole.events().iter().filter(is_write).cloned() }.collect();
    let recording = RecordedRun::new(writes, whole.symbols().clone());
    let mut backwards: Vec<usize> = (0..3).collect();
    backwards.sort_by_key(|&event| recording.events()[event].op.object(recording.symbols()));
    backwards.rotate_right(1);
    let attempt = Explorer::new()
        .confirm(&recording, &Witness::new(backwards), || two_writes(true))
        .unwrap();
    assert!(attempt.is_confirmed(), "{attempt}");
    assert!(attempt.runs <= 3, "{attempt}");
}

#[test]
fn a_witness_of_another_recording_is_refused() {
    let recording = recorded(|| two_writes(false));
    let refused = Explorer::new().confirm(&recording, &Witness::new([77]), || two_writes(false));
    let message = refused.unwrap_err().to_string();
    assert!(message.contains("the step 77"), "{message}");
}

fn spelled(run: &RecordedRun) -> String {
    let symbols = run.symbols();
    let line = |(number, event): (usize, &portent_monitor_core::Event)| {
        format!(
            "{number} {}: {:?} {}\n",
            symbols.threads.name(event.thread),
            event.op.operation(),
            event.op.object(symbols).unwrap_or_default()
        )
    };
    run.events().iter().enumerate().map(line).collect()
}
