//! The regular expressions of a log: what a record looks like, and what separates executions.

use regex::{Regex, RegexBuilder};

use super::js_regex::translate;
use crate::Error;

/// So many lines are held, joined and searched again for each line of a log.
const MAX_RECORD_LINES: usize = 16;

/// What a record looks like.
pub(super) struct Parser {
    /// The expression as it was given.
    pub(super) source: String,
    pub(super) regex: Regex,
    /// The lines of a record.
    pub(super) lines: usize,
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
        for group in ["host", "clock", "event"] {
            if !regex.capture_names().flatten().any(|name| name == group) {
                return Err(error(format!("it has no group (?<{group}>...)")));
            }
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
            regex,
        })
    }
}

fn compile(source: &str) -> Result<Regex, String> {
    RegexBuilder::new(&translate(source))
        .multi_line(true)
        .build()
        .map_err(|error| {
            // The crate's message quotes the expression over several lines; the last one says why.
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
