//! Cuts as numbers.
//!
//! A cut is a count for each chain. Within a level the counts of a chain differ little, so they are
//! stored relative to the least, in as few bits as needed, side by side in one integer. Keys
//! compare as the lists of counts do, whatever the widths, and adding an event adds a constant:
//! a sorted level stays sorted when the same chain is advanced in all its cuts.
//!
//! The cuts of a level that differ in the last two chains only lie on a line: from one to its
//! neighbour, the last chain but one has one event more and the last chain one fewer.

use std::fmt::Debug;

use portent_monitor_core::ChainId;

use crate::order::Counts;

/// The position of the count of one chain in a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    chain: ChainId,
    base: u32,
    shift: u32,
    mask: u32,
}

/// The positions of the counts of all chains, the first one in the highest bits.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    fields: Vec<Field>,
    /// The bits of the last two chains together.
    line_bits: u32,
    /// For this many levels no count can outgrow its field.
    slack: u32,
}

impl Layout {
    /// A layout for cuts between `least` and `most` (component by component), in which counts never
    /// exceed `top`. `None` if `bits` are too few for even one more level.
    pub(crate) fn fit(least: &[u32], most: &[u32], top: &[u32], bits: u32) -> Option<Layout> {
        let mut layout = Layout::default();
        layout.refit(least, most, top, bits).then_some(layout)
    }

    /// Replaces the layout by [such a one](Self::fit), reusing its memory, or reports that there is none.
    pub(super) fn refit(&mut self, least: &[u32], most: &[u32], top: &[u32], bits: u32) -> bool {
        let width = |range: u32| 32 - range.leading_zeros();
        let full: Counts = least.iter().zip(top).map(|(a, z)| width(z - a)).collect();
        let spans: Counts = least.iter().zip(most).map(|(a, b)| b - a).collect();
        let mut widths: Counts = spans
            .iter()
            .zip(&full)
            .map(|(span, &full)| width(span.saturating_add(1)).min(full))
            .collect();
        let used: u64 = widths.iter().map(|&w| u64::from(w)).sum();
        let Some(mut left) = u64::from(bits).checked_sub(used) else {
            return false;
        };
        let room = |width: u32, span: u32| (1u64 << width) - 1 - u64::from(span);
        // Spare bits go to the field that then delays the next packing longest.
        while left > 0 {
            let tight = (0..widths.len())
                .filter(|&chain| widths[chain] < full[chain])
                .min_by_key(|&chain| room(widths[chain], spans[chain]));
            let Some(chain) = tight else { break };
            widths[chain] += 1;
            left -= 1;
        }
        self.slack = (0..widths.len())
            .filter(|&chain| widths[chain] < full[chain])
            .map(|chain| room(widths[chain], spans[chain]))
            .min()
            .map_or(u32::MAX, |room| u32::try_from(room).unwrap_or(u32::MAX));
        self.fields.clear();
        let mut shift: u32 = widths.iter().fold(0, |sum: u32, w| sum.saturating_add(*w));
        let components = widths.iter().zip(least);
        for (chain, (&width, &base)) in ChainId::first(widths.len()).zip(components) {
            shift = shift.saturating_sub(width);
            self.fields.push(Field {
                chain,
                base,
                shift,
                mask: ((1u64 << width) - 1) as u32,
            });
        }
        self.line_bits = widths.iter().rev().take(2).sum();
        true
    }

    /// The number of chains.
    pub(crate) fn width(&self) -> usize {
        self.fields.len()
    }

    #[inline]
    pub(crate) fn chains(&self) -> impl ExactSizeIterator<Item = ChainId> + Clone + use<> {
        ChainId::first(self.width())
    }

    /// The field of each chain, in order.
    #[inline]
    pub(crate) fn fields(&self) -> &[Field] {
        &self.fields
    }

    #[inline]
    pub(crate) fn field(&self, chain: ChainId) -> &Field {
        &self.fields[chain.index()]
    }

    pub(crate) fn slack(&self) -> u32 {
        self.slack
    }

    /// How the count of a chain changes from a cut to its neighbour on the line: by 1, -1 or 0.
    #[inline]
    pub(crate) fn slope(&self, chain: ChainId) -> i32 {
        match self.width() - chain.index() {
            1 => -1,
            2 => 1,
            _ => 0,
        }
    }

    /// Counts no longer include these events, which every cut has. Keys stay unchanged: only their base changes, and it may
    /// come to lie before the first counted event, so that it wraps around. As a run has fewer steps than `u32::MAX`, no field
    /// overflows because of this.
    pub(crate) fn forget(&mut self, prefix: &[u32]) {
        for (field, forgotten) in self.fields.iter_mut().zip(prefix) {
            field.base = field.base.wrapping_sub(*forgotten);
        }
    }

    /// Copies another layout, reusing its own memory.
    pub(crate) fn assign(&mut self, other: &Layout) {
        self.fields.clone_from(&other.fields);
        (self.line_bits, self.slack) = (other.line_bits, other.slack);
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
    /// The number of bits.
    const BITS: u32;
    /// The greatest key, if there is one.
    const LAST: Option<Self>;
    /// The bytes that a key points to, in addition to its own size.
    fn heap_bytes(_: &Layout) -> usize {
        0
    }
    fn pack(counts: &[u32], layout: &Layout) -> Self;
    /// The count of the chain of a field.
    fn at(&self, field: &Field) -> u32;
    /// The cut with one more event of the chain of a field.
    fn plus(&self, field: &Field) -> Self;
    /// Whether the cut with one more event of `chain` is at or past `bound`. Unlike `advanced`
    /// this may be called for any chain; if the chain cannot be advanced, the answer is merely monotone.
    fn reaches(&self, chain: ChainId, layout: &Layout, bound: &Self) -> bool;
    /// The cut this many places further along the line.
    fn moved(&self, along: u32, layout: &Layout) -> Self;
    /// Whether two cuts differ at most in the last two chains.
    fn on_line_of(&self, other: &Self, layout: &Layout) -> bool;
    /// A bound that is at or below every cut on the line of this one, and above all lines before.
    fn line(&self, layout: &Layout) -> Self;

    #[inline]
    fn count(&self, chain: ChainId, layout: &Layout) -> u32 {
        self.at(layout.field(chain))
    }

    /// The cut with one more event of `chain`.
    #[inline]
    fn advanced(&self, chain: ChainId, layout: &Layout) -> Self {
        self.plus(layout.field(chain))
    }

    /// The position of the cut on its line.
    #[inline]
    fn place(&self, layout: &Layout) -> u32 {
        match &*layout.fields {
            [.., field, _] => self.at(field),
            _ => 0,
        }
    }
}

macro_rules! integer_key {
    ($integer:ty) => {
        impl Key for $integer {
            const BITS: u32 = <$integer>::BITS;
            const LAST: Option<Self> = Some(<$integer>::MAX);

            fn pack(counts: &[u32], layout: &Layout) -> Self {
                // A field without bits may lie above the highest bit; shifting there gives 0.
                counts.iter().zip(&layout.fields).fold(0, |key, (&n, f)| {
                    key | <$integer>::from(n - f.base).wrapping_shl(f.shift)
                })
            }

            #[inline]
            fn at(&self, field: &Field) -> u32 {
                let part = self.wrapping_shr(field.shift) as u32;
                (part & field.mask).wrapping_add(field.base)
            }

            #[inline]
            fn plus(&self, field: &Field) -> Self {
                self + (1 << field.shift)
            }

            fn reaches(&self, chain: ChainId, layout: &Layout, bound: &Self) -> bool {
                let one: $integer = 1;
                let one = one.checked_shl(layout.field(chain).shift).unwrap_or(0);
                self.checked_add(one).is_none_or(|key| key >= *bound)
            }

            #[inline]
            fn moved(&self, along: u32, layout: &Layout) -> Self {
                let [.., more, fewer] = &*layout.fields else {
                    return *self;
                };
                let along = <$integer>::from(along);
                let more = along.wrapping_shl(more.shift);
                self.wrapping_add(more).wrapping_sub(along << fewer.shift)
            }

            #[inline]
            fn on_line_of(&self, other: &Self, layout: &Layout) -> bool {
                (self ^ other).checked_shr(layout.line_bits).unwrap_or(0) == 0
            }

            fn line(&self, layout: &Layout) -> Self {
                let ones = <$integer>::MAX.checked_shl(layout.line_bits).unwrap_or(0);
                self & ones
            }
        }
    };
}

integer_key!(u64);
integer_key!(u128);

/// For cuts that need more than 128 bits: the counts themselves.
impl Key for Box<[u32]> {
    const BITS: u32 = u32::MAX;
    const LAST: Option<Self> = None;

    fn heap_bytes(layout: &Layout) -> usize {
        4 * layout.width()
    }

    fn pack(counts: &[u32], _: &Layout) -> Self {
        counts.into()
    }

    fn at(&self, field: &Field) -> u32 {
        self[field.chain.index()]
    }

    fn plus(&self, field: &Field) -> Self {
        let mut counts = self.clone();
        counts[field.chain.index()] += 1;
        counts
    }

    fn reaches(&self, chain: ChainId, layout: &Layout, bound: &Self) -> bool {
        self.advanced(chain, layout) >= *bound
    }

    fn moved(&self, along: u32, _: &Layout) -> Self {
        let mut counts = self.clone();
        if let [.., more, fewer] = &mut *counts {
            *more += along;
            *fewer -= along;
        }
        counts
    }

    fn on_line_of(&self, other: &Self, _: &Layout) -> bool {
        let others = self.len().saturating_sub(2);
        self[..others] == other[..others]
    }

    fn line(&self, _: &Layout) -> Self {
        let mut counts = self.clone();
        let others = counts.len().saturating_sub(2);
        counts[others..].fill(0);
        counts
    }
}

/// A cut as the rules see it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PackedCut<'a, K> {
    /// A cut on the same line, at or before this one.
    pub(crate) first: &'a K,
    /// The distance to it, in places.
    pub(crate) along: u32,
    pub(crate) layout: &'a Layout,
}

impl<K: Key> PackedCut<'_, K> {
    /// The number of events of a chain in the cut.
    #[inline]
    pub(crate) fn count(&self, chain: ChainId) -> u32 {
        let count = self.first.count(chain, self.layout);
        match self.layout.slope(chain) {
            1 => count + self.along,
            -1 => count - self.along,
            _ => count,
        }
    }

    pub(crate) fn counts<C: FromIterator<u32>>(&self) -> C {
        let chains = self.layout.chains();
        chains.map(|chain| self.count(chain)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unpacked<K: Key>(key: &K, layout: &Layout) -> Vec<u32> {
        let cut = PackedCut {
            first: key,
            along: 0,
            layout,
        };
        cut.counts()
    }

    fn round_trip<K: Key>(least: &[u32], most: &[u32], top: &[u32]) {
        let layout = Layout::fit(least, most, top, K::BITS).expect("fits");
        assert!(layout.slack() >= 1);
        for counts in [least, most] {
            let key = K::pack(counts, &layout);
            assert_eq!(unpacked(&key, &layout), counts);
            for chain in layout.chains() {
                if counts[chain.index()] < top[chain.index()] {
                    let mut more = counts.to_vec();
                    more[chain.index()] += 1;
                    assert_eq!(unpacked(&key.advanced(chain, &layout), &layout), more);
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
    fn forgotten_events_are_not_counted() {
        let (least, most) = ([7, 0, 3], [9, 4, 3]);
        let mut layout = Layout::fit(&least, &most, &[u32::MAX; 3], u64::BITS).expect("fits");
        let mut key = u64::pack(&most, &layout);
        let mut counts = most;
        // Growing steadily, beyond the range that the layout began with.
        for prefix in [[2, 0, 3], [7, 3, 0], [0, 2, 1], [1, 1, 0]] {
            for (chain, count) in layout.chains().zip(&mut counts) {
                key = key.advanced(chain, &layout);
                *count += 1;
            }
            layout.forget(&prefix);
            let fewer = counts.iter_mut().zip(&prefix);
            fewer.for_each(|(count, forgotten)| *count -= forgotten);
            assert_eq!(unpacked(&key, &layout), counts);
        }
    }

    #[test]
    fn too_few_bits_are_noticed() {
        assert!(Layout::fit(&[0; 65], &[0; 65], &[1; 65], 64).is_none());
        assert!(Layout::fit(&[0; 65], &[0; 65], &[1; 65], 128).is_some());
        // A chain that has ended takes no bits.
        assert!(Layout::fit(&[1; 99], &[1; 99], &[1; 99], 64).is_some());
    }
}
