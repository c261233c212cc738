//! The syntax tree: what was written, with places in the text.

use portent_monitor_core::Value;

use crate::comparison::Comparison;

/// A range of bytes in the text of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Span {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Span {
    pub(crate) fn to(self, other: Span) -> Span {
        Span {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }
}

/// A name, or any other piece of text, with its place.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) span: Span,
}

/// One property.
#[derive(Debug)]
pub(crate) struct PropertyTree {
    /// None for a bare formula.
    pub(crate) name: Option<Name>,
    pub(crate) parameters: Vec<Name>,
    /// What `where` says.
    pub(crate) constraints: Vec<Constraint>,
    pub(crate) declarations: Vec<Declaration>,
    pub(crate) body: Body,
    pub(crate) span: Span,
}

#[derive(Debug)]
pub(crate) enum Declaration {
    Variable {
        name: Name,
        type_name: Name,
        initial: Option<(Value, Span)>,
        matches: Option<Name>,
    },
    Let {
        name: Name,
        value: Expression,
    },
    Event {
        name: Name,
        parameters: Option<Vec<Name>>,
        by: Option<Name>,
        source: EventSource,
    },
}

/// How an event is recognised.
#[derive(Debug)]
pub(crate) enum EventSource {
    Name,
    Matches(Name),
    On {
        operation: Name,
        object: Option<ObjectTree>,
    },
}

/// What stands in parentheses after an operation.
#[derive(Debug)]
pub(crate) enum ObjectTree {
    Parameter(Name),
    Text(String, Span),
}

/// A relation between two parameters.
#[derive(Debug)]
pub(crate) struct Constraint {
    pub(crate) left: Name,
    pub(crate) relation: Name,
    pub(crate) right: Name,
}

#[derive(Debug)]
pub(crate) enum Body {
    Ltl(Expression),
    Ere(EreTree),
    Never(EreTree),
    Pattern {
        pattern: Pattern,
        scope: Scope,
        span: Span,
    },
}

/// The specification patterns. The operands are in the order in which they are written.
#[derive(Debug)]
pub(crate) enum Pattern {
    Absence(Expression),
    Existence(Expression),
    Universality(Expression),
    Precedence(Expression, Expression),
    Response(Expression, Expression),
}

#[derive(Debug)]
pub(crate) enum Scope {
    Globally,
    Before(Expression),
    After(Expression),
    Between(Expression, Expression),
    AfterUntil(Expression, Expression),
}

/// A formula, a proposition or an arithmetic expression.
#[derive(Clone, Debug)]
pub(crate) struct Expression {
    pub(crate) kind: ExpressionKind,
    pub(crate) span: Span,
    /// How deep operators nest in it.
    pub(crate) depth: u32,
    pub(crate) parenthesised: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum ExpressionKind {
    Number(String),
    /// A text in quotes: a string or a name, as the context decides.
    Text(String),
    Name(String),
    /// An operator and its operands: one, two, or for `and` and `or` any number.
    Apply(Operator, Vec<Expression>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Operator {
    Negate,
    Times,
    Plus,
    Minus,
    Compare(Comparison),
    Not,
    And,
    Or,
    Xor,
    Implies,
    Iff,
    Next,
    WeakNext,
    Eventually,
    Always,
    Until,
    WeakUntil,
    Release,
    StrongRelease,
    Yesterday,
    WeakYesterday,
    Once,
    Historically,
    Since,
    WeakSince,
    Trigger,
    Start,
    End,
    Interval,
    EventuallyIn(Distance),
    AlwaysIn(Distance),
    OnceIn(Distance),
    HistoricallyIn(Distance),
}

/// How many steps away something is, at least and at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Distance {
    pub(crate) least: u32,
    pub(crate) most: u32,
}

impl Distance {
    /// How deep operators nest if the distance is written out with nexts, each position beyond the
    /// nearest one joined to those before it.
    pub(crate) fn depth(self) -> u32 {
        self.least + 2 * (self.most - self.least)
    }
}

/// An extended regular expression.
#[derive(Clone, Debug)]
pub(crate) struct EreTree {
    pub(crate) kind: EreKind,
    pub(crate) span: Span,
    pub(crate) depth: u32,
    pub(crate) parenthesised: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum EreKind {
    /// An event, or whatever else has a name.
    Name(Expression),
    Dot,
    /// `{e1, e2, ...}`.
    Letter(Vec<Expression>),
    Complement(Box<EreTree>),
    Repeat(Box<EreTree>, u32, Option<u32>),
    Join(EreJoin, Vec<EreTree>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum EreJoin {
    Union,
    Intersection,
    Concat,
}

impl Body {
    /// The expressions that the body is made of.
    pub(crate) fn expressions(&self) -> Vec<&Expression> {
        match self {
            Body::Ltl(formula) => vec![formula],
            Body::Ere(expression) | Body::Never(expression) => {
                let mut letters = Vec::new();
                expression.collect_letters(&mut letters);
                letters
            }
            Body::Pattern { pattern, scope, .. } => {
                let mut operands = match pattern {
                    Pattern::Absence(p) | Pattern::Existence(p) | Pattern::Universality(p) => {
                        vec![p]
                    }
                    Pattern::Precedence(p, q) | Pattern::Response(p, q) => vec![p, q],
                };
                match scope {
                    Scope::Globally => {}
                    Scope::Before(p) | Scope::After(p) => operands.push(p),
                    Scope::Between(p, q) | Scope::AfterUntil(p, q) => operands.extend([p, q]),
                }
                operands
            }
        }
    }
}

impl Expression {
    /// Calls `visit` with every name in the expression.
    pub(crate) fn for_each_name<'a>(&'a self, visit: &mut impl FnMut(&'a str)) {
        match &self.kind {
            ExpressionKind::Number(_) => {}
            ExpressionKind::Text(name) | ExpressionKind::Name(name) => visit(name),
            ExpressionKind::Apply(_, operands) => {
                for operand in operands {
                    operand.for_each_name(visit);
                }
            }
        }
    }
}

impl EreTree {
    fn collect_letters<'a>(&'a self, letters: &mut Vec<&'a Expression>) {
        match &self.kind {
            EreKind::Name(letter) => letters.push(letter),
            EreKind::Dot => {}
            EreKind::Letter(conditions) => letters.extend(conditions),
            EreKind::Complement(inner) | EreKind::Repeat(inner, ..) => {
                inner.collect_letters(letters);
            }
            EreKind::Join(_, parts) => {
                for part in parts {
                    part.collect_letters(letters);
                }
            }
        }
    }
}
