//! Which nodes are at least as bad as which: language inclusion.
//!
//! L(n) is the set of words that lead from n to the bad node. In a deterministic automaton L(n) is
//! *not* included in L(m) iff some word leads (n, m) to (bad, not bad). That is found backwards
//! from those pairs, each pair once: O(nodes² · classes).

use super::bad_prefixes::{ActionClass, BadPrefixes, Node};

/// Language inclusion between the nodes of [`BadPrefixes`].
///
/// ```
/// use portent_monitor_dsl::{Verdict, automaton::*, shape::{BadPrefixes, Inclusion, Node}};
///
/// // Violated by an `a` after a `b`.
/// let automaton = Automaton {
///     initial: StateIndex(0),
///     actions: 2,
///     next: [0, 1, 2, 1, 2, 2].map(StateIndex).to_vec(),
///     verdicts: vec![Verdict::Ok, Verdict::Ok, Verdict::Violated],
/// };
/// let bad_prefixes = BadPrefixes::from_states(&automaton, &[StateIndex(0), StateIndex(1)])?;
/// let inclusion = Inclusion::new(&bad_prefixes);
///
/// let [before_b, after_b] = bad_prefixes.initial() else { unreachable!() };
/// assert!(inclusion.included(*before_b, *after_b));
/// assert!(!inclusion.included(*after_b, *before_b));
/// assert!(inclusion.included(Node::DEAD, *before_b));
/// # Ok::<(), portent_monitor_dsl::automaton::MalformedTable>(())
/// ```
#[derive(Clone, Debug)]
pub struct Inclusion {
    nodes: usize,
    /// L(n) is not included in L(m): at `n * nodes + m`.
    escapes: Vec<bool>,
}

impl Inclusion {
    /// The inclusions between all nodes.
    pub fn new(automaton: &BadPrefixes) -> Self {
        let (nodes, classes) = (automaton.nodes(), automaton.classes());
        let mut before: Vec<Vec<u32>> = vec![Vec::new(); nodes * classes];
        for node in 0..nodes as u32 {
            for class in 0..classes as u32 {
                let target = automaton.step(Node(node), ActionClass(class));
                before[target.index() * classes + class as usize].push(node);
            }
        }
        let mut escapes = vec![false; nodes * nodes];
        let mut stack = Vec::new();
        for node in (0..nodes).filter(|&node| node != Node::BAD.index()) {
            escapes[Node::BAD.index() * nodes + node] = true;
            stack.push((Node::BAD.index(), node));
        }
        while let Some((n, m)) = stack.pop() {
            for class in 0..classes {
                for &n in &before[n * classes + class] {
                    for &m in &before[m * classes + class] {
                        let pair = n as usize * nodes + m as usize;
                        if !std::mem::replace(&mut escapes[pair], true) {
                            stack.push((n as usize, m as usize));
                        }
                    }
                }
            }
        }
        Inclusion { nodes, escapes }
    }

    /// Whether every word that is bad from `smaller` is bad from `larger`.
    pub fn included(&self, smaller: Node, larger: Node) -> bool {
        !self.escapes[smaller.index() * self.nodes + larger.index()]
    }
}
