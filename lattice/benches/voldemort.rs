//! The interval search on a real log with 20 threads and 864 lines, all of them in the poset.
//! Saturation is part of what is measured; parsing and the clocks are not. Enumeration passes 61
//! million cuts at level 39 of 864 and never ends.
//!
//! `cargo bench -p portent-lattice --bench voldemort`, two busy cores of a virtual machine:
//!
//! | question | time |
//! |---|---|
//! | precedence | 104 µs |
//! | absence after | 68 µs |
//! | four steps | 83 µs |
//! | no new start between | 68 µs |
//! | a, b, c, d, at random | 85 µs |
//! | a, b, no c, d, at random | 97 µs |
//! | between, at random | 163 µs |
//! | a b a c next to each other, at random | 348 µs |

#[path = "../tests/logs/mod.rs"]
mod logs;

use criterion::{Criterion, criterion_group, criterion_main};
use portent_lattice::laboratory::{AutomatonShape, interval};
use std::hint::black_box;

fn intervals(criterion: &mut Criterion) {
    let Some(log) = logs::questions::voldemort() else {
        return;
    };
    let questions = logs::questions::QUESTIONS
        .iter()
        .map(|(name, property)| ((*name).to_owned(), log.problem(property)));
    let shapes = logs::questions::SHAPES.iter().map(|(name, property)| {
        let problem = log.random_problem(property, 10);
        (format!("{name}, at random"), problem)
    });
    for (name, problem) in questions.chain(shapes) {
        criterion.bench_function(&name, |bencher| {
            bencher.iter(|| {
                let shape = AutomatonShape::new(&problem.automaton).expect("a table of a monitor");
                let saturated = shape.saturated.as_ref().expect("small");
                let actions = black_box(&problem.actions);
                interval::search(&problem.poset, actions, saturated, 1 << 20)
            });
        });
    }
}

criterion_group!(benches, intervals);
criterion_main!(benches);
