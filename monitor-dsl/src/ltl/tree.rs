//! An LTL formula as it was written, with resolved propositions.

use crate::syntax::{Distance, Span};

/// A formula with its place in the text.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Ltl {
    pub(crate) op: LtlOp,
    pub(crate) parts: Vec<Ltl>,
    pub(crate) span: Span,
}

/// How large a formula is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    /// The number of operators and operands.
    pub(crate) total: usize,
    /// How deep they nest.
    pub(crate) depth: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum LtlOp {
    True,
    False,
    /// By its place in the alphabet.
    Proposition(usize),
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
    /// At some position so far away, and at all of them that exist.
    EventuallyIn(Distance),
    AlwaysIn(Distance),
    OnceIn(Distance),
    HistoricallyIn(Distance),
}

impl LtlOp {
    /// Whether the operator looks at other positions than the present one.
    pub(crate) fn is_temporal(self) -> bool {
        use LtlOp::*;
        !matches!(
            self,
            True | False | Proposition(_) | Not | And | Or | Xor | Implies | Iff
        )
    }
}

impl Ltl {
    pub(crate) fn new(op: LtlOp, parts: Vec<Ltl>, span: Span) -> Self {
        Ltl { op, parts, span }
    }

    pub(crate) fn size(&self) -> Size {
        let own = Size { total: 1, depth: 1 };
        self.parts
            .iter()
            .map(Ltl::size)
            .fold(own, |size, part| Size {
                total: size.total + part.total,
                depth: size.depth.max(part.depth + 1),
            })
    }

    /// The truth on the run that has no position at all.
    pub(crate) fn on_empty_run(&self) -> bool {
        use LtlOp::*;
        let part = |index: usize| self.parts[index].on_empty_run();
        match self.op {
            True => true,
            False | Proposition(_) => false,
            Not => !part(0),
            And => self.parts.iter().all(Ltl::on_empty_run),
            Or => self.parts.iter().any(Ltl::on_empty_run),
            Xor => part(0) != part(1),
            Implies => !part(0) || part(1),
            Iff => part(0) == part(1),
            Next | Eventually | Until | StrongRelease | Yesterday | Once | Since => false,
            EventuallyIn(_) | OnceIn(_) => false,
            AlwaysIn(_) | HistoricallyIn(_) => true,
            WeakNext | Always | WeakUntil | Release => true,
            WeakYesterday | Historically | WeakSince | Trigger => true,
            // By their definitions, with the part about the previous position false.
            Start => part(0),
            End => false,
            Interval => !part(1) && part(0),
        }
    }
}
