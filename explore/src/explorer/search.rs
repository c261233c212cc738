//! The runs of one search, one after the other, until it ends or is stopped.

use std::{
    collections::HashSet,
    panic::{self, AssertUnwindSafe},
    path::Path as FilePath,
    rc::Rc,
    time::{Duration, Instant},
};

use portent_hooks::control::{self, Controller as _, Ended};
use portent_monitor_dsl::Monitor;

use crate::{
    confirm::{Confirmation, Plan},
    describe::{self, RaceKey},
    engine::{Engine, Limits, Options, Tries},
    execution::Execution,
    parallel::Exchange,
    predict::Predictor,
    progress::{Listener, Progress, Reporter, Ticker},
    relevance::Relevance,
    report::{Failure, Report, Stopped},
    saved::Saved,
    strategy::{End, Next, Path, Replay, Strategy},
    token::Token,
};

/// What all who search together are told.
#[derive(Clone, Copy)]
pub(super) struct Settings<'a> {
    pub(super) limits: Limits,
    pub(super) options: Options,
    pub(super) runs: u64,
    pub(super) keep_going: bool,
    pub(super) each: Option<&'a (dyn Fn(&Execution<'_>) + Send + Sync)>,
    pub(super) monitors: &'a [Monitor],
    pub(super) until: Option<Instant>,
    pub(super) file: Option<&'a FilePath>,
    pub(super) save_every: Duration,
    /// Application events are steps of their own.
    pub(super) chooses_events: bool,
    pub(super) counts_interleavings: bool,
    /// How many runs may look for a smaller failure.
    pub(super) shrinking: u64,
    pub(super) listener: Option<&'a Listener>,
    /// What there was before the search was resumed.
    pub(super) saved: Option<&'a Saved>,
}

/// What one of them found.
pub(super) struct Found {
    pub(super) report: Report,
    /// The search has to begin anew, for this reason, and what has to be events then.
    pub(super) restart: Option<(&'static str, Tries)>,
    /// There are objects that are older than a run.
    pub(super) survivors: bool,
}

impl Settings<'_> {
    pub(super) fn search(
        self,
        strategy: Box<dyn Strategy>,
        replay: Option<Token>,
        exchange: Option<&Exchange<Path>>,
        program: &dyn Fn(),
    ) -> Found {
        if cfg!(panic = "abort") {
            panic!("where panics abort nothing can be explored: threads are ended by unwinding");
        }
        let relevance = match Relevance::new(self.monitors) {
            Ok(relevance) => (!self.monitors.is_empty()).then_some(relevance),
            Err(_) => unreachable!("who searches has looked at the properties"),
        };
        let engine = Rc::new(Engine::new(strategy, relevance, self.limits, self.options));
        let chooses_events =
            self.chooses_events || replay.as_ref().is_some_and(|token| token.chooses_events);
        engine.with_state(|state| {
            state.chooses_events = chooses_events;
            state.used = self.saved.map(|saved| saved.used).unwrap_or_default();
        });
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
            report: self
                .saved
                .map(|saved| saved.report.clone())
                .unwrap_or_default(),
            restart: None,
            classes: engine
                .with_state(|state| state.counts_classes())
                .then(HashSet::new),
            // Of the runs before the search was resumed it is not known.
            interleavings: (self.counts_interleavings && self.saved.is_none()).then_some(Some(0)),
            ticker: Ticker::new(),
            reporter: Reporter::new(self.listener, exchange.is_none_or(Exchange::leads)),
            saved_at: Instant::now(),
            replay,
            predictor: Predictor::new(self.monitors.to_vec()),
            witnesses: Vec::new(),
            races: HashSet::new(),
        }
        .search(&main)
    }
}

pub(super) struct Search<'a> {
    pub(super) engine: &'a Engine,
    pub(super) settings: Settings<'a>,
    pub(super) exchange: Option<&'a Exchange<Path>>,
    pub(super) report: Report,
    pub(super) restart: Option<(&'static str, Tries)>,
    /// Classes that were seen, where runs do not tell.
    pub(super) classes: Option<HashSet<u64>>,
    /// For how many interleavings the executions stand, if that is wanted; `None` inside if there are too many to be counted.
    pub(super) interleavings: Option<Option<u128>>,
    ticker: Ticker,
    reporter: Reporter<'a>,
    pub(super) saved_at: Instant,
    pub(super) replay: Option<Token>,
    pub(super) predictor: Predictor,
    /// Failures that were only predicted, and how to make them happen.
    pub(super) witnesses: Vec<(usize, Plan)>,
    /// Data races that were seen.
    pub(super) races: HashSet<RaceKey>,
}

impl Search<'_> {
    pub(super) fn search(mut self, main: &dyn Fn() -> Ended) -> Found {
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
            let now = self.ticker.tick();
            if let Some(now) = now {
                self.tell(now, runs);
            }
            self.report.stopped = match ran.next {
                Next::Exhausted => Stopped::Exhausted,
                Next::Bounded => Stopped::Bound,
                _ if failed && !self.settings.keep_going => Stopped::Failure,
                Next::Keep(_) if self.survives() => Stopped::Runs,
                Next::Keep(_) if self.is_late(now) => Stopped::Time,
                Next::Keep(next) if runs < self.settings.runs => {
                    keep = next;
                    if let Some(now) = now {
                        self.save_again(now);
                    }
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
        self.save();
        self.sum_up(self.settings.options);
        for (failure, plan) in std::mem::take(&mut self.witnesses) {
            self.confirm(failure, &plan, main);
        }
        self.shrink(main);
        Found {
            restart: self.restart,
            survivors: self.engine.with_state(|state| state.survivors > 0),
            report: self.report,
        }
    }

    /// Makes a predicted violation happen.
    fn confirm(&mut self, failure: usize, plan: &Plan, main: &dyn Fn() -> Ended) {
        let failure = &mut self.report.failures[failure];
        let strategy = Box::new(Replay::planned(plan));
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
                        state, plan,
                    ))),
                    ..failure.clone()
                },
            };
        });
    }

    /// Whether there is no time left.
    fn is_late(&self, now: Option<Instant>) -> bool {
        now.zip(self.settings.until)
            .is_some_and(|(now, until)| now >= until)
    }

    /// What somebody is to learn while the search goes on.
    fn tell(&mut self, now: Instant, runs: u64) {
        if !self.reporter.is_due(&self.ticker, now) {
            return;
        }
        let (depth, part) = self
            .engine
            .with_state(|state| (state.schedule.len(), state.part()));
        let by_runs = match self.settings.runs {
            u64::MAX => None,
            all => Some(runs as f64 / all as f64),
        };
        let progress = Progress {
            runs,
            failed: self.report.failed,
            elapsed: Duration::ZERO,
            rate: 0.0,
            depth,
            part: part.map_or(by_runs, |part| Some(part.max(by_runs.unwrap_or_default()))),
        };
        self.reporter.report(&self.ticker, now, progress);
    }

    /// Whether others may meet the same objects at the same time.
    fn survives(&self) -> bool {
        self.exchange.is_some() && self.engine.with_state(|state| state.survivors > 0)
    }
}
