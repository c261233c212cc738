//! The catalogue under the explorer: each trace becomes a program whose threads do what the threads of the trace did. The
//! explorer must find a violation wherever one of the models predicts one. Where no thread reads anything, it must find no
//! other: the runs of such a program are those of the maximal model.

use std::{collections::HashMap, mem};

use portent::{
    Op, Options, Shared, Symbols, Value,
    events::{LockId, ThreadId, VarId},
    explore::{Explorer, FailureKind, Stopped},
    hooks::__event::Callsite,
    lattice::Model,
    sync::{RwLock, RwLockReadGuard, RwLockWriteGuard},
    thread::{Builder, Scope, ScopedJoinHandle, scope},
    trace::{Options as TraceOptions, TraceReader},
};

use super::{Case, answer, cases, monitors};

/// What threads share.
struct Objects {
    variables: HashMap<VarId, Shared<Value>>,
    locks: HashMap<LockId, RwLock<()>>,
}

#[expect(dead_code, reason = "held until they are dropped")]
enum Guard<'a> {
    Exclusive(RwLockWriteGuard<'a, ()>),
    Shared(RwLockReadGuard<'a, ()>),
}

/// What a thread does next.
enum Step {
    Event(&'static Callsite, Vec<Value>),
    Read(VarId),
    Write(VarId, Value),
    Update(VarId, Value),
    Lock(LockId),
    Unlock(LockId),
    ReadLock(LockId),
    Fork(ThreadId),
    Join(ThreadId),
}

/// What the threads of a trace do.
#[derive(Default)]
struct Program {
    threads: HashMap<ThreadId, (String, Vec<Step>)>,
    /// Threads that no other forks.
    roots: Vec<ThreadId>,
    variables: HashMap<VarId, (String, Value)>,
    locks: Vec<LockId>,
}

impl Program {
    /// The program of a trace, or `None` if a program cannot be told to do the same: which message is received, who wakes up
    /// and whether a try fails is decided by the run, and only logs have steps that belong to several threads or write
    /// variables as they happen.
    fn new(case: &Case) -> Option<Program> {
        let text = case.trace.trim_start().as_bytes();
        let mut reader =
            TraceReader::new("trace", text, &TraceOptions::default()).expect("a trace");
        let mut symbols = Symbols::default();
        let mut program = Program::default();
        let mut forked_by = HashMap::new();
        while let Some(event) = reader.next_event(&mut symbols).expect("an event") {
            if !event.partners().is_empty() {
                return None;
            }
            if let Op::Read(var) | Op::Write(var, _) | Op::Update(var, _) = event.op {
                let name = symbols.vars.name(var).to_owned();
                let value = reader.header().initial(&name).unwrap_or(Value::Int(0));
                program.variables.entry(var).or_insert((name, value));
            }
            let step = match event.op {
                Op::Event(action) if action.set.is_empty() => {
                    let name = symbols.names.name(action.name?).to_owned().leak();
                    let callsite = Callsite::new(name, file!(), line!(), column!());
                    Step::Event(Box::leak(Box::new(callsite)), action.args)
                }
                Op::Read(var) => Step::Read(var),
                Op::Write(var, value) => Step::Write(var, value?),
                Op::Update(var, value) => Step::Update(var, value?),
                Op::Lock(lock) => Step::Lock(lock),
                Op::ReadLock(lock) => Step::ReadLock(lock),
                Op::Unlock(lock) | Op::ReadUnlock(lock) => Step::Unlock(lock),
                Op::Fork(child) => {
                    forked_by.insert(child, event.thread);
                    program.threads.entry(child).or_default();
                    Step::Fork(child)
                }
                // A handle stays with the thread that has it.
                Op::Join(child) if forked_by.get(&child) == Some(&event.thread) => {
                    Step::Join(child)
                }
                _ => return None,
            };
            if let Step::Lock(lock) | Step::ReadLock(lock) = step {
                program.locks.push(lock);
            }
            program
                .threads
                .entry(event.thread)
                .or_default()
                .1
                .push(step);
        }
        for (&thread, (name, _)) in &mut program.threads {
            symbols.threads.name(thread).clone_into(name);
            if !forked_by.contains_key(&thread) {
                program.roots.push(thread);
            }
        }
        program.roots.sort();
        Some(program)
    }

    /// Whether some thread reads, and so might have gone another way in another run.
    fn reads(&self) -> bool {
        let mut steps = self.threads.values().flat_map(|(_, steps)| steps);
        steps.any(|step| matches!(step, Step::Read(_) | Step::Update(..)))
    }

    fn run(&self) {
        let objects = Objects {
            variables: self
                .variables
                .iter()
                .map(|(&var, (name, value))| (var, Shared::with_name(name, value.clone())))
                .collect(),
            locks: self
                .locks
                .iter()
                .map(|&lock| (lock, RwLock::new(())))
                .collect(),
        };
        scope(|scope| {
            for &root in &self.roots {
                self.start(root, &objects, scope);
            }
        });
    }

    fn start<'scope, 'env>(
        &'env self,
        thread: ThreadId,
        objects: &'env Objects,
        scope: &'scope Scope<'scope, 'env>,
    ) -> ScopedJoinHandle<'scope, ()> {
        let (name, steps) = &self.threads[&thread];
        let builder = Builder::new().name(name.clone());
        let body = move || self.perform(steps, objects, scope);
        builder.spawn_scoped(scope, body).expect("a thread")
    }

    fn perform<'scope, 'env>(
        &'env self,
        steps: &'env [Step],
        objects: &'env Objects,
        scope: &'scope Scope<'scope, 'env>,
    ) {
        let mut held: Vec<(LockId, Guard<'_>)> = Vec::new();
        let mut children = HashMap::new();
        for step in steps {
            match step {
                Step::Event(callsite, args) => match &args[..] {
                    [] => callsite.happened([]),
                    [one] => callsite.happened([one.clone()]),
                    [one, two] => callsite.happened([one.clone(), two.clone()]),
                    more => panic!("{} arguments", more.len()),
                },
                Step::Read(var) => drop(objects.variables[var].get()),
                Step::Write(var, value) => objects.variables[var].set(value.clone()),
                Step::Update(var, value) => {
                    objects.variables[var].replace(value.clone());
                }
                Step::Lock(lock) => {
                    let guard = objects.locks[lock].write().expect("nobody panics");
                    held.push((*lock, Guard::Exclusive(guard)));
                }
                Step::ReadLock(lock) => {
                    let guard = objects.locks[lock].read().expect("nobody panics");
                    held.push((*lock, Guard::Shared(guard)));
                }
                Step::Unlock(lock) => {
                    let place = held.iter().rposition(|(other, _)| other == lock);
                    held.remove(place.expect("the trace is well-formed"));
                }
                Step::Fork(child) => {
                    children.insert(*child, self.start(*child, objects, scope));
                }
                Step::Join(child) => {
                    let handle = children.remove(child).expect("its own child");
                    handle.join().expect("nobody panics");
                }
            }
        }
        // What the trace does not release stays taken.
        mem::forget(held);
    }
}

/// Whether some run that a model admits is violated, the observed one included.
fn predicts(case: &Case, model: Model) -> bool {
    let report = answer(case, &Options::default().causality(model), false);
    report.properties.iter().any(|it| it.predicted.violated)
}

#[test]
fn the_explorer_finds_what_the_catalogue_predicts() {
    let (mut compared, mut equal) = (0, 0);
    for case in ["lattice", "causality", "language"]
        .into_iter()
        .flat_map(cases)
    {
        // Whether more can come is not known of a run under control.
        if case.refused.is_some() || case.complete {
            continue;
        }
        let Some(program) = Program::new(&case) else {
            continue;
        };
        let explorer = monitors(&case.spec)
            .into_iter()
            .fold(Explorer::new().keep_going(), Explorer::property);
        let report = explorer.check(|| program.run());
        let failed = |kind| report.failures.iter().any(|failure| failure.kind == kind);
        // Properties of operations and of texts are not for the explorer, which says so.
        if failed(FailureKind::Unchecked) {
            continue;
        }
        let name = &case.name;
        assert_eq!(report.stopped, Stopped::Exhausted, "{name}");
        let found = failed(FailureKind::Property);
        for model in [Model::HappensBefore, Model::Strong, Model::Maximal] {
            assert!(found || !predicts(&case, model), "{name}, {model:?}");
        }
        if !program.reads() {
            assert_eq!(found, predicts(&case, Model::Maximal), "{name}");
            equal += 1;
        }
        compared += 1;
    }
    assert!(compared >= 25 && equal >= 20, "{compared}, {equal}");
}
