//! Ids of short names, found without examining the names letter by letter.
//!
//! Nearly all names in a trace have fewer than eight bytes, so that one number holds such a name. A lookup
//! is then one multiplication and one comparison, whatever the length: a loop over letters
//! would end after a different number of steps for each name, and the processor would pay for every
//! misprediction. A name not found here is looked up as usual and replaces another.

use super::scan::is_short;

/// A cache of recently found names.
pub(super) struct ShortNames<T> {
    /// By the hash of the name; the length is a power of two.
    slots: Vec<(u64, Option<T>)>,
    /// How often a slot was filled since the cache got its current size.
    stored: usize,
}

impl<T: Copy> Default for ShortNames<T> {
    fn default() -> Self {
        ShortNames {
            slots: vec![(0, None); 64],
            stored: 0,
        }
    }
}

impl<T: Copy> ShortNames<T> {
    const MOST: usize = 1 << 14;

    /// The entry of the name that is [packed](super::scan::packed) here; if it is not cached,
    /// or the name is long, the result of `find`.
    #[inline(always)]
    pub(super) fn get<E>(
        &mut self,
        word: u64,
        find: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        if let Some(&(known, Some(found))) = self.slots.get(self.place(word))
            && known == word
        {
            return Ok(found);
        }
        let found = find()?;
        if is_short(word) {
            self.store(word, found);
        }
        Ok(found)
    }

    #[inline]
    fn place(&self, word: u64) -> usize {
        let hash = word.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (hash >> 32) as usize & (self.slots.len() - 1)
    }

    #[cold]
    fn store(&mut self, word: u64, found: T) {
        self.stored += 1;
        if self.stored > self.slots.len() / 2 && self.slots.len() < Self::MOST {
            let more = 4 * self.slots.len();
            self.slots = vec![(0, None); more];
            self.stored = 1;
        }
        let place = self.place(word);
        self.slots[place] = (word, Some(found));
    }
}

#[cfg(test)]
mod tests {
    use super::{super::scan::packed, ShortNames};

    #[test]
    fn what_is_remembered_is_what_was_found() {
        let mut names = ShortNames::default();
        let mut looked_up = 0;
        for round in 0..3 {
            for n in 0..40_000u32 {
                let word = packed(n.to_string().as_bytes()).unwrap();
                let found = names.get(word, || {
                    looked_up += 1;
                    Ok::<_, ()>(n)
                });
                assert_eq!(found, Ok(n), "{round}");
            }
        }
        assert!(looked_up < 120_000, "{looked_up}");
        // Long names are never cached, nor are failed lookups.
        for n in 0..2 {
            assert_eq!(names.get(u64::MAX, || Ok::<_, ()>(n)), Ok(n));
        }
        let unknown = packed(b"unknown").unwrap();
        assert_eq!(names.get(unknown, || Err("none")), Err("none"));
        assert_eq!(names.get(unknown, || Ok::<_, ()>(7)), Ok(7));
        assert_eq!(names.get(unknown, || Ok::<_, ()>(8)), Ok(7));
    }
}
