//! Findings in a generated trace, as the STD format has them: threads with sections of locks, variables that these guard, variables of one
//! thread, and now and then an access without the lock.
//!
//! `PORTENT_EVENTS` sets the length (400,000 if it is not given; 5 million to measure memory, which is printed). The closure is
//! measured beside a naive one, which looks at all sections until nothing changes.

use std::{collections::VecDeque, env, hint::black_box};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use peak_alloc::PeakAlloc;
use portent_findings::{Finder, Hunt, Model, Options};
use portent_monitor_core::{
    Cut, Event, LocId, LockId, Op, Place, Reorderings, Section, ThreadId, VarId,
};
use portent_testing::Rng;

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

fn take_all(events: &[Event], options: Options) -> Finder {
    let mut finder = finder(options);
    for event in events {
        finder.take(event).expect("a run");
    }
    finder
}

fn races(c: &mut Criterion) {
    let mut group = c.benchmark_group("races");
    group.sample_size(10);
    let models = [
        ("happens-before", Model::HappensBefore),
        ("strong", Model::Strong),
    ];
    for (name, model) in models {
        let options = Options::default().model(model).hunt(Hunt::RACES);
        ALLOCATOR.reset_peak_usage();
        let before = ALLOCATOR.current_usage_as_mb();
        let mut finder = finder(options);
        for event in Program::new(false).take(length()) {
            finder.take(&event).expect("a run");
        }
        let peak = ALLOCATOR.peak_usage_as_mb() - before;
        let report = finder.finish().expect("a run");
        println!(
            "races, {name}: {} events, {peak:.0} MB, {:?}",
            length(),
            report.races
        );
        drop((finder, report));
        let events: Vec<Event> = Program::new(false).take(length().min(400_000)).collect();
        group.throughput(Throughput::Elements(events.len() as u64));
        group.bench_function(BenchmarkId::from_parameter(name), |b| {
            b.iter(|| black_box(take_all(&events, options)));
        });
    }
}

fn deadlocks(c: &mut Criterion) {
    let mut group = c.benchmark_group("deadlocks");
    group.sample_size(10);
    let hunt: Hunt = "deadlocks".parse().expect("a kind");
    let options = Options::default().model(Model::Strong).hunt(hunt);
    let events: Vec<Event> = Program::new(true).take(1_000_000).collect();
    group.throughput(Throughput::Elements(events.len() as u64));
    group.bench_function("a million lock events", |b| {
        b.iter(|| take_all(&events, options).finish().expect("a run"));
    });
    let report = take_all(&events, options).finish().expect("a run");
    println!("deadlocks: {:?}", report.deadlocks);
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

fn closure(c: &mut Criterion) {
    let mut group = c.benchmark_group("closure");
    let mut trace = Reorderings::default();
    let mut places = Vec::new();
    for event in Program::new(false).take(20_000) {
        places.push(trace.step(&event).expect("a run"));
    }
    let sections: Vec<Section> = trace.sections().collect();
    let mut rng = Rng::new(2);
    let pairs: Vec<[Place; 2]> = (0..16)
        .map(|_| [rng.pick(&places), rng.pick(&places)])
        .collect();
    let start = |pair: &[Place; 2]| {
        let mut cut = Cut::default();
        pair.iter()
            .for_each(|&place| trace.join_past(place, &mut cut));
        cut
    };
    for pair in &pairs {
        let (mut one, mut other) = (start(pair), start(pair));
        trace.close(&mut one);
        close_naively(&trace, &sections, &mut other);
        assert_eq!(one, other);
    }
    group.bench_function("ours", |b| {
        b.iter(|| {
            pairs
                .iter()
                .for_each(|pair| trace.close(black_box(&mut start(pair))))
        });
    });
    group.bench_function("naive", |b| {
        b.iter(|| {
            let close = |pair| close_naively(&trace, &sections, black_box(&mut start(pair)));
            pairs.iter().for_each(close);
        });
    });
}

criterion_group!(benches, races, deadlocks, closure);
criterion_main!(benches);
