//! What a user does not want to hear about: a file of locations, variables and locks.
//!
//! A line is `location src/a.rs:10`, `variable hits` or `lock registry`; `*` stands for anything, `#` begins a comment. A location
//! without a column, or without a line, matches any.

use crate::{error::Error, report::Finding};

/// What is not to be reported.
///
/// ```
/// use portent_findings::Suppressions;
///
/// let known = Suppressions::parse("# statistics may be off by one\nvariable hits.*\n", "known.txt")?;
/// assert_eq!(known.len(), 1);
/// let error = Suppressions::parse("variabel hits", "known.txt").unwrap_err();
/// assert!(error.to_string().starts_with("known.txt:1:1: `variabel`"));
/// # Ok::<(), portent_findings::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Suppressions {
    rules: Vec<Rule>,
}

#[derive(Clone, Debug)]
struct Rule {
    of: Subject,
    pattern: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Subject {
    Location,
    Variable,
    Lock,
}

impl Suppressions {
    /// Reads the text of such a file; `file` is its name in messages.
    ///
    /// # Errors
    ///
    /// [`Error::BadSuppression`], with the place.
    pub fn parse(text: &str, file: &str) -> Result<Suppressions, Error> {
        let mut rules = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let content = line.split('#').next().unwrap_or_default();
            let trimmed = content.trim();
            if trimmed.is_empty() {
                continue;
            }
            let column = content.len() - content.trim_start().len() + 1;
            let bad = |column: usize, found: &str, expected: &'static str| Error::BadSuppression {
                file: file.to_owned(),
                line: index + 1,
                column,
                found: found.to_owned(),
                expected,
            };
            let (word, pattern) = match trimmed.split_once(char::is_whitespace) {
                Some((word, pattern)) => (word, pattern.trim()),
                None => (trimmed, ""),
            };
            let of = match word {
                "location" => Subject::Location,
                "variable" => Subject::Variable,
                "lock" => Subject::Lock,
                _ => {
                    return Err(bad(
                        column,
                        word,
                        "`location`, `variable` or `lock`, and then its name",
                    ));
                }
            };
            if pattern.is_empty() {
                return Err(bad(
                    column,
                    word,
                    "a name after it, in which `*` stands for anything",
                ));
            }
            rules.push(Rule {
                of,
                pattern: pattern.to_owned(),
            });
        }
        Ok(Suppressions { rules })
    }

    /// How many rules there are.
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Whether everything is reported.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Whether a finding is about something that is not to be reported. One that stands for several variables or locks is split before
    /// that is asked.
    pub fn suppresses(&self, finding: &Finding) -> bool {
        finding.locations().any(|loc| self.has_location(loc))
            || finding.variables.iter().any(|name| self.has_variable(name))
            || finding.locks.iter().any(|name| self.has_lock(name))
    }

    pub(crate) fn has_location(&self, loc: &str) -> bool {
        let mut rules = self.of(Subject::Location);
        rules.any(|rule| rule.is_location(loc))
    }

    pub(crate) fn has_variable(&self, name: &str) -> bool {
        let mut rules = self.of(Subject::Variable);
        rules.any(|rule| matches(&rule.pattern, name))
    }

    pub(crate) fn has_lock(&self, name: &str) -> bool {
        let mut rules = self.of(Subject::Lock);
        rules.any(|rule| matches(&rule.pattern, name))
    }

    fn of(&self, subject: Subject) -> impl Iterator<Item = &Rule> {
        self.rules.iter().filter(move |rule| rule.of == subject)
    }
}

impl Rule {
    fn is_location(&self, location: &str) -> bool {
        let mut prefix = location;
        loop {
            if matches(&self.pattern, prefix) {
                return true;
            }
            // Without its column, and then without its line.
            match prefix.rsplit_once(':') {
                Some((rest, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
                    prefix = rest;
                }
                _ => return false,
            }
        }
    }
}

/// Whether a text is as a pattern says, in which `*` stands for anything.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else {
        return pattern == text;
    };
    let Some(mut text) = text.strip_prefix(start) else {
        return false;
    };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let end = parts.pop().unwrap_or_default();
    for part in parts {
        match text.find(part) {
            Some(at) => text = &text[at + part.len()..],
            None => return false,
        }
    }
    text.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, text, expected) in [
            ("x", "x", true),
            ("x", "xy", false),
            ("x*", "xyz", true),
            ("*z", "xyz", true),
            ("*y*", "xyz", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*bc", "abcb", false),
            ("*", "", true),
            ("ab*b", "ab", false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn a_location_is_meant_with_any_column() {
        let rule = |pattern: &str| Rule {
            of: Subject::Location,
            pattern: pattern.to_owned(),
        };
        assert!(rule("src/a.rs:10").is_location("src/a.rs:10:5"));
        assert!(rule("src/a.rs").is_location("src/a.rs:10:5"));
        assert!(!rule("src/a.rs:1").is_location("src/a.rs:10:5"));
        assert!(!rule("src/a").is_location("src/a.rs:10:5"));
    }
}
