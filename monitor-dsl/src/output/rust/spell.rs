//! Names, types, values and comments as Rust spells them.

use portent_monitor_core::{Type, Value};

pub(super) fn rust_type(type_of: Type) -> &'static str {
    match type_of {
        Type::Bool => "bool",
        Type::Int => "i64",
        Type::Float => "f64",
        Type::Str => "String",
    }
}

pub(super) fn rust_value(value: &Value) -> String {
    match value {
        Value::Float(x) => rust_float(*x),
        Value::Str(text) => format!("String::from({text:?})"),
        other => other.to_string(),
    }
}

/// A floating-point number that is a number.
pub(super) fn rust_float(x: f64) -> String {
    if x.is_finite() {
        format!("{x:?}f64")
    } else if x > 0.0 {
        "f64::INFINITY".to_owned()
    } else {
        "f64::NEG_INFINITY".to_owned()
    }
}

/// Text as it may stand in a comment: on one line, and without characters that rustc refuses there
/// because they change how the text reads.
pub(super) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\r' | '\t' => line.push(' '),
            _ if character.is_alphanumeric() || character.is_ascii_graphic() => {
                line.push(character)
            }
            ' ' => line.push(' '),
            _ => line.extend(character.escape_unicode()),
        }
    }
    line
}

/// Rust identifiers for names, all different: `CamelCase` for variants, `snake_case` for fields.
pub(super) fn identifiers<'a>(names: impl Iterator<Item = &'a str>, variants: bool) -> Vec<String> {
    let mut taken: Vec<String> = Vec::new();
    for name in names {
        let mut words = name
            .split(|c: char| !c.is_ascii_alphanumeric())
            .filter(|w| !w.is_empty());
        let mut identifier = if variants {
            words
                .map(|word| {
                    let (first, rest) = word.split_at(1);
                    first.to_ascii_uppercase() + rest
                })
                .collect()
        } else {
            words
                .by_ref()
                .collect::<Vec<_>>()
                .join("_")
                .to_ascii_lowercase()
        };
        if identifier.is_empty() || identifier.starts_with(|c: char| c.is_ascii_digit()) {
            identifier.insert_str(0, if variants { "N" } else { "n" });
        }
        if KEYWORDS.contains(&identifier.as_str()) {
            identifier.push('_');
        }
        while taken.contains(&identifier) {
            identifier.push('_');
        }
        taken.push(identifier);
    }
    taken
}

/// What cannot be the name of a field or of a variant; `state` is the machine's own.
const KEYWORDS: &[&str] = &[
    "Self", "abstract", "as", "async", "await", "become", "box", "break", "const", "continue",
    "crate", "do", "dyn", "else", "enum", "event", "extern", "false", "final", "fn", "for", "gen",
    "if", "impl", "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv",
    "pub", "ref", "return", "self", "state", "static", "struct", "super", "trait", "true", "try",
    "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];
