//! What to say when a text does not parse.
//!
//! The grammar knows where it got stuck and which rules could have gone on; a person wants to know
//! what stands there, what was expected in words, and what the usual mistake is.

use pest::error::{ErrorVariant, InputLocation};
use std::sync::Arc;

use super::{parse::Rule, scan::Outside, tree::Span};
use crate::{
    diagnostic::{Diagnostic, Source},
    error::Error,
    suggest,
};

/// Words that begin something and are no operators.
const KEYWORDS: &[&str] = &[
    "property",
    "var",
    "let",
    "event",
    "matches",
    "ltl",
    "ere",
    "never",
    "pattern",
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

/// All words of the language that a name can be mistaken for; capital letters are too short for that.
pub(super) fn words() -> impl Iterator<Item = &'static str> {
    let spelled_out = OPERATORS
        .iter()
        .filter(|word| word.starts_with(char::is_lowercase));
    KEYWORDS.iter().chain(spelled_out).copied()
}

/// The words of operators, which are names only in quotes.
const OPERATORS: &[&str] = &[
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
    "X",
    "N",
    "F",
    "G",
    "Y",
    "Z",
    "O",
    "H",
    "U",
    "W",
    "R",
    "M",
    "S",
    "T",
    "WS",
];

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
    let position = match text[..position].ends_with('-') && text[position..].starts_with('>') {
        true => position - 1,
        false => position,
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
    let mut outside = Outside::of(&text[..position]);
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

fn hint(text: &str, position: usize, found: &str, expected: &str) -> Option<String> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let before = text[..position].trim_end();
    let word_start = before.rfind(|c| !is_word(c)).map_or(0, |index| {
        index + before[index..].chars().next().map_or(0, char::len_utf8)
    });
    let previous = &before[word_start..];
    let open = brackets_before(text, position).ok()?;
    let open = open.last().map(|(_, bracket)| *bracket);
    let is_body = |word: &str| matches!(word, "ltl" | "ere" | "never" | "pattern");
    let wants = |what: &str| expected.contains(what);
    let known = match found {
        "let" | "var" | "event" if wants("operator") || wants("`}`") => {
            Some("declarations come before the body".to_owned())
        }
        body if is_body(body) && (wants("operator") || wants("`}`")) => {
            Some("a property has one body".to_owned())
        }
        // In an expression the word of a second body is taken for an event.
        ":" if is_body(previous) && wants("`}`") => Some("a property has one body".to_owned()),
        ":" if wants("`=`") => {
            Some("a `let` has no type; a variable is declared with `var`".to_owned())
        }
        body if is_body(body) && wants("a body") => Some(format!("write `{body}:`, with a colon")),
        ":" if is_body(previous) => Some(format!(
            "`{previous}:` begins the body; something is missing before it"
        )),
        "]" | ")" if open == Some('[') => {
            Some("an interval has two parts and ends with a parenthesis: `[p, q)`".to_owned())
        }
        ")" if before.ends_with('(') && expected == "a name" => {
            Some("leave the parentheses out where there are no parameters".to_owned())
        }
        "=" | "==" if expected == "a value" || wants("`matches`") => {
            Some("an initial value is given with a single `=`".to_owned())
        }
        ";" if wants("a declaration") || wants("operator") => {
            Some("nothing is ended by a `;`".to_owned())
        }
        "<" | "<=" | ">" | ">=" | "==" | "!=" | "=" if wants("a scope") => {
            Some("a proposition that is not a name stands in parentheses".to_owned())
        }
        "<" | "<=" | ">" | ">=" | "==" | "!=" | "=" if wants("an expression") => {
            Some("a condition stands in braces, as in `{x > 3}`".to_owned())
        }
        operator if OPERATORS.contains(&operator) && expected == "a formula" => Some(format!(
            "`{operator}` is an operator; \
             write `\"{operator}\"`, in quotes, for something of that name"
        )),
        _ => None,
    };
    if known.is_some() {
        return known;
    }
    for word in [found, previous] {
        if words().any(|known| known == word) {
            continue;
        }
        if let Some(close) = suggest::closest(word, words()) {
            return Some(format!("did you mean `{close}`?"));
        }
    }
    if expected.starts_with("a property") {
        return Some(
            "a file holds properties, `property name { ... }`; \
             give a bare formula with `--property`"
                .to_owned(),
        );
    }
    if wants("a parameter list") && found.starts_with(is_word) {
        return Some(
            "events are separated by commas; a body begins with its kind, as in `ltl:`".to_owned(),
        );
    }
    if wants("a scope") {
        return Some(
            "the scopes are `globally`, `before r`, `after q`, `between q and r` \
             and `after q until r`"
                .to_owned(),
        );
    }
    wants("operator").then(|| run_together(previous)).flatten()
}

/// For `GFp0`, which is a name, what was probably meant.
fn run_together(word: &str) -> Option<String> {
    let operators = word.len() - word.trim_start_matches(|c| "XNFGYZOH".contains(c)).len();
    let (operators, name) = word.split_at(operators);
    if operators.is_empty() || !name.starts_with(|c: char| c.is_lowercase()) {
        return None;
    }
    let operators: String = operators.chars().flat_map(|c| [c, ' ']).collect();
    Some(format!(
        "operators are words of their own: write `{operators}{name}`"
    ))
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
    // Things first, then the signs that could end them.
    expected.sort_by_key(|text| (text.starts_with('`'), !text.starts_with("a "), *text));
    expected.dedup();
    if expected.contains(&"a formula") || expected.contains(&"an expression") {
        // They are one, or the beginning of one.
        expected.retain(|text| !matches!(*text, "a name" | "a number" | "a text in quotes"));
    }
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
        Rule::equals => "`=`",
        Rule::closing => "`}`",
        Rule::colon => "`:` and a type",
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
