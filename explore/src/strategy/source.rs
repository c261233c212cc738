//! Source sets and sleep sets: at least one run of every class of equivalent ones, and never two.
//!
//! Every race of a run could have gone the other way. For each of them the point where the first part of it was chosen has to know a
//! thread by which a run can begin in which it does (an *initial* of what else happened); if none is known, one is added. A thread
//! that was taken at a point *sleeps* in what is searched there later, until something happens that does not commute with what it wants
//! to do: whatever it could begin before that was seen. A run in which all sleep who could go on is cut.
//!
//! A subtree is complete by itself. So this search can be shared, stopped, resumed and bounded.
//!
//! After Abdulla, Aronis, Jonsson, Sagonas, "Source Sets" (2017). All races are considered, those of operations that were pending at
//! the end included: of blocked ones, and in runs that were cut.

use super::{Choice, End, Point, Strategy};
use crate::{
    operation::dependent,
    run::{Race, Run},
    thread_set::{MOST_THREADS, ThreadSet},
};

/// One run of every class.
#[derive(Debug, Default)]
pub struct Source {
    nodes: Vec<Node>,
}

/// A point, and what is known of it.
#[derive(Clone, Copy, Debug, Default)]
struct Node {
    /// The thread or value that is taken.
    taken: u32,
    /// How many values there are; 0 where a thread is chosen.
    values: u32,
    enabled: ThreadSet,
    /// Threads by which some run of interest begins.
    backtrack: ThreadSet,
    /// Threads whose runs have all been seen.
    done: ThreadSet,
    sleep: ThreadSet,
}

impl Source {
    /// Begins with the first run.
    #[must_use]
    pub fn new() -> Source {
        Source::default()
    }

    /// Who sleeps at a new point.
    fn sleep(&self, at: &Point<'_>, run: &Run) -> ThreadSet {
        // To pick a value is no step of a thread.
        let Some(parent) = self.nodes.iter().rfind(|node| node.values == 0) else {
            return ThreadSet::EMPTY;
        };
        let mut sleep = parent.sleep | parent.done;
        if sleep.is_empty() {
            return sleep;
        }
        let taken = run.events().last().expect("the parent chose a thread");
        sleep.remove(usize::from(taken.thread));
        for thread in sleep {
            if dependent(at.pending[thread], taken.op) {
                sleep.remove(thread);
            }
        }
        sleep
    }

    /// Makes sure that a run is searched in which this race goes the other way.
    fn reverse(&mut self, run: &Run, race: Race) {
        let events = run.events();
        let first = &events[race.first as usize];
        let (thread, op, before, until) = run.second(race);
        // What else happened that does not need the first part: its first event of each thread, and who can begin it.
        let mut firsts = [0_u16; MOST_THREADS];
        let mut seen = ThreadSet::EMPTY;
        let mut initials = ThreadSet::EMPTY;
        let mut second_waits = false;
        let between = race.first as usize + 1..until;
        for (event, number) in events[between.clone()].iter().zip(between) {
            if run.follows(number, race) {
                continue;
            }
            let by = usize::from(event.thread);
            if !seen.contains(by) {
                let clock = run.clock(number);
                let mut earlier = seen;
                if earlier.all(|other| clock[other] < firsts[other]) {
                    initials.insert(by);
                }
                seen.insert(by);
                firsts[by] = event.index;
            }
            second_waits |= before[by] >= event.index || run.depends(number, op);
        }
        if !seen.contains(thread) && !second_waits {
            initials.insert(thread);
        }
        let node = &mut self.nodes[first.point as usize];
        let initials = initials & node.enabled;
        if initials.is_empty() {
            node.backtrack |= node.enabled;
        } else if (initials & (node.backtrack | node.done)).is_empty() {
            let added = if initials.contains(thread) {
                Some(thread)
            } else {
                initials.first()
            };
            node.backtrack |= added.map_or(ThreadSet::EMPTY, ThreadSet::only);
        }
    }
}

impl Strategy for Source {
    fn choose(&mut self, at: &Point<'_>, run: &Run) -> Choice {
        if let Some(node) = self.nodes.get(at.step) {
            return Choice::Run(node.taken as usize);
        }
        let sleep = self.sleep(at, run);
        let Some(taken) = at.stay(at.enabled - sleep) else {
            return Choice::Drain;
        };
        self.nodes.push(Node {
            taken: taken as u32,
            values: 0,
            enabled: at.enabled,
            backtrack: ThreadSet::only(taken),
            done: ThreadSet::EMPTY,
            sleep,
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

    fn finished(&mut self, run: &Run, _: End) -> Option<usize> {
        for &race in run.races() {
            self.reverse(run, race);
        }
        while let Some(node) = self.nodes.last_mut() {
            if node.values > 0 {
                node.taken += 1;
                if node.taken < node.values {
                    return Some(self.nodes.len() - 1);
                }
            } else {
                node.done.insert(node.taken as usize);
                if let Some(next) = (node.backtrack - node.done - node.sleep).first() {
                    node.taken = next as u32;
                    return Some(self.nodes.len() - 1);
                }
            }
            self.nodes.pop();
        }
        None
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
