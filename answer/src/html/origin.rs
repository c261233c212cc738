//! The origin of a page: the version of Portent that made it, when, and by which command.

use serde::Serialize;
use std::{
    env,
    time::{SystemTime, UNIX_EPOCH},
};

use super::clip;
use crate::Error;

/// The text at the foot of a page.
#[derive(Serialize)]
pub struct Origin {
    version: &'static str,
    command: String,
    /// In seconds since the beginning of 1970.
    date: u64,
}

impl Origin {
    /// Of a page that is made now by the command of this process, called `portent`.
    pub fn here() -> Result<Origin, Error> {
        let arguments = env::args_os().skip(1);
        let arguments = arguments.map(|argument| quoted(&argument.to_string_lossy()));
        let words: Vec<String> = ["portent".to_owned()]
            .into_iter()
            .chain(arguments)
            .collect();
        Origin::of(&words.join(" "))
    }

    /// For a page that a command makes now. If `SOURCE_DATE_EPOCH` is set, it is used as the current time,
    /// so that pages can be reproduced.
    pub fn of(command: &str) -> Result<Origin, Error> {
        let date = match env::var_os("SOURCE_DATE_EPOCH") {
            Some(text) => {
                let text = text.to_string_lossy();
                let no_date = || Error::SourceDate {
                    text: text.to_string(),
                };
                text.parse().map_err(|_| no_date())?
            }
            None => {
                let now = SystemTime::now().duration_since(UNIX_EPOCH);
                now.map_or(0, |passed| passed.as_secs())
            }
        };
        Ok(Origin {
            version: env!("CARGO_PKG_VERSION"),
            command: clip(command, 2000),
            date,
        })
    }
}

impl Origin {
    /// For a page that is drawn without a script.
    pub(super) fn sentence(&self) -> String {
        format!("Portent {}, by {}", self.version, self.command)
    }
}

/// Quotes a text so that a shell takes it for one word.
///
/// ```
/// assert_eq!(portent_answer::html::quoted("a b"), "'a b'");
/// ```
pub fn quoted(argument: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=,+@%".contains(c);
    if !argument.is_empty() && argument.chars().all(is_plain) {
        argument.to_owned()
    } else {
        format!("'{}'", argument.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_quoted_for_a_shell() {
        assert_eq!(quoted("a/b-c.jsonl"), "a/b-c.jsonl");
        assert_eq!(quoted("always (x > 'a')"), r"'always (x > '\''a'\'')'");
        assert_eq!(quoted(""), "''");
    }
}
