//! The transitive reduction of the causal order: the arrows of a diagram.

use crate::order::{EventIndex, Poset};

/// The events that come right before an event in the causal order, with no other in between: its
/// edges in the transitive reduction.
///
/// ```
/// use portent_lattice::laboratory::{Poset, covered};
/// use portent_monitor_core::ChainId;
///
/// // a, then b and c on other chains; c comes after b, so that a → c says nothing new.
/// let mut poset = Poset::new(3);
/// let a = poset.push(ChainId::from(0), &[1, 0, 0]);
/// let b = poset.push(ChainId::from(1), &[1, 1, 0]);
/// let c = poset.push(ChainId::from(2), &[1, 1, 1]);
/// assert_eq!(covered(&poset, a), []);
/// assert_eq!(covered(&poset, b), [a]);
/// assert_eq!(covered(&poset, c), [b]);
/// ```
pub fn covered(poset: &Poset, event: EventIndex) -> Vec<EventIndex> {
    let (own, clock) = (poset.chain_of(event), poset.clock(event));
    let previous = clock[own.index()]
        .checked_sub(2)
        .map(|place| poset.chain(own)[place as usize]);
    // Of every chain only the last event before this one can be next to it, and only if the chain's
    // previous event did not know of it.
    let last = poset.chains().zip(clock).filter_map(|(chain, &count)| {
        let known = previous.map_or(0, |previous| poset.clock(previous)[chain.index()]);
        let place = (count as usize).checked_sub(1)?;
        (chain != own && count > known).then(|| poset.chain(chain)[place])
    });
    let candidates: Vec<EventIndex> = previous.into_iter().chain(last).collect();
    let is_next = |event: &EventIndex| {
        let between = |other: &EventIndex| other != event && poset.precedes(*event, *other);
        !candidates.iter().any(between)
    };
    let mut next: Vec<EventIndex> = candidates.iter().copied().filter(is_next).collect();
    next.sort_unstable();
    next
}
