//! Every interleaving of a program, unlocks as steps of their own, and the classes of these from the definition: two runs are
//! equivalent if the same events come after the same.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    program::Program,
    state::{Looks, Next, State, Step},
};

/// A class of equivalent runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Class {
    /// For each event, in order of threads: how many events of each thread it comes after, itself included.
    pub(crate) rows: Vec<(usize, Vec<u16>)>,
    /// For each thread: whom it notified, where there were several.
    pub(crate) choices: Vec<Vec<u32>>,
    /// For each thread: what it knows in the end; nothing if it never gets there.
    pub(crate) ends: Vec<Option<u32>>,
}

/// What there is to be found.
pub(crate) struct Expected {
    /// All classes, and whether they end in a deadlock.
    pub(crate) classes: BTreeMap<Class, bool>,
    /// In which orders threads write variables.
    pub(crate) orders: BTreeSet<Vec<usize>>,
    pub(crate) interleavings: usize,
}

struct Search<'a> {
    program: &'a Program,
    looks: Looks,
    found: Looks,
    expected: Expected,
    most: usize,
    /// The steps so far, and for each of them those that it comes after, itself included.
    run: Vec<(usize, Step)>,
    past: Vec<u64>,
}

/// All classes; `None` if there are too many interleavings.
pub(crate) fn enumerate(program: &Program, most: usize) -> Option<Expected> {
    let mut looks = Looks::default();
    loop {
        let mut search = Search {
            program,
            looks,
            found: looks,
            expected: Expected {
                classes: BTreeMap::new(),
                orders: BTreeSet::new(),
                interleavings: 0,
            },
            most,
            run: Vec::new(),
            past: Vec::new(),
        };
        search.all(&State::new(program)).then_some(())?;
        if search.found == looks {
            return Some(search.expected);
        }
        looks = search.found;
    }
}

impl Search<'_> {
    /// Whether it was not too much.
    fn all(&mut self, state: &State) -> bool {
        let mut waits = false;
        let mut went_on = false;
        for thread in 0..self.program.threads.len() {
            let now = self.run.len();
            match state.next(self.program, self.looks, &mut self.found, thread, now) {
                Next::Ended => {}
                Next::Waits => waits = true,
                Next::Can(steps) => {
                    went_on = true;
                    for (next, step) in steps {
                        self.push(thread, step);
                        let more = self.all(&next);
                        self.run.pop();
                        self.past.pop();
                        if !more {
                            return false;
                        }
                    }
                }
            }
        }
        if !went_on {
            self.expected.interleavings += 1;
            let class = self.class(state);
            self.expected.classes.insert(class, waits);
            let writes = self.run.iter().filter(|(_, step)| step.writes);
            self.expected
                .orders
                .insert(writes.map(|(by, _)| *by).collect());
        }
        self.expected.interleavings <= self.most
    }

    fn push(&mut self, thread: usize, step: Step) {
        let now = self.run.len();
        assert!(now < 64, "a run has too many steps");
        let mut past = 1 << now;
        for (earlier, (by, other)) in self.run.iter().enumerate() {
            if *by == thread || step.conflicts(other) || step.after.contains(&earlier) {
                past |= self.past[earlier];
            }
        }
        self.run.push((thread, step));
        self.past.push(past);
    }

    fn class(&self, state: &State) -> Class {
        let run = &self.run;
        let mut rows = Vec::new();
        for thread in 0..self.program.threads.len() {
            for (number, (by, step)) in run.iter().enumerate() {
                if *by != thread || !step.counts {
                    continue;
                }
                let mut row = vec![0; self.program.threads.len()];
                for (other, (by, step)) in run.iter().enumerate() {
                    if self.past[number] >> other & 1 != 0 && step.counts {
                        row[*by] += 1;
                    }
                }
                rows.push((thread, row));
            }
        }
        Class {
            rows,
            choices: state.choices(),
            ends: state.ends(self.program),
        }
    }
}
