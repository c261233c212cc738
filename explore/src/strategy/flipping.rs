//! Race detection and flipping, as in jCUTE: wherever a race was seen, another thread is tried in place of its first step.
//!
//! A point remembers whether something that was chosen there raced with what came later. If so, the smallest thread that was neither
//! tried there nor sleeps is tried; sleep sets keep a race from being flipped back. Unlike with source sets nobody asks which thread
//! would turn the race round: all are tried, so there are more runs in vain.
//!
//! After Sen, "Scalable Automated Methods for Dynamic Program Analysis" (2006), chapter 5, with four repairs: marks stay with the
//! point; races are marked whoever is asleep; a run in which all sleep is cut; and who is blocked at the end races, too.

use super::{Choice, End, Next, Point, Strategy};
use crate::{run::Run, thread_set::ThreadSet};

/// Races are flipped, one after the other.
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
    /// Begins with the first run.
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
