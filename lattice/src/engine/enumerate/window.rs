//! The causality cone: of a level that is too wide, the cuts nearest the observed run are kept.
//!
//! The distance is the number of events that are in one of two cuts but not in the other; ties go to the lower
//! key. This is a total order in which the observed run's own cut comes first, so that cut is
//! never dropped, and keeping the best of a part and then the best of those together with the rest gives the
//! best of all: a level can be narrowed while it is made.

use std::cmp::Ordering;

use super::{
    key::{Key, Layout, PackedCut},
    level::{Level, LineStart, Strip},
};

/// How many cuts of a level are kept, and which.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window<'a> {
    /// The cut of the observed run in the new level.
    pub(crate) observed: &'a [u32],
    /// The number of cuts kept; at least 1.
    pub(crate) width: usize,
}

impl Window<'_> {
    /// The number of cuts that may accumulate before the level is narrowed.
    pub(crate) fn room(&self) -> usize {
        self.width.saturating_mul(2).max(1024)
    }

    fn distance<K: Key>(&self, cut: PackedCut<'_, K>) -> u64 {
        let chains = cut.layout.chains().zip(self.observed);
        chains
            .map(|(chain, &n)| u64::from(cut.count(chain).abs_diff(n)))
            .sum()
    }

    /// Drops all but the nearest cuts, and returns the number dropped.
    pub(crate) fn narrow<K: Key, N>(&self, level: &mut Level<K, N>, layout: &Layout) -> u64 {
        let len = level.nodes.len();
        if len <= self.width {
            return 0;
        }
        let keep = self.nearest(&level.strips, layout);
        level.retain(LineStart::default(), &keep, layout);
        (len - level.nodes.len()) as u64
    }

    /// Whether each of these cuts, of which there are too many, is one of the nearest.
    fn nearest<K: Key>(&self, strips: &[Strip<K>], layout: &Layout) -> Vec<bool> {
        let cuts = || strips.iter().flat_map(|strip| strip.cuts(layout));
        // The number of cuts at each distance: sorting them would take as much memory as the level.
        let mut at: Vec<usize> = Vec::new();
        for cut in cuts() {
            let distance = self.distance(cut) as usize;
            if distance >= at.len() {
                at.resize(distance + 1, 0);
            }
            at[distance] += 1;
        }
        // Of the cuts at the greatest distance, only as many as there is room for; the strips are sorted by key.
        let (mut farthest, mut room) = (0, self.width);
        while at[farthest] < room {
            room -= at[farthest];
            farthest += 1;
        }
        cuts()
            .map(|cut| match (self.distance(cut) as usize).cmp(&farthest) {
                Ordering::Less => true,
                Ordering::Equal if room > 0 => {
                    room -= 1;
                    true
                }
                _ => false,
            })
            .collect()
    }
}
