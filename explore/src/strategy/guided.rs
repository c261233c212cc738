//! Guides runs to a place in the source, using what earlier runs taught.
//!
//! The target is one place, or several places that different threads should reach at once. The first run is a random walk. Every run
//! shows which steps of a thread follow which, and thereby how far it is from one step to another. Later runs work through a list of
//! *goals*: bring a thread to a place and hold it there, let other threads take a step that affects it, and release it. The thread
//! nearest to the current goal runs, so threads that cannot help do not run at all; ties are broken at random.
//!
//! If the target is not reached, or is passed without a failure, the list is *refined* by a detour: just before a step that accesses an
//! object, another thread changes that object. The change is made as late as possible, but before the thread takes a lock that both
//! need. Each detour is tried alone; after that, more changes at one of them or several detours at once, at random.
//!
//! After Rungta, *Guided testing for automatic error discovery in concurrent software* (2009), with a graph of observed steps in place
//! of the compiler's control-flow graph.

use super::{
    Choice, End, Next, Point, Strategy,
    target::{Detour, Goal, Map, SiteId, Target},
};
use crate::{
    object::Body,
    operation::{Kind, ObjectIndex},
    random::Random as Numbers,
    run::Run,
    thread_set::ThreadSet,
};

/// The most detours of one run.
const DETOURS: usize = 3;
/// The most changes of one detour.
const MOST_TIMES: u32 = 1 << 12;

/// Guides runs to a target.
///
/// ```
/// use std::sync::Arc;
/// use portent_explore::{Explorer, strategy::{Guided, Target}};
/// use portent_hooks::{sync::atomic::{AtomicU32, Ordering::SeqCst}, thread};
///
/// let line = line!() + 7;
/// let report = Explorer::new()
///     .strategy(move || Guided::new(1, 100, Target::place(format!("{}:{line}", file!()))))
///     .check(|| {
///         let sold = Arc::new(AtomicU32::new(0));
///         let shop = Arc::clone(&sold);
///         thread::spawn(move || shop.fetch_add(1, SeqCst));
///         assert_eq!(sold.load(SeqCst), 0);
///     });
/// assert_eq!(report.failed, 1);
/// ```
#[derive(Debug)]
pub struct Guided {
    target: Target,
    seed: u64,
    runs: u64,
    left: u64,
    numbers: Numbers,
    map: Map,
    /// All that are known.
    detours: Vec<Detour>,
    /// Those of this run, in order.
    chosen: Vec<usize>,
    // Of one run:
    goals: Vec<Goal>,
    at: usize,
    /// How often the change of this goal happened already.
    times: u32,
    /// How far it is to this goal, from each step.
    distances: Vec<u32>,
    /// Who is held where, in the order in which they came.
    held: Vec<usize>,
    has_arrived: bool,
    /// Who passed the target last: it goes on first, to what it makes of that.
    passed: Option<usize>,
}

impl Guided {
    /// Makes at most this many runs. The same seed gives the same runs.
    #[must_use]
    pub fn new(seed: u64, runs: u64, target: Target) -> Guided {
        Guided {
            target,
            seed,
            runs,
            left: runs,
            numbers: Numbers::new(seed),
            map: Map::default(),
            detours: Vec::new(),
            chosen: Vec::new(),
            goals: Vec::new(),
            at: 0,
            times: 0,
            distances: Vec::new(),
            held: Vec::new(),
            has_arrived: false,
            passed: None,
        }
    }

    fn one_of(&mut self, mut among: ThreadSet) -> Option<usize> {
        if among.is_empty() {
            return None;
        }
        let nth = self.numbers.below(among.len());
        among.nth(nth)
    }

    /// Those that can go on and are not held.
    fn free(&self, at: &Point<'_>) -> ThreadSet {
        let mut free = at.enabled;
        for &thread in &self.held {
            free.remove(thread);
        }
        free
    }

    /// Those of some threads that are nearest to the goal; `None` if it cannot be reached from where they are.
    fn nearest(&self, among: ThreadSet, pending: &[SiteId]) -> Option<ThreadSet> {
        let mut nearest = (u32::MAX, ThreadSet::EMPTY);
        for thread in among {
            let distance = self.distances.get(pending[thread]).copied();
            let distance = distance.unwrap_or(u32::MAX);
            if distance < nearest.0 {
                nearest = (distance, ThreadSet::EMPTY);
            }
            if distance == nearest.0 {
                nearest.1.insert(thread);
            }
        }
        (nearest.0 < u32::MAX).then_some(nearest.1)
    }

    /// Goes on to the next goal.
    fn advance(&mut self) {
        self.at += 1;
        self.times = 0;
        self.measure();
    }

    fn measure(&mut self) {
        self.distances = match self.goals.get(self.at) {
            Some(Goal::Reach(sites)) => self.map.distances(sites),
            Some(Goal::Change(site, _)) => self.map.distances(&[*site]),
            _ => Vec::new(),
        };
    }

    /// Whose turn it is on the way to the goals.
    fn next(&mut self, at: &Point<'_>, pending: &[SiteId]) -> Option<usize> {
        while let Some(goal) = self.goals.get(self.at) {
            let free = self.free(at);
            match goal.clone() {
                Goal::Reach(sites) => {
                    let mut there = ThreadSet::EMPTY;
                    let wanted = { self.held.last() }
                        .filter(|_| self.target.is_race)
                        .map(|&thread| at.pending[thread].object);
                    for thread in free {
                        let object = at.pending[thread].object;
                        if sites.contains(&pending[thread])
                            && wanted.is_none_or(|wanted| wanted == object)
                        {
                            there.insert(thread);
                        }
                    }
                    if let Some(thread) = self.one_of(there) {
                        self.held.push(thread);
                        self.advance();
                        continue;
                    }
                }
                Goal::Change(site, times) => {
                    let wanted = self.held.last().map(|&thread| at.pending[thread].object);
                    let mut there = ThreadSet::EMPTY;
                    for thread in free {
                        let object = at.pending[thread].object;
                        if pending[thread] == site && wanted.is_none_or(|wanted| wanted == object) {
                            there.insert(thread);
                        }
                    }
                    if self.times == times {
                        self.advance();
                        continue;
                    }
                    if let Some(thread) = self.one_of(there) {
                        self.times += 1;
                        return Some(thread);
                    }
                }
                Goal::Pass(nth) => {
                    let nth = nth.min(self.held.len().saturating_sub(1));
                    let Some(&thread) = self.held.get(nth) else {
                        self.advance();
                        continue;
                    };
                    if at.enabled.contains(thread) {
                        self.held.remove(nth);
                        self.passed = Some(thread);
                        self.advance();
                        self.has_arrived |= self.at == self.goals.len();
                        return Some(thread);
                    }
                    if free.is_empty() {
                        self.held.clear();
                    }
                    return self.one_of(free);
                }
            }
            if let Some(nearest) = self.nearest(free, pending) {
                return self.one_of(nearest);
            }
            let mut waiting = at.parked;
            for thread in at.enabled {
                waiting.remove(thread);
            }
            if self.nearest(waiting, pending).is_some() && !free.is_empty() {
                // Who is on the way waits for somebody.
                return self.one_of(free);
            }
            self.advance();
        }
        self.passed.filter(|&thread| at.enabled.contains(thread))
    }

    /// The way of the next run.
    fn plan(&mut self) {
        self.goals.clear();
        let mut places: Vec<Vec<SiteId>> = self.map.resolve(&self.target);
        // Where few threads come to is first, so that the others are held for them.
        places.sort_by_key(|sites| self.map.visitors(sites));
        if places.iter().any(Vec::is_empty) {
            self.goals.clear();
        } else {
            let chosen: Vec<&Detour> = { self.chosen.iter() }
                .map(|&number| &self.detours[number])
                .collect();
            for detour in &chosen {
                let is_at_target = places.iter().any(|sites| sites.contains(&detour.before));
                if detour.is_early {
                    self.goals.push(Goal::Change(detour.change, detour.times));
                } else if !is_at_target {
                    self.goals.push(Goal::Reach(vec![detour.before]));
                    self.goals.push(Goal::Change(detour.change, detour.times));
                    self.goals.push(Goal::Pass(0));
                }
            }
            let count = places.len();
            for sites in places {
                let here = { chosen.iter() }
                    .filter(|detour| !detour.is_early && sites.contains(&detour.before));
                let changes = here.map(|detour| Goal::Change(detour.change, detour.times));
                let changes: Vec<Goal> = changes.collect();
                self.goals.push(Goal::Reach(sites));
                self.goals.extend(changes);
            }
            for left in (1..=count).rev() {
                let nth = self.numbers.below(left);
                self.goals.push(Goal::Pass(nth));
            }
        }
        self.at = 0;
        self.times = 0;
        self.held.clear();
        self.has_arrived = false;
        self.passed = None;
        self.measure();
    }

    /// The last run did not fail: the next one takes another detour, the same one with more changes, or several.
    fn refine(&mut self) {
        let targets: Vec<SiteId> = self.map.resolve(&self.target).concat();
        let distances = self.map.distances(&targets);
        for &number in &self.chosen {
            self.detours[number].has_arrived |= self.has_arrived;
        }
        for conflict in self.map.new_conflicts() {
            self.detours.push(conflict);
        }
        let useful = |detour: &Detour| distances.get(detour.before) < Some(&u32::MAX);
        let numbers = (0..self.detours.len()).filter(|&number| useful(&self.detours[number]));
        let useful: Vec<usize> = numbers.collect();
        let those = |wanted: fn(&Detour) -> bool| -> Vec<usize> {
            let all = useful.iter().copied();
            all.filter(|&number| wanted(&self.detours[number]))
                .collect()
        };
        let untried = those(|detour| !detour.is_tried);
        let arrived = those(|detour| detour.has_arrived && detour.times < MOST_TIMES);
        self.chosen.clear();
        if let Some(number) = self.numbers.one_of(&untried) {
            self.chosen.push(number);
        } else if self.numbers.below(2) == 0
            && let Some(number) = self.numbers.one_of(&arrived)
        {
            self.detours[number].times *= 4;
            self.chosen.push(number);
        } else {
            for _ in 0..2 + self.numbers.below(DETOURS - 1) {
                let number = self.numbers.one_of(&useful);
                self.chosen
                    .extend(number.filter(|number| !self.chosen.contains(number)));
            }
        }
        for &number in &self.chosen {
            self.detours[number].is_tried = true;
        }
        // Those that are farther from the target come first.
        let distance = |number: &usize| distances.get(self.detours[*number].before).copied();
        self.chosen
            .sort_by_key(|number| std::cmp::Reverse(distance(number)));
    }
}

/// The locks that a thread has alone.
fn locks(at: &Point<'_>, thread: usize) -> Vec<ObjectIndex> {
    let objects = (0..).zip(at.objects);
    objects
        .filter(|(_, seen)| match &seen.body {
            Body::Lock(lock) => lock.is_owned_by(thread),
            _ => false,
        })
        .map(|(number, _)| number)
        .collect()
}

impl Strategy for Guided {
    fn choose(&mut self, at: &Point<'_>, _: &Run) -> Choice {
        let pending = self.map.announced(at);
        let thread = match self.next(at, &pending) {
            Some(thread) => thread,
            None => { self.one_of(at.enabled) }.expect("a point is where somebody can go on"),
        };
        let locks = locks(at, thread);
        self.map
            .step(thread, pending[thread], at.pending[thread], locks);
        Choice::Run(thread)
    }

    fn pick(&mut self, _: usize, values: u32) -> u32 {
        self.numbers.below(values as usize) as u32
    }

    fn finished(&mut self, _: &Run, _: End) -> Next {
        self.map.end();
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            return Next::Enough;
        }
        self.refine();
        self.plan();
        Next::Keep(0)
    }

    fn wants_clocks(&self) -> bool {
        false
    }

    fn restart(&mut self) {
        *self = Guided::new(self.seed, self.runs, self.target.clone());
    }

    fn remark(&self) -> Option<String> {
        Some(format!(
            "guided to {} by the seed {}",
            self.target, self.seed
        ))
    }
}

/// Whether an operation changes what others see of its object.
pub(super) fn is_change(kind: Kind) -> bool {
    !kind.only_looks() && !matches!(kind, Kind::Lock | Kind::ReadLock | Kind::Wake | Kind::Wait)
}
