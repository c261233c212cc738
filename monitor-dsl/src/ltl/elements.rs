//! The elements of a formula: what about its neighbours a position must know.
//!
//! An *obligation* is a formula whose truth at the next position matters at this one: an until, or
//! what stands below a next. A *memory* is a past operator, which looks at the previous position.
//! They are listed operands first. What an element says of a position then depends, apart from the
//! letter, on earlier elements only, and on the element itself for until and since.

use rustc_hash::{FxHashMap, FxHashSet};

use super::kernel::{Formula, Kernel, Shape};
use crate::diagram::Diagram;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Element {
    /// Whether the formula holds at the position.
    Obligation(Formula),
    /// What the past operator saw at the previous position: the value that it had itself, or for
    /// [`Shape::Previous`] that of its operand. False before the first position.
    Memory(Formula),
}

pub(super) struct Elements {
    list: Vec<Element>,
    obligations: FxHashMap<Formula, usize>,
    memories: FxHashMap<Formula, usize>,
}

impl Elements {
    pub(super) fn new(kernel: &Kernel, root: Formula) -> Self {
        let closure = kernel.closure(root);
        let mut needed: Vec<Formula> = Vec::new();
        for &formula in &closure {
            match *kernel.shape(formula) {
                Shape::Until(..) => needed.push(formula),
                Shape::Next(operand) => atoms(kernel, operand, &mut needed),
                _ => {}
            }
        }
        let needed: FxHashSet<Formula> = needed.into_iter().collect();
        let mut elements = Elements {
            list: Vec::new(),
            obligations: FxHashMap::default(),
            memories: FxHashMap::default(),
        };
        for &formula in &closure {
            if matches!(kernel.shape(formula), Shape::Previous(_) | Shape::Since(..)) {
                elements.memories.insert(formula, elements.list.len());
                elements.list.push(Element::Memory(formula));
            }
            if needed.contains(&formula) {
                elements.obligations.insert(formula, elements.list.len());
                elements.list.push(Element::Obligation(formula));
            }
        }
        elements
    }

    pub(super) fn list(&self) -> &[Element] {
        &self.list
    }

    /// The place of an obligation in the list.
    pub(super) fn obligation(&self, formula: Formula) -> Option<usize> {
        self.obligations.get(&formula).copied()
    }

    /// The place of a past operator in the list.
    pub(super) fn memory(&self, formula: Formula) -> usize {
        self.memories[&formula]
    }

    /// The sets of letters that the value of an element here depends on, given the other elements
    /// here and there.
    pub(super) fn sets_below(&self, kernel: &Kernel, element: Formula) -> Vec<Diagram> {
        let mut sets = Vec::new();
        let mut seen = FxHashSet::from_iter([element]);
        let mut stack = vec![element];
        while let Some(formula) = stack.pop() {
            match *kernel.shape(formula) {
                Shape::State(set) => sets.push(set),
                // What it says is about another position.
                Shape::Next(_) => {}
                _ => stack.extend(kernel.parts(formula).iter().filter_map(|part| {
                    let part = part.positive();
                    let is_element = self.obligations.contains_key(&part);
                    (!is_element && seen.insert(part)).then_some(part)
                })),
            }
        }
        sets
    }

    /// The places of all memories.
    pub(super) fn memories(&self) -> impl Iterator<Item = (usize, Formula)> {
        self.list
            .iter()
            .enumerate()
            .filter_map(|(place, element)| match element {
                Element::Memory(formula) => Some((place, *formula)),
                Element::Obligation(_) => None,
            })
    }
}

/// The formulas that a Boolean combination is made of; next distributes over it.
fn atoms(kernel: &Kernel, formula: Formula, found: &mut Vec<Formula>) {
    match kernel.shape(formula) {
        Shape::And(parts) => parts.iter().for_each(|&part| atoms(kernel, part, found)),
        Shape::State(set) if set.is_constant() => {}
        _ => found.push(formula.positive()),
    }
}
