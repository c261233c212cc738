//! The regular expressions of a log: the form of a record, and the separator of executions.

use regex::{Regex, RegexBuilder};

use super::js_regex::translate;
use crate::Error;

/// This many lines are held, joined and searched again for each line of a log.
const MAX_RECORD_LINES: usize = 16;

/// The form of a record.
pub(super) struct Parser {
    /// The expression as it was given.
    pub(super) source: String,
    pub(super) regex: Regex,
    /// The lines of a record.
    pub(super) lines: usize,
    /// Whether records contain their host and their clock.
    pub(super) has_host: bool,
    pub(super) has_clock: bool,
}

impl Parser {
    pub(super) fn new(source: &str) -> Result<Parser, Error> {
        let source = source.trim();
        let error = |problem: String| Error::Regex {
            what: "parser",
            regex: source.to_owned(),
            problem,
        };
        let regex = compile(source).map_err(error)?;
        let has = |group| regex.capture_names().flatten().any(|name| name == group);
        let (has_host, has_clock) = (has("host"), has("clock"));
        if !has("event") {
            return Err(error("it has no group (?<event>...)".to_owned()));
        }
        if has_clock && !has_host {
            let problem = "it has a group (?<clock>...) and no (?<host>...) whose clock it is";
            return Err(error(problem.to_owned()));
        }
        let lines = source.matches("\\n").count() + 1;
        if lines > MAX_RECORD_LINES {
            return Err(error(format!(
                "a record of {lines} lines; at most {MAX_RECORD_LINES} can be"
            )));
        }
        Ok(Parser {
            source: source.to_owned(),
            lines,
            has_host,
            has_clock,
            regex,
        })
    }
}

fn compile(source: &str) -> Result<Regex, String> {
    RegexBuilder::new(&translate(source))
        .multi_line(true)
        .build()
        .map_err(|error| {
            // The crate's message quotes the expression over several lines; the last one gives the reason.
            let message = error.to_string();
            message
                .lines()
                .last()
                .unwrap_or("")
                .trim_start_matches("error: ")
                .to_owned()
        })
}

pub(super) fn compile_delimiter(source: &str) -> Result<Regex, Error> {
    compile(source).map_err(|problem| Error::Regex {
        what: "delimiter",
        regex: source.to_owned(),
        problem,
    })
}
