//! Race detection and flipping, as in jCUTE: wherever a race was seen, another thread is tried in place of its first step.
//!
//! A point remembers whether a step that was chosen there raced with a later one. If it did, the lowest-numbered thread that has not been
//! tried there and does not sleep is tried next; sleep sets keep a race from being flipped back. Unlike source sets, this does not
//! determine which threads could reverse the race but tries all of them, so more runs are cut.
//!
//! After Sen, "Scalable Automated Methods for Dynamic Program Analysis" (2006), chapter 5, with four repairs: marks stay with the
//! point; races are marked whichever threads sleep; a run is cut when all threads sleep; and operations that are blocked at the end
//! count in races, too.

use super::{Choice, End, Next, Point, Strategy};
use crate::{run::Run, thread_set::ThreadSet};

/// Race flipping: one run of every class of equivalent runs.
#[derive(Debug, Default)]
pub struct Flipping {
    nodes: Vec<Node>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Node {
    taken: u32,
    values: u32,
    enabled: ThreadSet,
    done: ThreadSet,
    sleep: ThreadSet,
    /// What was chosen here raced with something later.
    raced: bool,
}

impl Flipping {
    /// A search from the beginning.
    #[must_use]
    pub fn new() -> Flipping {
        Flipping::default()
    }
}

impl Strategy for Flipping {
    fn choose(&mut self, at: &Point<'_>, run: &Run) -> Choice {
        if let Some(node) = self.nodes.get(at.step) {
            return Choice::Run(node.taken as usize);
        }
        let parent = self.nodes.iter().rfind(|node| node.values == 0);
        let sleep = parent.map_or(ThreadSet::EMPTY, |parent| {
            super::still_asleep(parent.sleep | parent.done, at, run)
        });
        let Some(taken) = (at.enabled - sleep).first() else {
            return Choice::Drain;
        };
        self.nodes.push(Node {
            taken: taken as u32,
            enabled: at.enabled,
            sleep,
            ..Node::default()
        });
        Choice::Run(taken)
    }

    fn pick(&mut self, at: usize, values: u32) -> u32 {
        if let Some(node) = self.nodes.get(at) {
            return node.taken;
        }
        self.nodes.push(Node {
            values,
            ..Node::default()
        });
        0
    }

    fn finished(&mut self, run: &Run, _: End) -> Next {
        for race in run.races() {
            let point = run.events()[race.first as usize].point;
            self.nodes[point as usize].raced = true;
        }
        while let Some(node) = self.nodes.last_mut() {
            if node.values > 0 {
                node.taken += 1;
                if node.taken < node.values {
                    return Next::Keep(self.nodes.len() - 1);
                }
            } else {
                node.done.insert(node.taken as usize);
                let other = (node.enabled - node.done - node.sleep).first();
                if let (true, Some(other)) = (node.raced, other) {
                    node.raced = false;
                    node.taken = other as u32;
                    return Next::Keep(self.nodes.len() - 1);
                }
            }
            self.nodes.pop();
        }
        Next::Exhausted
    }

    fn wants_clocks(&self) -> bool {
        true
    }

    fn visits_classes_once(&self) -> bool {
        true
    }

    fn restart(&mut self) {
        self.nodes.clear();
    }
}
