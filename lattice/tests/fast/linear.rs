//! Where the observed run is said to speak for all, it does; and it is said often enough.

use crate::oracle::{Random, random_problem, shortest_violation};
use portent_lattice::{Answer, AutomatonShape, linear};

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
