//! Tables and lists that never grow all at once, for large numbers of entries.
//!
//! Doubling a full table delays the insertion that triggers it until all entries have moved, which takes many milliseconds for
//! a hundred thousand of them. Here a table consists of many small ones, each doubled separately, and a list consists of blocks
//! that stay in place.

use std::{
    borrow::Borrow,
    hash::{BuildHasher, Hash},
    ops::{Index, IndexMut},
};

use rustc_hash::{FxBuildHasher, FxHashMap};

/// The number of small tables that make up one.
const PARTS: usize = 64;
/// The bits of a hash that select the table; they must differ from those that select the slot.
const SHIFT: u32 = 40;
/// The number of items in a block.
const BLOCK: usize = 1024;

/// A hash table of which only a small part grows at a time.
#[derive(Clone, Debug)]
pub(crate) struct SpreadMap<K, V> {
    /// None before the first entry.
    parts: Vec<FxHashMap<K, V>>,
}

impl<K, V> Default for SpreadMap<K, V> {
    fn default() -> Self {
        SpreadMap { parts: Vec::new() }
    }
}

fn part<Q: Hash + ?Sized>(key: &Q) -> usize {
    (FxBuildHasher.hash_one(key) >> SHIFT) as usize % PARTS
}

impl<K: Hash + Eq, V> SpreadMap<K, V> {
    pub(crate) fn get<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.parts.get(part(key))?.get(key)
    }

    pub(crate) fn contains_key(&self, key: &K) -> bool {
        self.get(key).is_some()
    }

    fn part_mut(&mut self, key: &K) -> &mut FxHashMap<K, V> {
        self.parts.resize_with(PARTS, FxHashMap::default);
        &mut self.parts[part(key)]
    }

    pub(crate) fn insert(&mut self, key: K, value: V) -> Option<V> {
        self.part_mut(&key).insert(key, value)
    }

    pub(crate) fn get_or_default(&mut self, key: K) -> &mut V
    where
        V: Default,
    {
        self.part_mut(&key).entry(key).or_default()
    }

    pub(crate) fn remove<Q: Hash + Eq + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.parts.get_mut(part(key))?.remove(key)
    }

    pub(crate) fn clear(&mut self) {
        self.parts.iter_mut().for_each(FxHashMap::clear);
    }
}

/// A list in blocks.
#[derive(Clone, Debug)]
pub(crate) struct Blocks<T> {
    /// All blocks except the last are full.
    blocks: Vec<Vec<T>>,
}

impl<T> Default for Blocks<T> {
    fn default() -> Self {
        Blocks { blocks: Vec::new() }
    }
}

impl<T> Blocks<T> {
    pub(crate) fn len(&self) -> usize {
        let last = self.blocks.last().map_or(0, Vec::len);
        self.blocks.len().saturating_sub(1) * BLOCK + last
    }

    pub(crate) fn push(&mut self, thing: T) {
        match self.blocks.last_mut() {
            Some(last) if last.len() < BLOCK => last.push(thing),
            _ => self.blocks.push(vec![thing]),
        }
    }

    /// Adds items up to this number.
    pub(crate) fn extend_to(&mut self, len: usize, mut thing: impl FnMut() -> T) {
        while self.len() < len {
            self.push(thing());
        }
    }

    pub(crate) fn get(&self, index: usize) -> Option<&T> {
        self.blocks.get(index / BLOCK)?.get(index % BLOCK)
    }

    pub(crate) fn pop(&mut self) -> Option<T> {
        let thing = self.blocks.last_mut()?.pop();
        self.blocks.pop_if(|last| last.is_empty());
        thing
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.blocks.iter().flatten()
    }

    pub(crate) fn clear(&mut self) {
        self.blocks.clear();
    }
}

impl<T> Index<usize> for Blocks<T> {
    type Output = T;

    #[inline]
    fn index(&self, index: usize) -> &T {
        &self.blocks[index / BLOCK][index % BLOCK]
    }
}

impl<T> IndexMut<usize> for Blocks<T> {
    #[inline]
    fn index_mut(&mut self, index: usize) -> &mut T {
        &mut self.blocks[index / BLOCK][index % BLOCK]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portent_testing::Rng;

    #[test]
    fn a_table_in_parts_is_a_table() {
        let mut rng = Rng::new(3);
        let (mut spread, mut whole) = (SpreadMap::default(), FxHashMap::default());
        for round in 0..20_000 {
            let key = rng.below(3_000);
            match rng.below(4) {
                0 => assert_eq!(spread.remove(&key), whole.remove(&key)),
                1 => *spread.get_or_default(key) = *whole.entry(key).or_insert(round),
                _ => assert_eq!(spread.insert(key, round), whole.insert(key, round)),
            }
            let key = rng.below(3_000);
            assert_eq!(spread.get(&key), whole.get(&key));
        }
        // No part has much more than its share.
        let largest = spread.parts.iter().map(FxHashMap::len).max();
        assert!(largest < Some(3 * whole.len() / PARTS), "{largest:?}");
        spread.clear();
        assert!((0..3_000).all(|key| !spread.contains_key(&key)));
    }

    #[test]
    fn a_list_in_blocks_is_a_list() {
        let mut blocks = Blocks::default();
        let mut list = Vec::new();
        for number in 0..3 * BLOCK {
            assert_eq!((blocks.len(), blocks.get(number)), (number, None));
            blocks.push(number);
            list.push(number);
        }
        blocks[BLOCK] = 7;
        list[BLOCK] = 7;
        assert!(blocks.iter().eq(&list));
        for _ in 0..BLOCK + 5 {
            assert_eq!(blocks.pop(), list.pop());
        }
        assert!(blocks.iter().eq(&list));
        blocks.extend_to(3 * BLOCK, || 9);
        list.resize(3 * BLOCK, 9);
        assert!(blocks.iter().eq(&list));
        blocks.clear();
        assert_eq!((blocks.len(), blocks.pop()), (0, None));
    }
}
