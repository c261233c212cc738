//! How names and arithmetic are written in what Portent prints, so that it reads back as itself.

use crate::syntax::{Expression, ExpressionKind, Operator};

/// A name, in quotes if it is not an identifier.
pub(crate) fn name(name: &str) -> String {
    let mut characters = name.chars();
    let plain = characters
        .next()
        .is_some_and(|c| c.is_alphabetic() || c == '_')
        && characters.all(|c| c.is_alphanumeric() || c == '_');
    if plain {
        name.to_owned()
    } else {
        format!("{name:?}")
    }
}

/// A comparison or an arithmetic expression, with single spaces.
pub(crate) fn arithmetic(expression: &Expression) -> String {
    let text = match &expression.kind {
        ExpressionKind::Number(digits) => digits.clone(),
        ExpressionKind::Text(text) => format!("{text:?}"),
        ExpressionKind::Name(text) => name(text),
        ExpressionKind::Apply(operator, operands) => {
            let sign = sign(*operator);
            match operands.as_slice() {
                [operand] => format!("{sign}{}", arithmetic(operand)),
                operands => {
                    let operands: Vec<String> = operands.iter().map(arithmetic).collect();
                    operands.join(&format!(" {sign} "))
                }
            }
        }
    };
    if expression.parenthesised {
        format!("({text})")
    } else {
        text
    }
}

fn sign(operator: Operator) -> &'static str {
    match operator {
        Operator::Negate | Operator::Minus => "-",
        Operator::Times => "*",
        Operator::Plus => "+",
        Operator::Compare(comparison) => comparison.sign(),
        _ => unreachable!("not an operator of arithmetic"),
    }
}
