//! A log that no enumeration survives, answered at once.

use crate::logs::questions::{QUESTIONS, SHAPES, voldemort};
use portent_lattice::laboratory::{Answer, AutomatonShape, Problem, interval};
use portent_monitor_dsl::Verdict;
use std::time::{Duration, Instant};

fn check(name: &str, problem: &Problem) {
    let begin = Instant::now();
    let shape = AutomatonShape::new(&problem.automaton).unwrap();
    assert!(shape.is_chain(), "{name}");
    let saturated = shape.saturated.as_ref().unwrap();
    let found = interval::search(&problem.poset, &problem.actions, saturated, 1 << 20);
    let took = begin.elapsed();
    let answer = match &found.answer {
        Answer::Violated(violation) => {
            assert_eq!(violation.refute(problem), None, "{name}");
            format!("violated after {}", violation.violated_at)
        }
        Answer::Safe => {
            assert!(!observed_is_violated(problem), "{name}");
            "safe".to_owned()
        }
        Answer::GaveUp => panic!("{name}: gave up"),
    };
    println!("{name}: {answer}, {} nodes, {took:?}", found.nodes);
    // A wide margin: the test machine may be busy.
    assert!(took < Duration::from_secs(5), "{name} took {took:?}");
}

#[test]
fn questions_of_a_real_log() {
    let Some(log) = voldemort() else { return };
    assert_eq!((log.poset.width(), log.poset.len()), (20, 864));
    for (name, property) in QUESTIONS {
        check(name, &log.problem(property));
    }
}

#[test]
fn random_events_on_a_real_log() {
    let Some(log) = voldemort() else { return };
    for (name, property) in SHAPES {
        for percent in [2, 10, 50, 100] {
            let problem = log.random_problem(property, percent);
            check(&format!("{name}, {percent} %"), &problem);
        }
    }
}

/// Whether a run of the problem is violated as it was observed.
fn observed_is_violated(problem: &Problem) -> bool {
    let automaton = &problem.automaton;
    let actions = problem.actions.iter();
    let last = actions.fold(automaton.initial, |state, &action| {
        automaton.step(state, action)
    });
    automaton.verdict(last) == Verdict::Violated
}
