//! What became of a hostile text, and ways to write long ones.

use portent_monitor_dsl::{Config, Error, Property};

/// What became of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// A monitor with this many states.
    States(usize),
    /// A limit that was met: the message, and the text it is about.
    Limit { message: String, part: String },
    /// Not in the language, or without a meaning: the message.
    Wrong(String),
}

impl Answer {
    pub(crate) fn states(&self) -> usize {
        match self {
            Answer::States(states) => *states,
            other => panic!("expected a monitor, got {other:?}"),
        }
    }

    pub(crate) fn limit(&self) -> (&str, &str) {
        match self {
            Answer::Limit { message, part } => (message, part),
            other => panic!("expected a limit, got {other:?}"),
        }
    }
}

pub(crate) fn refusal(error: &Error) -> Answer {
    // Showing an error must be as safe as finding it.
    assert!(error.to_string().starts_with("error: "), "{error}");
    let diagnostic = error.diagnostic().expect("a place in the text");
    let message = diagnostic.message().to_owned();
    match error {
        Error::Limit(..) => {
            let part = diagnostic.offending().to_owned();
            Answer::Limit { message, part }
        }
        _ => Answer::Wrong(message),
    }
}

pub(crate) fn answer_with(config: &Config, text: impl AsRef<[u8]>) -> Answer {
    match Property::parse(text).and_then(|property| config.monitor(&property)) {
        Ok(monitor) => {
            // What is said about a monitor must be as harmless as making it.
            assert!(
                monitor
                    .notes()
                    .iter()
                    .all(|note| !note.to_string().is_empty())
            );
            assert!(monitor.to_table().contains("verdict"));
            Answer::States(monitor.states())
        }
        Err(error) => refusal(&error),
    }
}

pub(crate) fn answer(text: impl AsRef<[u8]>) -> Answer {
    answer_with(&Config::new(), text)
}

/// `wrap` around `inner`, this many times.
pub(crate) fn nested(inner: &str, times: usize, wrap: impl Fn(usize, &str) -> String) -> String {
    (0..times).fold(inner.to_owned(), |inner, depth| wrap(depth, &inner))
}

pub(crate) fn joined(count: usize, separator: &str, part: impl Fn(usize) -> String) -> String {
    (0..count).map(part).collect::<Vec<_>>().join(separator)
}

/// A property over boolean variables `p0`, `p1`, ...
pub(crate) fn over_flags(count: usize, body: &str) -> String {
    let variables = joined(count, " ", |index| format!("var p{index}: bool = false"));
    format!("property flags {{ {variables} {body} }}")
}
