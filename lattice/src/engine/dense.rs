//! Many small lattices of one automaton in sequence: a set of states for each cut, by the cut's number.
//!
//! With a few threads and a few events each, the search takes less time than its setup. So whatever depends on the automaton is
//! With a few threads and a few events each, the search takes less time than its setup. So everything that depends on the
//! automaton is computed once, and memory is kept between searches. A cut is a number whose digits say how far each chain has
//! come; all cuts before it have smaller numbers, so one pass over an array reaches all states of all cuts. Eight counts fit in
//! a word, and one subtraction compares them all with what an event needs.

use portent_monitor_core::ChainId;
use portent_monitor_dsl::Verdict;

use super::{Answer, Violation};
use crate::{
    automaton::{ActionId, Automaton, StateIndex},
    goal::Goal,
    order::{EventIndex, Poset},
};

/// Each state of the automaton takes one bit.
const MOST_STATES: usize = u64::BITS as usize;
/// For automata of at most this many states, a table maps each set of states and action to the resulting set.
const FEW_STATES: usize = 8;
/// Each chain with events takes one byte of a cut.
const MOST_CHAINS: usize = 8;
/// A requirement that no chain ever meets, because a chain never has this many events.
const NEVER: u64 = 0x7f;
/// Beyond this many cuts it pays to examine fewer of them, as the other engines do.
const MOST_CUTS: usize = 1024;
/// The highest bit of every byte.
const HIGH: u64 = 0x8080_8080_8080_8080;

/// The automaton that the events of many small posets act on, with memory for examining one of them.
#[derive(Clone, Debug)]
pub(crate) struct DenseSearch {
    steps: Steps,
    lanes: Vec<Lane>,
    /// For each lane, the event that follows each count; the last entry is an event that never happens.
    next: Vec<Next>,
    /// For each cut, the states that some run can have there.
    sets: Vec<u64>,
}

/// A chain that has events.
#[derive(Clone, Copy, Debug)]
struct Lane {
    chain: ChainId,
    /// The position of its count in a cut: this many bits from the right.
    shift: u32,
    events: u64,
    /// How much an event increases the number of a cut.
    stride: usize,
    /// The start of its events in the list of next events.
    begin: usize,
}

#[derive(Clone, Copy, Debug)]
struct Next {
    /// How many events of each lane it needs.
    needs: u64,
    action: ActionId,
}

impl Lane {
    /// The position of the chain.
    #[inline]
    fn count(&self, cut: u64) -> u64 {
        cut >> self.shift & 0xff
    }
}

impl Next {
    #[inline]
    fn can_follow(self, cut: u64) -> bool {
        // A byte that is too small loses its highest bit, and borrows nothing from its neighbours.
        ((cut | HIGH) - self.needs) & HIGH == HIGH
    }
}

/// A cut where some run is violated.
#[derive(Clone, Copy, Debug)]
struct Place {
    cut: u64,
    number: usize,
    length: usize,
    state: u64,
}

impl DenseSearch {
    /// A search of posets whose events act on this automaton; `None` if it has too many states.
    pub(crate) fn new(automaton: &Automaton, goal: Goal) -> Option<DenseSearch> {
        Some(DenseSearch {
            steps: Steps::new(automaton, goal)?,
            lanes: Vec::new(),
            next: Vec::new(),
            sets: Vec::new(),
        })
    }

    /// Whether some run is violated, with a shortest one; `None` if there are too many cuts.
    pub(crate) fn search(&mut self, poset: &Poset, actions: &[ActionId]) -> Option<Answer> {
        let cuts = self.lay_out(poset)?;
        self.list_next(poset, actions);
        Some(match self.soonest(cuts) {
            Some(place) => Answer::Violated(self.violation(poset, place)),
            None => Answer::Safe,
        })
    }

    /// Gives each chain with events its place; returns the number of cuts, including those that causality excludes.
    fn lay_out(&mut self, poset: &Poset) -> Option<usize> {
        self.lanes.clear();
        let (mut cuts, mut begin) = (1, 0);
        for chain in poset.chains() {
            let events = poset.chain(chain).len();
            if events == 0 {
                continue;
            }
            if self.lanes.len() == MOST_CHAINS || events >= NEVER as usize {
                return None;
            }
            self.lanes.push(Lane {
                chain,
                shift: 8 * self.lanes.len() as u32,
                events: events as u64,
                stride: cuts,
                begin,
            });
            begin += events + 1;
            cuts *= events + 1;
            if cuts > MOST_CUTS {
                return None;
            }
        }
        Some(cuts)
    }

    fn list_next(&mut self, poset: &Poset, actions: &[ActionId]) {
        self.next.clear();
        for own in &self.lanes {
            for &event in poset.chain(own.chain) {
                let clock = poset.clock(event);
                let counts = self.lanes.iter().map(|lane| {
                    let count = u64::from(clock[lane.chain.index()]);
                    count << lane.shift
                });
                self.next.push(Next {
                    // A clock counts the event itself.
                    needs: counts.sum::<u64>() - (1 << own.shift),
                    action: actions[event.index()],
                });
            }
            self.next.push(Next {
                needs: NEVER,
                action: ActionId(0),
            });
        }
    }

    /// The place of the soonest violated run. Afterwards the states of all cuts with fewer events are known.
    fn soonest(&mut self, cuts: usize) -> Option<Place> {
        let steps = &self.steps;
        self.sets.clear();
        self.sets.resize(cuts, 0);
        self.sets[0] = steps.initial;
        let mut soonest: Option<Place> = None;
        let (mut cut, mut length) = (0u64, 0);
        for number in 0..cuts {
            let set = self.sets[number];
            let is_sooner = soonest.is_none_or(|place| length < place.length);
            if set != 0 && is_sooner {
                let mut violated = set & steps.bad;
                if number + 1 == cuts {
                    violated |= set & steps.bad_at_end;
                }
                if violated != 0 {
                    soonest = Some(Place {
                        cut,
                        number,
                        length,
                        state: violated & violated.wrapping_neg(),
                    });
                } else {
                    for lane in &self.lanes {
                        let next = self.next[lane.begin + lane.count(cut) as usize];
                        if next.can_follow(cut) {
                            self.sets[number + lane.stride] |= steps.step(set, next.action);
                        }
                    }
                }
            }
            // The next number: the first digit not at its maximum is incremented, and those before it are reset.
            for lane in &self.lanes {
                if lane.count(cut) < lane.events {
                    cut += 1 << lane.shift;
                    length += 1;
                    break;
                }
                cut -= lane.events << lane.shift;
                length -= lane.events as usize;
            }
        }
        soonest
    }

    /// A run to that place, reconstructed backwards.
    fn violation(&self, poset: &Poset, place: Place) -> Violation {
        let mut run = Vec::with_capacity(poset.len());
        let Place {
            mut cut,
            mut number,
            mut state,
            length,
        } = place;
        for _ in 0..length {
            let (event, before, lane) = { self.lanes.iter() }
                .filter(|lane| lane.count(cut) > 0)
                .find_map(|lane| {
                    let earlier = cut - (1 << lane.shift);
                    let count = lane.count(earlier) as usize;
                    let next = self.next[lane.begin + count];
                    if !next.can_follow(earlier) {
                        return None;
                    }
                    let mut states = ones(self.sets[number - lane.stride]);
                    let before =
                        states.find(|&before| self.steps.step(before, next.action) & state != 0)?;
                    Some((poset.chain(lane.chain)[count], before, lane))
                })
                .expect("what was reached was reached from somewhere");
            run.push(event);
            cut -= 1 << lane.shift;
            number -= lane.stride;
            state = before;
        }
        run.reverse();
        // All other events, in observed order.
        let is_left = |event: &EventIndex| {
            let lane = self
                .lanes
                .iter()
                .find(|lane| lane.chain == poset.chain_of(*event));
            let done = lane.map_or(0, |lane| lane.count(place.cut));
            u64::from(poset.clock(*event)[poset.chain_of(*event).index()]) > done
        };
        run.extend(poset.events().filter(is_left));
        Violation {
            run,
            violated_at: length,
            is_shortest: true,
        }
    }
}

/// The singletons whose union a set is.
fn ones(mut set: u64) -> impl Iterator<Item = u64> {
    std::iter::from_fn(move || {
        let one = set & set.wrapping_neg();
        set ^= one;
        (one != 0).then_some(one)
    })
}

/// The automaton, on sets of states.
#[derive(Clone, Debug)]
struct Steps {
    initial: u64,
    /// States that violate wherever they are reached.
    bad: u64,
    /// States that violate at the end of the run.
    bad_at_end: u64,
    /// For each action, the successors of each set of states, or of each state if there are many.
    table: Vec<u64>,
    /// The start of an action in the table: its number shifted left by this.
    shift: u32,
    by_set: bool,
}

impl Steps {
    fn new(automaton: &Automaton, goal: Goal) -> Option<Steps> {
        let (smaller, numbers) = goal.automaton(automaton);
        let states = smaller.verdicts.len();
        if states > MOST_STATES {
            return None;
        }
        let with = |is_bad: &dyn Fn(Verdict) -> bool| {
            let bits = (0..states).map(|state| u64::from(is_bad(smaller.verdicts[state])) << state);
            bits.sum::<u64>()
        };
        let bad = with(&|verdict| goal.is_bad(verdict, false));
        let bad_at_end = with(&|verdict| goal.is_bad(verdict, true));
        let step = |state: usize, action: usize| {
            smaller
                .step(StateIndex(state as u32), ActionId(action as u32))
                .index()
        };
        let live = live(states, smaller.actions, bad | bad_at_end, step);
        let by_set = states <= FEW_STATES;
        let shift = if by_set {
            states as u32
        } else {
            MOST_STATES.ilog2()
        };
        let mut table = vec![0; numbers.len() << shift];
        for (action, number) in numbers.iter().enumerate() {
            let row = &mut table[action << shift..][..1 << shift];
            for (place, after) in row.iter_mut().enumerate() {
                let set = if by_set { place as u64 } else { 1 << place };
                for state in (0..states).filter(|state| set >> state & 1 == 1) {
                    *after |= live & 1 << step(state, number.index());
                }
            }
        }
        Some(Steps {
            initial: live & 1 << smaller.initial.index(),
            bad,
            bad_at_end,
            table,
            shift,
            by_set,
        })
    }

    #[inline]
    fn step(&self, set: u64, action: ActionId) -> u64 {
        let row = action.index() << self.shift;
        if self.by_set {
            return self.table[row + set as usize];
        }
        ones(set).fold(0, |after, state| {
            after | self.table[row + state.trailing_zeros() as usize]
        })
    }
}

/// The states from which one of these can be reached.
fn live(states: usize, actions: usize, bad: u64, step: impl Fn(usize, usize) -> usize) -> u64 {
    let mut live = bad;
    loop {
        let leads_there = |state: &usize| (0..actions).any(|a| live >> step(*state, a) & 1 == 1);
        let more = (0..states)
            .filter(leads_there)
            .fold(live, |live, state| live | 1 << state);
        if more == live {
            return live;
        }
        live = more;
    }
}
