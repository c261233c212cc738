//! Counters, by one maximum flow.
//!
//! If the automaton counts (`counter`), a run is violated if the effects of some contiguous steps add up to the bound, with no
//! step in between that resets the counter. Steps can be made contiguous if they lie between two cuts, C below D. So the
//! question is whether there are two such cuts with enough between them, and that is a heaviest closed set (`network`): each
//! event has one node for being in C and one for being in D; both sets contain the past of their members, C is part of D, a
//! step that resets the counter is in C if it is in D; and the events in D but not in C count.
//!
//! After C. Chase and V. Garg, *Detection of Global Predicates: Techniques and their Limitations* (1998), where the sum of local variables
//! is maximised by a flow. Polynomial, where intervals need in the order of Tᵏ nodes for a bound of k with T threads. The
//! weak point is that the violation need not be a shortest one.

mod counter;
mod network;

use self::{
    counter::{Counter, Effect},
    network::{Heaviest, Network},
};
use super::{Answer, Searched, Violation};
use crate::{
    automaton::{ActionId, Automaton},
    order::{EventIndex, Poset, covered},
    stop::Stop,
};

/// Roughly the largest number of edges to examine.
const MOST_EDGES: u64 = 1 << 31;
/// The bytes that an event takes, for each chain that it may wait for.
const EVENT_BYTES: u64 = 160;

/// Looks for a violated run, if the automaton is minimal and counts; `None` if it does not count, or if the
/// network does not fit in this many bytes.
///
/// ```
/// use portent_lattice::{Stop, laboratory::{ActionId, Answer, Automaton, Poset, StateIndex, flow}};
/// use portent_monitor_core::ChainId;
/// use portent_monitor_dsl::Verdict;
///
/// // Action 0 enters, action 1 leaves; two inside at once are a violation.
/// let automaton = Automaton {
///     initial: StateIndex(0),
///     actions: 2,
///     next: [1, 0, 2, 0, 2, 2].map(StateIndex).to_vec(),
///     verdicts: vec![Verdict::Ok, Verdict::Ok, Verdict::Violated],
/// };
/// // One thread was in and out before the other; nothing orders them.
/// let mut poset = Poset::new(2);
/// for (chain, clock) in [(0, [1, 0]), (0, [2, 0]), (1, [0, 1]), (1, [0, 2])] {
///     poset.push(ChainId::from(chain), &clock);
/// }
/// let actions = [0, 1, 0, 1].map(ActionId);
/// let found = flow::search(&poset, &actions, &automaton, 1 << 20, &Stop::default());
/// let Answer::Violated(violation) = found.expect("it counts").answer else { unreachable!() };
/// assert_eq!(violation.violated_at, 2);
/// ```
pub fn search(
    poset: &Poset,
    actions: &[ActionId],
    automaton: &Automaton,
    memory: u64,
    stop: &Stop,
) -> Option<Searched> {
    let counter = Counter::new(automaton)?;
    let effect = |event: EventIndex| counter.effects[actions[event.index()].0 as usize];
    let counting: Vec<EventIndex> = poset
        .events()
        .filter(|&event| effect(event) != Effect::Add(0))
        .collect();
    if counting.len() as u64 * EVENT_BYTES > memory {
        return None;
    }
    let part = Poset::restricted(counting.iter().map(|&event| poset.origin(event)));
    let effects: Vec<Effect> = counting.iter().map(|&event| effect(event)).collect();
    let mut network = network(&part, &effects, counter.initial);
    let enough = u64::from(counter.bound);
    let answer = match network.heaviest(enough, MOST_EDGES, stop) {
        Heaviest::Lighter => Answer::Safe,
        Heaviest::GaveUp => Answer::GaveUp,
        Heaviest::Closed(members) => {
            let between = |event: usize| members[upper(event)] && !members[lower(event)];
            let chosen = (0..counting.len()).filter(|&event| between(event));
            let chosen: Vec<EventIndex> = chosen.map(|event| counting[event]).collect();
            let below = (0..counting.len()).filter(|&event| members[lower(event)]);
            let below: Vec<EventIndex> = below.map(|event| counting[event]).collect();
            Answer::Violated(run(poset, actions, automaton, &below, &chosen))
        }
    };
    Some(Searched::in_full(answer, counting.len()))
}

/// The node for being in the lower cut.
fn lower(event: usize) -> usize {
    2 * event
}

/// The node for being in the upper cut.
fn upper(event: usize) -> usize {
    2 * event + 1
}

/// The network of the events, which all have an effect. The initial count is represented by one more event before all others.
fn network(poset: &Poset, effects: &[Effect], initial: u32) -> Network {
    let start = effects.len();
    let mut network = Network::new(2 * (start + 1));
    let effects = effects
        .iter()
        .copied()
        .chain([Effect::Add(i64::from(initial))]);
    for (event, effect) in effects.enumerate() {
        network.require(lower(event), upper(event));
        match effect {
            Effect::Add(number) => {
                network.weigh(upper(event), number);
                network.weigh(lower(event), -number);
            }
            Effect::Reset => network.require(upper(event), lower(event)),
        }
    }
    for event in poset.events() {
        let before = covered(poset, event);
        let first = before.is_empty().then_some(start);
        for other in before.iter().map(|event| event.index()).chain(first) {
            network.require(lower(event.index()), lower(other));
            network.require(upper(event.index()), upper(other));
        }
    }
    network
}

/// The run through two cuts, each given by events whose pasts make up the cut: the rest of the run comes after
/// them in observed order.
fn run(
    poset: &Poset,
    actions: &[ActionId],
    automaton: &Automaton,
    below: &[EventIndex],
    chosen: &[EventIndex],
) -> Violation {
    let mut stage = vec![2u8; poset.len()];
    for (number, events) in [(1, chosen), (0, below)] {
        let mut cut = vec![0; poset.width()];
        for &event in events {
            for (count, &past) in cut.iter_mut().zip(poset.clock(event)) {
                *count = past.max(*count);
            }
        }
        for (chain, &count) in poset.chains().zip(&cut) {
            for event in &poset.chain(chain)[..count as usize] {
                stage[event.index()] = stage[event.index()].min(number);
            }
        }
    }
    let mut run: Vec<EventIndex> = poset.events().collect();
    run.sort_by_key(|event| stage[event.index()]);
    let mut state = automaton.initial;
    let mut violated_at = 0;
    while automaton.verdict(state) != portent_monitor_dsl::Verdict::Violated {
        state = automaton.step(state, actions[run[violated_at].index()]);
        violated_at += 1;
    }
    Violation {
        run,
        violated_at,
        is_shortest: violated_at <= 1,
    }
}
