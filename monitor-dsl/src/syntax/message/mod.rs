//! What to say when a text does not parse.
//!
//! The grammar knows where it got stuck and which rules could have gone on; a person wants to know
//! what stands there, what was expected in words, and what the usual mistake is.

mod expected;
mod hint;
mod signs;
mod words;

use pest::error::{ErrorVariant, InputLocation};
use std::sync::Arc;

use self::{
    expected::{expectations, join},
    hint::hint,
};
use super::{parse::Rule, scan::CodeCharacters, tree::Span};
use crate::{
    diagnostic::{Diagnostic, Source},
    error::Error,
};

pub(crate) use hint::meant_by_name;
pub(super) use words::{elsewhere, words};

/// The signs of more than one character.
const SIGNS: &[&str] = &[
    "<->", "<=>", "->", "=>", "==", "!=", "<=", ">=", "&&", "||", "[]", "<>", "/*",
];

/// The message for an error of the grammar.
pub(super) fn syntax_error(source: &Arc<Source>, error: &pest::error::Error<Rule>) -> Error {
    let text = &*source.text;
    let position = match error.location {
        InputLocation::Pos(position) | InputLocation::Span((position, _)) => position,
    };
    let position = position + (text[position..].len() - text[position..].trim_start().len());
    // Of an arrow where none can be, the grammar takes the first half for a minus.
    let position = if text[..position].ends_with('-') && text[position..].starts_with('>') {
        position - 1
    } else {
        position
    };
    let expected = match &error.variant {
        ErrorVariant::ParsingError { positives, .. } => expectations(positives),
        ErrorVariant::CustomError { .. } => Vec::new(),
    };
    let found = token_at(text, position);
    let span = Span {
        start: position,
        end: position + found.len(),
    };
    let found_text = match found {
        "" => "the end of the text".to_owned(),
        _ => format!("`{found}`"),
    };
    let expected = join(&expected);
    let message = format!("expected {expected}, found {found_text}");
    let label = match expected.len() {
        0..40 => format!("expected {expected}"),
        _ if found.is_empty() => "something is missing here".to_owned(),
        _ => "not expected here".to_owned(),
    };
    let diagnostic = Diagnostic::error(source, span, message, label);
    let open = brackets_before(text, position);
    let diagnostic = match (unclosed(text, position, &open), found) {
        (Some(start), _) => {
            let end = start + token_at(text, start).len();
            let opened = &text[start..end];
            let message = format!("this `{opened}` is never closed");
            Diagnostic::error(source, Span { start, end }, message, "opened here")
        }
        (None, ")" | "]" | "}") if open.as_ref().is_ok_and(Vec::is_empty) => {
            let message = format!("this `{found}` closes nothing");
            Diagnostic::error(source, span, message, "never opened")
        }
        _ => match hint(text, position, found, &expected) {
            Some(help) => diagnostic.help(help),
            None => diagnostic,
        },
    };
    Error::syntax(diagnostic)
}

/// The word, number, text or sign at a place.
fn token_at(text: &str, position: usize) -> &str {
    let rest = &text[position..];
    let Some(first) = rest.chars().next() else {
        return "";
    };
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let end = if is_word(first) {
        rest.find(|c| !is_word(c)).unwrap_or(rest.len())
    } else {
        let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
        sign.map_or(first.len_utf8(), |sign| sign.len())
    };
    &rest[..end]
}

/// The brackets that are open at a place, or else the place of a quote that nothing closes.
fn brackets_before(text: &str, position: usize) -> Result<Vec<(usize, char)>, usize> {
    let mut open: Vec<(usize, char)> = Vec::new();
    let mut outside = CodeCharacters::of(&text[..position]);
    for (index, character) in outside.by_ref() {
        match character {
            '(' | '[' | '{' => open.push((index, character)),
            ')' | ']' | '}' => drop(open.pop()),
            _ => {}
        }
    }
    match outside.unclosed {
        Some(quote) => Err(quote),
        None => Ok(open),
    }
}

/// The place of an opening bracket, quote or comment that nothing closes before the parser gave up
/// at the end of the text or at a bracket of another kind.
fn unclosed(
    text: &str,
    position: usize,
    open: &Result<Vec<(usize, char)>, usize>,
) -> Option<usize> {
    let open = match open {
        Ok(open) => open,
        Err(quote) => return Some(*quote),
    };
    let rest = &text[position..];
    if rest.starts_with("/*") || (rest.starts_with('"') && !rest[1..].contains('"')) {
        return Some(position);
    }
    let &(index, bracket) = open.last()?;
    // The body of a property may simply be incomplete; its brace is not the point then.
    match rest.chars().next() {
        None => Some(index),
        Some(']' | '}') if bracket == '(' => Some(index),
        _ => None,
    }
}
