//! One run decides for all: when the order of concurrent events cannot matter.
//!
//! Two equivalent runs differ by swaps of neighbours that are concurrent. If the actions of every
//! two concurrent events commute in the automaton of the bad prefixes, all runs end in the same node;
//! and since violated is absorbing, all are violated if one is. So the observed run decides,
//! in time linear in its length once the few pairs of actions that do not commute are known to be
//! ordered.

use portent_monitor_dsl::{
    Verdict,
    shape::{ActionClass, BadPrefixes},
};

use crate::{
    automaton::{ActionId, Automaton},
    engine::{Answer, Searched, Violation},
    order::{EventIndex, Poset},
};

/// Follows the observed run, if it decides for all equivalent ones; `None` if it does not.
///
/// The violation is the observed run, which need not be a shortest one: if other orders are violated
/// earlier, an [interval search](crate::laboratory::interval) finds them.
///
/// ```
/// use portent_lattice::laboratory::{ActionId, Answer, Automaton, AutomatonShape, Poset, StateIndex, linear};
/// use portent_monitor_core::ChainId;
/// use portent_monitor_dsl::Verdict;
///
/// // Violated by two actions, whatever they are.
/// let automaton = Automaton {
///     initial: StateIndex(0),
///     actions: 2,
///     next: [1, 1, 2, 2, 2, 2].map(StateIndex).to_vec(),
///     verdicts: vec![Verdict::Ok, Verdict::Ok, Verdict::Violated],
/// };
/// let shape = AutomatonShape::new(&automaton)?;
/// let mut poset = Poset::new(2);
/// poset.push(ChainId::from(0), &[1, 0]);
/// poset.push(ChainId::from(1), &[0, 1]);
/// let actions = [ActionId(0), ActionId(1)];
/// let found = linear::search(&poset, &actions, &automaton, &shape.bad_prefixes);
/// let Answer::Violated(violation) = found.expect("all commute").answer else { unreachable!() };
/// assert_eq!(violation.violated_at, 2);
/// # Ok::<(), portent_monitor_dsl::automaton::MalformedTable>(())
/// ```
pub fn search(
    poset: &Poset,
    actions: &[ActionId],
    automaton: &Automaton,
    bad_prefixes: &BadPrefixes,
) -> Option<Searched> {
    let classes: Vec<ActionClass> = actions
        .iter()
        .map(|action| bad_prefixes.class_of(*action))
        .collect();
    if some_order_matters(poset, &classes, bad_prefixes) {
        return None;
    }
    let mut state = automaton.initial;
    let mut steps = 0;
    for &action in actions {
        if automaton.verdict(state) == Verdict::Violated {
            break;
        }
        state = automaton.step(state, action);
        steps += 1;
    }
    if automaton.verdict(state) != Verdict::Violated {
        return Some(Searched::in_full(Answer::Safe, steps));
    }
    let violation = Violation {
        run: (0..poset.len() as u32).map(EventIndex).collect(),
        violated_at: steps,
        // Nothing is shorter than one step, unless the initial state is violated.
        is_shortest: steps <= 1,
    };
    Some(Searched::in_full(Answer::Violated(violation), steps))
}

/// Whether some two concurrent events do not commute.
fn some_order_matters(poset: &Poset, classes: &[ActionClass], bad_prefixes: &BadPrefixes) -> bool {
    let mut occurring = classes.to_vec();
    occurring.sort_unstable();
    occurring.dedup();
    occurring.iter().enumerate().any(|(index, &a)| {
        occurring[index + 1..]
            .iter()
            .any(|&b| !bad_prefixes.commute(a, b) && are_concurrent(poset, classes, a, b))
    })
}

/// Whether some event of class `a` is concurrent with one of class `b`.
pub(super) fn are_concurrent(
    poset: &Poset,
    classes: &[ActionClass],
    a: ActionClass,
    b: ActionClass,
) -> bool {
    let of_b: Vec<Vec<EventIndex>> = poset
        .chains()
        .map(|chain| {
            let events = poset.chain(chain).iter().copied();
            events.filter(|event| classes[event.index()] == b).collect()
        })
        .collect();
    let of_a = (0..poset.len() as u32).map(EventIndex);
    of_a.filter(|event| classes[event.index()] == a)
        .any(|event| {
            // On each chain, the first event that is not before the event is the soonest that can come after it.
            of_b.iter().any(|others| {
                let first = others.partition_point(|&other| poset.precedes(other, event));
                others
                    .get(first)
                    .is_some_and(|&other| !poset.precedes(event, other))
            })
        })
}
