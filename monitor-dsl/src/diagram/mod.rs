//! Multi-valued decision diagrams, hash-consed in one store.
//!
//! The synthesis never enumerates letters. A letter is a tuple of cells (which event, which side of
//! the threshold), and every function of a letter is a diagram that branches on those cells: a set
//! of letters has leaves 0 and 1, a transition function has successor states as leaves, and an LTL
//! state is a diagram over *obligation* variables, which stand below all letter variables in the
//! order. Equal functions are equal node numbers, so that comparing states is comparing integers.
//!
//! Written here rather than taken from a BDD crate because letters are multi-valued (an event
//! gauge with twenty events is one variable with twenty-one branches, not twenty variables and a
//! constraint) and because leaves are states.

mod care;
mod quantify;

pub(crate) use quantify::Quantifier;

use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::{BuildHasher, Hash, Hasher};

portent_monitor_core::ids! {
    /// A diagram: the root node, by its number in the store.
    pub(crate) struct Diagram(u32);
    /// A decision variable, by its place in the order: smaller ones are tested first.
    pub(crate) struct Variable(pub(crate) u32);
}

impl Diagram {
    pub(crate) const FALSE: Diagram = Diagram(0);
    pub(crate) const TRUE: Diagram = Diagram(1);

    pub(crate) fn is_constant(self) -> bool {
        self == Diagram::FALSE || self == Diagram::TRUE
    }

    fn from_bool(value: bool) -> Diagram {
        if value { Diagram::TRUE } else { Diagram::FALSE }
    }
}

/// What a node of a diagram is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum View {
    /// A result.
    Leaf(u32),
    /// A test of a variable.
    Test(Variable),
}

#[derive(Clone, Copy)]
struct Node {
    /// `LEAF`, or the variable that is tested.
    variable: u32,
    /// The result of a leaf; of a test the place of its first branch in `branches`.
    payload: u32,
}

const LEAF: u32 = u32::MAX;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Operation {
    And,
    Or,
}

/// The store of all diagrams of one synthesis.
pub(crate) struct Diagrams {
    nodes: Vec<Node>,
    branches: Vec<Diagram>,
    /// How many branches a test of each variable has.
    arities: Vec<u32>,
    unique: HashTable<u32>,
    applied: FxHashMap<(Operation, Diagram, Diagram), Diagram>,
    negated: FxHashMap<Diagram, Diagram>,
    constrained: FxHashMap<(Diagram, Diagram), Diagram>,
    /// What may still be spent: a synthesis that explodes is stopped by this.
    budget: Budget,
    shortage: Option<Shortage>,
}

/// What operations on diagrams may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Budget {
    /// New nodes and steps of operations: three to ten million a second.
    pub(crate) steps: usize,
    /// Memory for nodes and for results that are kept, in bytes.
    pub(crate) memory: usize,
}

impl Budget {
    pub(crate) const UNLIMITED: Budget = Budget {
        steps: usize::MAX,
        memory: usize::MAX,
    };
}

/// What there was not enough of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shortage {
    Steps,
    Memory,
}

/// Memory is measured once in this many steps.
const STEPS_BETWEEN_MEASUREMENTS: usize = 1 << 10;

impl Diagrams {
    /// An empty store.
    pub(crate) fn new(budget: Budget) -> Self {
        let mut diagrams = Diagrams {
            nodes: Vec::new(),
            branches: Vec::new(),
            arities: Vec::new(),
            unique: HashTable::new(),
            applied: FxHashMap::default(),
            negated: FxHashMap::default(),
            constrained: FxHashMap::default(),
            budget: Budget::UNLIMITED,
            shortage: None,
        };
        diagrams.leaf(0);
        diagrams.leaf(1);
        diagrams.budget = budget;
        diagrams
    }

    /// Whether the budget is used up. From then on every result is meaningless, and the
    /// operations return at once; callers look at this between their own steps.
    pub(crate) fn exhausted(&self) -> bool {
        self.shortage.is_some()
    }

    /// An error if the budget is used up.
    pub(crate) fn check(&self) -> Result<(), Shortage> {
        self.shortage.map_or(Ok(()), Err)
    }

    /// What is left of the budget.
    pub(crate) fn budget(&self) -> Budget {
        self.budget
    }

    /// Takes steps that are not operations on diagrams from the budget.
    pub(crate) fn spend(&mut self, steps: usize) {
        let Some(rest) = self.budget.steps.checked_sub(steps) else {
            self.shortage.get_or_insert(Shortage::Steps);
            return;
        };
        let measured = self.budget.steps / STEPS_BETWEEN_MEASUREMENTS;
        if rest / STEPS_BETWEEN_MEASUREMENTS != measured && self.memory() > self.budget.memory {
            self.shortage.get_or_insert(Shortage::Memory);
        }
        self.budget.steps = rest;
    }

    /// Takes the steps that another store has spent since it was given this one's budget.
    pub(crate) fn charge(&mut self, other: &Diagrams) {
        self.budget.steps = self.budget.steps.min(other.budget.steps);
        self.shortage = self.shortage.or(other.shortage);
    }

    /// The memory that is in use, in bytes.
    fn memory(&self) -> usize {
        fn table<K, V>(map: &FxHashMap<K, V>) -> usize {
            // One more byte for each slot, and an eighth of the slots is never filled.
            map.capacity() * 8 / 7 * (size_of::<(K, V)>() + 1)
        }
        self.nodes.capacity() * size_of::<Node>()
            + self.branches.capacity() * size_of::<Diagram>()
            + self.unique.capacity() * 8 / 7 * (size_of::<u32>() + 1)
            + table(&self.applied)
            + table(&self.negated)
            + table(&self.constrained)
    }

    /// A new variable, last in the order.
    pub(crate) fn variable(&mut self, arity: usize) -> Variable {
        self.arities.push(arity as u32);
        Variable(self.arities.len() as u32 - 1)
    }

    pub(crate) fn arity(&self, variable: Variable) -> usize {
        self.arities[variable.0 as usize] as usize
    }

    /// The number of branches of the variable at a place of the order, if there is one.
    pub(crate) fn arity_at(&self, place: usize) -> Option<usize> {
        self.arities.get(place).map(|&arity| arity as usize)
    }

    pub(crate) fn view(&self, diagram: Diagram) -> View {
        let node = self.nodes[diagram.0 as usize];
        match node.variable {
            LEAF => View::Leaf(node.payload),
            variable => View::Test(Variable(variable)),
        }
    }

    /// The branches of a test; none for a leaf.
    pub(crate) fn branches(&self, diagram: Diagram) -> &[Diagram] {
        let node = self.nodes[diagram.0 as usize];
        if node.variable == LEAF {
            return &[];
        }
        let first = node.payload as usize;
        &self.branches[first..first + self.arities[node.variable as usize] as usize]
    }

    /// The branch that `diagram` takes when `variable` has the value `cell`, for a `variable` that
    /// is not after the one tested at the root.
    pub(crate) fn branch(&self, diagram: Diagram, variable: Variable, cell: usize) -> Diagram {
        let node = self.nodes[diagram.0 as usize];
        if node.variable == variable.0 {
            self.branches[node.payload as usize + cell]
        } else {
            diagram
        }
    }

    /// The variable tested at the root; past every variable for a leaf.
    fn level(&self, diagram: Diagram) -> u32 {
        self.nodes[diagram.0 as usize].variable
    }

    pub(crate) fn leaf(&mut self, result: u32) -> Diagram {
        self.intern(LEAF, result, &[])
    }

    /// The diagram that tests `variable` and continues with `branches`.
    pub(crate) fn test(&mut self, variable: Variable, branches: &[Diagram]) -> Diagram {
        debug_assert_eq!(branches.len(), self.arity(variable));
        match branches {
            [first, rest @ ..] if rest.iter().all(|branch| branch == first) => *first,
            _ => self.intern(variable.0, 0, branches),
        }
    }

    fn intern(&mut self, variable: u32, result: u32, branches: &[Diagram]) -> Diagram {
        let hash = |variable: u32, result: u32, branches: &[Diagram]| {
            let mut hasher = FxBuildHasher.build_hasher();
            (variable, result).hash(&mut hasher);
            for branch in branches {
                branch.0.hash(&mut hasher);
            }
            hasher.finish()
        };
        let key = |nodes: &[Node], store: &[Diagram], arities: &[u32], id: u32| {
            let node = nodes[id as usize];
            if node.variable == LEAF {
                (node.variable, node.payload, 0..0)
            } else {
                let first = node.payload as usize;
                let arity = arities[node.variable as usize] as usize;
                debug_assert!(first + arity <= store.len());
                (node.variable, 0, first..first + arity)
            }
        };
        let (nodes, store, arities) = (&self.nodes, &self.branches, &self.arities);
        let found = self.unique.find(hash(variable, result, branches), |&id| {
            let (other_variable, other_result, range) = key(nodes, store, arities, id);
            other_variable == variable && other_result == result && store[range] == *branches
        });
        if let Some(&id) = found {
            return Diagram(id);
        }
        self.spend(1);
        if self.exhausted() {
            return Diagram::FALSE;
        }
        let id = self.nodes.len() as u32;
        let payload = if variable == LEAF {
            result
        } else {
            self.branches.len() as u32
        };
        self.branches.extend_from_slice(branches);
        self.nodes.push(Node { variable, payload });
        let (nodes, store, arities) = (&self.nodes, &self.branches, &self.arities);
        self.unique
            .insert_unique(hash(variable, result, branches), id, |&id| {
                let (variable, result, range) = key(nodes, store, arities, id);
                hash(variable, result, &store[range])
            });
        Diagram(id)
    }

    /// The set of letters in which `variable` has one of the values for which `holds` says so.
    pub(crate) fn among(&mut self, variable: Variable, holds: impl Fn(usize) -> bool) -> Diagram {
        let branches: Vec<Diagram> = (0..self.arity(variable))
            .map(|cell| Diagram::from_bool(holds(cell)))
            .collect();
        self.test(variable, &branches)
    }

    pub(crate) fn not(&mut self, diagram: Diagram) -> Diagram {
        match diagram {
            Diagram::FALSE => return Diagram::TRUE,
            Diagram::TRUE => return Diagram::FALSE,
            _ => {}
        }
        if let Some(&known) = self.negated.get(&diagram) {
            return known;
        }
        let result = self.descend(&[diagram], |this, parts| this.not(parts[0]));
        self.negated.insert(diagram, result);
        self.negated.insert(result, diagram);
        result
    }

    pub(crate) fn and(&mut self, a: Diagram, b: Diagram) -> Diagram {
        match (a, b) {
            (Diagram::FALSE, _) | (_, Diagram::FALSE) => Diagram::FALSE,
            (Diagram::TRUE, other) | (other, Diagram::TRUE) => other,
            _ if a == b => a,
            _ => self.apply(Operation::And, a, b),
        }
    }

    pub(crate) fn or(&mut self, a: Diagram, b: Diagram) -> Diagram {
        match (a, b) {
            (Diagram::TRUE, _) | (_, Diagram::TRUE) => Diagram::TRUE,
            (Diagram::FALSE, other) | (other, Diagram::FALSE) => other,
            _ if a == b => a,
            _ => self.apply(Operation::Or, a, b),
        }
    }

    fn apply(&mut self, operation: Operation, a: Diagram, b: Diagram) -> Diagram {
        let key = (operation, a.min(b), a.max(b));
        if let Some(&known) = self.applied.get(&key) {
            return known;
        }
        let result = self.descend(&[a, b], |this, parts| match operation {
            Operation::And => this.and(parts[0], parts[1]),
            Operation::Or => this.or(parts[0], parts[1]),
        });
        self.applied.insert(key, result);
        result
    }

    pub(crate) fn if_then_else(
        &mut self,
        condition: Diagram,
        yes: Diagram,
        no: Diagram,
    ) -> Diagram {
        if yes == no {
            return yes;
        }
        let otherwise = self.not(condition);
        let yes = self.and(condition, yes);
        let no = self.and(otherwise, no);
        self.or(yes, no)
    }

    pub(crate) fn equal(&mut self, a: Diagram, b: Diagram) -> Diagram {
        let differs = self.not(b);
        self.if_then_else(a, b, differs)
    }

    /// Splits all `parts` on the first variable that any of them tests, and joins what `combine`
    /// makes of each branch. The parts must not all be leaves.
    pub(crate) fn descend(
        &mut self,
        parts: &[Diagram],
        mut combine: impl FnMut(&mut Self, &[Diagram]) -> Diagram,
    ) -> Diagram {
        self.spend(1);
        if self.exhausted() {
            return Diagram::FALSE;
        }
        let variable = self.top(parts);
        let mut branches = Branches::new();
        let mut split = Branches::new();
        for cell in 0..self.arity(variable) {
            split.clear();
            split.extend(parts.iter().map(|&part| self.branch(part, variable, cell)));
            let branch = combine(self, &split);
            branches.push(branch);
        }
        self.test(variable, &branches)
    }

    /// The first variable that any of `parts` tests.
    pub(crate) fn top(&self, parts: &[Diagram]) -> Variable {
        Variable(
            parts
                .iter()
                .map(|&part| self.level(part))
                .min()
                .expect("at least one part"),
        )
    }

    /// Whether some letter variable (one before `bound`) is tested at the root of one of `parts`.
    pub(crate) fn tests_before(&self, parts: &[Diagram], bound: Variable) -> bool {
        parts.iter().any(|&part| self.level(part) < bound.0)
    }

    /// Calls `visit` with every variable that is tested below `diagram`, for each test.
    pub(crate) fn for_each_test(&self, diagram: Diagram, mut visit: impl FnMut(Variable)) {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut stack = vec![diagram];
        while let Some(diagram) = stack.pop() {
            if let View::Test(variable) = self.view(diagram)
                && seen.insert(diagram)
            {
                visit(variable);
                stack.extend_from_slice(self.branches(diagram));
            }
        }
    }

    /// Calls `visit` with the result of every leaf below `diagram`, each once.
    pub(crate) fn for_each_leaf(&self, diagram: Diagram, mut visit: impl FnMut(u32)) {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut stack = vec![diagram];
        while let Some(diagram) = stack.pop() {
            if !seen.insert(diagram) {
                continue;
            }
            match self.view(diagram) {
                View::Leaf(result) => visit(result),
                View::Test(_) => stack.extend_from_slice(self.branches(diagram)),
            }
        }
    }
}

type Branches = smallvec::SmallVec<[Diagram; 8]>;
