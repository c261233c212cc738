//! A search that was stopped, as a file: what was counted, and where it is to go on.
//!
//! ```text
//! portent search 1
//! executions 100 blocked 0 deadlocks 0 failed 0 tries 0
//! 1 0 e e 2 0
//! ```
//!
//! The third line and those after it are the points of the next run: what is taken, how many values there are (0 where a thread is
//! chosen), and in hexadecimal the sets of threads that could go on, begin runs of interest, have been searched, and sleep.

use std::{fmt::Write, fs, io, path::Path};

use crate::{engine::Tries, error::Error};

/// What was counted before the search was stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) executions: u64,
    pub(crate) blocked: u64,
    pub(crate) deadlocks: u64,
    pub(crate) failed: u64,
    /// What somebody tries.
    pub(crate) tries: Tries,
}

/// A search that was stopped.
#[derive(Clone, Debug, Default)]
pub(crate) struct Saved {
    pub(crate) counts: Counts,
    /// One line for each point, as the strategy writes them.
    pub(crate) points: Vec<[u64; 6]>,
}

const HEAD: &str = "portent search 1";

impl Saved {
    pub(crate) fn write(&self, path: &Path) -> io::Result<()> {
        let Counts {
            executions,
            blocked,
            deadlocks,
            failed,
            tries,
        } = self.counts;
        let mut text = format!(
            "{HEAD}\nexecutions {executions} blocked {blocked} deadlocks {deadlocks} failed {failed} tries {}\n",
            tries.bits()
        );
        for [taken, values, enabled, backtrack, done, sleep] in &self.points {
            let _ = writeln!(
                text,
                "{taken} {values} {enabled:x} {backtrack:x} {done:x} {sleep:x}"
            );
        }
        fs::write(path, text)
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
            return Err(wrong(0, "it should be `portent search 1`"));
        }
        let counts = lines.next().and_then(|(_, line)| counts(line));
        let counts = counts.ok_or_else(|| {
            let what = "it should be `executions N blocked N deadlocks N failed N tries N`";
            wrong(1, what)
        })?;
        let mut points = Vec::new();
        for (number, line) in lines {
            let point = point(line).ok_or_else(|| {
                let what = "it should be two numbers and four sets of threads in hexadecimal";
                wrong(number, what)
            })?;
            points.push(point);
        }
        Ok(Some(Saved { counts, points }))
    }
}

fn counts(line: &str) -> Option<Counts> {
    let mut words = line.split(' ');
    let mut next = |name| {
        (words.next()? == name).then_some(())?;
        words.next()?.parse::<u64>().ok()
    };
    Some(Counts {
        executions: next("executions")?,
        blocked: next("blocked")?,
        deadlocks: next("deadlocks")?,
        failed: next("failed")?,
        tries: Tries::from_bits(next("tries")?),
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
