//! An interrupted search as a file: its results so far, and the point where it resumes.
//!
//! ```text
//! portent search 2
//! asked 5c1f09 tries 0 used 1
//! executions 100 blocked 0 deadlocks 0 failed 1 unchecked 0 unknown 0 gave-up 0 too-long 0 discarded 0 kept-waiting 0
//! note locks are tried, so unlocks are steps
//! failure deadlock p1-IUMh-x3Kd0Q deadlock:\n  main waits ..
//! point 1 0 e e 2 0
//! ```
//!
//! `asked` is a hash of the properties and options; a search with others cannot resume from the file. The points are those of the next
//! run: the choice, the number of values (0 where a thread is chosen), and in hexadecimal the sets of threads that can proceed, must be
//! explored (the source set), have been explored, and sleep. The posets that were checked are not stored; they are checked
//! again.

use std::{
    fmt::Write,
    fs, io,
    path::{Path, PathBuf},
};

use crate::{
    engine::{Tries, Used},
    error::Error,
    report::{Failure, FailureKind, Report},
};

/// A search that was stopped.
#[derive(Clone, Debug, Default)]
pub(crate) struct Saved {
    /// A number for the properties and options.
    pub(crate) asked: u64,
    /// What somebody tries.
    pub(crate) tries: Tries,
    /// What the program used.
    pub(crate) used: Used,
    pub(crate) report: Report,
    /// One line for each point, as the strategy writes them.
    pub(crate) points: Vec<[u64; 6]>,
}

const HEAD: &str = "portent search 2";

/// How kinds of failures are written.
const KINDS: [(FailureKind, &str); 7] = [
    (FailureKind::Panic, "panic"),
    (FailureKind::Deadlock, "deadlock"),
    (FailureKind::Obstructed, "obstructed"),
    (FailureKind::Nondeterminism, "nondeterminism"),
    (FailureKind::Limit, "limit"),
    (FailureKind::Property, "property"),
    (FailureKind::Unchecked, "unchecked"),
];

impl Saved {
    /// Writes it beside the file first, so that there is always one that can be read.
    pub(crate) fn write(&self, path: &Path) -> io::Result<()> {
        let mut beside = path.as_os_str().to_owned();
        beside.push(".new");
        let beside = PathBuf::from(beside);
        fs::write(&beside, self.text())?;
        fs::rename(beside, path)
    }

    fn text(&self) -> String {
        let (tries, used) = (self.tries.bits(), self.used.bits());
        let mut text = format!("{HEAD}\nasked {:x} tries {tries} used {used}\n", self.asked);
        let counts = { NAMES.iter().zip(counts(&self.report)) }
            .map(|(name, count)| format!("{name} {count}"));
        let counts: Vec<String> = counts.collect();
        let _ = writeln!(text, "{}", counts.join(" "));
        for note in &self.report.notes {
            let _ = writeln!(text, "note {}", in_a_line(note));
        }
        for failure in &self.report.failures {
            let kind = { KINDS.iter() }.find(|(kind, _)| *kind == failure.kind);
            let kind = kind.map_or("unchecked", |(_, name)| name);
            let (token, message) = (&failure.token, in_a_line(&failure.message));
            let _ = writeln!(text, "failure {kind} {token} {message}");
        }
        for [taken, values, enabled, backtrack, done, sleep] in &self.points {
            let _ = writeln!(
                text,
                "point {taken} {values} {enabled:x} {backtrack:x} {done:x} {sleep:x}"
            );
        }
        text
    }

    /// What is there; `None` if there is no such file.
    pub(crate) fn read(path: &Path) -> Result<Option<Saved>, Error> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => {
                return Err(Error::File {
                    path: path.to_owned(),
                    error: error.to_string(),
                });
            }
        };
        let wrong = |line: usize, what| Error::Saved {
            path: path.to_owned(),
            line: line + 1,
            what,
        };
        let mut lines = text.lines().enumerate();
        if lines.next().map(|(_, line)| line) != Some(HEAD) {
            return Err(wrong(0, "it should be `portent search 2`"));
        }
        let mut saved = Saved::default();
        let second = lines.next();
        if second.and_then(|(_, line)| saved.ask(line)).is_none() {
            return Err(wrong(1, "it should be `asked N tries N used N`"));
        }
        let third = lines.next();
        if third.and_then(|(_, line)| saved.count(line)).is_none() {
            let what = "it should be `executions N blocked N deadlocks N failed N ..`";
            return Err(wrong(2, what));
        }
        for (number, line) in lines {
            saved.take(line).map_err(|what| wrong(number, what))?;
        }
        Ok(Some(saved))
    }

    fn ask(&mut self, line: &str) -> Option<()> {
        let words: Vec<&str> = line.split(' ').collect();
        let ["asked", asked, "tries", tries, "used", used] = words[..] else {
            return None;
        };
        self.asked = u64::from_str_radix(asked, 16).ok()?;
        self.tries = Tries::from_bits(tries.parse().ok()?);
        self.used = Used::from_bits(used.parse().ok()?);
        Some(())
    }

    fn count(&mut self, line: &str) -> Option<()> {
        let mut words = line.split(' ');
        let mut counts = [0; NAMES.len()];
        for (name, count) in NAMES.iter().zip(&mut counts) {
            (words.next()? == *name).then_some(())?;
            *count = words.next()?.parse().ok()?;
        }
        set_counts(&mut self.report, counts);
        words.next().is_none().then_some(())
    }

    fn take(&mut self, line: &str) -> Result<(), &'static str> {
        let (what, rest) = line.split_once(' ').unwrap_or((line, ""));
        match what {
            "note" => self.report.notes.push(of_a_line(rest)),
            "failure" => {
                let failure = failure(rest);
                let wrong = "it should be a kind of failure, a schedule and a message";
                self.report.failures.push(failure.ok_or(wrong)?);
            }
            "point" => {
                let wrong = "it should be two numbers and four sets of threads in hexadecimal";
                self.points.push(point(rest).ok_or(wrong)?);
            }
            _ => return Err("it should begin with `note`, `failure` or `point`"),
        }
        Ok(())
    }
}

const NAMES: [&str; 10] = [
    "executions",
    "blocked",
    "deadlocks",
    "failed",
    "unchecked",
    "unknown",
    "gave-up",
    "too-long",
    "discarded",
    "kept-waiting",
];

fn counts(report: &Report) -> [u64; NAMES.len()] {
    [
        report.executions,
        report.blocked,
        report.deadlocks,
        report.failed,
        report.unchecked,
        report.unknown,
        report.gave_up,
        report.too_long,
        report.discarded,
        u64::from(report.kept_waiting),
    ]
}

fn set_counts(report: &mut Report, counts: [u64; NAMES.len()]) {
    let kept_waiting;
    [
        report.executions,
        report.blocked,
        report.deadlocks,
        report.failed,
        report.unchecked,
        report.unknown,
        report.gave_up,
        report.too_long,
        report.discarded,
        kept_waiting,
    ] = counts;
    report.kept_waiting = kept_waiting > 0;
}

/// A failure of an earlier part: its run is known by its schedule.
fn failure(text: &str) -> Option<Failure> {
    let mut words = text.splitn(3, ' ');
    let kind = words.next()?;
    let (kind, _) = KINDS.iter().find(|(_, name)| *name == kind)?;
    let token = words.next()?.to_owned();
    Some(Failure {
        kind: *kind,
        message: of_a_line(words.next()?),
        token,
        steps: Vec::new(),
        threads: Vec::new(),
        answer: None,
        confirmation: None,
        shrunk: None,
    })
}

fn point(line: &str) -> Option<[u64; 6]> {
    let words: Vec<&str> = line.split(' ').collect();
    let [taken, values, sets @ ..] = words.as_slice() else {
        return None;
    };
    let mut point = [taken.parse().ok()?, values.parse().ok()?, 0, 0, 0, 0];
    (sets.len() == 4).then_some(())?;
    for (set, word) in point[2..].iter_mut().zip(sets) {
        *set = u64::from_str_radix(word, 16).ok()?;
    }
    Some(point)
}

fn in_a_line(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('\n', "\\n")
        .replace('\r', "\\r")
}

fn of_a_line(line: &str) -> String {
    let mut text = String::new();
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        text.push(match letter {
            '\\' => match letters.next() {
                Some('n') => '\n',
                Some('r') => '\r',
                other => other.unwrap_or('\\'),
            },
            letter => letter,
        });
    }
    text
}
