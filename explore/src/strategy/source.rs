//! Source sets and sleep sets: at least one run of every equivalence class, and never two.
//!
//! Every race of a run could have gone the other way. At the point where the first of the two steps was chosen, one of the threads must
//! be explored with which a run of the reversed race can begin (an *initial* of the steps in between); if none of them is, one is
//! added. A thread that has been explored at a point *sleeps* in later branches of that point until something happens that does not
//! commute with its next step: until then it could only repeat what has been seen. A run is cut when every thread that could run sleeps.
//!
//! Each subtree is searched independently of the others, so this search can be shared, stopped, resumed and bounded.
//!
//! After Abdulla, Aronis, Jonsson, Sagonas, "Source Sets" (2017). All races count, including those of operations that were pending at
//! the end of the run, because they were blocked or because the run was cut.

use std::sync::Arc;

use super::{Choice, End, Next, Point, Strategy};
use crate::{
    parallel::{Branches, Common, Exchange},
    run::{Race, Run},
    thread_set::{MOST_THREADS, ThreadSet},
};

/// Source sets: one run of every class of equivalent runs.
#[derive(Debug, Default)]
pub struct Source {
    nodes: Vec<Node>,
    /// Where work is offered to others.
    exchange: Option<Arc<Exchange<Path>>>,
}

/// How to get to a branch that is to be searched.
#[derive(Debug, Default)]
pub(crate) struct Path(Vec<Node>);

/// A point, and what is known of it.
#[derive(Clone, Debug, Default)]
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
    /// What others know of it, too; then that counts, and `done` is what was claimed before the thread that is taken.
    common: Option<Arc<Common>>,
    /// Other values are somebody else's.
    foreign: bool,
}

impl Source {
    /// A search from the beginning.
    #[must_use]
    pub fn new() -> Source {
        Source::default()
    }

    /// One of several who search together.
    pub(crate) fn sharing(exchange: Arc<Exchange<Path>>) -> Source {
        Source {
            nodes: Vec::new(),
            exchange: Some(exchange),
        }
    }

    /// Goes on where a search was stopped.
    pub(crate) fn resumed(points: &[[u64; 6]]) -> Source {
        let node = |[taken, values, enabled, backtrack, done, sleep]: &[u64; 6]| Node {
            taken: *taken as u32,
            values: *values as u32,
            enabled: ThreadSet::from_bits(*enabled),
            backtrack: ThreadSet::from_bits(*backtrack),
            done: ThreadSet::from_bits(*done),
            sleep: ThreadSet::from_bits(*sleep),
            ..Node::default()
        };
        Source {
            nodes: points.iter().map(node).collect(),
            exchange: None,
        }
    }

    /// The next branch on the way back; how many points a run there shares with the last one.
    fn back(&mut self) -> Option<usize> {
        while let Some(node) = self.nodes.last_mut() {
            if node.advance() {
                return Some(self.nodes.len() - 1);
            }
            self.nodes.pop();
        }
        None
    }

    /// Gives a branch away, the one that is nearest to the root.
    fn share(&mut self, exchange: &Exchange<Path>) {
        let Some(at) = self.nodes.iter().position(Node::is_open) else {
            return;
        };
        for node in &mut self.nodes[..=at] {
            node.make_common();
        }
        let mut path = self.nodes[..=at].to_vec();
        for node in &mut path {
            node.foreign = true;
        }
        // Somebody else may have claimed it meanwhile.
        if path[at].claim() {
            exchange.offer(Path(path));
        }
    }

    /// Who sleeps at a new point.
    fn sleep(&self, at: &Point<'_>, run: &Run) -> ThreadSet {
        // To pick a value is no step of a thread.
        let Some(parent) = self.nodes.iter().rfind(|node| node.values == 0) else {
            return ThreadSet::EMPTY;
        };
        super::still_asleep(parent.sleep | parent.done, at, run)
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
        self.nodes[first.point as usize].wants_one_of(initials, thread);
    }
}

impl Node {
    /// Some run that begins by one of these threads has to be searched, that by `best` if it is one of them.
    fn wants_one_of(&mut self, initials: ThreadSet, best: usize) {
        let initials = initials & self.enabled;
        let add = |backtrack: &mut ThreadSet, done: ThreadSet| {
            if initials.is_empty() {
                *backtrack |= self.enabled;
            } else if (initials & (*backtrack | done)).is_empty() {
                let added = if initials.contains(best) {
                    Some(best)
                } else {
                    initials.first()
                };
                *backtrack |= added.map_or(ThreadSet::EMPTY, ThreadSet::only);
            }
        };
        match &self.common {
            Some(common) => {
                let mut branches = common.open();
                let claimed = branches.claimed;
                add(&mut branches.backtrack, claimed);
            }
            None => add(&mut self.backtrack, self.done),
        }
    }

    /// Takes the next value or thread, if there is one.
    fn advance(&mut self) -> bool {
        if self.values > 0 {
            self.taken += 1;
            return !self.foreign && self.taken < self.values;
        }
        if self.common.is_some() {
            return self.claim();
        }
        self.done.insert(self.taken as usize);
        let next = (self.backtrack - self.done - self.sleep).first();
        self.taken = next.unwrap_or_default() as u32;
        next.is_some()
    }

    /// Takes a thread of a common point that nobody has claimed.
    fn claim(&mut self) -> bool {
        let Some(common) = &self.common else {
            return false;
        };
        let mut branches = common.open();
        let Some(next) = (branches.backtrack - branches.claimed - self.sleep).first() else {
            return false;
        };
        self.taken = next as u32;
        self.done = branches.claimed;
        branches.claimed.insert(next);
        true
    }

    /// Whether there is a thread that nobody has taken.
    fn is_open(&self) -> bool {
        let (backtrack, done) = match &self.common {
            _ if self.values > 0 => return false,
            Some(common) => {
                let branches = common.open();
                (branches.backtrack, branches.claimed)
            }
            None => (
                self.backtrack,
                self.done | ThreadSet::only(self.taken as usize),
            ),
        };
        !(backtrack - done - self.sleep).is_empty()
    }

    fn make_common(&mut self) {
        if self.values == 0 && self.common.is_none() {
            self.common = Some(Common::new(Branches {
                backtrack: self.backtrack,
                claimed: self.done | ThreadSet::only(self.taken as usize),
            }));
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
        for &race in run.races() {
            self.reverse(run, race);
        }
        let back = self.back();
        let Some(exchange) = self.exchange.clone() else {
            return back.map_or(Next::Exhausted, Next::Keep);
        };
        match back {
            _ if exchange.is_over() => Next::Enough,
            Some(keep) => {
                if exchange.is_hungry() {
                    self.share(&exchange);
                }
                Next::Keep(keep)
            }
            None if self.begins() => Next::Keep(0),
            None => Next::Exhausted,
        }
    }

    fn save(&self) -> Option<Vec<[u64; 6]>> {
        let save = |node: &Node| {
            [
                u64::from(node.taken),
                u64::from(node.values),
                node.enabled.bits(),
                node.backtrack.bits(),
                node.done.bits(),
                node.sleep.bits(),
            ]
        };
        Some(self.nodes.iter().map(save).collect())
    }

    fn part(&self) -> Option<f64> {
        let mut part = 0.0;
        let mut weight = 1.0;
        for node in &self.nodes {
            let (done, all) = match &node.common {
                Some(_) => return None,
                None if node.values > 0 => (node.taken, node.values),
                None => {
                    let done = node.done.len() as u32;
                    let wanted =
                        (node.backtrack | node.done | ThreadSet::only(node.taken as usize)).len();
                    (done, wanted as u32)
                }
            };
            part += weight * f64::from(done) / f64::from(all);
            weight /= f64::from(all);
        }
        Some(part)
    }

    fn begins(&mut self) -> bool {
        match &self.exchange {
            Some(exchange) => match exchange.take() {
                Some(Path(nodes)) => {
                    self.nodes = nodes;
                    true
                }
                None => false,
            },
            None => true,
        }
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
