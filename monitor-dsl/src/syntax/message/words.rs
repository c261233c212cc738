//! The words of the language.

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
pub(crate) fn words() -> impl Iterator<Item = &'static str> {
    let spelled_out = OPERATORS
        .iter()
        .filter(|word| word.starts_with(char::is_lowercase));
    KEYWORDS.iter().chain(spelled_out).copied()
}

/// The words of operators, which are names only in quotes.
pub(super) const OPERATORS: &[&str] = &[
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
