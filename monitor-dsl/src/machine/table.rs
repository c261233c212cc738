//! The transition function that stepping uses.
//!
//! Letters that no state tells apart share a *class*; the dense table is states × classes. Where
//! there are too many letters or classes for that (a property may read twenty independent
//! propositions, each in another state), a step walks the decision tree of its state. The trees are
//! always there: they are what is printed and stored.

use rustc_hash::FxHashMap;

use super::Machine;
use crate::{
    alphabet::{Alphabet, BitField, Letter},
    diagram::{Diagram, Diagrams, View},
};

/// No dense table is made for an alphabet larger than this.
const MAX_DENSE_LETTERS: u64 = 1 << 16;
/// No dense table is made with more entries than this.
const MAX_ENTRIES: usize = 1 << 22;
/// The effort of finding this out is limited, too.
const MAX_EFFORT: usize = 1 << 24;

/// The transition function of a machine.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) trees: DecisionTrees,
    pub(crate) dense: Option<Dense>,
}

impl Table {
    pub(crate) fn new(trees: DecisionTrees, alphabet: &Alphabet) -> Table {
        let dense = Dense::new(&trees, alphabet);
        Table { trees, dense }
    }

    /// The successor of `state` on `letter`.
    pub(crate) fn next(&self, state: u32, letter: Letter) -> u32 {
        match &self.dense {
            Some(dense) => {
                let class = usize::from(dense.classes[letter.0 as usize]);
                dense.next[((state as usize) << dense.shift) + class]
            }
            None => self.trees.next(state, letter),
        }
    }
}

/// Decision trees, one for each state, that share nodes.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct DecisionTrees {
    roots: Vec<u32>,
    nodes: Vec<DecisionNode>,
    /// For each place of a letter, where its bits are.
    fields: Vec<(u32, u64)>,
}

/// A node of a decision tree; its branches come before it.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum DecisionNode {
    /// The successor.
    State(u32),
    /// A place of the letter and a branch for every cell.
    Test(u32, Vec<u32>),
}

impl DecisionTrees {
    pub(crate) fn new(machine: &Machine, alphabet: &Alphabet) -> Self {
        let mut trees = DecisionTrees {
            roots: Vec::new(),
            nodes: Vec::new(),
            fields: fields(alphabet),
        };
        let mut known = FxHashMap::default();
        for &transition in &machine.transitions {
            let root = trees.copy(&machine.diagrams, transition, &mut known);
            trees.roots.push(root);
        }
        trees
    }

    fn copy(
        &mut self,
        diagrams: &Diagrams,
        diagram: Diagram,
        known: &mut FxHashMap<Diagram, u32>,
    ) -> u32 {
        if let Some(&node) = known.get(&diagram) {
            return node;
        }
        let node = match diagrams.view(diagram) {
            View::Leaf(state) => DecisionNode::State(state),
            View::Test(variable) => {
                let branches = diagrams.branches(diagram).iter();
                let branches = branches
                    .map(|&branch| self.copy(diagrams, branch, known))
                    .collect();
                DecisionNode::Test(variable.0, branches)
            }
        };
        self.nodes.push(node);
        let id = self.nodes.len() as u32 - 1;
        known.insert(diagram, id);
        id
    }

    pub(crate) fn states(&self) -> usize {
        self.roots.len()
    }

    pub(crate) fn root(&self, state: u32) -> u32 {
        self.roots[state as usize]
    }

    pub(crate) fn node(&self, node: u32) -> &DecisionNode {
        &self.nodes[node as usize]
    }

    /// The successors of a state, each once, in the order of the letters that lead there.
    pub(crate) fn successors(&self, state: u32) -> Vec<u32> {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut successors = Vec::new();
        let mut stack = vec![self.root(state)];
        while let Some(node) = stack.pop() {
            if !seen.insert(node) {
                continue;
            }
            match self.node(node) {
                DecisionNode::State(state) => successors.push(*state),
                DecisionNode::Test(_, branches) => stack.extend(branches.iter().rev()),
            }
        }
        successors
    }

    fn branch(&self, node: u32, place: usize, cell: usize) -> u32 {
        match self.node(node) {
            DecisionNode::Test(tested, branches) if *tested as usize == place => branches[cell],
            _ => node,
        }
    }

    fn next(&self, state: u32, letter: Letter) -> u32 {
        let mut node = self.root(state);
        loop {
            match self.node(node) {
                DecisionNode::State(state) => return *state,
                DecisionNode::Test(place, branches) => {
                    let (shift, mask) = self.fields[*place as usize];
                    node = branches[((letter.0 & mask) >> shift) as usize];
                }
            }
        }
    }

    /// Whether the trees fit an alphabet: for trees that were not made here but read.
    #[cfg(feature = "serde")]
    pub(crate) fn fits(&self, states: usize, alphabet: &Alphabet) -> bool {
        let cells = |place: u32| {
            alphabet
                .places()
                .get(place as usize)
                .map(|p| p.cells as usize)
        };
        self.fields == fields(alphabet)
            && self.roots.len() == states
            && self
                .roots
                .iter()
                .all(|&root| (root as usize) < self.nodes.len())
            && self
                .nodes
                .iter()
                .enumerate()
                .all(|(index, node)| match node {
                    DecisionNode::State(state) => (*state as usize) < states,
                    DecisionNode::Test(place, branches) => {
                        cells(*place) == Some(branches.len())
                            && branches.iter().all(|&branch| (branch as usize) < index)
                    }
                })
    }
}

fn fields(alphabet: &Alphabet) -> Vec<(u32, u64)> {
    alphabet
        .places()
        .iter()
        .map(|place| (place.shift, place.mask))
        .collect()
}

/// A table with an entry for every state and letter class.
#[derive(Clone, Debug)]
pub(crate) struct Dense {
    /// The class of every letter, by its number.
    classes: Vec<u16>,
    /// The successor of state `s` on class `c` is at `(s << shift) + c`.
    next: Vec<u32>,
    shift: u32,
    count: usize,
}

impl Dense {
    fn new(trees: &DecisionTrees, alphabet: &Alphabet) -> Option<Dense> {
        let codes = alphabet
            .places()
            .iter()
            .fold(0, |codes, place| codes | place.mask);
        if codes >= MAX_DENSE_LETTERS {
            return None;
        }
        let states = trees.states();
        let mut columns = Columns {
            trees,
            places: alphabet.places(),
            columns: Vec::new(),
            index: FxHashMap::default(),
            memo: FxHashMap::default(),
            most: MAX_ENTRIES / states.max(1),
            effort: MAX_EFFORT,
            classes: vec![0; codes as usize + 1],
        };
        columns.visit(&trees.roots, 0, 0)?;
        let count = columns.columns.len();
        let shift = count.next_power_of_two().trailing_zeros();
        let mut next = vec![0; states << shift];
        for (class, column) in columns.columns.iter().enumerate() {
            for (state, &target) in column.iter().enumerate() {
                next[(state << shift) + class] = target;
            }
        }
        Some(Dense {
            classes: columns.classes,
            next,
            shift,
            count,
        })
    }

    /// The number of letter classes.
    pub(crate) fn classes(&self) -> usize {
        self.count
    }
}

/// Finds the letter classes by branching in all states at once.
struct Columns<'a> {
    trees: &'a DecisionTrees,
    places: &'a [BitField],
    columns: Vec<Vec<u32>>,
    index: FxHashMap<Vec<u32>, u16>,
    /// For joint transitions that were met before, from which place on, a letter that led there.
    memo: FxHashMap<(usize, Vec<u32>), usize>,
    most: usize,
    effort: usize,
    classes: Vec<u16>,
}

impl Columns<'_> {
    /// Fills in the classes of all letters that agree with `letter` before a place.
    fn visit(&mut self, joint: &[u32], index: usize, letter: usize) -> Option<()> {
        self.effort = self.effort.checked_sub(joint.len())?;
        let Some(&place) = self.places.get(index) else {
            let column = joint
                .iter()
                .map(|&node| match self.trees.node(node) {
                    DecisionNode::State(state) => *state,
                    DecisionNode::Test(..) => unreachable!("every place of the letter is decided"),
                })
                .collect();
            self.classes[letter] = self.class(column)?;
            return Some(());
        };
        let key = (index, joint.to_vec());
        if let Some(&known) = self.memo.get(&key) {
            // The places from here on have the upper bits.
            let unit = 1 << place.shift;
            for rest in (0..self.classes.len()).step_by(unit) {
                if known + rest < self.classes.len() && letter + rest < self.classes.len() {
                    self.classes[letter + rest] = self.classes[known + rest];
                }
            }
            return Some(());
        }
        for cell in 0..place.cells {
            let branch: Vec<u32> = joint
                .iter()
                .map(|&node| self.trees.branch(node, index, cell as usize))
                .collect();
            self.visit(&branch, index + 1, letter + place.code(cell) as usize)?;
        }
        self.memo.insert(key, letter);
        Some(())
    }

    fn class(&mut self, column: Vec<u32>) -> Option<u16> {
        if let Some(&class) = self.index.get(&column) {
            return Some(class);
        }
        if self.columns.len() >= self.most {
            return None;
        }
        let class = u16::try_from(self.columns.len()).ok()?;
        self.columns.push(column.clone());
        self.index.insert(column, class);
        Some(class)
    }
}
