//! The words of the language.

/// Words that begin something and are no operators.
const KEYWORDS: &[&str] = &[
    "property",
    "var",
    "let",
    "event",
    "matches",
    "where",
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

/// For the word that another language, or plain English, has for an operator: how it is spelled here.
pub(in crate::syntax) fn elsewhere(word: &str) -> Option<&'static str> {
    Some(match word {
        "globally" | "henceforth" | "forever" | "invariantly" => {
            "\"at every step from here on\" is `always` or `G`"
        }
        "finally" | "sometime" | "sometimes" | "future" => {
            "\"at some step from here on\" is `eventually` or `F`"
        }
        "never" => {
            "\"at no step from here on\" is `always !`, as in `always !a`; `never:` begins a body, an \
             expression that no run may match"
        }
        "previously" | "past" => {
            "\"at some step up to here\" is `once` or `O`, \"at the step before\" is `prev` or `Y`"
        }
        "yesterday" | "previous" => "\"at the step before\" is `prev` or `Y`",
        "tomorrow" | "nexttime" => "\"at the next step\" is `next` or `X`",
        "heretofore" | "hitherto" | "sofar" => {
            "\"at every step up to here\" is `historically` or `H`"
        }
        "weaknext" | "weak_next" => "a weak next is `wnext` or `N`",
        "if" | "then" => "\"if p then q\" is `p -> q`",
        "forall" | "foreach" => {
            "a property with parameters, `property name(x) { ... }`, is checked for every value of them"
        }
        "weakuntil" | "wuntil" | "awaits" => "a weak until is `unless` or `W`",
        "precedes" | "before" | "preceded" => {
            "\"b only after a\" is `always (b -> once a)`, or the pattern `pattern: a precedes b`"
        }
        "responds" | "leads_to" | "leadsto" | "leads" | "followed" | "follows" => {
            "\"after every a some b\" is `always (a -> eventually b)`, or the pattern `pattern: b responds to a`"
        }
        "absence" | "existence" | "universality" => {
            "a pattern is a body of its own, as in `pattern: absence of a`"
        }
        "triggered" | "backto" => "a weak since is `wsince` or `WS`, a trigger is `trigger` or `T`",
        _ => return None,
    })
}
