//! The gate of raw locks, under the model checker.

use std::sync::{
    Arc,
    atomic::{AtomicU64 as PlainNumber, Ordering::SeqCst},
};

use loom::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    thread,
};

use crate::{Mutation, explore, gate::Gate, primitive::made};

/// What the threads of a small program do with a gate; one who sleeps for ever is a deadlock, which loom finds.
#[derive(Clone, Copy)]
enum Visit {
    Exclusive,
    Shared,
    Downgraded,
}

const VISITS: [&[&[Visit]]; 5] = [
    &[&[Visit::Exclusive], &[Visit::Exclusive]],
    &[&[Visit::Exclusive, Visit::Exclusive], &[Visit::Shared]],
    &[&[Visit::Downgraded], &[Visit::Exclusive]],
    &[&[Visit::Downgraded], &[Visit::Shared]],
    &[&[Visit::Exclusive], &[Visit::Shared], &[Visit::Exclusive]],
];

/// A gate, and what only it protects.
struct Gated {
    gate: Gate,
    /// How often somebody had it alone, twice.
    writes: [AtomicU64; 2],
    /// How often somebody shared it, and the same as it really is.
    reads: AtomicU64,
    really: PlainNumber,
}

impl Gated {
    fn visit(&self, visit: Visit) {
        let Gated { gate, writes, .. } = self;
        if let Visit::Shared = visit {
            gate.shared();
            return self.leave_shared();
        }
        gate.exclusive();
        assert!(
            self.reads.load(Relaxed) >= self.really.load(SeqCst),
            "a reader was overtaken"
        );
        for one in writes {
            one.store(one.load(Relaxed) + 1, Relaxed);
        }
        if let Visit::Downgraded = visit {
            gate.downgrade();
            self.leave_shared();
        } else {
            gate.leave_exclusive();
        }
    }

    fn leave_shared(&self) {
        let [one, two] = &self.writes;
        assert_eq!(one.load(Relaxed), two.load(Relaxed));
        self.reads.fetch_add(1, Relaxed);
        self.really.fetch_add(1, SeqCst);
        self.gate.leave_shared();
    }
}

/// Nobody is inside with one who is exclusive, and all see what was done before they came in.
pub(crate) fn gates(_: Mutation) {
    for program in VISITS {
        explore(move || {
            let gated = Arc::new(Gated {
                gate: made(Gate::new()),
                writes: [AtomicU64::new(0), AtomicU64::new(0)],
                reads: AtomicU64::new(0),
                really: PlainNumber::new(0),
            });
            let threads: Vec<_> = program
                .iter()
                .map(|visits| {
                    let gated = Arc::clone(&gated);
                    thread::spawn(move || visits.iter().for_each(|visit| gated.visit(*visit)))
                })
                .collect();
            threads
                .into_iter()
                .for_each(|thread| thread.join().unwrap());
            let visits = program.iter().flat_map(|visits| visits.iter());
            let writes = visits
                .filter(|visit| !matches!(visit, Visit::Shared))
                .count();
            assert_eq!(
                gated.writes[0].load(Relaxed),
                writes as u64,
                "no write was lost"
            );
        });
    }
}
