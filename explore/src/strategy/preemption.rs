//! Every interleaving with at most a given number of preemptions: switches away from a thread that could have continued.
//!
//! Most bugs need few preemptions, and there are few interleavings with few of them. Switching away from a thread that is blocked or has
//! ended does not count.
//!
//! After Musuvathi and Qadeer, "Iterative Context Bounding" (2007).

use super::{Choice, End, Next, Point, Strategy};
use crate::{run::Run, thread_set::ThreadSet};

/// Every interleaving with few preemptions.
#[derive(Debug)]
pub struct Preemption {
    bound: u32,
    nodes: Vec<Node>,
    /// Something was left out because of the bound.
    cut: bool,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    taken: u32,
    values: u32,
    left: ThreadSet,
    /// Interruptions so far, before this point.
    spent: u32,
    /// Who goes on if nobody is interrupted.
    stays: Option<usize>,
}

impl Preemption {
    /// Allows at most this many preemptions.
    #[must_use]
    pub fn new(bound: u32) -> Preemption {
        Preemption {
            bound,
            nodes: Vec::new(),
            cut: false,
        }
    }
}

impl Node {
    fn spent_after(&self) -> u32 {
        let interrupts = self.stays.is_some_and(|stays| stays as u32 != self.taken);
        self.spent + u32::from(self.values == 0 && interrupts)
    }
}

impl Strategy for Preemption {
    fn choose(&mut self, at: &Point<'_>, _: &Run) -> Choice {
        if let Some(node) = self.nodes.get(at.step) {
            return Choice::Run(node.taken as usize);
        }
        let spent = self.nodes.last().map_or(0, Node::spent_after);
        let taken = at.stay(at.enabled).unwrap_or_default();
        let stays = at.enabled.contains(at.current).then_some(at.current);
        let mut left = at.enabled;
        left.remove(taken);
        if stays.is_some() && spent >= self.bound && !left.is_empty() {
            left = ThreadSet::EMPTY;
            self.cut = true;
        }
        self.nodes.push(Node {
            taken: taken as u32,
            values: 0,
            left,
            spent,
            stays,
        });
        Choice::Run(taken)
    }

    fn pick(&mut self, at: usize, values: u32) -> u32 {
        if let Some(node) = self.nodes.get(at) {
            return node.taken;
        }
        self.nodes.push(Node {
            taken: 0,
            values,
            left: ThreadSet::EMPTY,
            spent: self.nodes.last().map_or(0, Node::spent_after),
            stays: None,
        });
        0
    }

    fn finished(&mut self, _: &Run, _: End) -> Next {
        while let Some(node) = self.nodes.last_mut() {
            if node.values > 0 {
                node.taken += 1;
                if node.taken < node.values {
                    return Next::Keep(self.nodes.len() - 1);
                }
            } else if let Some(other) = node.left.next() {
                node.taken = other as u32;
                return Next::Keep(self.nodes.len() - 1);
            }
            self.nodes.pop();
        }
        if self.cut {
            Next::Bounded
        } else {
            Next::Exhausted
        }
    }

    fn wants_clocks(&self) -> bool {
        true
    }

    fn restart(&mut self) {
        self.nodes.clear();
        self.cut = false;
    }
}
