//! The types of undeclared variables.
//!
//! In a bare formula a name inside a comparison is a variable; what it is compared with tells its
//! type. `s == "open"` makes a string, `x > 2.5` a float, and without a hint it is an integer.

use portent_monitor_core::Type;
use rustc_hash::FxHashMap;

use crate::syntax::{Body, Expression, ExpressionKind, Operator};

/// The type of every name that is compared in a body.
pub(super) fn types(body: &Body) -> FxHashMap<String, Type> {
    let mut comparisons = Vec::new();
    for expression in body.expressions() {
        collect(expression, &mut comparisons);
    }
    let mut types: FxHashMap<String, Type> = FxHashMap::default();
    // Hints spread from comparison to comparison: `s == t` and `t == "x"` make both strings.
    loop {
        let mut changed = false;
        for ComparedNames { names, hint, .. } in &comparisons {
            let hint = names
                .iter()
                .filter_map(|name| types.get(*name).copied())
                .fold(*hint, wider);
            let Some(hint) = hint else { continue };
            for &name in names {
                let known = types.get(name).copied();
                if let Some(type_of) = wider(known, hint)
                    && known != Some(type_of)
                {
                    types.insert(name.to_owned(), type_of);
                    changed = true;
                }
            }
        }
        if !changed {
            break;
        }
    }
    for ComparedNames { names, ordered, .. } in &comparisons {
        let otherwise = if *ordered { Type::Str } else { Type::Int };
        for &name in names {
            types.entry(name.to_owned()).or_insert(otherwise);
        }
    }
    types
}

/// An integer may turn out to be a float; anything else stays what it was first.
fn wider(known: Option<Type>, hint: Type) -> Option<Type> {
    match (known, hint) {
        (None, hint) => Some(hint),
        (Some(Type::Int), Type::Float) => Some(Type::Float),
        (known, _) => known,
    }
}

struct ComparedNames<'a> {
    names: Vec<&'a str>,
    hint: Option<Type>,
    /// A string is compared by order. That is wrong, and no hint as long as there is any other.
    ordered: bool,
}

fn collect<'a>(expression: &'a Expression, comparisons: &mut Vec<ComparedNames<'a>>) {
    let ExpressionKind::Apply(operator, operands) = &expression.kind else {
        return;
    };
    if let Operator::Compare(sign) = operator {
        let mut comparison = ComparedNames {
            names: Vec::new(),
            hint: None,
            ordered: false,
        };
        for operand in operands {
            comparison.read(operand);
        }
        if comparison.hint == Some(Type::Str) && sign.is_order() {
            comparison.hint = None;
            comparison.ordered = true;
        }
        comparisons.push(comparison);
    } else {
        for operand in operands {
            collect(operand, comparisons);
        }
    }
}

impl<'a> ComparedNames<'a> {
    fn read(&mut self, expression: &'a Expression) {
        let hint = match &expression.kind {
            ExpressionKind::Number(digits) if digits.contains(['.', 'e', 'E']) => Type::Float,
            ExpressionKind::Number(_) => Type::Int,
            ExpressionKind::Text(_) => Type::Str,
            ExpressionKind::Name(name) if name == "true" || name == "false" => Type::Bool,
            ExpressionKind::Name(name) => {
                self.names.push(name);
                return;
            }
            ExpressionKind::Apply(_, operands) => {
                for operand in operands {
                    self.read(operand);
                }
                return;
            }
        };
        self.hint = wider(self.hint, hint);
    }
}
