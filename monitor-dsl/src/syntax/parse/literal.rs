//! What texts and numbers stand for.

use portent_monitor_core::Value;

/// The text between quotes, with its escapes resolved; an unknown escape stands for itself.
pub(super) fn unquote(quoted: &str) -> String {
    let mut text = String::with_capacity(quoted.len());
    let mut characters = quoted[1..quoted.len() - 1].chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some(same @ ('"' | '\\')) => text.push(same),
                other => text.extend(std::iter::once('\\').chain(other)),
            },
            plain => text.push(plain),
        }
    }
    text
}

/// The value of a number, if it fits.
pub(crate) fn number(text: &str) -> Option<Value> {
    if text.contains(['.', 'e', 'E']) {
        text.parse()
            .ok()
            .filter(|x: &f64| x.is_finite())
            .map(Value::Float)
    } else {
        text.parse().ok().map(Value::Int)
    }
}
