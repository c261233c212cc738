//! The two layouts that need no regular expression from the user.

/// Which of the two lines of a record has the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// `host {"host":1}`, then the text; GoVector writes this.
    ClockFirst,
    /// The text, then `host {"host":1}`.
    TextFirst,
}

/// How far to look for the first clock.
const LOOK_AHEAD: usize = 20;

impl Layout {
    /// The layout of a log, from how it begins.
    pub(crate) fn detect(text: &str) -> Option<Layout> {
        let mut lines = text
            .lines()
            .filter(|line| !line.trim().is_empty())
            .take(LOOK_AHEAD);
        if lines.next().is_some_and(is_clock_line) {
            return Some(Layout::ClockFirst);
        }
        lines.any(is_clock_line).then_some(Layout::TextFirst)
    }

    pub(crate) fn regex(self) -> &'static str {
        match self {
            Layout::ClockFirst => r"(?<host>\S*) (?<clock>{.*})\n(?<event>.*)",
            Layout::TextFirst => r"(?<event>.*)\n(?<host>\S*) (?<clock>{.*})",
        }
    }
}

fn is_clock_line(line: &str) -> bool {
    let Some((host, clock)) = line.trim_end().split_once(' ') else {
        return false;
    };
    let clock: Result<std::collections::HashMap<String, u32>, _> = serde_json::from_str(clock);
    clock.is_ok_and(|clock| clock.contains_key(host))
}

/// Whether the first line of a file is not log but the expression that the log is read with.
pub(crate) fn looks_like_parser(line: &str) -> bool {
    let has = |group: &str| {
        line.contains(&format!("(?<{group}>")) || line.contains(&format!("(?P<{group}>"))
    };
    has("host") && has("clock")
}
