//! Where the observed run is said to speak for all, it does; and it is said often enough.

use crate::oracle::{Random, random_problem, shortest_violation};
use portent_lattice::{Answer, AutomatonShape, linear, solve_fast};
use portent_monitor_dsl::EngineClass;

#[test]
fn agrees_with_brute_force() {
    let (mut applied, mut violated) = (0, 0);
    for seed in 0..60_000 {
        let problem = random_problem(&mut Random(seed), 4, 8);
        let shape = AutomatonShape::new(&problem.automaton).unwrap();
        let Some(answer) = linear::search(&problem, &shape.bad_prefixes) else {
            continue;
        };
        applied += 1;
        let expected = shortest_violation(&problem);
        match answer {
            Answer::Violated(violation) => {
                violated += 1;
                assert_eq!(violation.refute(&problem), None, "seed {seed}");
                let shortest = expected.expect("violated");
                assert!(shortest <= violation.violated_at, "seed {seed}");
                assert!(!violation.is_shortest || shortest == violation.violated_at);
            }
            Answer::Safe => assert_eq!(expected, None, "seed {seed}"),
            Answer::GaveUp => panic!("seed {seed}: there is no limit to meet"),
        }
    }
    assert!(applied > 5_000 && violated > 1_000, "{applied} {violated}");
}

#[test]
fn the_fastest_engine_that_applies_finds_a_shortest_violation() {
    let mut engines = [0, 0, 0];
    for seed in 0..20_000 {
        let problem = random_problem(&mut Random(seed), 4, 8);
        let shape = AutomatonShape::new(&problem.automaton).unwrap();
        let Some(found) = solve_fast(&problem, &shape, 1 << 20) else {
            assert!(!shape.is_chain(), "seed {seed}");
            engines[2] += 1;
            continue;
        };
        engines[usize::from(found.engine == EngineClass::Intervals)] += 1;
        let expected = shortest_violation(&problem);
        match found.answer {
            Answer::Violated(violation) => {
                assert_eq!(violation.refute(&problem), None, "seed {seed}");
                assert_eq!(Some(violation.violated_at), expected, "seed {seed}");
                assert!(violation.is_shortest, "seed {seed}");
            }
            Answer::Safe => assert_eq!(expected, None, "seed {seed}"),
            Answer::GaveUp => panic!("seed {seed}: gave up"),
        }
    }
    assert!(engines.iter().all(|&count| count > 500), "{engines:?}");
}
