//! Random numbers from a seed.

/// SplitMix64: small, works with any seed, and is the same on every machine, so that the seed suffices to repeat a failure.
///
/// ```
/// use portent_testing::Rng;
///
/// let (mut one, mut other) = (Rng::new(7), Rng::new(7));
/// assert_eq!(one.any(), other.any());
/// assert!(one.below(3) < 3);
/// assert!(["a", "b"].contains(&one.pick(&["a", "b"])));
/// ```
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// A generator with this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Rng(seed)
    }

    /// Any number.
    pub fn any(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number less than `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.any() % bound as u64) as usize
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of the items.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }
}
