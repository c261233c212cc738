//! Tests that are explored: the body runs under a controlled scheduler, again and again.
//!
//! `explore = "..."` does that instead of recording one run. `confirm` records one, and if a violation is predicted from it, makes that
//! happen.

use super::{Outcome, Test};
use crate::{
    Monitor,
    dsl::sealed::unseal,
    explore::{
        Confirmation, Explorer, FailureKind, Report,
        strategy::{
            Exhaustive, Flipping, Optimal, Pct, Preemption, Random, Source, Strategy, Uniform,
        },
    },
};

/// How many runs of the scheduler are made to confirm what was predicted.
const TO_CONFIRM: u64 = 1_000;
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
}

/// Explores a test.
///
/// # Panics
///
/// If it fails.
#[doc(hidden)]
#[track_caller]
pub fn explore<R: Outcome>(test: &Test, way: Way, max_runs: Option<u64>, body: fn() -> R) {
    let monitors: Vec<Monitor> = test.monitors.iter().map(unseal).collect();
    let walks = max_runs.unwrap_or(WALKS);
    let runs = max_runs.unwrap_or(u64::MAX);
    let report = match way {
        Way::Source => search(&monitors, Source::new, runs, body),
        Way::Optimal => search(&monitors, Optimal::new, runs, body),
        Way::Exhaustive => search(&monitors, Exhaustive::new, runs, body),
        Way::Flipping => search(&monitors, Flipping::new, runs, body),
        Way::Preemptions => search(&monitors, || Preemption::new(INTERRUPTIONS), runs, body),
        Way::Random => search(&monitors, move || Random::new(SEED, walks), walks, body),
        Way::Pct => search(&monitors, move || Pct::new(SEED, walks, DEPTH), walks, body),
        Way::Uniform => search(&monitors, move || Uniform::new(SEED, walks), walks, body),
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
    assert!(report.failed == 0, "{}\n{report}", test.name);
    if !report.is_proof() || !report.notes.is_empty() {
        super::say(&format!("{}: {report}\n", test.name));
        assert!(
            !test.strict || report.is_proof(),
            "{}\n{report}\nThe test is strict: it fails if something was left out.",
            test.name
        );
    }
}

/// Runs a test; what is predicted is made to happen.
///
/// # Panics
///
/// If it fails.
#[doc(hidden)]
#[track_caller]
pub fn run_and_confirm<R: Outcome>(test: &Test, body: fn() -> R) -> R {
    super::run_then(test, body, || format!("\n\n{}", confirmation(test, body)))
}

/// What became of the violation when the body was run under the scheduler.
fn confirmation<R: Outcome>(test: &Test, body: fn() -> R) -> String {
    let monitors: Vec<Monitor> = test.monitors.iter().map(unseal).collect();
    let report = search(&monitors, Source::new, TO_CONFIRM, body);
    let violated = { report.failures.iter() }.find(|one| one.kind == FailureKind::Property);
    match violated {
        Some(failure) => {
            let runs = report.executions + report.blocked;
            match &failure.confirmation {
                Some(Confirmation::Observed) => {
                    format!("Confirmed: it happened in run {runs} under the scheduler.\n{failure}")
                }
                Some(Confirmation::Confirmed) => format!(
                    "Confirmed: predicted from run {runs} under the scheduler, it happened in the next.\n{failure}"
                ),
                Some(Confirmation::NotReproduced(why)) => {
                    format!("Not reproduced: {why}.\n{report}")
                }
                _ => format!("Not reproduced: there was no witness to follow.\n{report}"),
            }
        }
        None => format!("Not reproduced: no run under the scheduler had it.\n{report}"),
    }
}

fn search<R: Outcome, S: Strategy + 'static>(
    monitors: &[Monitor],
    strategy: impl Fn() -> S + 'static,
    runs: u64,
    body: fn() -> R,
) -> Report {
    let explorer = Explorer::new().strategy(strategy).max_runs(runs);
    let explorer = monitors.iter().cloned().fold(explorer, Explorer::property);
    explorer.check(move || assert!(!body().has_failed(), "the test returned an error"))
}
