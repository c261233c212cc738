//! One solver for many posets, against brute force and against the engines that take them one by one.

use super::posets::{random_automaton, random_poset, shortest_violation};
use portent_lattice::{
    Engine, Options,
    laboratory::{ActionId, Answer, Automaton, Poset, Problem, Solver, StateIndex, solve},
};
use portent_monitor_core::ChainId;
use portent_monitor_dsl::Verdict;
use portent_testing::Rng;

const POSETS_EACH: usize = 40;

/// An automaton of more states than have a table of their sets, and now and then of more than have a bit.
fn many_states(rng: &mut Rng) -> Automaton {
    let states = 6 + rng.below(100);
    let actions = 1 + rng.below(4);
    let next = (0..states * actions).map(|place| {
        // Mostly on, so that few states are equal and the last is far away.
        let state = place / actions;
        StateIndex(match rng.below(4) {
            0 => rng.below(states),
            1 => state,
            _ => (state + 1).min(states - 1),
        } as u32)
    });
    let next = next.collect();
    let mut verdicts = vec![Verdict::Ok; states];
    let soon = 3 + rng.below(3);
    verdicts[soon] = Verdict::Violated;
    Automaton {
        initial: StateIndex(0),
        actions,
        next,
        verdicts,
    }
}

fn some_actions(rng: &mut Rng, poset: &Poset, automaton: &Automaton) -> Vec<ActionId> {
    poset
        .events()
        .map(|_| ActionId(rng.below(automaton.actions) as u32))
        .collect()
}

/// What brute force says, of one poset after the other with the memory of those before.
fn agree(automaton: &Automaton, posets: impl Iterator<Item = Poset>, rng: &mut Rng) -> [usize; 2] {
    let mut solver = Solver::new(automaton.clone(), Options::default());
    let mut seen = [0, 0];
    for poset in posets {
        let actions = some_actions(rng, &poset, automaton);
        let answer = solver.solve(&poset, &actions);
        let problem = Problem {
            poset,
            actions,
            automaton: automaton.clone(),
        };
        match (&answer, shortest_violation(&problem)) {
            (Answer::Violated(violation), Some(steps)) => {
                assert_eq!(violation.refute(&problem), None, "{problem:?}");
                assert_eq!(violation.violated_at, steps, "{problem:?}");
                assert!(violation.is_shortest);
                seen[0] += 1;
            }
            (Answer::Safe, None) => seen[1] += 1,
            (answer, steps) => panic!("{answer:?}, but violated after {steps:?}: {problem:?}"),
        }
    }
    seen
}

#[test]
fn agrees_with_brute_force() {
    let mut rng = Rng::new(11);
    let mut seen = [0, 0];
    for round in 0..1_000 {
        let automaton = match round % 4 {
            0 => many_states(&mut rng),
            _ => random_automaton(&mut rng),
        };
        // Of a few threads; and now and then of more than fit in a word.
        let (threads, events) = if round % 25 == 0 { (11, 12) } else { (4, 9) };
        let mut poset_rng = Rng::new(round);
        let posets = (0..POSETS_EACH).map(|_| random_poset(&mut poset_rng, threads, events));
        let of_these = agree(&automaton, posets, &mut rng);
        seen = [seen[0] + of_these[0], seen[1] + of_these[1]];
    }
    assert!(seen.iter().all(|&count| count > 5_000), "{seen:?}");
}

/// At the end of a run that is complete, pending is violated.
#[test]
fn agrees_with_the_enumeration_of_complete_runs() {
    let mut rng = Rng::new(12);
    let (mut at_end, mut safe) = (0, 0);
    for _ in 0..400 {
        let mut automaton = random_automaton(&mut rng);
        for verdict in &mut automaton.verdicts {
            if *verdict == Verdict::Ok && rng.one_in(3) {
                *verdict = Verdict::Pending;
            }
        }
        let options = Options::default().complete(true);
        let mut solver = Solver::new(automaton.clone(), options.clone());
        for _ in 0..20 {
            let poset = random_poset(&mut rng, 4, 8);
            let actions = some_actions(&mut rng, &poset, &automaton);
            let answer = solver.solve(&poset, &actions);
            let problem = Problem {
                poset,
                actions,
                automaton: automaton.clone(),
            };
            let expected = solve(&problem, &options.clone().engine(Engine::Enumerate));
            match (answer, expected.violation) {
                (Answer::Violated(found), Some(expected)) => {
                    assert_eq!(found.violated_at, expected.violated_at, "{problem:?}");
                    let states = found.run[..found.violated_at].iter();
                    let state = states.fold(automaton.initial, |state, event| {
                        automaton.step(state, problem.actions[event.index()])
                    });
                    let is_at_end = automaton.verdict(state) == Verdict::Pending;
                    assert!(is_at_end || automaton.verdict(state) == Verdict::Violated);
                    assert!(!is_at_end || found.violated_at == problem.poset.len());
                    at_end += usize::from(is_at_end);
                }
                (Answer::Safe, None) => safe += 1,
                (answer, expected) => panic!("{answer:?}, {expected:?}: {problem:?}"),
            }
        }
    }
    assert!(at_end > 500 && safe > 500, "{at_end}, {safe}");
}

/// What has more cuts, chains or events of a chain than the fast way takes is solved all the same.
#[test]
fn no_poset_is_too_large() {
    let automaton = Automaton {
        initial: StateIndex(0),
        actions: 2,
        // Two events of action 1 in a row.
        next: [0, 1, 0, 2, 2, 2].map(StateIndex).to_vec(),
        verdicts: vec![Verdict::Ok, Verdict::Ok, Verdict::Violated],
    };
    let mut solver = Solver::new(automaton, Options::default());
    let mut poset = Poset::new(0);
    for (threads, events) in [
        (1, 126),
        (1, 127),
        (1, 5_000),
        (2, 100),
        (8, 1),
        (9, 1),
        (300, 1),
    ] {
        for last in [0, 1] {
            poset.clear(threads);
            let mut actions = Vec::new();
            for event in 1..=events {
                for chain in ChainId::first(threads) {
                    // Each thread knows all before it, so that there is one run.
                    let mut clock = vec![event as u32; threads];
                    clock[chain.index() + 1..].fill(event as u32 - 1);
                    poset.push(chain, &clock);
                    actions.push(ActionId((poset.len() % 2) as u32));
                }
            }
            *actions.last_mut().expect("events") = ActionId(last);
            let expected = { actions.windows(2) }
                .position(|pair| pair == [ActionId(1), ActionId(1)])
                .map(|place| place + 2);
            let found = match solver.solve(&poset, &actions) {
                Answer::Violated(violation) => Some(violation.violated_at),
                Answer::Safe => None,
                Answer::GaveUp => panic!("{threads} threads, {events} events"),
            };
            assert_eq!(found, expected, "{threads} threads, {events} events");
        }
    }
}
