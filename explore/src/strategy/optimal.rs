//! Wake-up trees: exactly one run of every class, and no run that is cut.
//!
//! As with source sets, every race is reversed. But the whole beginning of the new run is stored, not only its first thread, in a tree
//! at the point where it leaves the old run. So a run never gets to a point where every thread that could run sleeps.
//!
//! Trees compare steps of different runs, so objects and threads must have the same names in all of them, and an object is named when
//! it is first used. If one is first used after the first choice, or if a value is chosen, source sets take over, which
//! need no such names; the report says so.
//!
//! A subtree is not complete by itself here: a race may be left to a sequence elsewhere in the tree that has not been searched yet. So
//! this search must not be approximated anywhere.
//!
//! After Abdulla, Aronis, Jonsson, Sagonas, "Source Sets" (2017).

use super::{Choice, End, Next, Point, Source, Strategy};
use crate::{
    operation::{Op, dependent},
    run::{Race, Run},
    thread_set::ThreadSet,
};

/// Wake-up trees: exactly one run of every class of equivalent runs.
#[derive(Debug, Default)]
pub struct Optimal {
    nodes: Vec<Node>,
    /// What is searched instead, if names are not the same in every run.
    instead: Option<Source>,
    sequence: Vec<Item>,
}

#[derive(Debug)]
struct Node {
    /// The value that is taken, and how many there are; 0 where a thread is chosen.
    taken: u32,
    values: u32,
    done: ThreadSet,
    sleep: ThreadSet,
    /// What those who are done or asleep want to do here.
    seen: Vec<(usize, Op)>,
    /// How runs go on from here that are still to be searched; the first one is being searched.
    tree: Vec<Branch>,
}

#[derive(Debug)]
struct Branch {
    thread: usize,
    op: Op,
    then: Vec<Branch>,
}

/// A step of a sequence that is to be put into a tree.
#[derive(Clone, Copy, Debug)]
struct Item {
    thread: usize,
    op: Op,
    /// Which event it is; `None` of the last one, which has not happened yet like this.
    event: Option<usize>,
}

impl Optimal {
    /// A search from the beginning.
    #[must_use]
    pub fn new() -> Optimal {
        Optimal::default()
    }

    fn sleep(&self, at: &Point<'_>, run: &Run) -> ThreadSet {
        let Some(parent) = self.nodes.iter().rfind(|node| node.values == 0) else {
            return ThreadSet::EMPTY;
        };
        super::still_asleep(parent.sleep | parent.done, at, run)
    }

    /// Makes sure that a run is searched in which this race goes the other way.
    fn reverse(&mut self, run: &Run, race: Race) {
        let (thread, op, before, _) = run.second(race);
        let first = run.events()[race.first as usize];
        let sequence = &mut self.sequence;
        sequence.clear();
        for (number, event) in run
            .events()
            .iter()
            .enumerate()
            .skip(race.first as usize + 1)
        {
            if event.was_chosen() && !run.follows(number, race) {
                sequence.push(Item {
                    thread: usize::from(event.thread),
                    op: event.op,
                    event: Some(number),
                });
            }
        }
        sequence.push(Item {
            thread,
            op,
            event: None,
        });
        let node = &mut self.nodes[first.point as usize];
        for &(asleep, wanted) in &node.seen {
            if is_weak_initial(run, sequence, before, asleep, wanted).is_some() {
                return;
            }
        }
        insert(run, &mut node.tree, sequence, before);
    }
}

/// Whether a thread can begin some run that is equivalent to one that begins with this sequence; and where its first step is in
/// the sequence, if there is one.
fn is_weak_initial(
    run: &Run,
    sequence: &[Item],
    before: &[u16],
    thread: usize,
    wanted: Op,
) -> Option<Option<usize>> {
    match sequence.iter().position(|item| item.thread == thread) {
        Some(at) => {
            let item = &sequence[at];
            let is_free = sequence[..at].iter().all(|earlier| {
                let Some(number) = earlier.event else {
                    return !dependent(earlier.op, item.op);
                };
                match item.event {
                    Some(event) => !run.precedes(number as u32, event as u32),
                    None => {
                        before[earlier.thread] < run.events()[number].index
                            && !dependent(earlier.op, item.op)
                    }
                }
            });
            is_free.then_some(Some(at))
        }
        None => sequence
            .iter()
            .all(|item| !dependent(item.op, wanted))
            .then_some(None),
    }
}

/// Puts a sequence into a tree, unless something equivalent is there.
fn insert(run: &Run, mut tree: &mut Vec<Branch>, sequence: &mut Vec<Item>, before: &[u16]) {
    while !sequence.is_empty() {
        let found = tree.iter().enumerate().find_map(|(number, branch)| {
            let at = is_weak_initial(run, sequence, before, branch.thread, branch.op)?;
            Some((number, at))
        });
        let Some((number, at)) = found else {
            let mut then = Vec::new();
            for item in sequence.drain(..).rev() {
                then = vec![Branch {
                    thread: item.thread,
                    op: item.op,
                    then,
                }];
            }
            tree.append(&mut then);
            return;
        };
        if let Some(at) = at {
            sequence.remove(at);
        }
        tree = &mut tree[number].then;
        if tree.is_empty() {
            // Everything is searched from here.
            return;
        }
    }
}

impl Strategy for Optimal {
    fn choose(&mut self, at: &Point<'_>, run: &Run) -> Choice {
        if let Some(source) = &mut self.instead {
            return source.choose(at, run);
        }
        if let Some(node) = self.nodes.get_mut(at.step) {
            let first = &mut node.tree[0];
            // As it is here, which may be something else than what it became where it was seen.
            first.op = at.pending[first.thread];
            return Choice::Run(first.thread);
        }
        let sleep = self.sleep(at, run);
        let parent = self.nodes.last_mut();
        let mut tree = match parent {
            Some(parent) if parent.values == 0 => std::mem::take(&mut parent.tree[0].then),
            Some(parent) => std::mem::take(&mut parent.tree),
            None => Vec::new(),
        };
        if tree.is_empty() {
            let Some(thread) = at.stay(at.enabled - sleep) else {
                return Choice::Drain;
            };
            tree.push(Branch {
                thread,
                op: at.pending[thread],
                then: Vec::new(),
            });
        }
        let thread = tree[0].thread;
        tree[0].op = at.pending[thread];
        if !at.enabled.contains(thread) || sleep.contains(thread) {
            return Choice::Drain;
        }
        self.nodes.push(Node {
            taken: 0,
            values: 0,
            done: ThreadSet::EMPTY,
            sleep,
            seen: sleep.map(|thread| (thread, at.pending[thread])).collect(),
            tree,
        });
        Choice::Run(thread)
    }

    fn pick(&mut self, at: usize, values: u32) -> u32 {
        if let Some(source) = &mut self.instead {
            return source.pick(at, values);
        }
        if let Some(node) = self.nodes.get(at) {
            return node.taken;
        }
        // How the run goes on is the same for the first value only; the others are searched freely.
        let tree = match self.nodes.last_mut() {
            Some(parent) if parent.values == 0 => std::mem::take(&mut parent.tree[0].then),
            Some(parent) => std::mem::take(&mut parent.tree),
            None => Vec::new(),
        };
        self.nodes.push(Node {
            taken: 0,
            values,
            done: ThreadSet::EMPTY,
            sleep: ThreadSet::EMPTY,
            seen: Vec::new(),
            tree,
        });
        0
    }

    fn finished(&mut self, run: &Run, end: End) -> Next {
        if let Some(source) = &mut self.instead {
            return source.finished(run, end);
        }
        if let Some(reason) = run.late_names() {
            self.restart();
            self.instead = Some(Source::new());
            return Next::Restart(reason);
        }
        for &race in run.races() {
            self.reverse(run, race);
        }
        while let Some(node) = self.nodes.last_mut() {
            if node.values > 0 {
                node.taken += 1;
                if node.taken < node.values {
                    return Next::Keep(self.nodes.len() - 1);
                }
            } else {
                let taken = node.tree.remove(0);
                node.done.insert(taken.thread);
                node.seen.push((taken.thread, taken.op));
                if !node.tree.is_empty() {
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
        if let Some(source) = &mut self.instead {
            source.restart();
        }
    }
}
