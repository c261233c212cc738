//! Cuts as numbers.
//!
//! A cut is a count for each chain. Within a level the counts of a chain differ little, so they are
//! stored relative to the least, in as few bits as needed, side by side in one integer. Keys
//! compare as the lists of counts do, whatever the widths, and adding an event adds a constant:
//! a sorted level stays sorted when the same chain is advanced in all its cuts.

use std::fmt::Debug;

/// Where the count of one chain is in a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    base: u32,
    shift: u32,
    mask: u32,
}

/// Where the counts of all chains are, the first one in the highest bits.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    places: Vec<Place>,
    /// For so many levels no count can outgrow its place.
    slack: u32,
}

impl Layout {
    /// A layout for cuts between `least` and `most` (component by component), in which counts never
    /// exceed `top`. `None` if `bits` are too few for even one more level.
    pub(crate) fn fit(least: &[u32], most: &[u32], top: &[u32], bits: u32) -> Option<Layout> {
        let width = |range: u32| 32 - range.leading_zeros();
        let full: Vec<u32> = least.iter().zip(top).map(|(a, z)| width(z - a)).collect();
        let spans: Vec<u32> = least.iter().zip(most).map(|(a, b)| b - a).collect();
        let mut widths: Vec<u32> = spans
            .iter()
            .zip(&full)
            .map(|(span, &full)| width(span.saturating_add(1)).min(full))
            .collect();
        let used: u64 = widths.iter().map(|&w| u64::from(w)).sum();
        let mut left = u64::from(bits).checked_sub(used)?;
        let room = |width: u32, span: u32| (1u64 << width) - 1 - u64::from(span);
        // What is left over goes where it puts off the next packing longest.
        while left > 0 {
            let tight = (0..widths.len())
                .filter(|&chain| widths[chain] < full[chain])
                .min_by_key(|&chain| room(widths[chain], spans[chain]));
            let Some(chain) = tight else { break };
            widths[chain] += 1;
            left -= 1;
        }
        let slack = (0..widths.len())
            .filter(|&chain| widths[chain] < full[chain])
            .map(|chain| room(widths[chain], spans[chain]))
            .min()
            .map_or(u32::MAX, |room| u32::try_from(room).unwrap_or(u32::MAX));
        let mut places = Vec::with_capacity(widths.len());
        let mut shift: u32 = widths.iter().fold(0, |sum: u32, w| sum.saturating_add(*w));
        for (&width, &base) in widths.iter().zip(least) {
            shift = shift.saturating_sub(width);
            let mask = ((1u64 << width) - 1) as u32;
            places.push(Place { base, shift, mask });
        }
        Some(Layout { places, slack })
    }

    pub(crate) fn chains(&self) -> usize {
        self.places.len()
    }

    pub(crate) fn slack(&self) -> u32 {
        self.slack
    }

    /// One level has been made.
    pub(crate) fn spend(&mut self) {
        if self.slack != u32::MAX {
            self.slack -= 1;
        }
    }
}

/// A packed cut.
pub(crate) trait Key: Clone + Ord + Send + Sync + Debug {
    /// How many bits there are.
    const BITS: u32;
    /// The bytes that a key points to, beside its own.
    fn heap_bytes(_: &Layout) -> usize {
        0
    }
    fn pack(counts: &[u32], layout: &Layout) -> Self;
    fn count(&self, chain: usize, layout: &Layout) -> u32;
    /// The cut with one more event of `chain`.
    fn advanced(&self, chain: usize, layout: &Layout) -> Self;
    /// Whether the cut with one more event of `chain` is at or past `bound`. Unlike `advanced`
    /// this may be asked of any chain; where it cannot be advanced the answer is merely monotone.
    fn reaches(&self, chain: usize, layout: &Layout, bound: &Self) -> bool;

    fn unpack(&self, layout: &Layout) -> Vec<u32> {
        (0..layout.chains())
            .map(|chain| self.count(chain, layout))
            .collect()
    }
}

macro_rules! integer_key {
    ($integer:ty) => {
        impl Key for $integer {
            const BITS: u32 = <$integer>::BITS;

            fn pack(counts: &[u32], layout: &Layout) -> Self {
                // A place without bits may lie beyond the highest; what is shifted there is 0.
                counts.iter().zip(&layout.places).fold(0, |key, (&n, p)| {
                    key | <$integer>::from(n - p.base).wrapping_shl(p.shift)
                })
            }

            #[inline]
            fn count(&self, chain: usize, layout: &Layout) -> u32 {
                let place = layout.places[chain];
                let part = self.wrapping_shr(place.shift) as u32;
                (part & place.mask) + place.base
            }

            #[inline]
            fn advanced(&self, chain: usize, layout: &Layout) -> Self {
                self + (1 << layout.places[chain].shift)
            }

            fn reaches(&self, chain: usize, layout: &Layout, bound: &Self) -> bool {
                let one: $integer = 1;
                let one = one.checked_shl(layout.places[chain].shift).unwrap_or(0);
                self.checked_add(one).is_none_or(|key| key >= *bound)
            }
        }
    };
}

integer_key!(u64);
integer_key!(u128);

/// For cuts that differ in more than 128 bits: the counts themselves.
impl Key for Box<[u32]> {
    const BITS: u32 = u32::MAX;

    fn heap_bytes(layout: &Layout) -> usize {
        4 * layout.chains()
    }

    fn pack(counts: &[u32], _: &Layout) -> Self {
        counts.into()
    }

    fn count(&self, chain: usize, _: &Layout) -> u32 {
        self[chain]
    }

    fn advanced(&self, chain: usize, _: &Layout) -> Self {
        let mut counts = self.clone();
        counts[chain] += 1;
        counts
    }

    fn reaches(&self, chain: usize, layout: &Layout, bound: &Self) -> bool {
        self.advanced(chain, layout) >= *bound
    }
}

/// A cut that rules look at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cut<'a, K> {
    pub(crate) key: &'a K,
    pub(crate) layout: &'a Layout,
}

impl<K: Key> Cut<'_, K> {
    /// How many events of a chain are in the cut.
    #[inline]
    pub(crate) fn count(&self, chain: usize) -> u32 {
        self.key.count(chain, self.layout)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip<K: Key>(least: &[u32], most: &[u32], top: &[u32]) {
        let layout = Layout::fit(least, most, top, K::BITS).expect("fits");
        assert!(layout.slack() >= 1);
        for counts in [least, most] {
            let key = K::pack(counts, &layout);
            assert_eq!(key.unpack(&layout), counts);
            for chain in 0..counts.len() {
                if counts[chain] < top[chain] {
                    let mut more = counts.to_vec();
                    more[chain] += 1;
                    assert_eq!(key.advanced(chain, &layout).unpack(&layout), more);
                }
            }
        }
    }

    #[test]
    fn counts_survive_packing() {
        let (least, most, top) = ([7, 0, 3, 9], [9, 4, 3, 70], [1000, 4, 3, 5000]);
        round_trip::<u64>(&least, &most, &top);
        round_trip::<u128>(&least, &most, &top);
        round_trip::<Box<[u32]>>(&least, &most, &top);
        round_trip::<u64>(&[5; 64], &[5; 64], &[6; 64]);
    }

    #[test]
    fn too_few_bits_are_noticed() {
        assert!(Layout::fit(&[0; 65], &[0; 65], &[1; 65], 64).is_none());
        assert!(Layout::fit(&[0; 65], &[0; 65], &[1; 65], 128).is_some());
        // A chain that has ended takes no bit.
        assert!(Layout::fit(&[1; 99], &[1; 99], &[1; 99], 64).is_some());
    }
}
