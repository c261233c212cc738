//! SplitMix64: random numbers from a seed that can be printed.

/// The same numbers on every machine.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed)
    }

    #[inline]
    pub(crate) fn any(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// One of these; `None` if there is none.
    pub(crate) fn one_of<T: Copy>(&mut self, all: &[T]) -> Option<T> {
        (!all.is_empty()).then(|| all[self.below(all.len())])
    }

    /// A number less than `bound`. That some are likelier by less than one in 2^32 does not matter.
    #[inline]
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (((self.any() >> 32) * bound as u64) >> 32) as usize
    }
}

/// A number that depends on all bits of another.
#[inline]
pub(crate) fn mix(number: u64) -> u64 {
    let z = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
