//! How much a beam finds if moves make cycles and there are as many nodes as orders: random automata, and runs of several
//! threads that are violated in another order but not as observed.

use portent_monitor_core::ChainId;
use portent_testing::Rng;

use super::{
    Pause,
    case::{Case, Cyclic},
    pitfalls::automaton,
    search,
};
use crate::engine::streaming::{Bounds, Class, LiveThread, Moves, Scratch, Streaming};

/// The bounds of a beam of this many nodes.
fn beam(nodes: usize) -> Bounds {
    Bounds {
        nodes,
        beam: nodes,
        new_nodes: nodes / 4,
        ..Bounds::NONE
    }
}

/// The number of cases violated in another order that are found.
fn found(kind: Cyclic, cases: usize, bounds: &Bounds) -> usize {
    let (mut met, mut found) = (0, 0);
    for seed in 0.. {
        let mut rng = Rng::new(seed);
        let case = Case::cyclic(&mut rng, kind);
        let Some(soonest) = case.violated_elsewhere(kind) else {
            continue;
        };
        let mut events = 0;
        let outcome = search(&case, bounds, || {
            events += 1;
            Pause {
                tidies: events % 8 == 0,
                rests: false,
            }
        });
        assert!(
            outcome.found.is_none_or(|found| found >= soonest),
            "a false alarm: seed {seed}"
        );
        assert!(
            outcome.found == Some(soonest) || outcome.dropped > 0,
            "in silence: seed {seed}"
        );
        found += usize::from(outcome.found.is_some());
        met += 1;
        if met == cases {
            break;
        }
    }
    found
}

#[test]
fn a_beam_of_64_finds_nearly_all() {
    for (threads, neutral, length, harder, cases, least) in [
        (4, 0, 22, false, 400, 390),
        (4, 0, 22, true, 40, 36),
        (4, 75, 60, false, 200, 194),
        (4, 75, 60, true, 60, 57),
        (16, 0, 14, false, 60, 58),
    ] {
        let kind = Cyclic {
            threads,
            length,
            neutral,
            harder,
        };
        let found = found(kind, cases, &beam(64));
        println!("{kind:?}: {found} of {cases}");
        assert!(found >= least, "{kind:?}: {found} of {cases}");
    }
}

/// Whatever is dropped, some node contains the observed run, as a search whose nodes have all ended predicts nothing.
#[test]
fn a_beam_never_loses_the_observed_run() {
    let (mut narrowed, mut violated) = (0, 0);
    for seed in 0..20_000 {
        let mut rng = Rng::new(seed);
        let neutral = rng.pick(&[0, 50]);
        let kind = Cyclic {
            threads: 4,
            length: 30,
            neutral,
            harder: false,
        };
        let case = Case::cyclic(&mut rng, kind);
        let Some(observed) = case.observed_violated() else {
            continue;
        };
        let beam = rng.pick(&[8, 12]);
        let bounds = Bounds {
            nodes: beam,
            beam,
            new_nodes: 2,
            ..Bounds::NONE
        };
        let outcome = search(&case, &bounds, || Pause {
            tidies: rng.one_in(2),
            rests: false,
        });
        assert!(
            outcome.found.is_some_and(|found| found <= observed),
            "seed {seed}: violated with event {observed}"
        );
        narrowed += usize::from(outcome.dropped > 0);
        violated += 1;
    }
    assert!(narrowed > 1_000, "{narrowed} of {violated}");
}

/// Feeds steps of threads that synchronise now and then, and tidies when it is time.
struct Long {
    rng: Rng,
    moves: Moves,
    bounds: Bounds,
    search: Streaming,
    scratch: Scratch,
    clocks: Vec<Vec<u32>>,
}

impl Long {
    fn new(moves: Moves, threads: usize) -> Long {
        Long {
            rng: Rng::new(threads as u64),
            bounds: Bounds {
                history: 1024,
                ..beam(64)
            },
            search: Streaming::new(&moves),
            scratch: Scratch::default(),
            clocks: vec![vec![0; threads]; threads],
            moves,
        }
    }

    /// Whether some run is violated by this step.
    fn step(&mut self, chain: ChainId, letter: char) -> bool {
        self.clocks[chain.index()][chain.index()] += 1;
        let class = Class(letter as u32 - 'a' as u32);
        let clock = &self.clocks[chain.index()];
        let (moves, bounds) = (&self.moves, &self.bounds);
        let found =
            { &mut self.search }.arrive(moves, bounds, &mut self.scratch, chain, class, clock);
        self.search.narrow(moves, bounds);
        if self.search.is_due(bounds) {
            let clocks = ChainId::first(self.clocks.len()).zip(&self.clocks);
            let mut positions: Vec<LiveThread> = clocks
                .map(|(chain, clock)| LiveThread {
                    chain: Some(chain),
                    clock: clock.clone(),
                })
                .collect();
            { &mut self.search }.tidy(moves, bounds, &mut self.scratch, &mut positions);
            let settled = self.search.settled();
            { &mut self.search }.forget_stories(settled, &mut self.scratch, |_| 0);
        }
        found.is_some()
    }

    fn some_thread(&mut self) -> ChainId {
        let threads = self.clocks.len();
        let chain = ChainId::from(self.rng.below(threads) as u32);
        if self.rng.below(100) < 30 {
            let other = self.clocks[self.rng.below(threads)].clone();
            for (mine, theirs) in self.clocks[chain.index()].iter_mut().zip(other) {
                *mine = theirs.max(*mine);
            }
        }
        chain
    }
}

#[test]
fn after_100_000_events_a_violation_that_becomes_possible_is_predicted() {
    for threads in [4, 16] {
        // Violated if d comes after an even number of a.
        let moves = automaton(&["", "bc", "bc"], &[(2, 'a', 1), (1, 'a', 2), (2, 'd', 0)]);
        let mut long = Long::new(moves, threads);
        let mut is_even = true;
        for _ in 0..100_000 {
            let letter = long.rng.pick(&['a', 'b', 'b', 'b']);
            let chain = long.some_thread();
            assert!(!long.step(chain, letter));
            is_even ^= letter == 'a';
        }
        assert!(long.search.searched() > 0);
        if !is_even {
            assert!(!long.step(ChainId::from(0), 'a'));
        }
        // The d could have come before this a.
        assert!(!long.step(ChainId::from(0), 'a'));
        assert!(long.step(ChainId::from(1), 'd'), "{threads} threads");
    }
}
