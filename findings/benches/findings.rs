//! Findings in a generated trace, as the STD format has them: threads with sections of locks, variables that these guard, variables of one
//! thread, and now and then an access without the lock.
//!
//! `PORTENT_EVENTS` sets the length: 400,000 if it is not given. The search for races is measured beside a naive one, which closes cuts by
//! looking at all sections until nothing changes.
//!
//! 5 million events of 8 threads (`PORTENT_EVENTS=5000000`), alone on a machine with two cores, time on the processor:
//!
//! | | events taken | report | from a file to the report | allocated at most | resident |
//! |---|---|---|---|---|---|
//! | races, happens-before | 9.2 million/s | 0.54 s | 1.62 s: 3.1 million/s | 296 MB | 280 MB |
//! | races, strong | 3.8 million/s | 0.35 s | 2.28 s: 2.2 million/s | 330 MB | 319 MB |
//!
//! All 120 and 172 location pairs have witnesses that were carried out. Deadlocks among a million events, half of them acquires: 0.33 s, 196
//! patterns, 56 MB. Races under `strong` among 20,000 events: 4 ms, naively 290 ms. With other programs at work (load 4 to 12) and on an older
//! machine, the same took up to three times as long.
//!
//! The work is linear in the events of a pair of threads and a variable. So it also grows with the number of pairs that meet at a
//! variable: with hundreds of threads, `strong` is far slower than this.

use std::{
    collections::VecDeque,
    env,
    fs::{self, File},
    io::{BufWriter, Write},
    path::Path,
    time::Duration,
};

use peak_alloc::PeakAlloc;
use portent_findings::{Finder, Hunt, Model, Options, Report};
use portent_monitor_core::{
    Cut, Event, LocId, LockId, Op, Place, Reorderings, Section, ThreadId, VarId,
};
use portent_testing::Rng;
use portent_trace::TraceReader;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

const THREADS: usize = 8;
const LOCKS: usize = 64;
const VARS: usize = 1024;

/// The events of a program that runs, without end.
struct Program {
    rng: Rng,
    todo: Vec<VecDeque<(Op, u32)>>,
    holders: Vec<Option<usize>>,
    nested: bool,
}

impl Program {
    fn new(nested: bool) -> Program {
        Program {
            rng: Rng::new(1),
            todo: vec![VecDeque::new(); THREADS],
            holders: vec![None; LOCKS],
            nested,
        }
    }

    /// What a thread does next: a section, or something of its own.
    fn plan(&mut self, thread: usize) {
        let rng = &mut self.rng;
        let todo = &mut self.todo[thread];
        let lock = rng.below(LOCKS - 1);
        if self.nested {
            // In one order, mostly.
            let (one, other) = if rng.one_in(10_000) {
                (lock + 1, lock)
            } else {
                (lock, lock + 1)
            };
            for op in [Op::Lock, Op::Unlock] {
                let mut locks = [one, other].map(|lock| op(LockId::from(lock as u32)));
                if let Op::Unlock(_) = locks[0] {
                    locks.reverse();
                }
                todo.extend(locks.map(|op| (op, 100 + lock as u32)));
            }
            return;
        }
        if rng.one_in(3) {
            let own = VarId::from((VARS + thread) as u32);
            for _ in 0..rng.between(1, 8) {
                let op = if rng.one_in(3) {
                    Op::Write(own, None)
                } else {
                    Op::Read(own)
                };
                todo.push_back((op, 1));
            }
            return;
        }
        let guarded = !rng.one_in(5000);
        let id = LockId::from(lock as u32);
        if guarded {
            todo.push_back((Op::Lock(id), 2));
        }
        for _ in 0..rng.between(2, 10) {
            let var = lock + LOCKS * rng.below(VARS / LOCKS);
            let id = VarId::from(var as u32);
            let op = if rng.one_in(3) {
                Op::Write(id, None)
            } else {
                Op::Read(id)
            };
            todo.push_back((op, 3 + rng.below(20) as u32));
        }
        if guarded {
            todo.push_back((Op::Unlock(id), 2));
        }
    }
}

impl Iterator for Program {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        loop {
            let thread = self.rng.below(THREADS);
            if self.todo[thread].is_empty() {
                self.plan(thread);
            }
            // Who takes two locks begins when both are free, or the program itself would end in a deadlock.
            let is_taken =
                |op: &Op| matches!(op, Op::Lock(lock) if self.holders[lock.index()].is_some());
            if self.todo[thread].len() == 4 && self.todo[thread].iter().any(|(op, _)| is_taken(op))
            {
                continue;
            }
            match self.todo[thread].front() {
                Some((Op::Lock(lock), _)) if self.holders[lock.index()].is_some() => continue,
                Some((Op::Lock(lock), _)) => self.holders[lock.index()] = Some(thread),
                Some((Op::Unlock(lock), _)) => self.holders[lock.index()] = None,
                _ => {}
            }
            let (op, loc) = self.todo[thread].pop_front()?;
            let mut event = Event::new(ThreadId::from(thread as u32), op);
            event.loc = Some(LocId::from(loc));
            return Some(event);
        }
    }
}

fn length() -> usize {
    let events = env::var("PORTENT_EVENTS").ok();
    events
        .and_then(|events| events.parse().ok())
        .unwrap_or(400_000)
}

fn finder(options: Options) -> Finder {
    let mut finder = Finder::new(options);
    let symbols = finder.symbols_mut();
    for index in 0..VARS + THREADS {
        let name = index.to_string();
        symbols.threads.intern(&name).expect("few names");
        symbols.locks.intern(&name).expect("few names");
        symbols.vars.intern(&name).expect("few names");
        symbols.locs.intern(&name).expect("few names");
    }
    finder
}

/// How long this program has been on a processor.
fn on_processor() -> Duration {
    let told = fs::read_to_string("/proc/self/schedstat").expect("a Linux system");
    let nanoseconds = told.split(' ').next().and_then(|first| first.parse().ok());
    Duration::from_nanos(nanoseconds.expect("a number"))
}

/// The most memory that this program had since the last time that somebody asked, in MB.
fn most_memory() -> u64 {
    let told = fs::read_to_string("/proc/self/status").expect("a Linux system");
    let line = told.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    fs::write("/proc/self/clear_refs", "5").expect("a Linux system");
    kilobytes.expect("a number") / 1024
}

/// Does some work on events, and prints how fast that was and how much memory it took.
fn measure(name: &str, events: usize, work: impl FnOnce() -> Report) -> Report {
    ALLOCATOR.reset_peak_usage();
    let before = ALLOCATOR.current_usage_as_mb();
    most_memory();
    let busy = on_processor();
    let report = work();
    let spent = on_processor() - busy;
    println!(
        "{name}: {events} events, {:.2} s on a processor, {:.2} million events/s, {:.0} MB allocated at most, {} MB resident",
        spent.as_secs_f64(),
        events as f64 / spent.as_secs_f64() / 1e6,
        ALLOCATOR.peak_usage_as_mb() - before,
        most_memory(),
    );
    report
}

/// Writes the trace as the STD format has it.
fn write_std(path: &Path, events: usize) {
    let mut file = BufWriter::new(File::create(path).expect("a file"));
    for event in Program::new(false).take(events) {
        let (op, object) = match event.op {
            Op::Read(var) => ("r", format!("V{}", var.index())),
            Op::Write(var, _) => ("w", format!("V{}", var.index())),
            Op::Lock(lock) => ("acq", format!("L{}", lock.index())),
            Op::Unlock(lock) => ("rel", format!("L{}", lock.index())),
            _ => unreachable!("the program does nothing else"),
        };
        let loc = event.loc.expect("all have one").index();
        let thread = event.thread.index();
        writeln!(file, "T{thread}|{op}({object})|{loc}").expect("room on the disk");
    }
}

fn races() {
    let path = env::temp_dir().join(format!("portent-findings-{}.std", std::process::id()));
    write_std(&path, length());
    for (name, model) in [
        ("happens-before", Model::HappensBefore),
        ("strong", Model::Strong),
    ] {
        let options = Options::default().model(model).hunt(Hunt::RACES);
        // Made in pieces outside of the measured time, so that they take no memory worth mentioning.
        let mut finder = finder(options);
        let mut program = Program::new(false);
        let mut spent = Duration::ZERO;
        ALLOCATOR.reset_peak_usage();
        let before = ALLOCATOR.current_usage_as_mb();
        for _ in 0..length() / 10_000 {
            let piece: Vec<Event> = program.by_ref().take(10_000).collect();
            let busy = on_processor();
            for event in &piece {
                finder.take(event).expect("a run");
            }
            spent += on_processor() - busy;
        }
        let busy = on_processor();
        let report = finder.finish().expect("a run");
        let end = on_processor() - busy;
        println!(
            "races, {name}, from memory: {} events, {:.2} million events/s, {:.2} s for the report, {:.0} MB allocated at most",
            report.events,
            report.events as f64 / spent.as_secs_f64() / 1e6,
            end.as_secs_f64(),
            ALLOCATOR.peak_usage_as_mb() - before,
        );
        println!("  {:?}", report.races);
        drop((finder, report));
        measure(
            &format!("races, {name}, from a file to the report"),
            length(),
            || {
                let trace = portent_trace::Options::default();
                let mut reader = TraceReader::open(&path, &trace).expect("a trace");
                let mut finder = Finder::new(options);
                while let Some(event) = reader.next_event(finder.symbols_mut()).expect("a trace") {
                    finder.take(&event).expect("a run");
                }
                finder.finish().expect("a run")
            },
        );
    }
    fs::remove_file(&path).expect("it is there");
}

fn deadlocks() {
    let hunt: Hunt = "deadlocks".parse().expect("a kind");
    let options = Options::default().model(Model::Strong).hunt(hunt);
    let events: Vec<Event> = Program::new(true).take(1_000_000).collect();
    let report = measure("deadlocks, strong", events.len(), || {
        take_all(&events, options).finish().expect("a run")
    });
    println!("  {:?}", report.deadlocks);
}

fn take_all(events: &[Event], options: Options) -> Finder {
    let mut finder = finder(options);
    for event in events {
        finder.take(event).expect("a run");
    }
    finder
}

/// The closure by its definition.
fn close_naively(trace: &Reorderings, sections: &[Section], cut: &mut Cut) {
    loop {
        let mut has_grown = false;
        for (index, one) in sections.iter().enumerate() {
            let Some(end) = one.end else { continue };
            let end = Place {
                thread: one.thread,
                position: end,
            };
            let is_open = cut.count(one.thread) >= one.begin && !cut.contains(end);
            let follows = |other: &Section| {
                let begin = Place {
                    thread: other.thread,
                    position: other.begin,
                };
                other.lock == one.lock && other.thread != one.thread && cut.contains(begin)
            };
            if is_open && sections[index + 1..].iter().any(follows) {
                trace.join_need(end, cut);
                has_grown = true;
            }
        }
        if !has_grown {
            return;
        }
    }
}

/// All races of a short trace, each pair of accesses by a closure of its own.
fn naive_races(events: &[Event]) -> u64 {
    let mut trace = Reorderings::default();
    let step = |event| trace.step(event).expect("a run");
    let places: Vec<Place> = events.iter().map(step).collect();
    let sections: Vec<Section> = trace.sections().collect();
    let access = |event: &Event| match event.op {
        Op::Read(var) => Some((var, false)),
        Op::Write(var, _) => Some((var, true)),
        _ => None,
    };
    let mut races = 0;
    for (later, event) in events.iter().enumerate() {
        let Some((var, writes)) = access(event) else {
            continue;
        };
        for (earlier, other) in events[..later].iter().enumerate() {
            let conflicts = access(other).is_some_and(|(v, w)| v == var && (writes || w));
            if !conflicts || other.thread == event.thread {
                continue;
            }
            let mut cut = Cut::default();
            for index in [earlier, later] {
                trace.join_past(places[index], &mut cut);
            }
            close_naively(&trace, &sections, &mut cut);
            let both_next = !cut.contains(places[earlier]) && !cut.contains(places[later]);
            races += u64::from(both_next);
        }
    }
    races
}

fn naively() {
    let events: Vec<Event> = Program::new(false).take(20_000).collect();
    let options = Options::default().model(Model::Strong).hunt(Hunt::RACES);
    let ours = measure("races, strong, short", events.len(), || {
        take_all(&events, options).finish().expect("a run")
    });
    let busy = on_processor();
    let races = naive_races(&events);
    let spent = on_processor() - busy;
    println!("  naively: {:.2} s on a processor", spent.as_secs_f64());
    assert_eq!(ours.races.expect("looked for").event_pairs, races);
}

fn main() {
    races();
    deadlocks();
    naively();
}
