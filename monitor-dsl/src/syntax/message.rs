//! What to say when a text does not parse.
//!
//! The grammar knows where it got stuck and which rules could have gone on; a person wants to know
//! what stands there, what was expected in words, and what the usual mistake is.

use pest::error::{ErrorVariant, InputLocation};
use std::sync::Arc;

use super::{parse::Rule, tree::Span};
use crate::{
    diagnostic::{Diagnostic, Source},
    error::Error,
    suggest,
};

/// Words that begin something, for "did you mean".
const WORDS: &[&str] = &[
    "property",
    "var",
    "let",
    "event",
    "matches",
    "ltl",
    "ere",
    "never",
    "pattern",
    "not",
    "and",
    "or",
    "implies",
    "iff",
    "xor",
    "next",
    "wnext",
    "eventually",
    "always",
    "until",
    "unless",
    "release",
    "prev",
    "wprev",
    "once",
    "historically",
    "since",
    "wsince",
    "trigger",
    "absence",
    "existence",
    "universality",
    "precedes",
    "responds",
    "globally",
    "before",
    "after",
    "between",
];

/// The message for an error of the grammar.
pub(super) fn syntax_error(source: &Arc<Source>, error: &pest::error::Error<Rule>) -> Error {
    let text = &*source.text;
    let position = match error.location {
        InputLocation::Pos(position) | InputLocation::Span((position, _)) => position,
    };
    let position = position + (text[position..].len() - text[position..].trim_start().len());
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
    let diagnostic = Diagnostic::error(source, span, message, format!("expected {expected}"));
    let diagnostic = match unclosed(text, position) {
        Some(bracket) => {
            let span = Span {
                start: bracket,
                end: bracket + 1,
            };
            let opened = &text[span.start..span.end];
            let message = format!("this `{opened}` is never closed");
            Diagnostic::error(source, span, message, "opened here")
        }
        None => match hint(text, position, found, &expected) {
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
        first.len_utf8()
    };
    &rest[..end]
}

/// The place of an opening bracket, or quote, that nothing closes before the parser gave up at the
/// end of the text or at a bracket of another kind.
fn unclosed(text: &str, position: usize) -> Option<usize> {
    let mut open: Vec<(usize, char)> = Vec::new();
    let mut characters = text[..position].char_indices().peekable();
    while let Some((index, character)) = characters.next() {
        match character {
            '"' => {
                let mut closed = false;
                while let Some((_, inner)) = characters.next() {
                    match inner {
                        '\\' => drop(characters.next()),
                        '"' => closed = true,
                        '\n' => break,
                        _ => {}
                    }
                    if closed {
                        break;
                    }
                }
                if !closed {
                    return Some(index);
                }
            }
            '/' if matches!(characters.peek(), Some((_, '/'))) => {
                characters.by_ref().find(|(_, inner)| *inner == '\n');
            }
            '(' | '[' | '{' => open.push((index, character)),
            ')' | ']' | '}' => drop(open.pop()),
            _ => {}
        }
    }
    if text[position..].starts_with('"') && !text[position + 1..].contains('"') {
        return Some(position);
    }
    let (index, bracket) = open.pop()?;
    // The body of a property may simply be incomplete; its brace is not the point then.
    match text[position..].chars().next() {
        None => Some(index),
        Some(']' | '}') if bracket == '(' => Some(index),
        _ => None,
    }
}

fn hint(text: &str, position: usize, found: &str, expected: &str) -> Option<String> {
    let wants_operator = expected.contains("operator");
    match found {
        "let" | "var" | "event" if wants_operator => {
            return Some("declarations come before the body".to_owned());
        }
        "ltl" | "ere" | "never" | "pattern" if wants_operator => {
            return Some("a property has one body".to_owned());
        }
        "X" | "N" | "F" | "G" | "Y" | "Z" | "O" | "H" | "U" | "W" | "R" | "M" | "S" | "T"
        | "WS" => {
            return Some(format!(
                "`{found}` is an operator; write `\"{found}\"`, in quotes, for something of that name"
            ));
        }
        _ => {}
    }
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let before = text[..position].trim_end();
    let word_start = before.rfind(|c| !is_word(c)).map_or(0, |index| {
        index + before[index..].chars().next().map_or(0, char::len_utf8)
    });
    let previous = &before[word_start..];
    for word in [found, previous] {
        if WORDS.contains(&word) {
            continue;
        }
        if let Some(close) = suggest::closest(word, WORDS.iter().copied()) {
            return Some(format!("did you mean `{close}`?"));
        }
    }
    if expected == "a property" {
        return Some(
            "a file holds properties, `property name { ... }`; \
             give a bare formula with `--property`"
                .to_owned(),
        );
    }
    None
}

fn join(expected: &[&str]) -> String {
    match expected {
        [] => "something else".to_owned(),
        [single] => (*single).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

fn expectations(rules: &[Rule]) -> Vec<&'static str> {
    let mut expected: Vec<&'static str> = rules.iter().map(|rule| describe(*rule)).collect();
    expected.sort_by_key(|text| (!text.starts_with("a "), *text));
    expected.dedup();
    expected
}

/// What a rule is called in a message.
fn describe(rule: Rule) -> &'static str {
    match rule {
        Rule::EOI => "the end of the text",
        Rule::opening | Rule::file | Rule::property | Rule::property_word => "a property",
        Rule::bare
        | Rule::expression
        | Rule::operand
        | Rule::operand_name
        | Rule::operator_word
        | Rule::prefix
        | Rule::group
        | Rule::edge
        | Rule::edge_word
        | Rule::interval
        | Rule::call => "a formula",
        Rule::infix => "an operator",
        Rule::ere
        | Rule::ere_operand
        | Rule::ere_prefix
        | Rule::dot
        | Rule::letter
        | Rule::ere_group => "an expression",
        Rule::ere_infix | Rule::ere_postfix => "an operator",
        Rule::count | Rule::digits | Rule::number | Rule::minus => "a number",
        Rule::comma => "`,`",
        Rule::parameters => "a parameter list",
        Rule::declaration
        | Rule::variable
        | Rule::definition
        | Rule::events
        | Rule::var_word
        | Rule::let_word
        | Rule::event_word => "a declaration",
        Rule::event => "an event",
        Rule::matches | Rule::matches_word => "`matches`",
        Rule::type_name => "a type",
        Rule::value | Rule::truth => "a value",
        Rule::body
        | Rule::ltl_body
        | Rule::ere_body
        | Rule::never_body
        | Rule::pattern_body
        | Rule::ltl_word
        | Rule::ere_word
        | Rule::never_word
        | Rule::pattern_word => "a body (`ltl:`, `ere:`, `never:` or `pattern:`)",
        Rule::pattern
        | Rule::absence
        | Rule::existence
        | Rule::universality
        | Rule::precedence
        | Rule::response
        | Rule::absence_word
        | Rule::existence_word
        | Rule::universality_word => "a pattern",
        Rule::of_word => "`of`",
        Rule::precedes_word => "`precedes`",
        Rule::responds_word => "`responds to`",
        Rule::to_word => "`to`",
        Rule::scope
        | Rule::globally
        | Rule::before
        | Rule::between
        | Rule::after_until
        | Rule::after
        | Rule::globally_word
        | Rule::before_word
        | Rule::between_word
        | Rule::after_word => "a scope",
        Rule::and_word => "`and`",
        Rule::until_word => "`until`",
        Rule::proposition => "a proposition",
        Rule::text | Rule::escape => "a text in quotes",
        Rule::name | Rule::quoted | Rule::identifier | Rule::name_part => "a name",
        Rule::WHITESPACE | Rule::COMMENT => "space",
    }
}
