//! JavaScript's regular expressions in the syntax of the `regex` crate.
//!
//! The expressions in use were written for JavaScript. The two syntaxes differ in what may stand
//! unescaped: `{` and `}` that do not repeat anything, and `[`, `&&`, `--`, `~~` in a class. Features that
//! the crate lacks (look-around, back-references) stay errors.

/// The same expression, for the `regex` crate.
pub(crate) fn translate(js: &str) -> String {
    let mut out = String::with_capacity(js.len() + 8);
    let mut chars = js.char_indices().peekable();
    let mut in_class = false;
    // Whether what was just read can be repeated.
    let mut repeatable = false;
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => {
                out.push('\\');
                match chars.next() {
                    // `\/` is how JavaScript writes a slash.
                    Some((_, '/')) => {
                        out.pop();
                        out.push('/');
                    }
                    Some((_, escaped)) => out.push(escaped),
                    None => {}
                }
                repeatable = true;
            }
            '[' if in_class => out.push_str("\\["),
            '[' => {
                in_class = true;
                out.push('[');
                // `[]` is empty and `[^]` is anything.
                if js[at..].starts_with("[^]") {
                    out.push_str("\\s\\S");
                    chars.next();
                } else if chars.peek().is_some_and(|(_, next)| *next == '^') {
                    chars.next();
                    out.push('^');
                }
            }
            ']' if in_class => {
                in_class = false;
                repeatable = true;
                out.push(']');
            }
            '&' | '~' if in_class => {
                out.push('\\');
                out.push(c);
            }
            '{' if !in_class => match repetition(&js[at..]) {
                Some(length) if repeatable => {
                    out.push_str(&js[at..at + length]);
                    for _ in 1..length {
                        chars.next();
                    }
                    repeatable = false;
                }
                _ => {
                    out.push_str("\\{");
                    repeatable = true;
                }
            },
            '}' if !in_class => {
                out.push_str("\\}");
                repeatable = true;
            }
            _ => {
                out.push(c);
                if !in_class {
                    repeatable = !matches!(c, '(' | '|' | '^' | '*' | '+' | '?');
                }
            }
        }
    }
    out
}

/// The length of `{n}`, `{n,}` or `{n,m}` at the start of a text.
fn repetition(text: &str) -> Option<usize> {
    let inner = &text[1..text.find('}')?];
    let (low, high) = inner.split_once(',').unwrap_or((inner, ""));
    let digits = |s: &str| s.bytes().all(|byte| byte.is_ascii_digit());
    (!low.is_empty() && digits(low) && digits(high)).then_some(inner.len() + 2)
}

#[cfg(test)]
mod tests {
    use super::translate;

    #[test]
    fn braces_that_repeat_nothing_are_literal() {
        for (js, rust) in [
            (r"(?<clock>{.*})", r"(?<clock>\{.*\})"),
            (
                r"(?<host>\S*) (?<clock>.*\})",
                r"(?<host>\S*) (?<clock>.*\})",
            ),
            (r"(\d{2}:){2}\d{2},\d{3}", r"(\d{2}:){2}\d{2},\d{3}"),
            (r"a{1,}b{x}", r"a{1,}b\{x\}"),
            (r"[[a&&b]{2}", r"[\[a\&\&b]{2}"),
            (r"akka:\/\/x", r"akka://x"),
            (r"[^]+", r"[\s\S]+"),
            (r"[^ ]+", r"[^ ]+"),
        ] {
            assert_eq!(translate(js), rust);
            regex::Regex::new(rust).unwrap();
        }
    }
}
