//! The way in: what is explored how, and what came out.

use std::{
    collections::HashSet,
    env, fs, io,
    panic::{self, AssertUnwindSafe},
    path::{Path as FilePath, PathBuf},
    rc::Rc,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use portent_hooks::control::{self, Controller as _, Ended};

use crate::{
    describe,
    engine::{Engine, Limits, Options, State, Tries},
    error::Error,
    execution::Execution,
    parallel::Exchange,
    random::mix,
    report::{Report, Stopped},
    saved::{Counts, Saved},
    strategy::{End, Next, Path, Replay, Source, Strategy},
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
    options: Options,
    runs: u64,
    keep_going: bool,
    each: Option<Observer>,
    replay: Option<Token>,
    file: Option<PathBuf>,
    saved: Option<Saved>,
    time: Option<Duration>,
}

/// Who looks at runs.
type Observer = Box<dyn Fn(&Execution<'_>) + Send + Sync>;

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
                tries: Tries::default(),
            },
            options: Options::default(),
            runs: u64::MAX,
            keep_going: false,
            each: None,
            replay: None,
            file: None,
            saved: None,
            time: None,
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

    /// Stops after so much time.
    pub fn max_time(mut self, time: Duration) -> Explorer {
        self.time = Some(time);
        self
    }

    /// If the search is stopped before its end, it is saved in this file, and goes on there the next time. By source sets only, and by
    /// one thread of the operating system.
    ///
    /// # Errors
    ///
    /// If the file is there and cannot be read, or is something else.
    pub fn resumable(mut self, path: impl Into<PathBuf>) -> Result<Explorer, Error> {
        let path = path.into();
        self.saved = Saved::read(&path)?;
        self.file = Some(path);
        Ok(self)
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
    pub fn each(mut self, look: impl Fn(&Execution<'_>) + Send + Sync + 'static) -> Explorer {
        self.each = Some(Box::new(look));
        self
    }

    /// Explores a program.
    ///
    /// # Panics
    ///
    /// If it is called by a program that is explored.
    pub fn check(&self, program: impl Fn()) -> Report {
        let replay = self.replay.clone().or_else(told_by_environment);
        let strategy = match &replay {
            Some(token) => Box::new(Replay::new(token.schedule.clone())) as Box<dyn Strategy>,
            None => match &self.saved {
                Some(saved) => Box::new(Source::resumed(&saved.points)),
                None => (self.strategy)(),
            },
        };
        let mut settings = self.settings();
        settings.limits.tries = settings.counted.tries;
        settings.search(strategy, replay, None, &program).report
    }

    /// Explores a program by so many threads of the operating system, by source sets. A program that uses statics is explored by one.
    ///
    /// # Panics
    ///
    /// If it is called by a program that is explored.
    pub fn check_in_parallel(&self, workers: usize, program: impl Fn() + Sync) -> Report {
        if workers < 2
            || self.file.is_some()
            || self.replay.is_some()
            || env::var_os("PORTENT_REPLAY").is_some()
        {
            return self.check(program);
        }
        let mut settings = self.settings();
        let mut notes = Vec::new();
        loop {
            let exchange = Arc::new(Exchange::new(workers, Path::default()));
            let found: Vec<Found> = thread::scope(|scope| {
                let work = || {
                    let strategy = Box::new(Source::sharing(Arc::clone(&exchange)));
                    settings.search(strategy, None, Some(&exchange), &program)
                };
                let spawned: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
                let join = |worker: thread::ScopedJoinHandle<'_, Found>| match worker.join() {
                    Ok(found) => found,
                    Err(panic) => panic::resume_unwind(panic),
                };
                spawned.into_iter().map(join).collect()
            });
            if let Some((reason, tries)) = found.iter().find_map(|found| found.restart) {
                notes.push(reason.to_owned());
                settings.limits.tries = tries;
                continue;
            }
            if found.iter().any(|found| found.survivors) {
                let mut report = self.check(program);
                report.notes.push(String::from(
                    "objects are older than a run, so one thread of the operating system searched alone",
                ));
                return report;
            }
            let mut report = merged(found.into_iter().map(|found| found.report));
            report.notes.extend(notes);
            return report;
        }
    }

    fn settings(&self) -> Settings<'_> {
        Settings {
            limits: self.limits,
            options: self.options,
            runs: self.runs,
            keep_going: self.keep_going,
            each: self.each.as_deref(),
            until: self.time.map(|time| Instant::now() + time),
            file: self.file.as_deref(),
            counted: self
                .saved
                .as_ref()
                .map_or_else(Counts::default, |saved| saved.counts),
        }
    }
}

/// What all who search together are told.
#[derive(Clone, Copy)]
struct Settings<'a> {
    limits: Limits,
    options: Options,
    runs: u64,
    keep_going: bool,
    each: Option<&'a (dyn Fn(&Execution<'_>) + Send + Sync)>,
    until: Option<Instant>,
    file: Option<&'a FilePath>,
    /// What was counted before the search was resumed.
    counted: Counts,
}

/// What one of them found.
struct Found {
    report: Report,
    /// The search has to begin anew, for this reason, and what has to be events then.
    restart: Option<(&'static str, Tries)>,
    /// There are objects that are older than a run.
    survivors: bool,
}

impl Settings<'_> {
    fn search(
        self,
        strategy: Box<dyn Strategy>,
        replay: Option<Token>,
        exchange: Option<&Exchange<Path>>,
        program: &dyn Fn(),
    ) -> Found {
        if cfg!(panic = "abort") {
            panic!("where panics abort nothing can be explored: threads are ended by unwinding");
        }
        let engine = Rc::new(Engine::new(strategy, self.limits, self.options));
        let _controlled = control::enter(Rc::clone(&engine) as _)
            .expect("a program that is explored does not explore");
        let main = || {
            let ended = Ended::of(&panic::catch_unwind(AssertUnwindSafe(program)));
            engine.drop_locals();
            ended
        };
        Search {
            engine: &engine,
            settings: self,
            exchange,
            report: Report {
                executions: self.counted.executions,
                blocked: self.counted.blocked,
                deadlocks: self.counted.deadlocks,
                failed: self.counted.failed,
                ..Report::default()
            },
            restart: None,
            classes: engine
                .with_state(|state| state.counts_classes())
                .then(HashSet::new),
            too_long: 0,
            replay,
        }
        .search(&main)
    }
}

/// What several found together.
fn merged(reports: impl Iterator<Item = Report>) -> Report {
    let mut all = Report::default();
    let mut classes = 0;
    for report in reports {
        all.executions += report.executions;
        all.blocked += report.blocked;
        all.deadlocks += report.deadlocks;
        all.failed += report.failed;
        classes += report.classes.unwrap_or_default();
        if report.stopped != Stopped::Exhausted && all.stopped != Stopped::Failure {
            all.stopped = report.stopped;
        }
        all.failures.extend(report.failures);
        for note in report.notes {
            if !all.notes.contains(&note) {
                all.notes.push(note);
            }
        }
    }
    // In an order that does not depend on who was faster.
    all.failures
        .sort_by(|one, other| one.token.cmp(&other.token));
    all.failures.truncate(KEPT);
    all.classes = Some(classes);
    all
}

struct Search<'a> {
    engine: &'a Engine,
    settings: Settings<'a>,
    exchange: Option<&'a Exchange<Path>>,
    report: Report,
    restart: Option<(&'static str, Tries)>,
    /// Classes that were seen, where runs do not tell.
    classes: Option<HashSet<u64>>,
    too_long: u64,
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
    fn search(mut self, main: &dyn Fn() -> Ended) -> Found {
        let mut keep = 0;
        let mut begins = self.engine.begins();
        while begins {
            let ran = self.engine.run(main, keep);
            if let Next::Restart(reason) = ran.next {
                if let Some(exchange) = self.exchange {
                    // All have to.
                    exchange.stop();
                    self.restart = Some((reason, self.engine.with_state(|state| state.tries)));
                    break;
                }
                self.begin_anew(reason);
                keep = 0;
                continue;
            }
            let failed = self.count(ran.end);
            if ran.end != End::Blocked
                && let Some(look) = self.settings.each
            {
                self.engine
                    .with_state(|state| look(&Execution::new(state, ran.end)));
            }
            let runs = match self.exchange {
                Some(exchange) => exchange.count(),
                None => self.report.executions + self.report.blocked,
            };
            self.report.stopped = match ran.next {
                Next::Exhausted => Stopped::Exhausted,
                Next::Bounded => Stopped::Bound,
                _ if failed && !self.settings.keep_going => Stopped::Failure,
                Next::Keep(_) if self.survives() => Stopped::Runs,
                Next::Keep(_) if self.is_late(runs) => Stopped::Time,
                Next::Keep(next) if runs < self.settings.runs => {
                    keep = next;
                    continue;
                }
                _ => Stopped::Runs,
            };
            begins = false;
        }
        if self.report.stopped != Stopped::Exhausted
            && let Some(exchange) = self.exchange
        {
            exchange.stop();
        }
        self.finish()
    }

    /// Whether there is no time left; it is not asked after every run.
    fn is_late(&self, runs: u64) -> bool {
        let until = self.settings.until;
        runs.is_multiple_of(64) && until.is_some_and(|until| Instant::now() >= until)
    }

    /// Saves the search if it was stopped, or removes what was saved of it.
    fn save(&mut self) {
        let Some(path) = self.settings.file else {
            return;
        };
        let saved = match self.report.stopped {
            Stopped::Runs | Stopped::Time | Stopped::Failure => {
                self.engine.with_state(|state| state.save())
            }
            _ => None,
        };
        let written = match saved {
            Some((points, tries)) => Saved {
                counts: Counts {
                    executions: self.report.executions,
                    blocked: self.report.blocked,
                    deadlocks: self.report.deadlocks,
                    failed: self.report.failed,
                    tries,
                },
                points,
            }
            .write(path),
            None => match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            },
        };
        if let Err(error) = written {
            let note = format!("{}: the search was not saved: {error}", path.display());
            self.report.notes.push(note);
        }
    }

    /// Whether others may meet the same objects at the same time.
    fn survives(&self) -> bool {
        self.exchange.is_some() && self.engine.with_state(|state| state.survivors > 0)
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

    fn finish(mut self) -> Found {
        self.save();
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
        Found {
            restart: self.restart,
            survivors: self.engine.with_state(|state| state.survivors > 0),
            report: self.report,
        }
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
