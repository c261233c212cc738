//! The way in: what is explored how, and what came out.

use std::{
    collections::HashSet,
    env,
    panic::{self, AssertUnwindSafe},
    rc::Rc,
};

use portent_hooks::control::{self, Controller as _, Ended};
use portent_monitor_dsl::Monitor;

use crate::{
    confirm::{self, Confirmation},
    describe,
    engine::{Engine, Limits, State},
    error::Error,
    execution::Execution,
    panics,
    predict::Predictor,
    random::mix,
    relevance::Relevance,
    report::{Failure, Report, Stopped},
    strategy::{End, Next, Replay, Source, Strategy},
    token::Token,
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
    runs: u64,
    keep_going: bool,
    each: Option<Observer>,
    monitors: Vec<Monitor>,
    replay: Option<Token>,
}

/// Who looks at runs.
type Observer = Box<dyn Fn(&Execution<'_>)>;

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
                repeated: 8,
            },
            runs: u64::MAX,
            keep_going: false,
            each: None,
            monitors: Vec::new(),
            replay: None,
        }
    }

    /// Checks a property on every run, and on all that are equivalent to it. What is only predicted is made to happen.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use portent_explore::{Confirmation, Explorer};
    /// use portent_hooks::{Shared, thread};
    /// use portent_monitor_dsl::Property;
    ///
    /// let property = Property::parse("always (ready > 0 -> result > 0)")?.monitor()?;
    /// let report = Explorer::new().property(property).check(|| {
    ///     let result = Shared::with_name("result", 0);
    ///     let ready = Arc::new(Shared::with_name("ready", 0));
    ///     let teller = thread::spawn({
    ///         let ready = Arc::clone(&ready);
    ///         move || ready.set(1)
    ///     });
    ///     result.set(42);
    ///     teller.join().unwrap();
    /// });
    /// assert_eq!(report.executions, 1, "one run stands for both orders");
    /// assert_eq!(report.failures[0].confirmation, Some(Confirmation::Confirmed));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn property(mut self, monitor: Monitor) -> Explorer {
        self.monitors.push(monitor);
        self
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

    /// How many of the first runs are repeated, to see whether the program does the same again; 8 unless told otherwise. They are
    /// not counted.
    pub fn repeat_runs(mut self, runs: u32) -> Explorer {
        self.limits.repeated = runs;
        self
    }

    /// Does not stop at the first failure.
    pub fn keep_going(mut self) -> Explorer {
        self.keep_going = true;
        self
    }

    /// Repeats one run instead, whose schedule was printed with a failure.
    ///
    /// The environment variable `PORTENT_REPLAY` asks for the same.
    ///
    /// # Errors
    ///
    /// If the text is no schedule.
    pub fn replay(mut self, token: &str) -> Result<Explorer, Error> {
        self.replay = Some(Token::read(token)?);
        Ok(self)
    }

    /// Looks at each run that was not cut short, after it has ended.
    pub fn each(mut self, look: impl Fn(&Execution<'_>) + 'static) -> Explorer {
        self.each = Some(Box::new(look));
        self
    }

    /// Explores a program.
    ///
    /// # Panics
    ///
    /// If it is called by a program that is explored.
    pub fn check(&self, program: impl Fn()) -> Report {
        let relevance = match Relevance::new(&self.monitors) {
            Ok(relevance) => (!self.monitors.is_empty()).then_some(relevance),
            Err(error) => return Report::impossible(&error),
        };
        let replay = self.replay.clone().or_else(told_by_environment);
        let strategy = match &replay {
            Some(token) => Box::new(Replay::new(token.schedule.clone())) as Box<dyn Strategy>,
            None => (self.strategy)(),
        };
        let engine = Rc::new(Engine::new(strategy, relevance, self.limits));
        let chooses_events = replay.as_ref().is_some_and(|token| token.chooses_events);
        engine.with_state(|state| state.chooses_events = chooses_events);
        let _controlled = control::enter(Rc::clone(&engine) as _)
            .expect("a program that is explored does not explore");
        let _listening = panics::listen();
        let main = || {
            let ended = Ended::of(&panic::catch_unwind(AssertUnwindSafe(&program)));
            engine.drop_locals();
            ended
        };
        Search {
            engine: &engine,
            report: Report::default(),
            classes: engine
                .with_state(|state| state.counts_classes())
                .then(HashSet::new),
            too_long: 0,
            predictor: Predictor::new(self.monitors.clone()),
            witnesses: Vec::new(),
            replay,
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
    predictor: Predictor,
    /// Failures that were only predicted, and how to make them happen.
    witnesses: Vec<(usize, Vec<u32>)>,
    replay: Option<Token>,
}

/// What the environment asks to be repeated.
fn told_by_environment() -> Option<Token> {
    let token = env::var("PORTENT_REPLAY").ok()?;
    match Token::read(&token) {
        Ok(token) => Some(token),
        Err(error) => panic!("PORTENT_REPLAY: {error}"),
    }
}

impl Search<'_> {
    fn search(mut self, explorer: &Explorer, main: &dyn Fn() -> Ended) -> Report {
        let mut keep = 0;
        loop {
            let ran = self.engine.run(main, keep);
            if let Next::Restart(reason) = ran.next {
                self.begin_anew(reason);
                keep = 0;
                continue;
            }
            let failed = self.count(ran.end);
            if ran.end != End::Blocked
                && let Some(look) = &explorer.each
            {
                self.engine
                    .with_state(|state| look(&Execution::new(state, ran.end)));
            }
            let runs = self.report.executions + self.report.blocked;
            self.report.stopped = match ran.next {
                Next::Exhausted => Stopped::Exhausted,
                Next::Bounded => Stopped::Bound,
                _ if failed && !explorer.keep_going => Stopped::Failure,
                Next::Keep(next) if runs < explorer.runs => {
                    keep = next;
                    continue;
                }
                _ => Stopped::Runs,
            };
            break;
        }
        let mut report = self.finish();
        for (failure, schedule) in std::mem::take(&mut self.witnesses) {
            self.confirm(&mut report.failures[failure], schedule, main);
        }
        report
    }

    /// Makes a predicted violation happen.
    fn confirm(&mut self, failure: &mut Failure, schedule: Vec<u32>, main: &dyn Fn() -> Ended) {
        let strategy = Box::new(Replay::new(schedule.clone()));
        self.engine.with_state(|state| {
            state.set_strategy(strategy);
            state.chooses_events = true;
        });
        self.engine.run(main, 0);
        self.engine.with_state(|state| {
            let answer = self.predictor.answer(state);
            let observed = answer.ok().filter(describe::is_observed);
            *failure = match observed {
                Some(answer) => Failure {
                    confirmation: Some(Confirmation::Confirmed),
                    ..describe::violation(state, answer)
                },
                None => Failure {
                    confirmation: Some(Confirmation::NotReproduced(describe::difference(
                        state, &schedule,
                    ))),
                    ..failure.clone()
                },
            };
        });
    }

    /// Nothing so far counts.
    fn begin_anew(&mut self, reason: &str) {
        let mut notes = std::mem::take(&mut self.report.notes);
        notes.push(reason.to_owned());
        self.report = Report {
            notes,
            ..Report::default()
        };
        self.too_long = 0;
        if let Some(classes) = &mut self.classes {
            classes.clear();
        }
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
            let predicted = self.predictor.look(state);
            let is_room = self.report.failures.len() < KEPT;
            let failures = &mut self.report.failures;
            let mut has_failed = false;
            if let Some(fault) = state.faults.first() {
                has_failed = true;
                if is_room {
                    failures.push(describe::failure(state, fault));
                }
            }
            match predicted {
                Ok(None) => {}
                Ok(Some(answer)) => {
                    has_failed = true;
                    if is_room {
                        let failure = describe::violation(state, answer);
                        if failure.confirmation.is_none()
                            && let Some(answer) = &failure.answer
                            && let Some(schedule) = confirm::schedule(state, answer)
                        {
                            self.witnesses.push((failures.len(), schedule));
                        }
                        failures.push(failure);
                    }
                }
                Err(error) => {
                    has_failed = true;
                    if is_room {
                        failures.push(describe::unanswered(state, &error));
                    }
                }
            }
            self.report.failed += u64::from(has_failed);
            has_failed
        })
    }

    fn finish(&mut self) -> Report {
        let executions = self.report.executions;
        self.engine.with_state(|state| {
            self.report.classes = match &self.classes {
                Some(classes) => Some(classes.len() as u64),
                None => state.visits_classes_once().then_some(executions),
            };
            let notes = &mut self.report.notes;
            if let Some(token) = &self.replay {
                let same = describe::fingerprint(&describe::steps(state)) == token.fingerprint;
                notes.push(String::from(if same {
                    "this is a run that was repeated, and it did the same"
                } else {
                    "this is a run that was to be repeated, but it did something else: the program has changed, or does not always do the \
                     same"
                }));
            }
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
            self.report.posets = self.predictor.searched;
            self.report.unchecked = self.predictor.unchecked + self.predictor.gave_up;
            if let Some(relevance) = &state.relevance {
                notes.extend(relevance.missing());
                if self.predictor.unchecked > 0 {
                    notes.push(format!(
                        "{} runs were not checked: nobody knows what a variable of a property begins with, which has to be declared",
                        self.predictor.unchecked
                    ));
                }
                if self.predictor.gave_up > 0 {
                    notes.push(String::from(
                        "not every run that is equivalent to those that were seen was checked: a limit of the analyzer was met",
                    ));
                }
            }
            if state.pauses {
                notes.push(String::from(
                    "a thread that looked again and again waited until something had changed",
                ));
            }
            if state.survivors > 0 {
                notes.push(String::from(
                    "some objects are older than a run: what they hold is kept from run to run",
                ));
            }
        });
        if self.too_long > 0 && self.report.stopped == Stopped::Exhausted {
            self.report.stopped = Stopped::Steps;
        }
        std::mem::take(&mut self.report)
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
    for &(thread, after, value) in &state.picks {
        let picked =
            mix(state.threads[thread].path ^ mix(u64::from(after) << 32 | u64::from(value)));
        class = class.wrapping_add(mix(picked));
    }
    class
}
