//! What a run does that breaks a specification pattern, in the words of the pattern.
//!
//! The formula that a pattern stands for is Portent's and not the user's, so that to name the part of
//! it that is false explains nothing. But each pattern in each scope is broken in one way.

use crate::syntax::{Expression, ExpressionKind, Pattern, Scope};

use super::{Resolver, Symbol};

impl Resolver<'_> {
    /// "`ship` occurred before any `pay`"; `None` where no finite run breaks the pattern.
    pub(super) fn offence(&self, pattern: &Pattern, scope: &Scope) -> Option<String> {
        use Pattern::*;
        use Scope::*;
        Some(match (pattern, scope) {
            (Absence(p), Globally) => self.happened(p),
            (Absence(p), Before(r)) => {
                format!("{}, and {} before it", self.happened(r), self.happened(p))
            }
            (Absence(p), After(q)) => format!("{} after {}", self.happened(p), self.quoted(q)),
            (Absence(p), Between(q, r)) => {
                format!(
                    "{}, and {} after {}",
                    self.happened(r),
                    self.happened(p),
                    self.quoted(q)
                )
            }
            (Absence(p), AfterUntil(q, r)) => {
                let p = self.happened(p);
                format!(
                    "{p} after {}, before any {}",
                    self.quoted(q),
                    self.quoted(r)
                )
            }
            (Universality(p), Globally) => self.lacked(p),
            (Universality(p), Before(r)) => {
                let r = self.happened(r);
                format!("{r}, and before it {}", self.lacked(p))
            }
            (Universality(p), After(q)) => {
                format!("{} with or after {}", self.lacked(p), self.quoted(q))
            }
            (Universality(p), Between(q, r)) => {
                let r = self.happened(r);
                let p = self.lacked(p);
                format!("{r}, and {p} with or after {}", self.quoted(q))
            }
            (Universality(p), AfterUntil(q, r)) => {
                let p = self.lacked(p);
                format!(
                    "{p} with or after {}, before any {}",
                    self.quoted(q),
                    self.quoted(r)
                )
            }
            (Existence(p), Before(r)) => {
                format!("{} before any {}", self.happened(r), self.quoted(p))
            }
            (Existence(p), Between(q, r) | AfterUntil(q, r)) => {
                let r = self.happened(r);
                format!("{r}, and no {} after {}", self.quoted(p), self.quoted(q))
            }
            (Precedence(s, p), Globally) => {
                format!("{} before any {}", self.happened(p), self.quoted(s))
            }
            (Precedence(s, p), Before(r)) => {
                let (r, p) = (self.happened(r), self.happened(p));
                format!("{r}, and {p} before it and before any {}", self.quoted(s))
            }
            (Precedence(s, p), Between(q, r)) => {
                let (r, p) = (self.happened(r), self.happened(p));
                let (q, s) = (self.quoted(q), self.quoted(s));
                format!("{r}, and {p} after {q} before any {s}")
            }
            (Precedence(s, p), AfterUntil(q, _)) => {
                let p = self.happened(p);
                format!("{p} after {} before any {}", self.quoted(q), self.quoted(s))
            }
            (Response(s, p), Before(r)) => {
                let (r, p) = (self.happened(r), self.happened(p));
                format!(
                    "{r}, and {p} before it without {} in answer",
                    self.quoted(s)
                )
            }
            (Response(s, p), Between(q, r) | AfterUntil(q, r)) => {
                let (r, p) = (self.happened(r), self.happened(p));
                let (q, s) = (self.quoted(q), self.quoted(s));
                format!("{r}, and {p} after {q} without {s} in answer")
            }
            (Existence(_), Globally | After(_))
            | (Precedence(..), After(_))
            | (Response(..), Globally | After(_)) => return None,
        })
    }

    fn happened(&self, expression: &Expression) -> String {
        let verb = if self.is_event(expression) {
            "occurred"
        } else {
            "held"
        };
        format!("{} {verb}", self.quoted(expression))
    }

    fn lacked(&self, expression: &Expression) -> String {
        let verb = if self.is_event(expression) {
            "did not occur"
        } else {
            "did not hold"
        };
        format!("{} {verb}", self.quoted(expression))
    }

    /// An event occurs, any other condition holds.
    fn is_event(&self, expression: &Expression) -> bool {
        let (ExpressionKind::Name(name) | ExpressionKind::Text(name)) = &expression.kind else {
            return false;
        };
        let declared = self.symbols.get(name);
        declared.is_some_and(|entry| matches!(entry.symbol, Symbol::Event(_)))
    }

    fn quoted(&self, expression: &Expression) -> String {
        let text = &self.source.text[expression.span.start..expression.span.end];
        let words: Vec<&str> = text.split_whitespace().collect();
        format!("`{}`", words.join(" "))
    }
}
