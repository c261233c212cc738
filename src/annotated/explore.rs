//! Tests that are explored: the body runs under a controlled scheduler, again and again.
//!
//! `explore = "..."` does that instead of recording one run.

use std::env;

use super::{Outcome, Test, leave::ReportFiles};
use crate::{
    Monitor,
    dsl::sealed::unseal,
    explore::{
        Explorer, FailureKind, Report,
        strategy::{
            Exhaustive, Flipping, Guided, Optimal, Pct, Preemption, Random, Source, Strategy,
            Target, Uniform,
        },
    },
};

/// Random strategies end after this many runs, if a test does not say otherwise.
const WALKS: u64 = 10_000;
/// Where random numbers begin; the same each time, so that a test always does the same.
const SEED: u64 = 1;
/// How many steps have to come in a certain order, for PCT.
const DEPTH: usize = 3;
/// How often threads may be interrupted.
const INTERRUPTIONS: u32 = 2;

/// How the runs of a test are chosen.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)]
pub enum Way {
    /// One run of every class, by source sets.
    Source,
    /// One run of every class, by wake-up trees.
    Optimal,
    /// Every interleaving.
    Exhaustive,
    /// Races are turned round.
    Flipping,
    /// Few interruptions.
    Preemptions,
    /// Any thread, at each step.
    Random,
    /// Random priorities.
    Pct,
    /// Threads by what they have left to do.
    Uniform,
    /// To these places.
    Guided(&'static str),
}

/// What is looked for.
struct Asked {
    monitors: Vec<Monitor>,
    races: bool,
}

impl Asked {
    fn by(test: &Test) -> Asked {
        let races = |kinds: &str| kinds.split(',').any(|kind| kind.trim() == "races");
        Asked {
            monitors: test.monitors.iter().map(unseal).collect(),
            races: test.find.is_some_and(races),
        }
    }
}

/// Explores a test.
///
/// # Panics
///
/// If it fails.
#[doc(hidden)]
#[track_caller]
pub fn explore<R: Outcome>(test: &Test, way: Way, max_runs: Option<u64>, body: fn() -> R) {
    let asked = Asked::by(test);
    let walks = max_runs.unwrap_or(WALKS);
    let runs = max_runs.unwrap_or(u64::MAX);
    let report = match way {
        Way::Source => search(&asked, Source::new, runs, body),
        Way::Optimal => search(&asked, Optimal::new, runs, body),
        Way::Exhaustive => search(&asked, Exhaustive::new, runs, body),
        Way::Flipping => search(&asked, Flipping::new, runs, body),
        Way::Preemptions => search(&asked, || Preemption::new(INTERRUPTIONS), runs, body),
        Way::Random => search(&asked, move || Random::new(SEED, walks), walks, body),
        Way::Pct => search(&asked, move || Pct::new(SEED, walks, DEPTH), walks, body),
        Way::Uniform => search(&asked, move || Uniform::new(SEED, walks), walks, body),
        Way::Guided(places) => {
            let target: Target = places.parse().unwrap_or_else(|error| panic!("{error}"));
            let guided = move || Guided::new(SEED, walks, target.clone());
            search(&asked, guided, walks, body)
        }
    };
    let is_violated = { report.failures.iter() }.any(|one| one.kind == FailureKind::Property);
    if test.expect_violation && report.failed == u64::from(is_violated) {
        assert!(
            is_violated,
            "{}\na violation was expected, but none was found\n{report}",
            test.name
        );
        return;
    }
    assert!(
        report.failed == 0,
        "{}\n{report}{}",
        test.name,
        page(test, &report)
    );
    if !report.is_proof() || !report.notes.is_empty() {
        super::say(&format!("{}: {report}\n", test.name));
        assert!(
            !test.strict || report.is_proof(),
            "{}\n{report}\nThe test is strict: it fails if something was left out.",
            test.name
        );
    }
}

/// Repeats the run that `PORTENT_REPLAY` names, of a test that is recorded otherwise: one that was confirmed. Whether it names one.
///
/// # Panics
///
/// If that run fails, as it did.
#[track_caller]
pub(super) fn repeats<R: Outcome>(test: &Test, body: fn() -> R) -> bool {
    let names_one = env::var_os("PORTENT_REPLAY").is_some();
    if names_one {
        explore(test, Way::Source, None, body);
    }
    names_one
}

/// Where the page about the first failure is, or how to get one.
fn page(test: &Test, report: &Report) -> String {
    let said = match (ReportFiles::asked_for(test, 1), report.failures.first()) {
        (_, None) => return String::new(),
        (None, _) => ReportFiles::hint(),
        (Some(files), Some(failure)) => files.leave_schedule(failure).unwrap_or_else(|error| error),
    };
    format!("\n\n{said}")
}

fn search<R: Outcome, S: Strategy + 'static>(
    asked: &Asked,
    strategy: impl Fn() -> S + 'static,
    runs: u64,
    body: fn() -> R,
) -> Report {
    let explorer = Explorer::new().strategy(strategy).max_runs(runs);
    let explorer = { asked.monitors.iter().cloned() }.fold(explorer, Explorer::property);
    let explorer = if asked.races {
        explorer.races()
    } else {
        explorer
    };
    explorer.check(move || assert!(!body().has_failed(), "the test returned an error"))
}
