//! The bindings for which there was no room.
//!
//! Their steps are not kept, so an instance that contains one of them would be judged by an incomplete run, and a violation
//! might be false. Such an instance is not checked. A few bits for each of these bindings remember which they are, so that this
//! memory is bounded, too: with very many of them, a complete instance may be mistaken for an incomplete one. It is then left
//! out, but never judged wrongly.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::{
    binding::{Binding, Domain, domain, restricted},
    spelling::Spellings,
};

/// A megabyte: a million bindings leave 19 of 20 others alone.
const BITS: u64 = 1 << 23;

/// Bindings that are not there any more.
#[derive(Clone, Debug, Default)]
pub(super) struct Refused {
    /// The bits of each are set; none at all as long as there is none of them.
    bits: Vec<u64>,
    /// Which parameters they bind.
    domains: Vec<Domain>,
}

impl Refused {
    pub(super) fn is_empty(&self) -> bool {
        self.domains.is_empty()
    }

    /// One more.
    pub(super) fn add(&mut self, binding: &Binding, spellings: &Spellings) {
        let domain = domain(binding);
        if !self.domains.contains(&domain) {
            self.domains.push(domain);
        }
        self.bits.resize(BITS as usize / 64, 0);
        for bit in places(binding, spellings) {
            self.bits[bit / 64] |= 1 << (bit % 64);
        }
    }

    /// Whether one of them may be part of an instance.
    pub(super) fn may_be_part_of(&self, instance: &Binding, spellings: &Spellings) -> bool {
        self.domains.iter().any(|domain| {
            let mut places = places(&restricted(instance, domain), spellings).into_iter();
            places.all(|bit| self.bits[bit / 64] >> (bit % 64) & 1 == 1)
        })
    }
}

/// Where the bits of a binding are. Its ids are given to others when it is gone, so that it is known by how it is spelled.
fn places(binding: &Binding, spellings: &Spellings) -> [usize; 2] {
    let mut hasher = DefaultHasher::new();
    for slot in binding {
        slot.map(|id| spellings.text(id)).hash(&mut hasher);
    }
    let hash = hasher.finish();
    [hash, hash >> 32].map(|half| (half & (BITS - 1)) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use portent_monitor_core::Value;

    #[test]
    fn what_was_refused_is_part_of_what_contains_it() {
        let mut spellings = Spellings::default();
        let mut binding = |values: [Option<i64>; 2]| -> (Binding, Spellings) {
            let slots = values.map(|value| value.map(|value| spellings.of(&Value::Int(value))));
            (slots.into_iter().collect(), spellings.clone())
        };
        let mut refused = Refused::default();
        let (whole, known) = binding([Some(1), Some(2)]);
        assert!(refused.is_empty() && !refused.may_be_part_of(&whole, &known));
        let (part, known) = binding([Some(1), None]);
        refused.add(&part, &known);
        assert!(refused.may_be_part_of(&whole, &known));
        for other in 3..100 {
            let (other, known) = binding([Some(other), Some(1)]);
            assert!(!refused.may_be_part_of(&other, &known));
        }
    }
}
