//! The minimal automaton of the words after which a property is violated.
//!
//! States that are not violated yet and can still become so are distinguished by *how* they can; verdicts
//! among the rest do not matter. Actions that do the same everywhere share a class. The rounds of the
//! minimisation are bounded by the longest shortest word that distinguishes two states, which is short in
//! monitors.

use rustc_hash::FxHashMap;

use crate::{
    automaton::{ActionId, Automaton, MalformedTable, StateIndex, first_of_each, number, refine},
    verdict::Verdict,
};

portent_monitor_core::ids! {
    /// A state of [`BadPrefixes`] or of [`Saturated`](super::Saturated).
    pub struct Node(pub u32);
}

impl Node {
    /// Violated. Every action leads back here.
    pub const BAD: Node = Node(0);
    /// Never violated from here on. Every action leads back here.
    pub const DEAD: Node = Node(1);
}

portent_monitor_core::ids! {
    /// Actions that do the same in every node.
    pub struct ActionClass(pub u32);
}

/// The minimal deterministic automaton whose words are the bad prefixes.
#[derive(Clone, Debug)]
pub struct BadPrefixes {
    initial: Vec<Node>,
    classes: usize,
    /// The class of each action.
    class_of: Vec<ActionClass>,
    /// The successor of node `n` on class `c` is at `n * classes + c`.
    next: Vec<Node>,
}

impl BadPrefixes {
    /// The bad prefixes of an automaton; violated and satisfied are taken as absorbing, whatever its table
    /// says of them.
    ///
    /// # Errors
    ///
    /// If the table is not [valid](Automaton::validate).
    pub fn new(automaton: &Automaton) -> Result<Self, MalformedTable> {
        BadPrefixes::from_states(automaton, &[automaton.initial])
    }

    /// The bad prefixes from each of several initial states, which are as many questions.
    ///
    /// # Errors
    ///
    /// If the table is not [valid](Automaton::validate), or does not have one of the states.
    pub fn from_states(table: &Automaton, initial: &[StateIndex]) -> Result<Self, MalformedTable> {
        table.validate()?;
        let states = table.verdicts.len();
        if let Some(missing) = initial.iter().find(|state| state.index() >= states) {
            return Err(MalformedTable::NoSuchState(missing.0));
        }
        let nodes = outcomes(table);
        let block_of = refine(
            nodes
                .iter()
                .map(|node| node.map_or(2, |node| node.0))
                .collect(),
            |state| match nodes[state] {
                Some(_) => &[],
                None => table.row(state),
            },
        );
        let mut numbers: FxHashMap<u32, Node> = FxHashMap::default();
        for (state, node) in nodes.iter().enumerate() {
            if let Some(node) = node {
                numbers.insert(block_of[state], *node);
            }
        }
        // One state for each block, in the order in which a search from the initial states meets
        // them.
        let mut members: Vec<Option<StateIndex>> = vec![None, None];
        let mut number = |state: StateIndex, members: &mut Vec<Option<StateIndex>>| {
            *numbers.entry(block_of[state.index()]).or_insert_with(|| {
                members.push(Some(state));
                Node(members.len() as u32 - 1)
            })
        };
        let initial = initial
            .iter()
            .map(|&state| number(state, &mut members))
            .collect();
        let mut rows = Vec::new();
        let mut index = 0;
        while index < members.len() {
            match members[index] {
                None => rows.extend(vec![Node(index as u32); table.actions]),
                Some(member) => {
                    for &target in table.row(member.index()) {
                        rows.push(number(target, &mut members));
                    }
                }
            }
            index += 1;
        }
        Ok(BadPrefixes::with_classes(initial, table.actions, &rows))
    }

    /// Merges the actions whose columns are equal.
    fn with_classes(initial: Vec<Node>, actions: usize, rows: &[Node]) -> Self {
        let nodes = rows.len().checked_div(actions).unwrap_or(2);
        let columns: Vec<Vec<Node>> = (0..actions)
            .map(|action| {
                { 0..nodes }
                    .map(|node| rows[node * actions + action])
                    .collect()
            })
            .collect();
        let class_of = number(columns.iter());
        let kept = first_of_each(&class_of);
        let next = (0..nodes)
            .flat_map(|node| kept.iter().map(move |&action| (node, action)))
            .map(|(node, action)| columns[action][node])
            .collect();
        BadPrefixes {
            initial,
            classes: kept.len(),
            class_of: class_of.into_iter().map(ActionClass).collect(),
            next,
        }
    }

    /// Where runs begin: one node for each initial state of the table.
    pub fn initial(&self) -> &[Node] {
        &self.initial
    }

    /// The number of nodes, the bad and the dead one included.
    pub fn nodes(&self) -> usize {
        self.next.len().checked_div(self.classes).unwrap_or(2)
    }

    /// The number of classes of actions.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The class of an action of the table.
    pub fn class_of(&self, action: ActionId) -> ActionClass {
        self.class_of[action.index()]
    }

    pub(super) fn classes_of_actions(&self) -> &[ActionClass] {
        &self.class_of
    }

    /// The node after an action.
    pub fn step(&self, node: Node, class: ActionClass) -> Node {
        self.next[node.index() * self.classes + class.index()]
    }

    /// Whether both orders of two actions lead to the same node from everywhere: then it does not
    /// matter how two concurrent steps that do them are ordered.
    pub fn commute(&self, a: ActionClass, b: ActionClass) -> bool {
        (0..self.nodes() as u32)
            .map(Node)
            .all(|node| self.step(self.step(node, a), b) == self.step(self.step(node, b), a))
    }
}

/// For each state, whether it is bad or dead already; `None` if it can still become bad. Satisfied is
/// final.
fn outcomes(table: &Automaton) -> Vec<Option<Node>> {
    let states = table.verdicts.len();
    let mut before: Vec<Vec<u32>> = vec![Vec::new(); states];
    for state in 0..states {
        if !table.verdicts[state].is_final() {
            for target in table.row(state) {
                before[target.index()].push(state as u32);
            }
        }
    }
    let is_bad = |state: u32| table.verdicts[state as usize] == Verdict::Violated;
    let mut stack: Vec<u32> = (0..states as u32).filter(|&state| is_bad(state)).collect();
    let mut outcomes = vec![Some(Node::DEAD); states];
    for &state in &stack {
        outcomes[state as usize] = Some(Node::BAD);
    }
    while let Some(state) = stack.pop() {
        for &state in &before[state as usize] {
            if outcomes[state as usize].take().is_some() {
                stack.push(state);
            }
        }
    }
    outcomes
}
