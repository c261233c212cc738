//! Counters by flow against brute force.

use super::posets::{random_poset, shortest_violation};
use portent_lattice::{
    Engine, Options, Stop,
    laboratory::{ActionId, Answer, Automaton, Poset, Problem, StateIndex, flow, solve},
};
use portent_monitor_dsl::Verdict;
use portent_testing::Rng;

/// What an action does to a counter that stops at a bound: adds a number, or sets it back.
#[derive(Clone, Copy)]
enum Effect {
    Add(i64),
    Reset,
}

/// A counter that is violated at its bound.
fn counter(initial: u32, bound: u32, effects: &[Effect]) -> Automaton {
    let next = (0..=bound).flat_map(|height| {
        effects.iter().map(move |effect| match effect {
            _ if height == bound => StateIndex(bound),
            Effect::Add(number) => {
                let sum = i64::from(height) + number;
                StateIndex(sum.clamp(0, i64::from(bound)) as u32)
            }
            Effect::Reset => StateIndex(0),
        })
    });
    let mut verdicts = vec![Verdict::Ok; bound as usize + 1];
    verdicts[bound as usize] = Verdict::Violated;
    Automaton {
        initial: StateIndex(initial),
        actions: effects.len(),
        next: next.collect(),
        verdicts,
    }
}

#[test]
fn agrees_with_brute_force() {
    let (mut violated, mut safe) = (0, 0);
    for seed in 0..20_000 {
        let mut rng = Rng::new(seed);
        let poset = random_poset(&mut rng, 4, 10);
        let bound = 1 + rng.below(5) as u32;
        let initial = if rng.below(3) == 0 {
            rng.below(bound as usize) as u32
        } else {
            0
        };
        // The first action goes up one by one, so that every height can be reached.
        let others = [
            Effect::Reset,
            Effect::Add(-1),
            Effect::Add(-2),
            Effect::Add(0),
        ];
        let mut effects = vec![Effect::Add(1)];
        for _ in 0..rng.below(4) {
            effects.push(others[rng.below(others.len())]);
        }
        let actions = (0..poset.len()).map(|_| ActionId(rng.below(effects.len()) as u32));
        let problem = Problem {
            actions: actions.collect(),
            poset,
            automaton: counter(initial, bound, &effects),
        };
        let Problem {
            poset,
            actions,
            automaton,
        } = &problem;
        let found = flow::search(poset, actions, automaton, u64::MAX, &Stop::default());
        match (
            found.expect("it counts").answer,
            shortest_violation(&problem),
        ) {
            (Answer::Violated(violation), Some(least)) => {
                assert_eq!(violation.refute(&problem), None, "seed {seed}");
                assert!(violation.violated_at >= least, "seed {seed}");
                assert!(
                    !violation.is_shortest || violation.violated_at == least,
                    "seed {seed}"
                );
                violated += 1;
            }
            (Answer::Safe, None) => safe += 1,
            (answer, expected) => {
                panic!("seed {seed}: {answer:?}, but violated after {expected:?}")
            }
        }
    }
    assert!(violated > 2_000 && safe > 2_000, "{violated} {safe}");
}

/// Threads that each do the same over and over, with a barrier after every round but those where none is.
fn rounds(threads: usize, rounds: usize, steps: usize, barrier: impl Fn(usize) -> bool) -> Poset {
    let mut poset = Poset::new(threads);
    let mut known = vec![0u32; threads];
    let mut own = vec![0u32; threads];
    for round in 0..rounds {
        for _ in 0..steps {
            for (thread, own) in poset.chains().zip(&mut own) {
                *own += 1;
                let mut clock = known.clone();
                clock[thread.index()] = *own;
                poset.push(thread, &clock);
            }
        }
        if barrier(round) {
            known.clone_from(&own);
        }
    }
    poset
}

#[test]
fn twenty_of_thirty_threads_inside_at_once() {
    // Each thread enters and leaves in every round.
    let (threads, all) = (30, 40);
    let actions = |poset: &Poset| -> Vec<ActionId> {
        let place = |event| poset.clock(event)[poset.chain_of(event).index()];
        poset
            .events()
            .map(|event| ActionId((place(event) + 1) % 2))
            .collect()
    };
    let ask = |bound: u32, poset: Poset| {
        let automaton = counter(0, bound, &[Effect::Add(1), Effect::Add(-1)]);
        let actions = actions(&poset);
        let problem = Problem {
            poset,
            actions,
            automaton,
        };
        let solution = solve(&problem, &Options::default());
        if let Some(violation) = &solution.violation {
            assert_eq!(violation.refute(&problem), None);
        }
        (
            solution.engine,
            solution.limit,
            solution.violation.is_some(),
        )
    };
    let poset = || rounds(threads, all, 2, |_| true);
    for bound in [20, 30] {
        let (_, limit, violated) = ask(bound, poset());
        assert_eq!((limit, violated), (None, true), "{bound}");
    }
    assert_eq!(ask(31, poset()), (Engine::Flow, None, false));
}

#[test]
fn a_row_of_twenty_steps_without_another_between_them() {
    // Of 30 threads one in two does the step that sets back, in every round.
    let poset = rounds(30, 20, 1, |round| round % 5 == 4);
    let actions: Vec<ActionId> = poset
        .events()
        .map(|event| ActionId((poset.chain_of(event).index() % 2) as u32))
        .collect();
    let automaton = |bound| counter(0, bound, &[Effect::Add(1), Effect::Reset]);
    // The fifteen others can do ten rounds in a row: what sets back in the first five comes before, in the next five after.
    for (bound, expected) in [(20, true), (150, true), (151, false)] {
        let found = flow::search(
            &poset,
            &actions,
            &automaton(bound),
            u64::MAX,
            &Stop::default(),
        );
        let violated = matches!(found.expect("it counts").answer, Answer::Violated(_));
        assert_eq!(violated, expected, "{bound}");
    }
}
