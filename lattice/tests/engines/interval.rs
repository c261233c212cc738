//! The interval search against brute force: the same answer, and a shortest witness.

use super::posets::{Growing, random_problem, shortest_violation};
use portent_lattice::{
    Stop,
    laboratory::{
        ActionId, Answer, Automaton, AutomatonShape, Poset, Problem, StateIndex, interval,
        interval::IntervalSearch,
    },
};
use portent_monitor_core::ChainId;
use portent_monitor_dsl::Verdict;
use portent_testing::Rng;

/// Solves a problem and compares; whether it was violated, and whether its violations are chains.
fn check(problem: &Problem, what: &str) -> (bool, bool) {
    let shape = AutomatonShape::new(&problem.automaton).unwrap();
    let saturated = shape.saturated.as_ref().unwrap();
    let found = interval::search(&problem.poset, &problem.actions, saturated, 1 << 20);
    let expected = shortest_violation(problem);
    match (&found.answer, expected) {
        (Answer::Violated(violation), Some(steps)) => {
            assert_eq!(violation.refute(problem), None, "{what}");
            assert_eq!(violation.violated_at, steps, "{what}");
            assert!(violation.is_shortest);
        }
        (Answer::Safe, None) => {}
        (answer, expected) => panic!("{what}: {answer:?}, but violated after {expected:?}"),
    }
    (expected.is_some(), shape.is_chain())
}

#[test]
fn agrees_with_brute_force() {
    let mut violated = [0, 0];
    let mut safe = [0, 0];
    for seed in 0..80_000 {
        let problem = random_problem(&mut Rng::new(seed), 4, 8);
        let (is_violated, is_chain) = check(&problem, &format!("seed {seed}"));
        let count = if is_violated {
            &mut violated
        } else {
            &mut safe
        };
        count[usize::from(is_chain)] += 1;
    }
    // All four combinations must really have been met.
    assert!(
        violated.iter().chain(&safe).all(|&count| count > 1_000),
        "{violated:?} {safe:?}"
    );
}

#[test]
fn agrees_with_brute_force_on_wider_posets() {
    for seed in 0..4_000 {
        let problem = random_problem(&mut Rng::new(1_000_000 + seed), 7, 14);
        check(&problem, &format!("seed {seed}"));
    }
}

/// Action 0 toggles; action 1 is violated when toggled on. Not a chain.
fn toggle() -> Automaton {
    Automaton {
        initial: StateIndex(0),
        actions: 2,
        next: [1, 0, 0, 2, 2, 2].map(StateIndex).to_vec(),
        verdicts: vec![Verdict::Ok, Verdict::Ok, Verdict::Violated],
    }
}

#[test]
fn gives_up_where_it_was_told_to() {
    // Each chain toggles twice, and action 1 comes after all of it: never when toggled on.
    let width = 6;
    let mut growing = Growing::new(width);
    let mut last = Vec::new();
    for chain in ChainId::first(width) {
        growing.push(chain, &[]);
        last.push(growing.push(chain, &[]));
    }
    growing.push(ChainId::from(0), &last);
    let poset = growing.poset;
    let mut actions = vec![ActionId(0); 2 * width];
    actions.push(ActionId(1));
    let shape = AutomatonShape::new(&toggle()).unwrap();
    assert!(!shape.is_chain());
    let saturated = shape.saturated.unwrap();
    let found = interval::search(&poset, &actions, &saturated, 3);
    assert_eq!(found.answer, Answer::GaveUp);
    assert_eq!(found.nodes, 3);

    // And it can go on.
    let mut search = IntervalSearch::new(&poset, &actions, &saturated);
    let mut rounds = 0;
    let answer = loop {
        rounds += 1;
        if let Some(answer) = search.advance(3) {
            break answer;
        }
    };
    assert_eq!(answer, Answer::Safe);
    assert!(rounds > 1);

    // What is found counts, not only what was looked at; and somebody may have no more time.
    let bounded = |most, stop: Stop| {
        let mut search = IntervalSearch::new(&poset, &actions, &saturated).bounded(most, stop);
        let answer = search.advance(1 << 20);
        (answer, search.is_given_up(), search.finish().answer)
    };
    let given_up = (None, true, Answer::GaveUp);
    assert_eq!(bounded(3, Stop::default()), given_up);
    let safe = (Some(Answer::Safe), false, Answer::Safe);
    assert_eq!(bounded(usize::MAX, Stop::new()), safe);
    let over = Stop::new();
    over.raise();
    assert_eq!(bounded(usize::MAX, over), given_up);
}

#[test]
fn an_empty_poset_is_judged_by_its_initial_state() {
    let mut automaton = toggle();
    let poset = Poset::new(0);
    let shape = AutomatonShape::new(&automaton).unwrap();
    let found = interval::search(&poset, &[], shape.saturated.as_ref().unwrap(), 10);
    assert_eq!(found.answer, Answer::Safe);

    automaton.initial = StateIndex(2);
    let shape = AutomatonShape::new(&automaton).unwrap();
    let found = interval::search(&poset, &[], shape.saturated.as_ref().unwrap(), 10);
    let Answer::Violated(violation) = found.answer else {
        panic!("the initial state is violated");
    };
    assert_eq!((violation.run.len(), violation.violated_at), (0, 0));
}
