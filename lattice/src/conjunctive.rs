//! Conjunctive predicates: whether local conditions can hold together, without a lattice.
//!
//! After V. K. Garg and B. Waldecker, *Detection of weak unstable predicates in distributed
//! programs* (1994). All writes of one variable are ordered, so a variable is a sequence of
//! *stretches* between writes, and plays the part of a process there. Stretches of several
//! variables overlap in some cut iff none ends before another begins. So take for each variable the
//! first stretch where its condition holds; while one ends before another begins, it overlaps with
//! nothing that the other can still choose, and goes on to its next. What is left is
//! the *least* cut, so that the shortest violation is found. Cost O(variables² · writes).

use crate::{
    poset::{EventIndex, Poset},
    violation::{Answer, Violation},
};

/// How a condition on one variable changes along a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trajectory {
    /// Whether the condition holds initially.
    pub initially: bool,
    /// The events that write the variable, in their order, and whether the condition holds after
    /// each.
    pub writes: Vec<(EventIndex, bool)>,
}

/// Looks for a cut in which all conditions of one of the conjunctions hold.
///
/// ```
/// use portent_lattice::{Answer, Poset, conjunctive::{self, Trajectory}};
///
/// // Two threads raise and lower a flag each, one after the other as observed.
/// let mut poset = Poset::new(2);
/// let [up, down] = [1, 2].map(|count| poset.push(0, &[count, 0]));
/// let [other_up, other_down] = [1, 2].map(|count| poset.push(1, &[0, count]));
/// let flag = |up, down| Trajectory { initially: false, writes: vec![(up, true), (down, false)] };
///
/// let both = vec![flag(up, down), flag(other_up, other_down)];
/// let Answer::Violated(violation) = conjunctive::search(&poset, &[both]) else { unreachable!() };
/// assert_eq!(violation.run, [up, other_up, down, other_down]);
/// assert_eq!(violation.violated_at, 2);
/// ```
pub fn search(poset: &Poset, conjunctions: &[Vec<Trajectory>]) -> Answer {
    let size = |cut: &Vec<u32>| cut.iter().map(|&count| count as usize).sum::<usize>();
    let cuts = conjunctions.iter();
    let least = cuts
        .filter_map(|conjunction| least_cut(poset, conjunction))
        .min_by_key(size);
    let Some(cut) = least else {
        return Answer::Safe;
    };
    let events = (0..poset.len() as u32).map(EventIndex);
    let (mut run, rest): (Vec<_>, Vec<_>) = events.partition(|&event| {
        let chain = poset.chain_of(event);
        poset.clock(event)[chain] <= cut[chain]
    });
    run.extend(rest);
    Answer::Violated(Violation {
        run,
        violated_at: size(&cut),
        // Every cut where a conjunction holds contains the least one of that conjunction.
        is_shortest: true,
    })
}

/// The least cut in which all conditions hold.
fn least_cut(poset: &Poset, conjunction: &[Trajectory]) -> Option<Vec<u32>> {
    // The stretch of each variable: stretch 0 is before all writes, n begins with the n-th.
    let mut stretch = conjunction
        .iter()
        .map(|local| local.next_stretch(0))
        .collect::<Option<Vec<usize>>>()?;
    let mut changed: Vec<usize> = (0..conjunction.len()).collect();
    while let Some(one) = changed.pop() {
        let mut other = 0;
        while other < conjunction.len() {
            let ends_before = |first: usize, second: usize| {
                let end = conjunction[first].end(stretch[first]);
                let begin = conjunction[second].begin(stretch[second]);
                end.zip(begin)
                    .is_some_and(|(end, begin)| poset.precedes(end, begin))
            };
            if ends_before(one, other) {
                stretch[one] = conjunction[one].next_stretch(stretch[one] + 1)?;
                // What was compared before must be compared again.
                other = 0;
                continue;
            }
            if ends_before(other, one) {
                stretch[other] = conjunction[other].next_stretch(stretch[other] + 1)?;
                if !changed.contains(&other) {
                    changed.push(other);
                }
                continue;
            }
            other += 1;
        }
    }
    let mut cut = vec![0; poset.width()];
    for (local, &stretch) in conjunction.iter().zip(&stretch) {
        if let Some(begin) = local.begin(stretch) {
            for (count, &past) in cut.iter_mut().zip(poset.clock(begin)) {
                *count = (*count).max(past);
            }
        }
    }
    Some(cut)
}

impl Trajectory {
    /// The first stretch from `from` on in which the condition holds.
    fn next_stretch(&self, from: usize) -> Option<usize> {
        (from..=self.writes.len()).find(|&stretch| match stretch.checked_sub(1) {
            None => self.initially,
            Some(write) => self.writes[write].1,
        })
    }

    fn begin(&self, stretch: usize) -> Option<EventIndex> {
        stretch.checked_sub(1).map(|write| self.writes[write].0)
    }

    fn end(&self, stretch: usize) -> Option<EventIndex> {
        self.writes.get(stretch).map(|&(event, _)| event)
    }
}
