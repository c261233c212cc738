//! Signs of other languages, and how they are spelled here.

/// For the signs around a place where the grammar got stuck: what to write instead. `open` is the innermost
/// open bracket.
pub(super) fn instead(
    text: &str,
    position: usize,
    expected: &str,
    open: Option<char>,
) -> Option<String> {
    let (before, rest) = text.split_at(position);
    let next = rest.chars().next()?;
    if let Some(here) = mathematical(next) {
        return Some(format!("`{next}` is written {here}"));
    }
    let begin = before.trim_end_matches(is_sign).len();
    let end = text.len() - rest.trim_start_matches(is_sign).len();
    let run = &text[begin..end];
    let in_expression = expected.contains("an expression");
    let in_formula =
        !in_expression && (expected.contains("formula") || expected.contains("operator"));
    let after_word = before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
    let after_digit = before.ends_with(|c: char| c.is_ascii_digit());
    let range = "`X`, `N`, `Y` and `Z` count with one number, as in `X[3]`, \
                 and `F`, `G`, `O` and `H` from one to another, as in `F[2:5]`";
    let help = match run {
        _ if in_expression => match run {
            "^" | "$" => "an expression is about the whole run, so that `^` and `$` are not needed",
            "!" => "a step without `a` is `{!a}`; the complement of an expression has a `~`",
            _ if next == '[' => "one of several is written `(a | b)`",
            _ => return None,
        },
        _ if !in_formula => return None,
        "." | ".." | "..." | "<" | "<=" | "=" | ":" if open == Some('[') => range,
        "=<" => "\"at most\" is written `<=`",
        "===" => "\"equal\" is written `==`",
        "!==" | "/=" | "=/=" | "=!=" | "~=" => "\"not equal\" is written `!=`",
        "<>" if begin < position => "\"not equal\" is written `!=`; `<>` is \"eventually\"",
        "-->" | "==>" | "|->" | "|=>" | "|-" => "\"implies\" is written `->`",
        "<-->" | "<==>" => "\"if and only if\" is written `<->`",
        "&&&" | "/\\" => "\"and\" is written `&&`",
        "|||" | "\\/" => "\"or\" is written `||`",
        "~" => "\"not\" is written `!`",
        "**" | "%" | "/" => {
            "numbers are added, subtracted and multiplied, with `+`, `-` and `*`; nothing else"
        }
        "." if after_digit || rest[1..].starts_with(|c: char| c.is_ascii_digit()) => {
            "a number has digits on both sides of its point"
        }
        "." | ":" | "::" | "-" if after_word => {
            "a name that is not made of letters, digits and `_` stands in quotes, as in `\"a.b\"`"
        }
        "'" | "`" => "names and strings stand in double quotes",
        _ if next == '[' && after_word => {
            "a name that is not made of letters, digits and `_` stands in quotes, as in `\"a[0]\"`"
        }
        _ => return None,
    };
    Some(help.to_owned())
}

fn is_sign(c: char) -> bool {
    c.is_ascii_punctuation() && !"()[]{}\"_,;".contains(c)
}

/// How a sign of mathematics is written in ASCII.
fn mathematical(sign: char) -> Option<&'static str> {
    Some(match sign {
        '□' | '◻' | '☐' | '▢' | '⬜' => "`[]`, `G` or `always`",
        '◇' | '◊' | '♢' | '⋄' | '⬦' => "`<>`, `F` or `eventually`",
        '○' | '◯' | '⚪' | '◦' => "`X` or `next`",
        '■' | '⊡' => "`H` or `historically`",
        '◆' | '⧫' => "`O` or `once`",
        '●' | '⊖' => "`Y` or `prev`",
        '∧' | '⋀' => "`&&`",
        '∨' | '⋁' => "`||`",
        '¬' => "`!`",
        '⊕' | '⊻' => "`xor`",
        '→' | '⇒' | '⟶' | '⟹' | '⊃' => "`->`",
        '↔' | '⇔' | '⟷' | '⟺' | '≡' => "`<->`",
        '≤' | '⩽' => "`<=`",
        '≥' | '⩾' => "`>=`",
        '≠' => "`!=`",
        '×' | '·' => "`*`",
        '−' | '–' | '—' => "`-`",
        '⊤' => "`true`",
        '⊥' => "`false`",
        '“' | '”' | '„' | '‘' | '’' => "`\"`",
        _ => return None,
    })
}
