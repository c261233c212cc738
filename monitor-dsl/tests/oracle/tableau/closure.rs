//! The subformulas of a formula, and what their truth at a position promises and lets remember.

use crate::oracle::formula::{Binary, Direction, Formula, Step, Unary};

/// A subformula, with its operands as indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Node {
    Const(bool),
    Prop(usize),
    Unary(Unary, usize),
    Binary(Binary, usize, usize),
}

/// Adds a formula's subformulas, equal ones once, operands first; returns its index.
pub(super) fn intern(formula: &Formula, nodes: &mut Vec<Node>) -> usize {
    let node = match formula {
        Formula::Const(value) => Node::Const(*value),
        Formula::Prop(p) => Node::Prop(*p),
        Formula::Unary(
            op @ (Unary::Times(..) | Unary::Somewhere(..) | Unary::Everywhere(..)),
            a,
        ) => {
            return intern_counted(*op, a, nodes);
        }
        Formula::Unary(op, a) => Node::Unary(*op, intern(a, nodes)),
        Formula::Binary(op, a, b) => {
            let a = intern(a, nodes);
            Node::Binary(*op, a, intern(b, nodes))
        }
    };
    intern_node(node, nodes)
}

fn intern_node(node: Node, nodes: &mut Vec<Node>) -> usize {
    nodes.iter().position(|n| *n == node).unwrap_or_else(|| {
        nodes.push(node);
        nodes.len() - 1
    })
}

/// A counted operator, step by step.
fn intern_counted(op: Unary, operand: &Formula, nodes: &mut Vec<Node>) -> usize {
    let operand = intern(operand, nodes);
    let mut whole = operand;
    let (step, times) = match op {
        Unary::Times(Step::Next, times) => (Unary::Next, times),
        Unary::Times(Step::WeakNext, times) => (Unary::WeakNext, times),
        Unary::Times(Step::Yesterday, times) => (Unary::Yesterday, times),
        Unary::Times(Step::WeakYesterday, times) => (Unary::WeakYesterday, times),
        Unary::Somewhere(to, least, most) => {
            let step = match to {
                Direction::Ahead => Unary::Next,
                Direction::Back => Unary::Yesterday,
            };
            for _ in least..most {
                let farther = intern_node(Node::Unary(step, whole), nodes);
                whole = intern_node(Node::Binary(Binary::Or, operand, farther), nodes);
            }
            (step, least)
        }
        Unary::Everywhere(to, least, most) => {
            let step = match to {
                Direction::Ahead => Unary::WeakNext,
                Direction::Back => Unary::WeakYesterday,
            };
            for _ in least..most {
                let farther = intern_node(Node::Unary(step, whole), nodes);
                whole = intern_node(Node::Binary(Binary::And, operand, farther), nodes);
            }
            (step, least)
        }
        other => unreachable!("{other:?} does not count"),
    };
    for _ in 0..times {
        whole = intern_node(Node::Unary(step, whole), nodes);
    }
    whole
}

/// The subformulas, and which of them need a bit in the links.
pub(super) struct Closure {
    nodes: Vec<Node>,
    /// The future operators, by node.
    pub(super) future: Vec<usize>,
    /// The past operators, by node.
    past: Vec<usize>,
}

impl Closure {
    pub(super) fn new(nodes: Vec<Node>) -> Closure {
        let indices =
            |test: fn(&Node) -> bool| (0..nodes.len()).filter(|&i| test(&nodes[i])).collect();
        let future: Vec<usize> = indices(|node| {
            matches!(
                node,
                Node::Unary(
                    Unary::Next | Unary::WeakNext | Unary::Eventually | Unary::Always,
                    _
                ) | Node::Binary(
                    Binary::Until | Binary::WeakUntil | Binary::Release | Binary::StrongRelease,
                    _,
                    _
                )
            )
        });
        let past: Vec<usize> = indices(|node| {
            matches!(
                node,
                Node::Unary(
                    Unary::Yesterday
                        | Unary::WeakYesterday
                        | Unary::Once
                        | Unary::Historically
                        | Unary::Start
                        | Unary::End,
                    _
                ) | Node::Binary(
                    Binary::Since | Binary::WeakSince | Binary::Trigger | Binary::Interval,
                    _,
                    _
                )
            )
        });
        assert!(
            future.len() <= 16 && past.len() <= 16,
            "too many temporal operators for the tableau"
        );
        Closure {
            nodes,
            future,
            past,
        }
    }

    /// The truth of all subformulas at a position.
    pub(super) fn truth(&self, letter: u32, promises: u32, remembered: u32) -> Vec<bool> {
        let bit = |list: &[usize], set: u32, node: usize| {
            list.iter()
                .position(|&n| n == node)
                .is_some_and(|k| set >> k & 1 == 1)
        };
        let mut truth: Vec<bool> = Vec::with_capacity(self.nodes.len());
        for (i, node) in self.nodes.iter().enumerate() {
            let next = bit(&self.future, promises, i);
            let last = bit(&self.past, remembered, i);
            truth.push(match *node {
                Node::Const(value) => value,
                Node::Prop(p) => letter >> p & 1 == 1,
                Node::Unary(op, a) => {
                    let a = truth[a];
                    match op {
                        Unary::Not => !a,
                        Unary::Next | Unary::WeakNext => next,
                        Unary::Eventually => a || next,
                        Unary::Always => a && next,
                        Unary::Yesterday | Unary::WeakYesterday => last,
                        Unary::Once => a || last,
                        Unary::Historically => a && last,
                        Unary::Start => a && !last,
                        Unary::End => !a && last,
                        Unary::Times(..) | Unary::Somewhere(..) | Unary::Everywhere(..) => {
                            unreachable!("written out")
                        }
                    }
                }
                Node::Binary(op, a, b) => {
                    let (a, b) = (truth[a], truth[b]);
                    match op {
                        Binary::And => a && b,
                        Binary::Or => a || b,
                        Binary::Xor => a != b,
                        Binary::Implies => !a || b,
                        Binary::Iff => a == b,
                        Binary::Until | Binary::WeakUntil => b || a && next,
                        Binary::Release | Binary::StrongRelease => b && (a || next),
                        Binary::Since | Binary::WeakSince => b || a && last,
                        Binary::Trigger => b && (a || last),
                        Binary::Interval => !b && (a || last),
                    }
                }
            });
        }
        truth
    }

    /// What a predecessor must have promised about a position with this truth.
    pub(super) fn promised(&self, truth: &[bool]) -> u32 {
        let value = |node: usize| match self.nodes[node] {
            Node::Unary(Unary::Next | Unary::WeakNext, a) => truth[a],
            _ => truth[node],
        };
        self.future
            .iter()
            .enumerate()
            .map(|(k, &node)| u32::from(value(node)) << k)
            .sum()
    }

    /// What a position with this truth lets its successor remember.
    pub(super) fn memory(&self, truth: &[bool]) -> u32 {
        let value = |node: usize| match self.nodes[node] {
            Node::Unary(Unary::Yesterday | Unary::WeakYesterday | Unary::Start | Unary::End, a) => {
                truth[a]
            }
            _ => truth[node],
        };
        self.past
            .iter()
            .enumerate()
            .map(|(k, &node)| u32::from(value(node)) << k)
            .sum()
    }

    /// What the first position remembers: `Z`, `H`, `WS` and `T` begin true, everything else false.
    pub(super) fn no_past(&self) -> u32 {
        let value = |node: usize| {
            matches!(
                self.nodes[node],
                Node::Unary(Unary::WeakYesterday | Unary::Historically, _)
                    | Node::Binary(Binary::WeakSince | Binary::Trigger, _, _)
            )
        };
        self.past
            .iter()
            .enumerate()
            .map(|(k, &node)| u32::from(value(node)) << k)
            .sum()
    }

    /// What the last position of a finite run promises: `N`, `G`, `W` and `R` end true, everything else false.
    pub(super) fn end_of_run(&self) -> u32 {
        let value = |node: usize| {
            matches!(
                self.nodes[node],
                Node::Unary(Unary::WeakNext | Unary::Always, _)
                    | Node::Binary(Binary::WeakUntil | Binary::Release, _, _)
            )
        };
        self.future
            .iter()
            .enumerate()
            .map(|(k, &node)| u32::from(value(node)) << k)
            .sum()
    }

    /// Whether the `k`-th future operator has a fairness condition: all but the two nexts.
    pub(super) fn is_fairness(&self, k: usize) -> bool {
        !matches!(
            self.nodes[self.future[k]],
            Node::Unary(Unary::Next | Unary::WeakNext, _)
        )
    }

    /// The fairness conditions that a position meets: the operator is not waiting there.
    pub(super) fn fair(&self, truth: &[bool]) -> u32 {
        let meets = |node: usize| match self.nodes[node] {
            Node::Unary(Unary::Eventually, a) => !truth[node] || truth[a],
            Node::Unary(Unary::Always, a) => truth[node] || !truth[a],
            Node::Binary(Binary::Until, _, b) => !truth[node] || truth[b],
            Node::Binary(Binary::WeakUntil, a, b) => truth[node] || !truth[a] && !truth[b],
            Node::Binary(Binary::Release, _, b) => truth[node] || !truth[b],
            Node::Binary(Binary::StrongRelease, a, _) => !truth[node] || truth[a],
            _ => false,
        };
        self.future
            .iter()
            .enumerate()
            .map(|(k, &node)| u32::from(meets(node)) << k)
            .sum()
    }
}
