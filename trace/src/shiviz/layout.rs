//! The two layouts that need no regular expression from the user.

use super::escape::unescaped;

/// Which of the two lines of a record has the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// `host {"host":1}`, then the text; GoVector writes this.
    ClockFirst,
    /// The text, then `host {"host":1}`.
    TextFirst,
}

impl Layout {
    /// The layout of a log, from its first lines; `whole` if these are all that it has.
    ///
    /// A log that begins with a clock is unambiguous. Otherwise the texts may come
    /// first, or the log may begin with a line that is not part of a record: the layout is then the one
    /// that leaves fewer lines over.
    pub(crate) fn detect<'t>(lines: impl Iterator<Item = &'t str>, whole: bool) -> Option<Layout> {
        let clocks: Vec<bool> = lines
            .filter(|line| !line.trim().is_empty())
            .map(is_clock_line)
            .collect();
        if !clocks.contains(&true) {
            return None;
        }
        let clock_first = left_over(&clocks, 0);
        let text_first = left_over(&clocks, 1);
        // Where the end is not in sight, the last text may have its clock behind it.
        let clock_first = clocks[0] || clock_first < text_first + usize::from(whole);
        Some(if clock_first {
            Layout::ClockFirst
        } else {
            Layout::TextFirst
        })
    }

    pub(crate) fn regex(self) -> &'static str {
        match self {
            Layout::ClockFirst => r"(?<host>\S*) (?<clock>{.*})\n(?<event>.*)",
            Layout::TextFirst => r"(?<event>.*)\n(?<host>\S*) (?<clock>{.*})",
        }
    }
}

/// Whether the start of a log suffices to determine how to read it.
pub(crate) fn shows_layout(start: &[u8]) -> bool {
    let text = String::from_utf8_lossy(start);
    let Some((first, _)) = text.split_once('\n') else {
        return false;
    };
    looks_like_parser(first) || Layout::detect(text.lines(), false).is_some()
}

/// How many lines belong to no record if a record is two lines, this one of them with a clock.
fn left_over(clocks: &[bool], clock: usize) -> usize {
    let (mut at, mut left) = (0, 0);
    while at < clocks.len() {
        if at + 1 < clocks.len() && clocks[at + clock] {
            at += 2;
        } else {
            at += 1;
            left += 1;
        }
    }
    left
}

fn is_clock_line(line: &str) -> bool {
    let Some((host, clock)) = line.trim_end().split_once(' ') else {
        return false;
    };
    let clock: Result<std::collections::HashMap<String, u32>, _> =
        serde_json::from_str(&unescaped(clock));
    clock.is_ok_and(|clock| clock.contains_key(host))
}

/// Whether the first line of a file is not part of the log but the expression for reading it.
pub(crate) fn looks_like_parser(line: &str) -> bool {
    let has = |group: &str| {
        line.contains(&format!("(?<{group}>")) || line.contains(&format!("(?P<{group}>"))
    };
    has("host") && has("clock")
}

#[cfg(test)]
mod tests {
    use super::Layout;

    /// The layout of lines that are named by what they are: a clock, a text, a delimiter.
    fn layout(lines: &str, whole: bool) -> Option<Layout> {
        let text = |kind| match kind {
            'c' => "a {\"a\":1}",
            't' => "some text",
            _ => "=== run ===",
        };
        Layout::detect(lines.chars().map(text), whole)
    }

    #[test]
    fn lines_that_are_no_part_of_a_record() {
        use Layout::{ClockFirst, TextFirst};
        for (lines, whole, expected) in [
            ("", true, None),
            ("tt", true, None),
            ("c", true, Some(ClockFirst)),
            ("ctct", true, Some(ClockFirst)),
            ("tctc", true, Some(TextFirst)),
            ("tctct", false, Some(TextFirst)),
            ("dct", true, Some(ClockFirst)),
            ("dctctdct", true, Some(ClockFirst)),
            ("dtctcdtc", true, Some(TextFirst)),
            ("ddct", true, Some(ClockFirst)),
            ("tcdtc", false, Some(TextFirst)),
        ] {
            assert_eq!(layout(lines, whole), expected, "{lines}");
        }
    }
}
