//! Models: programs that are run in every order that makes a difference.

use std::{env, fmt::Display, path::PathBuf, str::FromStr, time::Duration};

use portent_explore::{Explorer, Report, Stopped, strategy::Preemption};

use crate::run;

/// The number of runs, one for each class, to explore before a bound on preemptions is applied.
const UNBOUNDED_RUNS: u64 = 100_000;

/// A note that every model prints.
const MEMORY_MODEL: &str =
    "note: sequentially consistent: what only weaker orderings allow was not looked for";

/// How a model is explored. The fields are loom's.
#[derive(Debug)]
#[non_exhaustive]
pub struct Builder {
    /// The largest number of threads. Ignored here: there may be 64.
    pub max_threads: usize,
    /// The largest number of steps of a run that are choices. If a run has more than this, and more than 10,000, the model
    /// fails.
    pub max_branches: usize,
    /// Stops after this many runs.
    pub max_permutations: Option<usize>,
    /// Stops after this time.
    pub max_duration: Option<Duration>,
    /// At most this many preemptions in a run; if one run of each class is affordable, all are explored nevertheless.
    pub preemption_bound: Option<usize>,
    /// An interrupted search is saved here, and resumed the next time.
    pub checkpoint_file: Option<PathBuf>,
    /// The interval between saves. Here the search is saved when it ends.
    pub checkpoint_interval: usize,
    /// Start exploring where [`explore`](crate::explore) is called. Here everything is explored.
    pub expect_explicit_explore: bool,
    /// Whether source locations are shown. Here they always are.
    pub location: bool,
    /// Whether runs are logged. Here they are not.
    pub log: bool,
}

impl Builder {
    /// The settings of the environment: `LOOM_MAX_PREEMPTIONS` and the like, as for loom.
    ///
    /// # Panics
    ///
    /// If a variable has an invalid value.
    #[must_use]
    pub fn new() -> Builder {
        Builder {
            max_threads: crate::MAX_THREADS,
            max_branches: told("LOOM_MAX_BRANCHES").unwrap_or(1_000),
            max_permutations: told("LOOM_MAX_PERMUTATIONS"),
            max_duration: told("LOOM_MAX_DURATION").map(Duration::from_secs),
            preemption_bound: told("LOOM_MAX_PREEMPTIONS"),
            checkpoint_file: told("LOOM_CHECKPOINT_FILE"),
            checkpoint_interval: told("LOOM_CHECKPOINT_INTERVAL").unwrap_or(20_000),
            expect_explicit_explore: false,
            location: env::var_os("LOOM_LOCATION").is_some(),
            log: env::var_os("LOOM_LOG").is_some(),
        }
    }

    /// Sets [`checkpoint_file`](Self::checkpoint_file).
    pub fn checkpoint_file(&mut self, file: &str) -> &mut Self {
        self.checkpoint_file = Some(file.into());
        self
    }

    /// Explores a model, and prints on the standard output how far it got, if no error is found.
    ///
    /// # Panics
    ///
    /// If an error is found.
    #[track_caller]
    pub fn check<F>(&self, f: F)
    where
        F: Fn() + Sync + Send + 'static,
    {
        let mut report = self.explore(self.explorer(), &f);
        if let Some(bound) = self.preemption_bound
            && report.stopped == Stopped::Runs
            && self
                .max_permutations
                .is_none_or(|most| most as u64 > UNBOUNDED_RUNS)
        {
            println!("loom on Portent: {report}");
            let bound = u32::try_from(bound).unwrap_or(u32::MAX);
            let explorer = self.explorer().strategy(move || Preemption::new(bound));
            report = self.explore(explorer.max_runs(self.runs(u64::MAX)), &f);
        }
        assert!(report.failed == 0, "{report}\n{MEMORY_MODEL}");
        println!("loom on Portent: {report}\n{MEMORY_MODEL}");
        assert!(
            report.stopped != Stopped::Steps,
            "a run has more than {} steps, so the model is not explored to its end: a loop that waits for another thread has to call \
             `loom::thread::yield_now` or `loom::hint::spin_loop`, and a longer model needs a larger `max_branches`",
            self.steps(),
        );
    }

    fn explorer(&self) -> Explorer {
        let most = if self.preemption_bound.is_some() {
            UNBOUNDED_RUNS
        } else {
            u64::MAX
        };
        let mut explorer = Explorer::new()
            .races()
            .max_steps(self.steps())
            .max_runs(self.runs(most))
            .each(|execution| {
                if !execution.has_failed()
                    && let Some(leak) = run::leak()
                {
                    panic!("{leak}");
                }
            });
        if let Some(time) = self.max_duration {
            explorer = explorer.max_time(time);
        }
        if let Some(file) = &self.checkpoint_file {
            explorer = match explorer.resumable(file) {
                Ok(explorer) => explorer,
                Err(error) => panic!("{}: {error}", file.display()),
            };
        }
        explorer
    }

    fn steps(&self) -> usize {
        self.max_branches.max(10_000)
    }

    fn runs(&self, most: u64) -> u64 {
        self.max_permutations
            .map_or(most, |runs| most.min(runs as u64))
    }

    /// Explores a model; a second time if reference counts are read, because changing them is then a step.
    fn explore(&self, explorer: Explorer, f: &impl Fn()) -> Report {
        let program = || {
            run::begin();
            f();
            run::drop_lazy();
        };
        for counts in [false, true] {
            run::expect_counts(counts);
            let report = explorer.check(program);
            run::end();
            if !run::is_surprised() {
                return report;
            }
        }
        unreachable!("nobody is surprised who knows it")
    }
}

impl Default for Builder {
    fn default() -> Self {
        Self::new()
    }
}

/// The value of an environment variable.
fn told<T: FromStr<Err: Display>>(name: &str) -> Option<T> {
    let text = env::var(name).ok()?;
    match text.parse() {
        Ok(value) => Some(value),
        Err(error) => panic!("{name}={text}: {error}"),
    }
}

/// Explores a model with the settings of the environment: see [`Builder::new`].
///
/// # Panics
///
/// If an error is found.
#[track_caller]
pub fn model<F>(f: F)
where
    F: Fn() + Sync + Send + 'static,
{
    Builder::new().check(f);
}
