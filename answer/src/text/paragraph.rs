//! Text broken into lines.

use unicode_width::UnicodeWidthStr;

/// No line is longer, unless a single word is.
const WIDTH: usize = 100;

/// A text that begins with a word like `Why: `, indented; its other lines are aligned after that
/// word. Code in backquotes is not broken.
pub(super) fn paragraph(begin: &str, text: &str) -> String {
    let indent = " ".repeat(2 + begin.width());
    let mut lines = String::new();
    let mut line = format!("  {begin}");
    let mut is_empty = true;
    for word in words(text) {
        if !is_empty && line.width() + 1 + word.width() > WIDTH {
            lines += &line;
            lines.push('\n');
            line.clone_from(&indent);
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line += &word;
        is_empty = false;
    }
    lines + &line + "\n"
}

/// The words of a text; text in backquotes is one word.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in text.chars() {
        quoted ^= c == '`';
        match words.last_mut() {
            Some(word) if c != ' ' || quoted => word.push(c),
            _ => words.push(String::new()),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn breaks_between_words() {
        let text = paragraph("Why: ", &["`a b`"; 20].join(" "));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(lines[0].starts_with("  Why: `a b`") && lines[0].ends_with("`a b`"));
        assert!(lines[1].starts_with("       `a b`"));
    }
}
