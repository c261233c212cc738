//! The runs of one search, one after the other, until it ends or is stopped.

use std::{
    collections::HashSet,
    fs, io,
    panic::{self, AssertUnwindSafe},
    path::Path as FilePath,
    rc::Rc,
    time::Instant,
};

use portent_hooks::control::{self, Controller as _, Ended};
use portent_monitor_dsl::Monitor;

use crate::{
    confirm::Confirmation,
    describe,
    engine::{Engine, Limits, Options, Tries},
    execution::Execution,
    parallel::Exchange,
    predict::Predictor,
    relevance::Relevance,
    report::{Failure, Report, Stopped},
    saved::{Counts, Saved},
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
    /// What was counted before the search was resumed.
    pub(super) counted: Counts,
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
        let chooses_events = replay.as_ref().is_some_and(|token| token.chooses_events);
        engine.with_state(|state| state.chooses_events = chooses_events);
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
            predictor: Predictor::new(self.monitors.to_vec()),
            witnesses: Vec::new(),
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
    pub(super) too_long: u64,
    pub(super) replay: Option<Token>,
    pub(super) predictor: Predictor,
    /// Failures that were only predicted, and how to make them happen.
    pub(super) witnesses: Vec<(usize, Vec<u32>)>,
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
        self.save();
        self.sum_up();
        for (failure, schedule) in std::mem::take(&mut self.witnesses) {
            self.confirm(failure, schedule, main);
        }
        Found {
            restart: self.restart,
            survivors: self.engine.with_state(|state| state.survivors > 0),
            report: self.report,
        }
    }

    /// Makes a predicted violation happen.
    fn confirm(&mut self, failure: usize, schedule: Vec<u32>, main: &dyn Fn() -> Ended) {
        let failure = &mut self.report.failures[failure];
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
}
