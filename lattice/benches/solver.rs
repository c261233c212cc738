//! Thousands of small posets: one [`Solver`] beside a [`solve`] for each.
//!
//! `cargo bench -p portent-lattice --bench solver` asks for an automaton of five states that no run violates, so that every cut
//! is looked at. On a machine of two cores that others use too, a poset took:
//!
//! | threads × events | one solver | and filling the poset | `solve` |
//! |---|---|---|---|
//! | 2 × 1 | 0.05 µs | 0.07 µs | 4.8 µs |
//! | 2 × 3 | 0.13 µs | 0.19 µs | 5.5 µs |
//! | 3 × 2 | 0.22 µs | 0.27 µs | 5.2 µs |
//! | 3 × 3 | 0.41 µs | 0.49 µs | 5.8 µs |
//! | 4 × 4 | 3.7 µs | 3.9 µs | 6.2 µs |

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use portent_lattice::{
    Counting, Options,
    laboratory::{ActionId, Automaton, Poset, Problem, Solver, StateIndex, solve},
};
use portent_monitor_core::ChainId;
use portent_monitor_dsl::Verdict;
use portent_testing::Rng;
use std::hint::black_box;

/// Five states: a step on with each action in turn, back to the first with any other; violated by an action that never comes.
fn automaton() -> Automaton {
    let (states, actions) = (5, 5);
    let next = (0..states * actions).map(|place| {
        let (state, action) = (place / actions, place % actions);
        StateIndex(match (state, action) {
            (4, _) | (3, 4) => 4,
            (state, action) if action == state => state + 1,
            (_, 3) => 0,
            (state, _) => state,
        })
    });
    let mut verdicts = vec![Verdict::Ok; states as usize];
    verdicts[4] = Verdict::Violated;
    Automaton {
        initial: StateIndex(0),
        actions: actions as usize,
        next: next.collect(),
        verdicts,
    }
}

/// Threads that now and then learn of each other.
fn posets(threads: usize, each: usize) -> Vec<Problem> {
    let mut rng = Rng::new(42);
    (0..64)
        .map(|_| {
            let mut poset = Poset::new(threads);
            let mut clocks = vec![vec![0; threads]; threads];
            let mut actions = Vec::new();
            for _ in 0..each {
                for chain in ChainId::first(threads) {
                    if rng.one_in(4) {
                        let other = clocks[rng.below(threads)].clone();
                        let own = clocks[chain.index()].iter_mut();
                        own.zip(other)
                            .for_each(|(own, other)| *own = other.max(*own));
                    }
                    clocks[chain.index()][chain.index()] += 1;
                    poset.push(chain, &clocks[chain.index()]);
                    actions.push(ActionId(rng.below(3) as u32));
                }
            }
            Problem {
                poset,
                actions,
                automaton: automaton(),
            }
        })
        .collect()
}

fn small(criterion: &mut Criterion) {
    for (threads, each) in [(2, 1), (2, 3), (3, 2), (3, 3), (4, 4)] {
        let problems = posets(threads, each);
        let mut group = criterion.benchmark_group("64 posets");
        let size = format!("{threads} x {each}");
        group.bench_function(BenchmarkId::new("solver", &size), |bencher| {
            let mut solver = Solver::new(automaton(), Options::default());
            bencher.iter(|| {
                for problem in &problems {
                    black_box(solver.solve(&problem.poset, &problem.actions));
                }
            });
        });
        group.bench_function(
            BenchmarkId::new("solver, posets filled too", &size),
            |bencher| {
                let mut solver = Solver::new(automaton(), Options::default());
                let mut poset = Poset::new(0);
                bencher.iter(|| {
                    for problem in &problems {
                        poset.clear(problem.poset.width());
                        for event in problem.poset.events() {
                            poset.push(problem.poset.chain_of(event), problem.poset.clock(event));
                        }
                        black_box(solver.solve(&poset, &problem.actions));
                    }
                });
            },
        );
        group.bench_function(BenchmarkId::new("solve", &size), |bencher| {
            let options = Options::default().counting(Counting::Never);
            bencher.iter(|| {
                for problem in &problems {
                    black_box(solve(problem, &options));
                }
            });
        });
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(30);
    targets = small
}
criterion_main!(benches);
