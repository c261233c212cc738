//! Names and texts of a trace, made safe for a terminal: anything that would move the cursor, clear the
//! screen or break a table is escaped.

use std::borrow::Cow;

/// A text on one line.
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, |_| false)
}

/// A text that may have several lines.
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |character| character == '\n')
}

fn escaped(text: &str, is_fine: impl Fn(char) -> bool) -> Cow<'_, str> {
    let is_odd = |character: char| character.is_control() && !is_fine(character);
    if !text.contains(is_odd) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::new();
    for character in text.chars() {
        if is_odd(character) {
            shown.extend(character.escape_default())
        } else {
            shown.push(character)
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_characters_are_spelled_out() {
        assert_eq!(printable("größe"), "größe");
        assert_eq!(printable("a\nb\u{1b}[2J"), "a\\nb\\u{1b}[2J");
        assert_eq!(printable_lines("a\nb\r"), "a\nb\\r");
    }
}
