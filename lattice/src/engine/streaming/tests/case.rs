//! Random automata and random posets, and the truth about them by brute force.

use portent_monitor_core::ChainId;
use portent_testing::Rng;
use rustc_hash::FxHashMap;

use crate::{
    automaton::{Automaton, AutomatonShape, StateIndex},
    engine::streaming::{
        Class, Extent, LiveThread, Moves, Placed, Stage, Turn, arrange, moves::Move,
    },
    order::{EventIndex, Poset},
};
use portent_monitor_dsl::Verdict;

/// The kind of an automaton.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    /// A deterministic one whose only cycles are self-loops.
    Chains,
    /// A nondeterministic one whose only cycles are self-loops.
    Choices,
    /// A deterministic one.
    Cyclic,
    /// A deterministic one that was saturated.
    Saturated,
}

impl Shape {
    pub(super) fn any(seed: usize) -> Shape {
        match seed % 8 {
            0..3 => Shape::Chains,
            3..5 => Shape::Choices,
            5 | 6 => Shape::Cyclic,
            _ => Shape::Saturated,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Arrived {
    pub(super) chain: ChainId,
    pub(super) class: Class,
    pub(super) clock: Vec<u32>,
    /// The threads that may act after it.
    pub(super) positions: Vec<LiveThread>,
}

/// An automaton, and a run.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) moves: Moves,
    pub(super) events: Vec<Arrived>,
}

impl Case {
    pub(super) fn random(rng: &mut Rng, shape: Shape) -> Case {
        let moves = automaton(rng, shape);
        let most = match shape {
            Shape::Cyclic => 9,
            _ => 12,
        };
        let length = 2 + rng.below(most - 1);
        let events = run(rng, moves.classes(), length);
        Case { moves, events }
    }

    fn poset(&self, events: usize) -> Poset {
        let width = self
            .events
            .iter()
            .map(|event| event.chain.index() + 1)
            .max();
        let width = width.unwrap_or(0);
        let mut poset = Poset::new(width);
        for event in &self.events[..events] {
            let mut clock = event.clock.clone();
            clock.resize(width, 0);
            poset.push(event.chain, &clock);
        }
        poset
    }

    /// One step of the subset construction.
    fn step(&self, stages: u64, class: Class) -> u64 {
        let here = (0..self.moves.stages() as u32).filter(|stage| stages >> stage & 1 == 1);
        here.fold(0, |next, stage| {
            let stage = Stage(stage);
            let stays = u64::from(self.moves.stays(stage, class)) << stage.0;
            let targets = self.moves.targets(stage, class).iter();
            targets.fold(next | stays, |next, to| next | 1 << to.0)
        })
    }

    fn initial(&self) -> u64 {
        self.moves
            .initial()
            .iter()
            .fold(0, |all, stage| all | 1 << stage.0)
    }

    /// The event by which the observed run is violated.
    pub(super) fn observed_violated(&self) -> Option<usize> {
        let mut stages = self.initial();
        self.events.iter().position(|event| {
            stages = self.step(stages, event.class);
            stages & 1 == 1
        })
    }

    /// The event by which some run of the events so far is violated: of all cuts with a violated run, the earliest last event.
    pub(super) fn first_violated(&self) -> Option<usize> {
        let poset = self.poset(self.events.len());
        let width = poset.width();
        let mut first: Option<usize> = None;
        let mut level: FxHashMap<Vec<u32>, (u64, usize)> = FxHashMap::default();
        level.insert(vec![0; width], (self.initial(), 0));
        while !level.is_empty() {
            let mut next: FxHashMap<Vec<u32>, (u64, usize)> = FxHashMap::default();
            for (cut, (stages, last)) in &level {
                for chain in poset.chains() {
                    let Some(&event) = poset.chain(chain).get(cut[chain.index()] as usize) else {
                        continue;
                    };
                    let last = *last.max(&event.index());
                    let mut past = poset.chains().zip(poset.clock(event).iter().zip(cut));
                    let is_next = past.all(|(other, (needs, has))| other == chain || needs <= has);
                    if !is_next || first.is_some_and(|first| first <= last) {
                        continue;
                    }
                    let stages = self.step(*stages, self.events[event.index()].class);
                    if stages & 1 == 1 {
                        first = Some(last);
                    } else if stages != 0 {
                        let mut cut = cut.clone();
                        cut[chain.index()] += 1;
                        next.entry(cut).or_insert((0, last)).0 |= stages;
                    }
                }
            }
            level = next;
        }
        first
    }

    /// Follows the run of a story that was found with an event.
    pub(super) fn follow(&self, with: usize, story: &[Turn]) {
        let poset = self.poset(with + 1);
        let class = |event: EventIndex| self.events[event.index()].class;
        let mut placed = Placed::default();
        let (moves, extent) = (&self.moves, Extent::Needed);
        arrange(&poset, moves, story, 0, extent, class, &mut placed)
            .unwrap_or_else(|| panic!("no room for all events: {story:?}, {self:?}"));
        assert_eq!(placed.run.len(), poset.len());
        let (mut done, mut stages) = (vec![0; poset.width()], self.initial());
        for (place, &event) in placed.run.iter().enumerate() {
            let (chain, clock) = (poset.chain_of(event).index(), poset.clock(event));
            done[chain] += 1;
            assert_eq!(done[chain], clock[chain], "each event once, in order");
            assert!(clock.iter().zip(&done).all(|(needs, has)| needs <= has));
            stages = self.step(stages, class(event));
            if place + 1 == placed.length {
                assert!(stages & 1 == 1, "violated: {placed:?}, {self:?}");
            }
        }
    }
}

/// Runs of several threads, 30 % of whose events follow a synchronisation, and automata that can alternate for ever.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cyclic {
    /// The minimum; there may be one more.
    pub(super) threads: usize,
    pub(super) length: usize,
    /// How many of a hundred events change nothing.
    pub(super) neutral: usize,
    /// Only violations not shown by the four cuts of each level nearest to the observed one.
    pub(super) harder: bool,
}

impl Case {
    pub(super) fn cyclic(rng: &mut Rng, kind: Cyclic) -> Case {
        let (states, classes) = (2 + rng.below(3), 2 + rng.below(2));
        let neutral = Class(classes as u32);
        let mut loops = vec![false; (states + 1) * (classes + 1)];
        let mut moves = Vec::new();
        let bad = (1 + rng.below(states), rng.below(classes));
        for from in 1..=states {
            loops[from * (classes + 1) + neutral.index()] = true;
            for class in 0..classes {
                let to = if (from, class) == bad {
                    0
                } else {
                    1 + rng.below(states)
                };
                if to == from {
                    loops[from * (classes + 1) + class] = true
                } else {
                    moves.push(Move {
                        from: Stage(from as u32),
                        class: Class(class as u32),
                        to: Stage(to as u32),
                    })
                }
            }
        }
        let stays =
            |stage: Stage, class: Class| loops[stage.index() * (classes + 1) + class.index()];
        let moves = Moves::new(states + 1, classes + 1, &[Stage(1)], stays, &moves);
        let width = kind.threads + rng.below(2);
        let mut clocks = vec![vec![0; width]; width];
        let events = (0..kind.length)
            .map(|_| {
                let own = rng.below(width);
                if rng.below(100) < 30 {
                    let other = clocks[rng.below(width)].clone();
                    for (mine, theirs) in clocks[own].iter_mut().zip(other) {
                        *mine = theirs.max(*mine);
                    }
                }
                clocks[own][own] += 1;
                let class = if rng.below(100) < kind.neutral {
                    neutral
                } else {
                    Class(rng.below(classes) as u32)
                };
                let positions = ChainId::first(width).zip(&clocks);
                Arrived {
                    chain: ChainId::from(own as u32),
                    class,
                    clock: clocks[own].clone(),
                    positions: positions
                        .map(|(chain, clock)| LiveThread {
                            chain: Some(chain),
                            clock: clock.clone(),
                        })
                        .collect(),
                }
            })
            .collect();
        Case { moves, events }
    }

    /// The event by which another order is violated while the observed one never is, if this is such a case.
    pub(super) fn violated_elsewhere(&self, kind: Cyclic) -> Option<usize> {
        if self.observed_violated().is_some() {
            return None;
        }
        if kind.harder && self.is_shown_by_a_window(4) {
            return None;
        }
        self.first_violated()
    }

    /// Whether a violated order stays within the cuts of each level that are nearest to the observed one.
    fn is_shown_by_a_window(&self, size: usize) -> bool {
        let poset = self.poset(self.events.len());
        let width = poset.width();
        let mut level: FxHashMap<Vec<u32>, u64> = FxHashMap::default();
        level.insert(vec![0; width], self.initial());
        for number in 1..=self.events.len() {
            let mut next: FxHashMap<Vec<u32>, u64> = FxHashMap::default();
            for (cut, stages) in &level {
                for chain in poset.chains() {
                    let Some(&event) = poset.chain(chain).get(cut[chain.index()] as usize) else {
                        continue;
                    };
                    let mut past = poset.chains().zip(poset.clock(event).iter().zip(cut));
                    if !past.all(|(other, (needs, has))| other == chain || needs <= has) {
                        continue;
                    }
                    let stages = self.step(*stages, self.events[event.index()].class);
                    if stages & 1 == 1 {
                        return true;
                    }
                    let mut cut = cut.clone();
                    cut[chain.index()] += 1;
                    *next.entry(cut).or_insert(0) |= stages;
                }
            }
            let observed = poset.prefix(number);
            let mut nearest: Vec<(Vec<u32>, u64)> = next.into_iter().collect();
            nearest.sort_by_key(|(cut, _)| {
                let apart = cut
                    .iter()
                    .zip(&observed)
                    .map(|(a, b)| a.abs_diff(*b))
                    .sum::<u32>();
                (apart, cut.clone())
            });
            nearest.truncate(size);
            level = nearest.into_iter().collect();
        }
        false
    }
}

fn automaton(rng: &mut Rng, shape: Shape) -> Moves {
    let (stages, classes) = (2 + rng.below(4), 2 + rng.below(3));
    if let Shape::Saturated = shape {
        return saturated(rng, stages, classes);
    }
    let mut loops = vec![false; stages * classes];
    let mut moves = Vec::new();
    for from in 1..stages {
        for class in 0..classes {
            let mut go = |to: usize| {
                if to == from {
                    loops[from * classes + class] = true
                } else {
                    moves.push(Move {
                        from: Stage(from as u32),
                        class: Class(class as u32),
                        to: Stage(to as u32),
                    })
                }
            };
            match shape {
                // A dead end is represented as a missing stage.
                _ if rng.below(8) == 0 => {}
                Shape::Cyclic => go(rng.below(stages)),
                Shape::Chains => {
                    if rng.one_in(2) {
                        go(from)
                    } else {
                        go(rng.below(from))
                    }
                }
                Shape::Choices | Shape::Saturated => {
                    for _ in 0..1 + rng.below(2) {
                        go(rng.below(from + 1));
                    }
                    if rng.one_in(3) {
                        go(from);
                    }
                }
            }
        }
    }
    let mut initial = vec![Stage(stages as u32 - 1)];
    if let Shape::Choices = shape
        && stages > 2
        && rng.one_in(3)
    {
        initial.push(Stage(1 + rng.below(stages - 2) as u32));
    }
    let stays = |stage: Stage, class: Class| loops[stage.index() * classes + class.index()];
    Moves::new(stages, classes, &initial, stays, &moves)
}

/// The automaton of a random table, with as many self-loops as possible.
fn saturated(rng: &mut Rng, states: usize, actions: usize) -> Moves {
    let next = (0..states * actions)
        .map(|place| match place / actions {
            0 => StateIndex(0),
            _ => StateIndex(rng.below(states) as u32),
        })
        .collect();
    let verdict = |state| {
        if state == 0 {
            Verdict::Violated
        } else {
            Verdict::Ok
        }
    };
    let automaton = Automaton {
        initial: StateIndex(states as u32 - 1),
        actions,
        next,
        verdicts: (0..states).map(verdict).collect(),
    };
    let shape = AutomatonShape::new(&automaton).expect("a table");
    Moves::of_saturated(&shape.saturated.expect("small"))
}

/// A thread of a random run.
#[derive(Clone, Debug)]
struct Thread {
    chain: Option<ChainId>,
    clock: Vec<u32>,
    lives: bool,
}

/// A random run whose threads are forked, end, and may learn what others know.
fn run(rng: &mut Rng, classes: usize, length: usize) -> Vec<Arrived> {
    let width = 2 + rng.below(4);
    let joins = 20 * rng.below(5);
    let thread = |clock: Vec<u32>| Thread {
        chain: None,
        clock,
        lives: true,
    };
    let mut threads: Vec<Thread> = (0..1 + rng.below(width))
        .map(|_| thread(vec![0; width]))
        .collect();
    let mut counts = vec![0; width];
    let mut chains = 0;
    let mut events = Vec::new();
    while events.len() < length {
        let living: Vec<usize> = (0..threads.len()).filter(|&t| threads[t].lives).collect();
        if living.is_empty() {
            break;
        }
        let actor = rng.pick(&living);
        if rng.one_in(6) {
            let child = thread(threads[actor].clock.clone());
            threads.push(child);
        }
        if rng.below(100) < joins {
            let other = threads[rng.below(threads.len())].clock.clone();
            for (mine, theirs) in threads[actor].clock.iter_mut().zip(other) {
                *mine = theirs.max(*mine);
            }
        }
        if threads[actor].chain.is_none() {
            // Reuse a chain whose thread has ended and whose events are all known; otherwise make a new one.
            let used = |chain: ChainId| threads.iter().any(|t| t.lives && t.chain == Some(chain));
            let known = |c: ChainId| threads[actor].clock[c.index()] == counts[c.index()];
            let free = ChainId::first(chains).find(|&c| !used(c) && known(c));
            match free {
                Some(chain) => threads[actor].chain = Some(chain),
                None if chains < width => {
                    threads[actor].chain = ChainId::from_index(chains);
                    chains += 1;
                }
                None => {
                    threads[actor].lives = false;
                    continue;
                }
            }
        }
        let chain = threads[actor].chain.expect("given");
        counts[chain.index()] += 1;
        threads[actor].clock[chain.index()] = counts[chain.index()];
        let clock = threads[actor].clock.clone();
        if rng.one_in(10) {
            threads[actor].lives = false;
        }
        let live = |thread: &Thread| LiveThread {
            chain: thread.chain,
            clock: thread.clock.clone(),
        };
        let class = Class(rng.below(classes) as u32);
        // Chains are met one by one, so that clocks grow.
        let clock = clock[..chains].to_vec();
        let living = threads.iter().filter(|thread| thread.lives);
        events.push(Arrived {
            chain,
            class,
            clock,
            positions: living.map(live).collect(),
        });
    }
    events
}
