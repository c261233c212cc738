//! Long runs: what becomes possible late is still predicted, and what was left out is said.

use portent_lattice::{Limit, Options, Watch};
use portent_monitor_core::{Event, Op};
use portent_testing::Rng;

use super::{Program, monitor};
use crate::zero;

const STEPS: usize = 100_000;

#[test]
fn a_property_that_alternates_for_ever_is_still_predicted_late() {
    for threads in [4, 16] {
        let parity = monitor("property p { event a, b, d  never: (b* a b* a)* b* d }");
        let mut watch = Watch::new([parity], zero, Options::default()).expect("no variables");
        let mut program = Program::new(threads);
        for child in 1..threads {
            let fork = Event::new(program.threads[0], Op::Fork(program.threads[child]));
            program.tell(&mut watch, &fork);
        }
        let mut rng = Rng::new(5);
        let mut is_even = true;
        let mut take = |program: &mut Program, thread: usize, name: &str| {
            let event = program.event(thread, name, &[]);
            program.tell(&mut watch, &event)
        };
        for _ in 0..STEPS {
            let (thread, name) = (rng.below(threads), rng.pick(&["a", "b", "b", "b"]));
            is_even ^= name == "a";
            assert_eq!(take(&mut program, thread, name), []);
        }
        if !is_even {
            assert_eq!(take(&mut program, 0, "a"), []);
        }
        // The d could have come before this a.
        assert_eq!(take(&mut program, 0, "a"), []);
        let found = take(&mut program, 1, "d");
        assert_eq!(found.len(), 1, "{threads} threads");
        assert!(found[0].predicted.witness.is_some());
        let report = watch.finish("long").expect("a report");
        let lattice = &report.properties[0].lattice;
        assert_eq!(lattice.limit, Some(Limit::Nodes));
        assert!(!lattice.exhaustive && lattice.dropped > 0);
    }
}
