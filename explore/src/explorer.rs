//! The way in: what is explored how, and what came out.

use std::{
    collections::HashSet,
    panic::{self, AssertUnwindSafe},
    rc::Rc,
};

use portent_hooks::control::{self, Ended};

use crate::{
    describe,
    engine::{Engine, Limits, Options, State},
    panics,
    random::mix,
    report::{Report, Stopped},
    strategy::{End, Source, Strategy},
};

/// Runs a program again and again, each time in another order.
///
/// ```
/// use std::sync::Arc;
/// use portent_explore::Explorer;
/// use portent_hooks::{sync::atomic::{AtomicU32, Ordering::SeqCst}, thread};
///
/// let report = Explorer::new().check(|| {
///     let count = Arc::new(AtomicU32::new(0));
///     let adder = {
///         let count = Arc::clone(&count);
///         thread::spawn(move || count.store(count.load(SeqCst) + 1, SeqCst))
///     };
///     count.store(count.load(SeqCst) + 1, SeqCst);
///     adder.join().unwrap();
///     assert_eq!(count.load(SeqCst), 2, "an update is lost");
/// });
/// assert_eq!(report.failed, 1);
/// assert!(report.failures[0].message.contains("an update is lost"));
/// ```
#[must_use = "a builder does nothing by itself"]
pub struct Explorer {
    strategy: Box<dyn Fn() -> Box<dyn Strategy>>,
    limits: Limits,
    options: Options,
    runs: u64,
    keep_going: bool,
}

/// Failures that are kept with their runs.
const KEPT: usize = 16;

impl Default for Explorer {
    fn default() -> Explorer {
        Explorer::new()
    }
}

impl Explorer {
    /// One run of every class of equivalent ones, until something fails.
    pub fn new() -> Explorer {
        Explorer {
            strategy: Box::new(|| Box::new(Source::new())),
            limits: Limits {
                steps: 10_000,
                stack_size: 512 * 1024,
            },
            options: Options::default(),
            runs: u64::MAX,
            keep_going: false,
        }
    }

    /// How runs are chosen.
    pub fn strategy<S: Strategy + 'static>(self, strategy: impl Fn() -> S + 'static) -> Explorer {
        Explorer {
            strategy: Box::new(move || Box::new(strategy())),
            ..self
        }
    }

    /// Stops runs that have more steps than this; 10,000 unless told otherwise, and at most 60,000.
    pub fn max_steps(mut self, steps: usize) -> Explorer {
        self.limits.steps = steps.min(60_000);
        self
    }

    /// Stops after so many runs.
    pub fn max_runs(mut self, runs: u64) -> Explorer {
        self.runs = runs;
        self
    }

    /// How large the stack of a thread is; 512 KiB unless told otherwise. Only what is used costs memory.
    pub fn stack_size(mut self, bytes: usize) -> Explorer {
        self.limits.stack_size = bytes;
        self
    }

    /// `notify_one` wakes up the one who has waited longest. Unless told so, any of them, and all are tried.
    pub fn first_waiter(mut self) -> Explorer {
        self.options.first_waiter = true;
        self
    }

    /// Each thread may wake up so often for no reason, from a wait for a condition or from parking. Unless told so, never.
    pub fn spurious_wake_ups(mut self, each: u32) -> Explorer {
        self.options.spurious = each;
        self
    }

    /// Does not stop at the first failure.
    pub fn keep_going(mut self) -> Explorer {
        self.keep_going = true;
        self
    }

    /// Explores a program.
    ///
    /// # Panics
    ///
    /// If it is called by a program that is explored.
    pub fn check(&self, program: impl Fn()) -> Report {
        let engine = Rc::new(Engine::new((self.strategy)(), self.limits, self.options));
        let _controlled = control::enter(Rc::clone(&engine) as _)
            .expect("a program that is explored does not explore");
        let _listening = panics::listen();
        let main = || Ended::of(&panic::catch_unwind(AssertUnwindSafe(&program)));
        Search {
            engine: &engine,
            report: Report::default(),
            classes: engine
                .with_state(|state| state.counts_classes())
                .then(HashSet::new),
            too_long: 0,
        }
        .search(self, &main)
    }
}

struct Search<'a> {
    engine: &'a Engine,
    report: Report,
    /// Classes that were seen, where runs do not tell.
    classes: Option<HashSet<u64>>,
    too_long: u64,
}

impl Search<'_> {
    fn search(mut self, explorer: &Explorer, main: &dyn Fn() -> Ended) -> Report {
        let mut keep = 0;
        loop {
            let ran = self.engine.run(main, keep);
            if self.engine.with_state(State::restarts) {
                self.report = Report::default();
                self.too_long = 0;
                keep = 0;
                continue;
            }
            let failed = self.count(ran.end);
            match ran.next {
                None => break,
                Some(_) if failed && !explorer.keep_going => {
                    self.report.stopped = Stopped::Failure;
                    break;
                }
                Some(_) if self.report.executions + self.report.blocked >= explorer.runs => {
                    self.report.stopped = Stopped::Runs;
                    break;
                }
                Some(next) => keep = next,
            }
        }
        self.finish()
    }

    /// Takes a run into account; whether it failed.
    fn count(&mut self, end: End) -> bool {
        if end == End::Blocked {
            self.report.blocked += 1;
            return false;
        }
        self.report.executions += 1;
        self.report.deadlocks += u64::from(end == End::Deadlock);
        self.engine.with_state(|state| {
            self.too_long += u64::from(std::mem::take(&mut state.too_long));
            if let Some(classes) = &mut self.classes {
                classes.insert(class(state));
            }
            let Some(fault) = state.faults.first() else {
                return false;
            };
            self.report.failed += 1;
            if self.report.failures.len() < KEPT {
                self.report.failures.push(describe::failure(state, fault));
            }
            true
        })
    }

    fn finish(mut self) -> Report {
        let executions = self.report.executions;
        self.engine.with_state(|state| {
            self.report.classes = match &self.classes {
                Some(classes) => Some(classes.len() as u64),
                None => state.visits_classes_once().then_some(executions),
            };
            let notes = &mut self.report.notes;
            if self.too_long > 0 {
                notes.push(format!(
                    "{} runs were stopped: too many steps",
                    self.too_long
                ));
            }
            if state.abandoned > 0 {
                notes.push(format!(
                    "{} threads could not be ended; their stacks are lost",
                    state.abandoned
                ));
            }
            if state.survivors > 0 {
                notes.push(String::from(
                    "some objects are older than a run: what they hold is kept from run to run",
                ));
            }
            if state.tries.locks {
                notes.push(String::from("locks are tried, so unlocks are steps"));
            }
            if state.tries.channels {
                notes.push(String::from(
                    "receives are tried, so ends of senders are steps",
                ));
            }
        });
        if self.too_long > 0 && self.report.stopped == Stopped::Exhausted {
            self.report.stopped = Stopped::Steps;
        }
        self.report
    }
}

/// A number for the class of the last run: which events come after which, whatever threads are called.
fn class(state: &State) -> u64 {
    let run = &state.run;
    let mut class = 0_u64;
    for (number, event) in run.events().iter().enumerate() {
        let mut row = mix(state.threads[usize::from(event.thread)].path);
        for (thread, &count) in state.threads.iter().zip(run.clock(number)) {
            row = row.wrapping_add(mix(thread.path ^ mix(u64::from(count))));
        }
        class = class.wrapping_add(mix(row));
    }
    for thread in &state.threads {
        class = class.wrapping_add(mix(thread.path ^ thread.choices));
    }
    class
}
