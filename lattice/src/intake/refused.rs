//! Bindings refused for lack of room.
//!
//! Their steps are not kept, so an instance that contains one of them would be judged by an incomplete run, and a violation
//! might be false. Such an instance is not checked. A Bloom filter with a few bits for each refused binding bounds the
//! memory of this, too: with very many of them, a complete instance may be mistaken for an incomplete one. It is then left
//! out, but never judged wrongly.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::{
    binding::{Binding, Domain, domain, restricted},
    spelling::Spellings,
};

/// A megabyte: with a million refused bindings, 19 of 20 other bindings are unaffected.
const BITS: u64 = 1 << 23;

/// The refused bindings.
#[derive(Clone, Debug, Default)]
pub(super) struct Refused {
    /// A Bloom filter; empty as long as no binding was refused.
    bits: Vec<u64>,
    /// The parameters that they bind.
    domains: Vec<Domain>,
}

impl Refused {
    pub(super) fn is_empty(&self) -> bool {
        self.domains.is_empty()
    }

    /// Adds a binding.
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

/// The bits of a binding, computed from the spelling of its values: ids are reused once a binding is refused.
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
