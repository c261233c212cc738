//! Conjunctive predicates against brute force over all cuts, for random trajectories and for real
//! properties whose conjunctions the monitor tells.

use super::posets::{Growing, levels};
use portent_lattice::laboratory::{
    Answer, EventIndex, Poset,
    conjunctive::{self, Trajectory},
};
use portent_monitor_core::ChainId;
use portent_monitor_dsl::{Monitor, Property, Value, Verdict};
use portent_testing::Rng;

/// A poset whose events write variables: for each variable its writes, with values, in order.
struct Writes {
    poset: Poset,
    initial: Vec<i64>,
    of_variable: Vec<Vec<(EventIndex, i64)>>,
}

impl Writes {
    fn random(rng: &mut Rng, variables: usize, values: usize) -> Writes {
        let width = 1 + rng.below(4);
        let mut growing = Growing::new(width);
        let mut of_variable: Vec<Vec<(EventIndex, i64)>> = vec![Vec::new(); variables];
        let events = rng.below(10);
        for _ in 0..events {
            // Mostly one variable, sometimes two, sometimes none.
            let count = [1, 1, 1, 2, 0][rng.below(5)].min(variables);
            let first = rng.below(variables);
            let written: Vec<usize> = (0..count).map(|i| (first + i) % variables).collect();
            // Writes of one variable are ordered as observed.
            let mut after: Vec<EventIndex> = written
                .iter()
                .filter_map(|&variable| of_variable[variable].last())
                .map(|&(event, _)| event)
                .collect();
            if rng.below(3) == 0 && !growing.poset.is_empty() {
                after.push(EventIndex(rng.below(growing.poset.len()) as u32));
            }
            let event = growing.push(ChainId::from(rng.below(width) as u32), &after);
            for variable in written {
                of_variable[variable].push((event, rng.below(values) as i64));
            }
        }
        Writes {
            poset: growing.poset,
            initial: (0..variables).map(|_| rng.below(values) as i64).collect(),
            of_variable,
        }
    }

    fn value(&self, variable: usize, cut: &[u32]) -> i64 {
        let inside = |event: EventIndex| {
            let chain = self.poset.chain_of(event).index();
            self.poset.clock(event)[chain] <= cut[chain]
        };
        let last = self.of_variable[variable]
            .iter()
            .rev()
            .find(|(event, _)| inside(*event));
        last.map_or(self.initial[variable], |&(_, value)| value)
    }

    fn trajectory(&self, variable: usize, holds: impl Fn(i64) -> bool) -> Trajectory {
        Trajectory {
            initially: holds(self.initial[variable]),
            writes: self.of_variable[variable]
                .iter()
                .map(|&(event, value)| (event, holds(value)))
                .collect(),
        }
    }

    /// The smallest number of events in a cut whose values are like that.
    fn least(&self, wanted: impl Fn(&[i64]) -> bool) -> Option<usize> {
        levels(&self.poset).iter().position(|level| {
            level.iter().any(|cut| {
                let values: Vec<i64> = (0..self.initial.len())
                    .map(|variable| self.value(variable, cut))
                    .collect();
                wanted(&values)
            })
        })
    }

    fn check(
        &self,
        answer: &Answer,
        expected: Option<usize>,
        wanted: impl Fn(&[i64]) -> bool,
        what: &str,
    ) {
        match (answer, expected) {
            (Answer::Safe, None) => {}
            (Answer::Violated(violation), Some(least)) => {
                assert_eq!(violation.violated_at, least, "{what}");
                let mut cut = vec![0; self.poset.width()];
                for (step, &event) in violation.run.iter().enumerate() {
                    let chain = self.poset.chain_of(event).index();
                    cut[chain] += 1;
                    let clock = self.poset.clock(event);
                    assert!(
                        clock.iter().zip(&cut).all(|(past, count)| past <= count),
                        "{what}"
                    );
                    if step + 1 == least {
                        let variables = 0..self.initial.len();
                        let values: Vec<i64> = variables.map(|v| self.value(v, &cut)).collect();
                        assert!(wanted(&values), "{what}");
                    }
                }
                assert_eq!(violation.run.len(), self.poset.len(), "{what}");
            }
            _ => panic!("{what}: {answer:?}, but expected {expected:?}"),
        }
    }
}

#[test]
fn agrees_with_brute_force() {
    let mut violated = 0;
    for seed in 0..20_000 {
        let rng = &mut Rng::new(seed);
        let variables = 1 + rng.below(4);
        let writes = Writes::random(rng, variables, 2);
        let answer = {
            let conjunction = (0..variables)
                .map(|variable| writes.trajectory(variable, |value| value == 1))
                .collect();
            conjunctive::search(&writes.poset, &[conjunction]).answer
        };
        let all = |values: &[i64]| values.iter().all(|&value| value == 1);
        let expected = writes.least(all);
        writes.check(&answer, expected, all, &format!("seed {seed}"));
        violated += usize::from(expected.is_some());
    }
    assert!((4_000..16_000).contains(&violated), "{violated}");
}

fn trajectories(monitor: &Monitor, writes: &Writes) -> Vec<Vec<Trajectory>> {
    let alphabet = monitor.alphabet();
    let conjunctions = monitor.conjunctions().expect("conjunctive");
    let trajectory = |local: &portent_monitor_dsl::shape::LocalCondition| {
        let variable = local.variable();
        let name = &alphabet.variables()[variable.index()].name;
        let number = ["x", "y", "z"]
            .iter()
            .position(|known| known == name)
            .unwrap();
        writes.trajectory(number, |value| {
            let values = vec![Value::Int(value); alphabet.variables().len()];
            local.holds(alphabet, alphabet.letter(None, &values))
        })
    };
    conjunctions
        .iter()
        .map(|conjunction| conjunction.locals().iter().map(trajectory).collect())
        .collect()
}

#[test]
fn agrees_with_brute_force_on_properties() {
    type Holds = fn(&[i64]) -> bool;
    let cases: [(&str, Holds); 4] = [
        ("always !(x > 1 && y > 1 && z == 0)", |v| {
            v[0] > 1 && v[1] > 1 && v[2] == 0
        }),
        ("always (x <= 1 || (y > 1 && z > 2))", |v| {
            v[0] > 1 && !(v[1] > 1 && v[2] > 2)
        }),
        ("always (x > 0 <-> (y > 0 <-> z != 3))", |v| {
            (v[0] > 0) != ((v[1] > 0) == (v[2] != 3))
        }),
        ("always historically (x == 1 -> (y != 1 && z < 2))", |v| {
            v[0] == 1 && !(v[1] != 1 && v[2] < 2)
        }),
    ];
    for (text, is_violated) in cases {
        let monitor = Property::parse(text).unwrap().monitor().unwrap();
        for seed in 0..2_000 {
            let writes = Writes::random(&mut Rng::new(seed), 3, 4);
            let answer =
                conjunctive::search(&writes.poset, &trajectories(&monitor, &writes)).answer;
            let expected = writes.least(is_violated);
            writes.check(
                &answer,
                expected,
                is_violated,
                &format!("{text}, seed {seed}"),
            );
        }
        let zero = monitor.start_with(|_| Some(Value::Int(0))).unwrap();
        let expected = is_violated(&[0, 0, 0]);
        assert_eq!(zero.verdict() == Verdict::Violated, expected, "{text}");
    }
}
