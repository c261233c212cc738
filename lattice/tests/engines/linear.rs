//! Where the observed run is said to speak for all, it does; and it is said often enough.

use super::posets::{random_problem, shortest_violation};
use portent_lattice::{
    Counting, Engine, Options,
    laboratory::{Answer, AutomatonShape, linear, solve},
};
use portent_testing::Rng;

#[test]
fn agrees_with_brute_force() {
    let (mut applied, mut violated) = (0, 0);
    for seed in 0..60_000 {
        let problem = random_problem(&mut Rng::new(seed), 4, 8);
        let shape = AutomatonShape::new(&problem.automaton).unwrap();
        let (poset, actions) = (&problem.poset, &problem.actions);
        let found = linear::search(poset, actions, &problem.automaton, &shape.bad_prefixes);
        let Some(found) = found else {
            continue;
        };
        applied += 1;
        let expected = shortest_violation(&problem);
        match found.answer {
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
        let problem = random_problem(&mut Rng::new(seed), 4, 8);
        let engines_of = [Engine::Linear, Engine::Intervals];
        for (index, engine) in engines_of.into_iter().enumerate() {
            let options = Options::default().engine(engine).counting(Counting::Never);
            let solution = solve(&problem, &options);
            if solution.engine != engine {
                engines[2] += 1;
                continue;
            }
            engines[index] += 1;
            let expected = shortest_violation(&problem);
            assert_eq!(solution.limit, None, "seed {seed}");
            let found = solution.violation.as_ref();
            assert_eq!(
                found.map(|found| found.violated_at),
                expected,
                "seed {seed}"
            );
            if let Some(violation) = found {
                assert_eq!(violation.refute(&problem), None, "seed {seed}");
                assert!(violation.is_shortest, "seed {seed}");
            }
        }
    }
    assert!(engines.iter().all(|&count| count > 500), "{engines:?}");
}
