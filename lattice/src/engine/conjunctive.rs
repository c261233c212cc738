//! Conjunctive predicates: whether local conditions can hold together, without a lattice.
//!
//! After V. K. Garg and B. Waldecker, *Detection of weak unstable predicates in distributed
//! programs* (1994). All writes of one variable are ordered, so a variable is a sequence of
//! *stretches* between writes, and plays the part of a process there. Stretches of several
//! variables overlap in some cut iff none ends before another begins. So take for each variable the
//! first stretch where its condition holds; while one ends before another begins, it cannot overlap with
//! any later choice of the other, so it is replaced by the variable's next stretch. The result is
//! the *least* cut, so the shortest violation is found. Cost O(variables² · writes).

use portent_monitor_dsl::shape::LocalCondition;

use crate::{
    engine::{Answer, Searched, Violation},
    intake::{Record, Slice},
    order::{EventIndex, Poset},
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
/// use portent_lattice::laboratory::{Answer, Poset, conjunctive::{self, Trajectory}};
/// use portent_monitor_core::ChainId;
///
/// // Two threads raise and lower a flag each, one after the other as observed.
/// let mut poset = Poset::new(2);
/// let [up, down] = [1, 2].map(|count| poset.push(ChainId::from(0), &[count, 0]));
/// let [other_up, other_down] = [1, 2].map(|count| poset.push(ChainId::from(1), &[0, count]));
/// let flag = |up, down| Trajectory { initially: false, writes: vec![(up, true), (down, false)] };
///
/// let both = vec![flag(up, down), flag(other_up, other_down)];
/// let Answer::Violated(violation) = conjunctive::search(&poset, &[both]).answer else { unreachable!() };
/// assert_eq!(violation.run, [up, other_up, down, other_down]);
/// assert_eq!(violation.violated_at, 2);
/// ```
pub fn search(poset: &Poset, conjunctions: &[Vec<Trajectory>]) -> Searched {
    let size = |cut: &Vec<u32>| cut.iter().map(|&count| count as usize).sum::<usize>();
    let mut stretches = 0;
    let least = conjunctions
        .iter()
        .filter_map(|conjunction| {
            let mut overlap = Overlap::new(poset, conjunction);
            let cut = overlap.least_cut();
            stretches += overlap.looked_at;
            cut
        })
        .min_by_key(size);
    let Some(cut) = least else {
        return Searched::in_full(Answer::Safe, stretches);
    };
    let events = (0..poset.len() as u32).map(EventIndex);
    let (mut run, rest): (Vec<_>, Vec<_>) = events.partition(|&event| {
        let chain = poset.chain_of(event).index();
        poset.clock(event)[chain] <= cut[chain]
    });
    run.extend(rest);
    let violation = Violation {
        run,
        violated_at: size(&cut),
        // Every cut where a conjunction holds contains the least one of that conjunction.
        is_shortest: true,
    };
    Searched::in_full(Answer::Violated(violation), stretches)
}

/// The search for the first stretches of all variables that overlap.
struct Overlap<'a> {
    poset: &'a Poset,
    conjunction: &'a [Trajectory],
    /// The stretch of each variable: stretch 0 is before all writes, n begins with the n-th.
    stretches: Vec<usize>,
    /// The number of stretches chosen.
    looked_at: usize,
}

impl<'a> Overlap<'a> {
    fn new(poset: &'a Poset, conjunction: &'a [Trajectory]) -> Self {
        Overlap {
            poset,
            conjunction,
            stretches: vec![0; conjunction.len()],
            looked_at: 0,
        }
    }

    /// The least cut in which all conditions hold.
    fn least_cut(&mut self) -> Option<Vec<u32>> {
        for variable in 0..self.conjunction.len() {
            self.choose(variable, 0)?;
        }
        let mut changed: Vec<usize> = (0..self.conjunction.len()).collect();
        while let Some(one) = changed.pop() {
            let mut other = 0;
            while other < self.conjunction.len() {
                if self.ends_before(one, other) {
                    self.choose(one, self.stretches[one] + 1)?;
                    // Earlier comparisons must be repeated.
                    other = 0;
                } else if self.ends_before(other, one) {
                    self.choose(other, self.stretches[other] + 1)?;
                    if !changed.contains(&other) {
                        changed.push(other);
                    }
                } else {
                    other += 1;
                }
            }
        }
        let mut cut = vec![0; self.poset.width()];
        for (local, &stretch) in self.conjunction.iter().zip(&self.stretches) {
            if let Some(begin) = local.begin(stretch) {
                for (count, &past) in cut.iter_mut().zip(self.poset.clock(begin)) {
                    *count = (*count).max(past);
                }
            }
        }
        Some(cut)
    }

    /// Advances to the first stretch from `from` on in which the condition holds.
    fn choose(&mut self, variable: usize, from: usize) -> Option<()> {
        self.looked_at += 1;
        self.stretches[variable] = self.conjunction[variable].next_stretch(from)?;
        Some(())
    }

    fn ends_before(&self, first: usize, second: usize) -> bool {
        let end = self.conjunction[first].end(self.stretches[first]);
        let begin = self.conjunction[second].begin(self.stretches[second]);
        end.zip(begin)
            .is_some_and(|(end, begin)| self.poset.precedes(end, begin))
    }
}

/// How the conditions change whose conjunctions violate an instance of a property; `None` if the property is not of that kind,
/// or if two writes of a variable are concurrent (a variable that is read out of texts has no conflicts that order them).
pub(crate) fn trajectories(
    record: &Record<'_>,
    slice: &Slice,
    poset: &Poset,
) -> Option<Vec<Vec<Trajectory>>> {
    let trajectory = |local: &LocalCondition| {
        let alphabet = record.viewer.monitor().alphabet();
        let mut values = record.viewer.initial().to_vec();
        let mut trajectory = Trajectory {
            initially: local.holds(alphabet, alphabet.letter(None, &values)),
            writes: Vec::new(),
        };
        let variable = local.variable();
        for (event, &step) in slice.steps.iter().enumerate() {
            let writes = slice.step(record, step).writes.iter();
            let Some((_, value)) = writes.rev().find(|(written, _)| *written == variable) else {
                continue;
            };
            let event = EventIndex(event as u32);
            let last = trajectory.writes.last();
            if last.is_some_and(|&(last, _)| !poset.precedes(last, event)) {
                return None;
            }
            values[variable.index()] = value.clone();
            let holds = local.holds(alphabet, alphabet.letter(None, &values));
            trajectory.writes.push((event, holds));
        }
        Some(trajectory)
    };
    let conjunctions = record.viewer.conjunctions()?.iter();
    conjunctions
        .map(|conjunction| conjunction.locals().iter().map(trajectory).collect())
        .collect()
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
