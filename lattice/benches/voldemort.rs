//! The interval search on a real log with 20 threads and 864 lines, all of them in the poset.

#[path = "../tests/fast/logs.rs"]
mod logs;

use criterion::{Criterion, criterion_group, criterion_main};
use portent_lattice::{Shape, interval};
use std::hint::black_box;

fn intervals(criterion: &mut Criterion) {
    let Some(log) = logs::voldemort() else {
        return;
    };
    let questions = logs::QUESTIONS
        .iter()
        .map(|(name, property)| ((*name).to_owned(), log.problem(property)));
    let shapes = logs::SHAPES.iter().map(|(name, property)| {
        let problem = log.random_problem(property, 10, false);
        (format!("{name} (safe)"), problem)
    });
    for (name, problem) in questions.chain(shapes) {
        criterion.bench_function(&name, |bencher| {
            bencher.iter(|| {
                let shape = Shape::new(&problem.automaton).expect("a table of a monitor");
                let saturated = shape.saturated.as_ref().expect("small");
                let actions = black_box(&problem.actions);
                interval::search(&problem.poset, actions, saturated, 1 << 20)
            });
        });
    }
}

criterion_group!(benches, intervals);
criterion_main!(benches);
