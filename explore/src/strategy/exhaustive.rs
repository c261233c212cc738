//! Every interleaving, depth first: nothing is left out, and most runs are equivalent to earlier ones.

use super::{Choice, End, Next, Point, Strategy};
use crate::{run::Run, thread_set::ThreadSet};

/// Every interleaving.
#[derive(Debug, Default)]
pub struct Exhaustive {
    nodes: Vec<Node>,
}

#[derive(Clone, Copy, Debug)]
enum Node {
    Thread { taken: usize, left: ThreadSet },
    Value { taken: u32, values: u32 },
}

impl Exhaustive {
    /// A search from the beginning.
    #[must_use]
    pub fn new() -> Exhaustive {
        Exhaustive::default()
    }
}

impl Strategy for Exhaustive {
    fn choose(&mut self, at: &Point<'_>, _: &Run) -> Choice {
        let taken = match self.nodes.get(at.step) {
            Some(Node::Thread { taken, .. }) => *taken,
            _ => {
                let taken = at
                    .stay(at.enabled)
                    .expect("a point is where somebody can go on");
                let mut left = at.enabled;
                left.remove(taken);
                self.nodes.push(Node::Thread { taken, left });
                taken
            }
        };
        Choice::Run(taken)
    }

    fn pick(&mut self, at: usize, values: u32) -> u32 {
        if let Some(Node::Value { taken, .. }) = self.nodes.get(at) {
            return *taken;
        }
        self.nodes.push(Node::Value { taken: 0, values });
        0
    }

    fn finished(&mut self, _: &Run, _: End) -> Next {
        while let Some(node) = self.nodes.last_mut() {
            let more = match node {
                Node::Thread { taken, left } => left.next().map(|next| *taken = next).is_some(),
                Node::Value { taken, values } => {
                    *taken += 1;
                    taken < values
                }
            };
            if more {
                return Next::Keep(self.nodes.len() - 1);
            }
            self.nodes.pop();
        }
        Next::Exhausted
    }

    fn wants_clocks(&self) -> bool {
        true
    }

    fn restart(&mut self) {
        self.nodes.clear();
    }
}
