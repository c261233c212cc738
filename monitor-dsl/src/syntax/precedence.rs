//! Operator precedence, with explicit stacks: a chain of a hundred thousand prefix operators must end
//! in a message, not in a stack overflow.

use std::sync::Arc;

use super::{
    MAX_DEPTH,
    tree::{EreJoin, EreKind, EreTree, Expression, ExpressionKind, Operator, Span},
};
use crate::{
    diagnostic::{Diagnostic, Source},
    error::Error,
};

/// How an operator stands between others.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Grouping {
    Left,
    Right,
    /// `a op b op c` is an error.
    None,
}

/// How tightly an operator binds, and how it groups.
fn binding(operator: Operator) -> (u8, Grouping) {
    use Operator::*;
    match operator {
        Negate => (90, Grouping::Right),
        Times => (80, Grouping::Left),
        Plus | Minus => (70, Grouping::Left),
        Compare(_) => (60, Grouping::None),
        Not | Next | WeakNext | Eventually | Always | Yesterday | WeakYesterday | Once
        | Historically | Start | End | Interval | EventuallyIn(_) | AlwaysIn(_) | OnceIn(_)
        | HistoricallyIn(_) => (50, Grouping::Right),
        Until | WeakUntil | Release | StrongRelease | Since | WeakSince | Trigger => {
            (40, Grouping::Right)
        }
        And => (35, Grouping::Left),
        Xor => (30, Grouping::Left),
        Or => (25, Grouping::Left),
        Implies => (20, Grouping::Right),
        Iff => (15, Grouping::Left),
    }
}

/// Builds an expression from operands and operators in the order in which they stand.
pub(super) struct ExpressionBuilder<'a> {
    source: &'a Arc<Source>,
    operands: Vec<Expression>,
    /// An operator, its place, and whether it stands before its only operand.
    operators: Vec<(Operator, Span, bool)>,
}

impl<'a> ExpressionBuilder<'a> {
    pub(super) fn new(source: &'a Arc<Source>) -> Self {
        ExpressionBuilder {
            source,
            operands: Vec::new(),
            operators: Vec::new(),
        }
    }

    pub(super) fn prefix(&mut self, operator: Operator, span: Span) {
        self.operators.push((operator, span, true));
    }

    pub(super) fn operand(&mut self, operand: Expression) {
        self.operands.push(operand);
    }

    pub(super) fn infix(&mut self, operator: Operator, span: Span) -> Result<(), Error> {
        let (power, grouping) = binding(operator);
        while let Some(&(top, top_span, _)) = self.operators.last() {
            let (top_power, _) = binding(top);
            if top_power == power && grouping == Grouping::None {
                let message = "comparisons do not chain";
                let diagnostic =
                    Diagnostic::error(self.source, top_span.to(span), message, "two in a row")
                        .help("write `a < b && b < c`");
                return Err(Error::syntax(diagnostic));
            }
            if top_power < power || (top_power == power && grouping == Grouping::Right) {
                break;
            }
            self.reduce()?;
        }
        self.operators.push((operator, span, false));
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Expression, Error> {
        while !self.operators.is_empty() {
            self.reduce()?;
        }
        Ok(self
            .operands
            .pop()
            .expect("the grammar gives at least one operand"))
    }

    fn reduce(&mut self) -> Result<(), Error> {
        let (operator, span, prefix) = self.operators.pop().expect("an operator");
        let last = self
            .operands
            .pop()
            .expect("the grammar gives an operand after an operator");
        let expression = if prefix {
            let whole = span.to(last.span);
            apply(self.source, operator, vec![last], whole)?
        } else {
            let first = self
                .operands
                .pop()
                .expect("the grammar gives an operand before an operator");
            match first.kind {
                // One flat list for a chain of `and` or of `or`, however long.
                ExpressionKind::Apply(same, mut operands)
                    if same == operator
                        && !first.parenthesised
                        && matches!(operator, Operator::And | Operator::Or) =>
                {
                    let span = first.span.to(last.span);
                    let depth = first.depth.max(deeper(self.source, last.depth, span)?);
                    operands.push(last);
                    let kind = ExpressionKind::Apply(operator, operands);
                    Expression {
                        kind,
                        span,
                        depth,
                        parenthesised: false,
                    }
                }
                _ => {
                    let span = first.span.to(last.span);
                    apply(self.source, operator, vec![first, last], span)?
                }
            }
        };
        self.operands.push(expression);
        Ok(())
    }
}

/// An operator with its operands, unless that nests too deep.
pub(super) fn apply(
    source: &Arc<Source>,
    operator: Operator,
    operands: Vec<Expression>,
    span: Span,
) -> Result<Expression, Error> {
    let deepest = operands
        .iter()
        .map(|operand| operand.depth)
        .max()
        .unwrap_or(0);
    let depth = deeper(source, deepest + own_depth(operator), span)?;
    let kind = ExpressionKind::Apply(operator, operands);
    Ok(Expression {
        kind,
        span,
        depth,
        parenthesised: false,
    })
}

/// How deep a counted operator nests in itself.
fn own_depth(operator: Operator) -> u32 {
    match operator {
        Operator::EventuallyIn(distance)
        | Operator::AlwaysIn(distance)
        | Operator::OnceIn(distance)
        | Operator::HistoricallyIn(distance) => distance.depth(),
        _ => 0,
    }
}

/// The depth of an operator over operands of that depth.
fn deeper(source: &Arc<Source>, below: u32, span: Span) -> Result<u32, Error> {
    let depth = below + 1;
    if depth > MAX_DEPTH {
        let message = format!("operators nest more than {MAX_DEPTH} deep");
        let start = Span {
            start: span.start,
            end: span.start + 1,
        };
        let diagnostic =
            Diagnostic::error(source, start, message, "in the formula that begins here");
        let counts = source.text[span.start..span.end].contains(']');
        return Err(Error::limit(if counts {
            diagnostic.help(
                "a counted operator nests as deep as if it was written out: \
                 `F[1:3] p` is `X (p || X (p || X p))`",
            )
        } else {
            diagnostic
        }));
    }
    Ok(depth)
}

/// Builds a regular expression from operands and operators in the order in which they stand.
pub(super) struct EreBuilder<'a> {
    source: &'a Arc<Source>,
    operands: Vec<EreTree>,
    operators: Vec<EreOperator>,
    /// Whether the last thing was an operand, so that another one is concatenated.
    after_operand: bool,
}

#[derive(Clone, Copy)]
enum EreOperator {
    Complement(Span),
    Join(EreJoin),
}

impl<'a> EreBuilder<'a> {
    pub(super) fn new(source: &'a Arc<Source>) -> Self {
        let (operands, operators) = (Vec::new(), Vec::new());
        EreBuilder {
            source,
            operands,
            operators,
            after_operand: false,
        }
    }

    pub(super) fn complement(&mut self, span: Span) -> Result<(), Error> {
        if self.after_operand {
            self.join(EreJoin::Concat)?;
        }
        self.operators.push(EreOperator::Complement(span));
        Ok(())
    }

    pub(super) fn operand(&mut self, operand: EreTree) -> Result<(), Error> {
        if self.after_operand {
            self.join(EreJoin::Concat)?;
        }
        self.operands.push(operand);
        self.after_operand = true;
        Ok(())
    }

    pub(super) fn repeat(&mut self, min: u32, max: Option<u32>, span: Span) -> Result<(), Error> {
        let operand = self
            .operands
            .pop()
            .expect("the grammar gives an operand before a postfix");
        let (span, below) = (operand.span.to(span), operand.depth);
        self.push(EreKind::Repeat(Box::new(operand), min, max), span, below)
    }

    pub(super) fn join(&mut self, join: EreJoin) -> Result<(), Error> {
        self.after_operand = false;
        while let Some(&top) = self.operators.last() {
            match top {
                EreOperator::Join(top) if top < join => break,
                _ => self.reduce()?,
            }
        }
        self.operators.push(EreOperator::Join(join));
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<EreTree, Error> {
        while !self.operators.is_empty() {
            self.reduce()?;
        }
        Ok(self
            .operands
            .pop()
            .expect("the grammar gives at least one operand"))
    }

    fn reduce(&mut self) -> Result<(), Error> {
        let operator = self.operators.pop().expect("an operator");
        let last = self
            .operands
            .pop()
            .expect("the grammar gives an operand after an operator");
        match operator {
            EreOperator::Complement(span) => {
                let (span, below) = (span.to(last.span), last.depth);
                self.push(EreKind::Complement(Box::new(last)), span, below)
            }
            EreOperator::Join(join) => {
                let first = self.operands.pop().expect("an operand before the operator");
                let span = first.span.to(last.span);
                match first.kind {
                    EreKind::Join(same, mut parts) if same == join && !first.parenthesised => {
                        let below = last.depth.max(first.depth - 1);
                        parts.push(last);
                        self.push(EreKind::Join(join, parts), span, below)
                    }
                    _ => {
                        let below = first.depth.max(last.depth);
                        self.push(EreKind::Join(join, vec![first, last]), span, below)
                    }
                }
            }
        }
    }

    fn push(&mut self, kind: EreKind, span: Span, below: u32) -> Result<(), Error> {
        let depth = deeper(self.source, below, span)?;
        self.operands.push(EreTree {
            kind,
            span,
            depth,
            parenthesised: false,
        });
        Ok(())
    }
}
