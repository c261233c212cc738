//! The entry point: what to explore and how, and the result.

mod attempt;
mod count;
mod save;
mod search;
mod shrink;
mod summary;

use std::{
    env, panic,
    path::PathBuf,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use portent_monitor_dsl::Monitor;

use self::{
    save::asked,
    search::{Found, Settings},
    summary::merged,
};
use crate::{
    engine::{Limits, Options, Tries},
    error::Error,
    execution::Execution,
    parallel::Exchange,
    progress::{Listener, Progress},
    relevance::Relevance,
    report::Report,
    saved::Saved,
    strategy::{Path, Replay, Source, Strategy},
    token::Token,
};

/// Runs a program repeatedly, each time with a different interleaving of its threads.
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
    monitors: Vec<Monitor>,
    replay: Option<Token>,
    file: Option<PathBuf>,
    save_every: Duration,
    saved: Option<Saved>,
    time: Option<Duration>,
    listener: Option<Box<Listener>>,
    counts_interleavings: bool,
    shrinking: u64,
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
    /// Explores one run of every class of equivalent runs, until something fails.
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
            monitors: Vec::new(),
            replay: None,
            file: None,
            save_every: Duration::from_secs(5),
            saved: None,
            time: None,
            listener: None,
            counts_interleavings: false,
            shrinking: 2_000,
        }
    }

    /// Checks a property on every run and on all runs equivalent to it. A predicted violation is then made to happen.
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

    /// Sets the strategy that chooses the runs; [`Source`] by default.
    pub fn strategy<S: Strategy + 'static>(self, strategy: impl Fn() -> S + 'static) -> Explorer {
        Explorer {
            strategy: Box::new(move || Box::new(strategy())),
            ..self
        }
    }

    /// Stops each run after this many steps; 10,000 by default, and at most 60,000.
    pub fn max_steps(mut self, steps: usize) -> Explorer {
        self.limits.steps = steps.min(60_000);
        self
    }

    /// Stops after this many runs.
    pub fn max_runs(mut self, runs: u64) -> Explorer {
        self.runs = runs;
        self
    }

    /// Stops after this time.
    pub fn max_time(mut self, time: Duration) -> Explorer {
        self.time = Some(time);
        self
    }

    /// Saves the search in this file if it is stopped before its end, and resumes it from there the next time. It is also saved
    /// [periodically](Explorer::save_every), in case the process is killed. This works with source sets on one OS thread only.
    ///
    /// A file that was saved with other properties or options is not resumed: the report says so, and nothing is searched.
    ///
    /// # Errors
    ///
    /// If the file exists but cannot be read, or is not a saved search.
    pub fn resumable(mut self, path: impl Into<PathBuf>) -> Result<Explorer, Error> {
        let path = path.into();
        self.saved = Saved::read(&path)?;
        self.file = Some(path);
        Ok(self)
    }

    /// How often a resumable search is saved; every five seconds by default. If the process is killed, the work since the last time is
    /// lost.
    pub fn save_every(mut self, time: Duration) -> Explorer {
        self.save_every = time;
        self
    }

    /// The stack size of each thread; 512 KiB by default. Only the part that is used takes memory.
    pub fn stack_size(mut self, bytes: usize) -> Explorer {
        self.limits.stack_size = bytes;
        self
    }

    /// How many of the first runs are repeated to check that the program is deterministic; 8 by default. The repetitions are
    /// not counted.
    pub fn repeat_runs(mut self, runs: u32) -> Explorer {
        self.limits.repeated = runs;
        self
    }

    /// Lets `notify_one` wake the thread that has waited longest. By default it may wake any waiting thread, and each choice is explored.
    pub fn first_waiter(mut self) -> Explorer {
        self.options.first_waiter = true;
        self
    }

    /// Allows each thread this many spurious wake-ups, from waiting on a condition variable or from parking; none by default.
    pub fn spurious_wake_ups(mut self, each: u32) -> Explorer {
        self.options.spurious = each;
        self
    }

    /// How many runs may be spent on finding a schedule with fewer preemptions for the failure that ended the search; 2,000 by default,
    /// and none with 0. They are not counted. A search that [keeps going](Explorer::keep_going) does not shrink its failures.
    pub fn max_shrinking_runs(mut self, runs: u64) -> Explorer {
        self.shrinking = runs;
        self
    }

    /// Reports two unordered accesses of one [`Shared`](portent_hooks::Shared), at least one of them a write, as a failure: in plain memory
    /// they would be a data race.
    ///
    /// By default they are no failure, since each access of a `Shared` is atomic, and a program may use it like one. Accesses are ordered by
    /// the synchronisation of the program: locks, channels, joins and the like, and atomics, which all count as `Acquire` and `Release`,
    /// whatever ordering they ask for.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use portent_explore::{Explorer, FailureKind};
    /// use portent_hooks::{Shared, thread};
    ///
    /// let report = Explorer::new().races().check(|| {
    ///     let level = Arc::new(Shared::with_name("level", 0));
    ///     let other = thread::spawn({
    ///         let level = Arc::clone(&level);
    ///         move || level.set(1)
    ///     });
    ///     level.get();
    ///     other.join().unwrap();
    /// });
    /// assert_eq!(report.failures[0].kind, FailureKind::Race);
    /// assert!(report.failures[0].message.starts_with("data race on level"));
    /// ```
    pub fn races(mut self) -> Explorer {
        self.options.races = true;
        self
    }

    /// Continues after the first failure.
    pub fn keep_going(mut self) -> Explorer {
        self.keep_going = true;
        self
    }

    /// Repeats a single run instead of searching, from the schedule that was printed with a failure.
    ///
    /// The environment variable `PORTENT_REPLAY` does the same.
    ///
    /// # Errors
    ///
    /// If the text is not a schedule.
    pub fn replay(mut self, token: &str) -> Result<Explorer, Error> {
        self.replay = Some(Token::read(token)?);
        Ok(self)
    }

    /// Calls this function with the progress of the search about four times a second, instead of showing a line on the terminal.
    ///
    /// ```
    /// use portent_explore::{Explorer, Progress};
    ///
    /// let show = |progress: &Progress| println!("{} runs, {:?} left", progress.runs, progress.left());
    /// let report = Explorer::new().progress(show).check(|| {});
    /// assert_eq!(report.executions, 1);
    /// ```
    pub fn progress(mut self, listener: impl Fn(&Progress) + Send + Sync + 'static) -> Explorer {
        self.listener = Some(Box::new(listener));
        self
    }

    /// Counts how many interleavings the executions stand for. This may take longer than the runs themselves; if there are too many, the
    /// count is given up.
    pub fn count_interleavings(mut self) -> Explorer {
        self.counts_interleavings = true;
        self
    }

    /// Calls this function after each run that was not cut short.
    pub fn each(mut self, look: impl Fn(&Execution<'_>) + Send + Sync + 'static) -> Explorer {
        self.each = Some(Box::new(look));
        self
    }

    /// Explores a program.
    ///
    /// # Panics
    ///
    /// If it is called from within an explored program.
    pub fn check(&self, program: impl Fn()) -> Report {
        if let Err(error) = Relevance::new(&self.monitors) {
            return Report::impossible(&error);
        }
        let replay = self.replay.clone().or_else(told_by_environment);
        let mut settings = self.settings();
        let strategy = match &replay {
            Some(token) => {
                // One run is no search that could go on.
                (settings.file, settings.saved) = (None, None);
                Box::new(Replay::new(token.schedule.clone()))
            }
            None => match self.resumed() {
                Ok(strategy) => strategy,
                Err(error) => return Report::impossible(&error),
            },
        };
        if let Some(saved) = settings.saved {
            settings.limits.tries = saved.tries;
        }
        settings.search(strategy, replay, None, &program).report
    }

    /// Explores a program on this many OS threads. Some searches cannot be shared and run on one, and the report says why:
    /// those of a program that uses statics, with a strategy other than [`Source`], resumable ones, and replays.
    ///
    /// # Panics
    ///
    /// If it is called from within an explored program.
    pub fn check_in_parallel(&self, workers: usize, program: impl Fn() + Sync) -> Report {
        if workers < 2 {
            return self.check(program);
        }
        if let Some(reason) = self.is_alone() {
            return self.check_alone(reason, program);
        }
        if let Err(error) = Relevance::new(&self.monitors) {
            return Report::impossible(&error);
        }
        let mut settings = self.settings();
        let mut notes = Vec::new();
        let mut discarded = 0;
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
                discarded += { found.iter() }
                    .map(|found| found.report.executions + found.report.blocked + 1)
                    .sum::<u64>();
                settings.limits.tries = tries;
                continue;
            }
            if found.iter().any(|found| found.survivors) {
                return self.check_alone("objects are older than a run", program);
            }
            let mut report = merged(found.into_iter().map(|found| found.report));
            report.notes.extend(notes);
            report.discarded = discarded;
            return report;
        }
    }

    /// By one thread of the operating system, for this reason.
    fn check_alone(&self, reason: &str, program: impl Fn()) -> Report {
        let mut report = self.check(program);
        let note = format!("{reason}, so one thread of the operating system searched alone");
        report.notes.push(note);
        report
    }

    /// What is searched: from the beginning, or from where it was stopped.
    fn resumed(&self) -> Result<Box<dyn Strategy>, Error> {
        let strategy = (self.strategy)();
        let Some(path) = &self.file else {
            return Ok(strategy);
        };
        if strategy.save().is_none() {
            return Err(Error::Unsaved { path: path.clone() });
        }
        match &self.saved {
            Some(saved) if saved.asked != asked(&self.monitors, self.options) => {
                Err(Error::Saved {
                    path: path.clone(),
                    line: 2,
                    what: "it is of other properties or options; remove it to begin anew",
                })
            }
            Some(saved) => Ok(Box::new(Source::resumed(&saved.points))),
            None => Ok(strategy),
        }
    }

    /// Why several threads of the operating system cannot search together.
    fn is_alone(&self) -> Option<&'static str> {
        if self.replay.is_some() || env::var_os("PORTENT_REPLAY").is_some() {
            Some("one run is repeated")
        } else if self.file.is_some() {
            Some("a search that can be resumed cannot be shared")
        } else if (self.strategy)().save().is_none() {
            Some("only a search by source sets can be shared")
        } else {
            None
        }
    }

    fn settings(&self) -> Settings<'_> {
        Settings {
            chooses_events: false,
            limits: self.limits,
            options: self.options,
            runs: self.runs,
            keep_going: self.keep_going,
            each: self.each.as_deref(),
            monitors: &self.monitors,
            until: self.time.map(|time| Instant::now() + time),
            file: self.file.as_deref(),
            save_every: self.save_every,
            counts_interleavings: self.counts_interleavings,
            shrinking: self.shrinking,
            listener: self.listener.as_deref(),
            saved: self.saved.as_ref(),
        }
    }
}

/// What the environment asks to be repeated.
fn told_by_environment() -> Option<Token> {
    let token = env::var("PORTENT_REPLAY").ok()?;
    match Token::read(&token) {
        Ok(token) => Some(token),
        Err(error) => panic!("PORTENT_REPLAY: {error}"),
    }
}
