//! What `#[portent::test]` runs: the body is recorded, and each recording is checked.
//!
//! | file | |
//! |---|---|
//! | here | a test from its first run to its last, and what makes it fail |
//! | `record` | everything that a body does |
//! | `check` | a recording and properties: a report, and what to know before trusting it |
//! | `explore` | bodies that run under a controlled scheduler |
//! | `confirm` | what was predicted from a recording is made to happen |
//! | `find` | races, deadlocks and blocks that are not atomic |
//! | `leave` | the page and the recording that are left with `PORTENT_REPORT` |
//!
//! Only macros call what is here; it may change with every version.

mod check;
#[cfg(feature = "explore")]
mod confirm;
#[cfg(feature = "explore")]
mod explore;
mod find;
mod leave;
mod record;

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

// That of the program may have been renamed.
#[doc(hidden)]
pub use std::sync::OnceLock;

use portent_answer::{Paint, Switches, Warning, text};

pub use crate::lattice::Model;
use crate::{
    Monitor,
    dsl::sealed::{Data, unseal},
    lattice::Counting,
};
use check::Checked;
#[cfg(feature = "explore")]
pub use confirm::{confirm_recording, run_and_confirm};
#[cfg(feature = "explore")]
pub use explore::{Way, explore};
use leave::ReportFiles;
use record::Record;

/// A test as its attribute describes it.
#[derive(Debug)]
pub struct Test {
    /// Its name, with those of its modules.
    pub name: &'static str,
    /// The monitors, as macros write them down.
    pub monitors: &'static [Data],
    /// What to look for without a property.
    pub find: Option<&'static str>,
    /// How many cuts of a level are kept.
    pub window: Option<usize>,
    /// Which other runs count.
    pub causality: Model,
    /// Whether what is pending when the body ends is violated.
    pub complete: bool,
    /// How often the body is run.
    pub repeat: u32,
    /// Whether the property is to be violated.
    pub expect_violation: bool,
    /// Whether warnings make it fail.
    pub strict: bool,
}

/// What sentences call the options of a test.
const SWITCHES: Switches = Switches::new(
    "`complete`",
    "`causality = \"strong\"`",
    "`causality = \"maximal\"`",
    "`window`",
);

impl Test {
    /// How the answer is told.
    fn style(&self) -> text::Style {
        text::Style {
            paint: Paint { on: false },
            complete: self.complete,
            stats: false,
            feasible: self.is_beyond(),
            lookahead: None,
            engine: None,
            counting: Counting::Auto,
            all: false,
            switches: &SWITCHES,
        }
    }

    /// What `cargo test` calls it: without the crate.
    fn cargo_name(&self) -> &'static str {
        self.name
            .split_once("::")
            .map_or(self.name, |(_, name)| name)
    }

    /// Whether runs count that happens-before does not allow.
    fn is_beyond(&self) -> bool {
        self.causality != Model::HappensBefore
    }
}

/// What the body of a test may return.
pub trait Outcome {
    /// Whether the test has failed.
    fn has_failed(&self) -> bool;
}

impl Outcome for () {
    fn has_failed(&self) -> bool {
        false
    }
}

impl Outcome for ExitCode {
    fn has_failed(&self) -> bool {
        *self != ExitCode::SUCCESS
    }
}

impl<T: Outcome, E> Outcome for Result<T, E> {
    fn has_failed(&self) -> bool {
        match self {
            Ok(outcome) => outcome.has_failed(),
            Err(_) => true,
        }
    }
}

/// Runs a test.
///
/// # Panics
///
/// If it fails.
#[track_caller]
pub fn run<R: Outcome>(test: &Test, body: fn() -> R) -> R {
    #[cfg(feature = "explore")]
    if let Some(path) = confirm::asked_for() {
        return confirm::recording(test, &path, body);
    }
    run_then(test, body, |_| String::new())
}

/// Runs a test; `more` is said after a violation.
#[track_caller]
fn run_then<R: Outcome>(test: &Test, body: fn() -> R, more: impl Fn(&Record) -> String) -> R {
    #[cfg(feature = "explore")]
    if explore::repeats(test, body) {
        return body();
    }
    let monitors: Vec<Monitor> = test.monitors.iter().map(unseal).collect();
    let mut violations = 0;
    let mut round = 1;
    loop {
        let (outcome, record) = Record::of(body);
        if outcome.has_failed() {
            return outcome;
        }
        let Round { text, is_violated } = match look(test, &monitors, round, &record) {
            Ok(round) => round,
            Err(Failed::Otherwise(failure)) => panic!("{failure}"),
            Err(Failed::Violated(failure)) => panic!("{failure}{}", more(&record)),
        };
        violations += u32::from(is_violated);
        say(&text);
        if round == test.repeat {
            if test.expect_violation && violations == 0 {
                panic!("{}", nothing_found(test, &monitors));
            }
            return outcome;
        }
        round += 1;
    }
}

/// What there is to say of a run that does not make its test fail.
struct Round {
    text: String,
    is_violated: bool,
}

/// Why a test fails, in words.
enum Failed {
    Violated(String),
    Otherwise(String),
}

impl From<String> for Failed {
    fn from(text: String) -> Failed {
        Failed::Otherwise(text)
    }
}

/// Checks a recording.
fn look(test: &Test, monitors: &[Monitor], round: u32, record: &Record) -> Result<Round, Failed> {
    let files = ReportFiles::asked_for(test, round);
    if let Some(files) = &files {
        files.leave_recording(test, monitors, record)?;
    }
    let execution = (test.repeat > 1).then(|| format!("run {round} of {}", test.repeat));
    let pictures = files.as_ref().map_or(0, |_| ReportFiles::pictures());
    let checked = Checked::new(test, monitors, record, execution, pictures)?;
    let page = match &files {
        Some(files) => files.leave_page(test, monitors, &checked)?,
        None => ReportFiles::hint(),
    };
    let found = find::find(test, record)?;
    let is_violated = checked.report.is_violated() || !found.certain.is_empty();
    if is_violated && !test.expect_violation {
        let mut story = text::render(checked.answer(), monitors, test.style());
        for finding in &found.certain {
            story += &format!("{finding}\n");
        }
        return Err(Failed::Violated(format!("{story}\n{page}")));
    }
    let of = match &checked.execution {
        Some(execution) => format!(" ({execution})"),
        None => String::new(),
    };
    let mut text = String::new();
    let warnings = checked.warnings.iter().map(Warning::sentence);
    let warnings: Vec<String> = warnings.chain(found.warnings).collect();
    for sentence in &warnings {
        text += &format!("warning: {}{of}: {sentence}\n", test.name);
    }
    // Neither the verdict nor `strict` goes by them.
    for note in checked.notes(test, monitors) {
        text += &format!("note: {}{of}: {note}\n", test.name);
    }
    if test.strict && !warnings.is_empty() {
        return Err((text + "\nThe test is strict: a warning makes it fail.").into());
    }
    Ok(Round { text, is_violated })
}

/// Past what `cargo test` captures, so that a warning of a test that passes is seen.
fn say(text: &str) {
    // Nobody can be told that there is nobody to tell.
    let _ = io::stderr().write_all(text.as_bytes());
}

fn nothing_found(test: &Test, monitors: &[Monitor]) -> String {
    let mut names: Vec<String> = { monitors.iter() }
        .map(|monitor| format!("`{}`", monitor.property().name()))
        .collect();
    if let Some(kinds) = test.find {
        names.push(format!("`{kinds}`"));
    }
    let runs = match test.repeat {
        1 => "the run".to_owned(),
        all => format!("any of the {all} runs"),
    };
    let kind = if test.is_beyond() {
        "feasible"
    } else {
        "equivalent"
    };
    format!(
        "{}\na violation was expected, but no run that is {kind} to {runs} was found to violate {}",
        test.name,
        names.join(" or "),
    )
}
