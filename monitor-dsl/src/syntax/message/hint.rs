//! The usual mistakes, and what to do about them.

use super::{
    brackets_before, signs,
    words::{OPERATORS, elsewhere, words},
};
use crate::suggest;

/// What a body begins with.
const BODIES: [&str; 4] = ["ltl", "ere", "never", "pattern"];

/// What the usual mistake is.
pub(super) fn hint(text: &str, position: usize, found: &str, expected: &str) -> Option<String> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let before = text[..position].trim_end();
    let word_start = before.rfind(|c| !is_word(c)).map_or(0, |index| {
        index + before[index..].chars().next().map_or(0, char::len_utf8)
    });
    let previous = &before[word_start..];
    let open = brackets_before(text, position).ok()?;
    let innermost = open.last().copied();
    let open = innermost.map(|(_, bracket)| bracket);
    let wants = |what: &str| expected.contains(what);
    if let Some((place, '[')) = innermost
        && let Some(closed) = unclosed_count(text, place)
    {
        return Some(format!("close the bracket of the count: `{closed}`"));
    }
    if let Some(known) = mistake(found, expected, before, previous, open) {
        return Some(known);
    }
    if found == ":"
        && before == previous
        && let Some(body) = suggest::closest(previous, BODIES)
    {
        return Some(format!("did you mean `{body}:`?"));
    }
    if let Some(known) = signs::instead(text, position, expected, open) {
        return Some(known);
    }
    for word in [previous, found] {
        if !wants("operator") {
            continue;
        }
        if let Some(here) = elsewhere(word) {
            return Some(format!("`{word}` is no operator here; {here}"));
        }
        let small = word.to_lowercase();
        if word != small && OPERATORS.contains(&small.as_str()) {
            return Some(format!("words are written in small letters: `{small}`"));
        }
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
        return Some("a file holds properties: write `property name { ... }` around it".to_owned());
    }
    if wants("`{`") {
        let what = "the declarations and the body of a property stand in braces";
        return Some(format!("{what}, as in `property p {{ ltl: always q }}`"));
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

/// For `next[2 a`, where the bracket at this place is not closed after its numbers: `next[2]`.
fn unclosed_count(text: &str, bracket: usize) -> Option<String> {
    let before = text[..bracket].trim_end();
    let is_operator = |word: &&&str| {
        let rest = before.strip_suffix(**word);
        rest.is_some_and(|rest| !rest.ends_with(|c: char| c.is_alphanumeric() || c == '_'))
    };
    let operator = OPERATORS.iter().find(is_operator)?;
    let rest = text[bracket + 1..].trim_start();
    let number =
        |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let mut end = number(rest);
    if let Some(more) = rest[end..].strip_prefix(':')
        && number(more) > 0
    {
        end += 1 + number(more);
    }
    let (count, rest) = rest.split_at(end);
    let goes_on = rest
        .trim_start()
        .starts_with(|c: char| c.is_alphabetic() || "(!\"".contains(c));
    (!count.is_empty() && goes_on).then(|| format!("{operator}[{count}]"))
}

/// A mistake that can be recognised by the unexpected token, what stands before it and the innermost open bracket.
fn mistake(
    found: &str,
    expected: &str,
    before: &str,
    previous: &str,
    open: Option<char>,
) -> Option<String> {
    let is_body = |word: &str| BODIES.contains(&word);
    let wants = |what: &str| expected.contains(what);
    Some(match found {
        "&&" | "&" | "and" if wants("`,` or `{`") => {
            "what `where` lists is separated by commas".to_owned()
        }
        "let" | "var" | "event" if wants("operator") || wants("`}`") => {
            "declarations come before the body".to_owned()
        }
        body if is_body(body) && (wants("operator") || wants("`}`")) => {
            "a property has one body".to_owned()
        }
        // In an expression the word of a second body is taken for an event.
        ":" if is_body(previous) && wants("`}`") => "a property has one body".to_owned(),
        ":" if wants("`=`") => "a `let` has no type; a variable is declared with `var`".to_owned(),
        body if is_body(body) && wants("a body") => format!("write `{body}:`, with a colon"),
        _ if is_body(previous)
            && previous != "never"
            && before == previous
            && wants("operator") =>
        {
            format!("write `{previous}:`, with a colon")
        }
        _ if matches!(previous, "start" | "end") && wants("operator") => {
            format!("write `{previous}(...)`, with parentheses")
        }
        ":" if is_body(previous) => {
            format!("`{previous}:` begins the body; something is missing before it")
        }
        "]" | ")" if open == Some('[') => {
            "an interval has two parts and ends with a parenthesis: `[p, q)`; an operator counts \
             with numbers: `X[3]`, `F[2:5]`"
                .to_owned()
        }
        ")" if before.ends_with('(') && expected == "a name" => {
            "leave the parentheses out where there are no parameters".to_owned()
        }
        "=" | "==" if expected == "a value" || wants("`matches`") => {
            "an initial value is given with a single `=`".to_owned()
        }
        "by" if before.contains("event") && (wants("a declaration") || wants("a body")) => {
            "`by` comes before `on` and `matches`".to_owned()
        }
        "on" | "matches"
            if before.contains("event") && (wants("a declaration") || wants("a body")) =>
        {
            "an event is recognised by `on` or by `matches`, not by both".to_owned()
        }
        ";" if wants("a declaration") || wants("operator") => {
            "nothing is ended by a `;`".to_owned()
        }
        "<" | "<=" | ">" | ">=" | "==" | "!=" | "=" if wants("a scope") => {
            "a proposition that is not a name stands in parentheses".to_owned()
        }
        "<" | "<=" | ">" | ">=" | "==" | "!=" | "=" if wants("an expression") => {
            "a condition stands in braces, as in `{x > 3}`".to_owned()
        }
        operator if OPERATORS.contains(&operator) && expected == "a formula" => format!(
            "`{operator}` is an operator; \
             write `\"{operator}\"`, in quotes, for something of that name"
        ),
        _ => return None,
    })
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

/// What was probably meant where a bare formula has an event of this name: operators that were not kept apart,
/// as in `GFp`, or a constant.
pub(crate) fn meant_by_name(name: &str) -> Option<String> {
    let quoted = format!("or `\"{name}\"`, in quotes, for an event of that name");
    if let small @ ("true" | "false") = name.to_lowercase().as_str() {
        return Some(format!("write `{small}` for the constant, {quoted}"));
    }
    let rest = name.trim_start_matches(['F', 'G', 'X']);
    let proposition = rest.trim_end_matches(|c: char| c.is_ascii_digit());
    // `Get` and `Found` are ordinary names.
    match name.len() - rest.len() {
        0 => None,
        1 if proposition.chars().count() != 1 => None,
        _ => Some(format!("{}, {quoted}", run_together(name)?)),
    }
}
