//! What is predicted from a recorded run of a test is made to happen: its body is run under the scheduler, along the witness.
//!
//! `confirm` does that with the run that the test has just recorded, `confirm = "trace.jsonl"` with one that was left before, and so does
//! the environment variable `PORTENT_CONFIRM` for any test.

use std::{
    env,
    path::{Path, PathBuf},
};

use super::{Outcome, Test, check::declared, record::Record};
use crate::{
    Checker, Error, Monitor, Options, Report, Symbols, Value,
    dsl::sealed::unseal,
    explore::{Attempt, Explorer, RecordedRun, Witness},
    trace::{Options as TraceOptions, TraceReader},
};

/// Names the recording.
const RECORDING: &str = "PORTENT_CONFIRM";

/// The recording that the environment names.
pub(super) fn asked_for() -> Option<PathBuf> {
    let path = env::var_os(RECORDING).filter(|path| !path.is_empty())?;
    Some(PathBuf::from(path))
}

/// Runs a test; what is predicted is made to happen.
///
/// # Panics
///
/// If it fails.
#[doc(hidden)]
#[track_caller]
pub fn run_and_confirm<R: Outcome>(test: &Test, body: fn() -> R) -> R {
    if let Some(path) = asked_for() {
        return recording(test, &path, body);
    }
    super::run_then(test, body, |record| {
        let run = recorded(record).map_err(|error| error.to_string());
        let attempt = run.and_then(|run| {
            let initial = |name: &str| record.initial(name);
            attempt(test, &run, &initial, body)
        });
        match attempt {
            Ok(Some(attempt)) => format!("\n\n{attempt}"),
            // What was found was found without a property.
            Ok(None) => String::new(),
            Err(error) => format!("\n\nNot confirmed: {error}"),
        }
    })
}

/// Makes happen what is predicted from a recording, instead of running the test.
///
/// # Panics
///
/// If it happens; or if it does not, and the test expects a violation.
#[doc(hidden)]
#[track_caller]
pub fn confirm_recording<R: Outcome>(test: &Test, path: &str, body: fn() -> R) -> R {
    match asked_for() {
        Some(path) => recording(test, &path, body),
        None => recording(test, Path::new(path), body),
    }
}

/// The same, of what a test returns: that of a run without a scheduler, where nothing happened that should not.
#[track_caller]
pub(super) fn recording<R: Outcome>(test: &Test, path: &Path, body: fn() -> R) -> R {
    if super::explore::repeats(test, body) {
        return body();
    }
    let name = test.name;
    let place = path.display();
    let attempt = read(path)
        .map_err(|error| error.to_string())
        .and_then(|(run, initial)| {
            let initial = |name: &str| {
                let known = { initial.iter() }.find(|(other, _)| other == name);
                known.map(|(_, value)| value.clone())
            };
            attempt(test, &run, &initial, body)
        });
    let attempt = match attempt {
        Ok(Some(attempt)) => attempt,
        Ok(None) => panic!(
            "{name}\n{place}: nothing is to be confirmed: no run that is equivalent to this one violates what the test asks for"
        ),
        Err(error) => panic!("{name}\n{error}"),
    };
    let text = format!("{name}\n{place}: {attempt}");
    assert!(attempt.is_confirmed() == test.expect_violation, "{text}");
    super::say(&format!("{text}\n"));
    body()
}

/// What came of it; `None` if nothing is predicted.
fn attempt<R: Outcome>(
    test: &Test,
    run: &RecordedRun,
    initial: &dyn Fn(&str) -> Option<Value>,
    body: fn() -> R,
) -> Result<Option<Attempt>, String> {
    let monitors: Vec<Monitor> = test.monitors.iter().map(unseal).collect();
    let report = report(test, &monitors, run, initial).map_err(|error| error.to_string())?;
    let Some(witness) = Witness::of(&report, run) else {
        return Ok(None);
    };
    let explorer = monitors
        .into_iter()
        .fold(Explorer::new(), Explorer::property);
    let program = || assert!(!body().has_failed(), "the test returned an error");
    let attempt = explorer.confirm(run, &witness, program);
    attempt.map(Some).map_err(|error| error.to_string())
}

/// What the analyzer says of a recording, with the lines of the recording.
fn report(
    test: &Test,
    monitors: &[Monitor],
    run: &RecordedRun,
    initial: &dyn Fn(&str) -> Option<Value>,
) -> Result<Report, Error> {
    let options = Options::default()
        .causality(test.causality)
        .window(test.window)
        .complete(test.complete);
    let initial = |name: &str| initial(name).filter(|_| declared(monitors, name).is_none());
    let mut checker = Checker::new(monitors.iter().cloned(), initial, options)?;
    checker.symbols_mut().catch_up(run.symbols())?;
    for event in run.events() {
        checker.take(event)?;
    }
    Ok(checker.finish(test.name)?)
}

/// What a test has just recorded.
fn recorded(record: &Record) -> Result<RecordedRun, Error> {
    let mut symbols = Symbols::default();
    record.stream.names(&mut symbols)?;
    let events = record.events.iter().map(|recorded| recorded.event.clone());
    Ok(RecordedRun::new(events, symbols))
}

/// A recording that was left before, and the initial values of variables.
fn read(path: &Path) -> Result<(RecordedRun, Vec<(String, Value)>), Error> {
    let mut reader = TraceReader::open(path, &TraceOptions::default())?;
    let mut symbols = Symbols::default();
    let mut events = Vec::new();
    while let Some(event) = reader.next_event(&mut symbols)? {
        events.push(event);
    }
    let initial = reader.header().init.clone();
    Ok((RecordedRun::new(events, symbols), initial))
}
