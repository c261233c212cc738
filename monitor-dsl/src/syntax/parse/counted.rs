//! Prefix operators, which may count: `X[3]`, `F[2:5]`.
//!
//! `X[n]` and its kin are the operator written n times. The others keep their numbers, as what they
//! say of a run without any step is not what they would say if they were written out.

use pest::iterators::Pair;

use super::{Reader, Rule, span_of};
use crate::{
    diagnostic::Diagnostic,
    error::Error,
    syntax::{
        MAX_DEPTH,
        precedence::ExpressionBuilder,
        tree::{Distance, Operator, Span},
    },
};

/// The numbers in brackets after an operator.
struct Bounds {
    first: Option<u32>,
    /// After a colon.
    last: Option<Option<u32>>,
    span: Span,
}

impl<'a> Reader<'a> {
    pub(super) fn prefix(
        &self,
        pair: Pair<'a, Rule>,
        builder: &mut ExpressionBuilder<'_>,
    ) -> Result<(), Error> {
        let mut parts = pair.into_inner();
        let word = parts.next().expect("an operator");
        let (operator, span) = (operator(word.as_str()), span_of(&word));
        let Some(bounds) = parts.next() else {
            builder.prefix(operator, span);
            return Ok(());
        };
        let bounds = self.bounds(bounds)?;
        let whole = span.to(bounds.span);
        match distance_of(operator) {
            Some(with_distance) => {
                let distance = self.distance(word.as_str(), &bounds, whole)?;
                builder.prefix(with_distance(distance), whole);
            }
            None => {
                for _ in 0..self.times(word.as_str(), &bounds, whole)? {
                    builder.prefix(operator, whole);
                }
            }
        }
        Ok(())
    }

    fn bounds(&self, pair: Pair<'a, Rule>) -> Result<Bounds, Error> {
        let mut bounds = Bounds {
            first: None,
            last: None,
            span: span_of(&pair),
        };
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::through => bounds.last = Some(None),
                _ => {
                    let number = self.bound(part)?;
                    match &mut bounds.last {
                        Some(last) => *last = Some(number),
                        None => bounds.first = Some(number),
                    }
                }
            }
        }
        Ok(bounds)
    }

    fn bound(&self, pair: Pair<'a, Rule>) -> Result<u32, Error> {
        let span = span_of(&pair);
        if pair.as_str().starts_with('-') {
            let message = "a number of steps is not negative";
            let diagnostic = Diagnostic::error(self.source, span, message, "negative");
            return Err(Error::syntax(diagnostic.help(
                "operators of the past look back: `Y` for `X`, `O` for `F`, `H` for `G`",
            )));
        }
        let number = pair.as_str().parse().ok();
        number.filter(|&number| number <= MAX_DEPTH).ok_or_else(|| {
            let message = format!("an operator counts up to {MAX_DEPTH} steps");
            Error::limit(Diagnostic::error(self.source, span, message, "too large"))
        })
    }

    /// How often an operator is repeated.
    fn times(&self, word: &str, bounds: &Bounds, span: Span) -> Result<u32, Error> {
        if let Bounds {
            first: Some(times),
            last: None,
            ..
        } = bounds
        {
            return Ok(*times);
        }
        let message = format!("`{word}` counts with one number");
        let diagnostic = Diagnostic::error(self.source, span, message, "a range");
        Err(Error::syntax(diagnostic.help(format!(
            "write `{word}[3]` for three times `{word}`"
        ))))
    }

    fn distance(&self, word: &str, bounds: &Bounds, span: Span) -> Result<Distance, Error> {
        match (bounds.first, bounds.last) {
            (Some(least), Some(Some(most))) if least <= most => Ok(Distance { least, most }),
            (Some(least), Some(Some(most))) => {
                let message =
                    format!("no position is at least {least} and at most {most} steps away");
                let diagnostic = Diagnostic::error(self.source, span, message, "an empty range");
                Err(Error::syntax(
                    diagnostic.help(format!("did you mean `{word}[{most}:{least}]`?")),
                ))
            }
            (first, last) => {
                let message = format!("`{word}` counts from one number to another");
                let label = "a number is missing";
                let diagnostic = Diagnostic::error(self.source, span, message, label);
                let example = match (first, last) {
                    (Some(number), None) => format!("[0:{number}]` or `{word}[{number}:{number}]"),
                    (None, Some(Some(most))) => format!("[0:{most}]"),
                    (Some(least), _) => format!("[{least}:{}]", least + 3),
                    _ => "[2:5]".to_owned(),
                };
                Err(Error::syntax(
                    diagnostic.help(format!("write `{word}{example}`")),
                ))
            }
        }
    }
}

/// The operator with a distance, if it is one that looks at more than one position.
fn distance_of(operator: Operator) -> Option<fn(Distance) -> Operator> {
    Some(match operator {
        Operator::Eventually => Operator::EventuallyIn,
        Operator::Always => Operator::AlwaysIn,
        Operator::Once => Operator::OnceIn,
        Operator::Historically => Operator::HistoricallyIn,
        _ => return None,
    })
}

fn operator(text: &str) -> Operator {
    match text {
        "-" => Operator::Negate,
        "!" | "not" => Operator::Not,
        "X" | "next" => Operator::Next,
        "N" | "wnext" => Operator::WeakNext,
        "F" | "<>" | "eventually" => Operator::Eventually,
        "G" | "[]" | "always" => Operator::Always,
        "Y" | "prev" => Operator::Yesterday,
        "Z" | "wprev" => Operator::WeakYesterday,
        "O" | "once" => Operator::Once,
        "H" | "historically" => Operator::Historically,
        other => unreachable!("{other} is not a prefix of the grammar"),
    }
}
