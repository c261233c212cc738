//! The minimal automaton of the words after which a property is violated.
//!
//! All that is not violated yet and can still become so is told apart by *how* it can; verdicts
//! among the rest do not matter. Actions that do the same everywhere share a class. Minimisation is
//! Moore's: split by the blocks of all successors until nothing splits. Its rounds are bounded by
//! the longest shortest word that tells two states apart, which is short in monitors.

use rustc_hash::FxHashMap;

use super::table::{Action, ActionTable, State};
use crate::verdict::Verdict;

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
    /// The bad prefixes of a table, from each of its initial states.
    pub fn new(table: &ActionTable) -> Self {
        let block_of = refine(table, &live(table));
        let mut numbers: FxHashMap<u32, Node> = FxHashMap::default();
        numbers.insert(BAD_BLOCK, Node::BAD);
        numbers.insert(DEAD_BLOCK, Node::DEAD);
        // One state for each block, in the order in which a search from the initial states meets
        // them.
        let mut members: Vec<Option<State>> = vec![None, None];
        let mut number = |state: State, members: &mut Vec<Option<State>>| {
            *numbers
                .entry(block_of[state.0 as usize])
                .or_insert_with(|| {
                    members.push(Some(state));
                    Node(members.len() as u32 - 1)
                })
        };
        let initial = table
            .initial
            .iter()
            .map(|&state| number(state, &mut members))
            .collect();
        let mut rows = Vec::new();
        let mut index = 0;
        while index < members.len() {
            match members[index] {
                None => rows.extend(vec![Node(index as u32); table.actions]),
                Some(member) => {
                    for &target in table.row(member.0 as usize) {
                        rows.push(number(target, &mut members));
                    }
                }
            }
            index += 1;
        }
        BadPrefixes::with_classes(initial, table.actions, &rows)
    }

    /// Merges the actions whose columns are equal.
    fn with_classes(initial: Vec<Node>, actions: usize, rows: &[Node]) -> Self {
        let nodes = rows.len().checked_div(actions).unwrap_or(2);
        let mut known: FxHashMap<Vec<Node>, ActionClass> = FxHashMap::default();
        let mut columns: Vec<Vec<Node>> = Vec::new();
        let class_of = (0..actions)
            .map(|action| {
                let column: Vec<Node> = (0..nodes)
                    .map(|node| rows[node * actions + action])
                    .collect();
                *known.entry(column).or_insert_with_key(|column| {
                    columns.push(column.clone());
                    ActionClass(columns.len() as u32 - 1)
                })
            })
            .collect();
        let next = (0..nodes)
            .flat_map(|node| columns.iter().map(move |column| column[node]))
            .collect();
        BadPrefixes {
            initial,
            classes: columns.len(),
            class_of,
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
    pub fn class_of(&self, action: Action) -> ActionClass {
        self.class_of[action.0 as usize]
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

/// Whether each state is not violated but can become so. Satisfied is final.
fn live(table: &ActionTable) -> Vec<bool> {
    let states = table.verdicts.len();
    let mut before: Vec<Vec<u32>> = vec![Vec::new(); states];
    for state in 0..states {
        if !table.verdicts[state].is_final() {
            for target in table.row(state) {
                before[target.0 as usize].push(state as u32);
            }
        }
    }
    let mut live = vec![false; states];
    let mut stack: Vec<u32> = (0..states as u32)
        .filter(|&state| table.verdicts[state as usize] == Verdict::Violated)
        .collect();
    while let Some(state) = stack.pop() {
        for &state in &before[state as usize] {
            if !std::mem::replace(&mut live[state as usize], true) {
                stack.push(state);
            }
        }
    }
    live
}

const BAD_BLOCK: u32 = 0;
const DEAD_BLOCK: u32 = 1;

/// The block of each state; states of one block have the same bad continuations.
fn refine(table: &ActionTable, live: &[bool]) -> Vec<u32> {
    let states = table.verdicts.len();
    let first_live = DEAD_BLOCK + 1;
    let mut block_of: Vec<u32> = (0..states)
        .map(|state| match (table.verdicts[state], live[state]) {
            (Verdict::Violated, _) => BAD_BLOCK,
            (_, false) => DEAD_BLOCK,
            (_, true) => first_live,
        })
        .collect();
    let mut blocks = 1;
    loop {
        let mut known: FxHashMap<(u32, Vec<u32>), u32> = FxHashMap::default();
        let refined: Vec<u32> = (0..states)
            .map(|state| {
                if !live[state] {
                    return block_of[state];
                }
                let successors = table.row(state).iter();
                let signature = successors
                    .map(|target| block_of[target.0 as usize])
                    .collect();
                let fresh = first_live + known.len() as u32;
                *known.entry((block_of[state], signature)).or_insert(fresh)
            })
            .collect();
        let count = known.len();
        block_of = refined;
        if count <= blocks {
            return block_of;
        }
        blocks = count;
    }
}
