//! A list that grows without moving its elements: doubling it would need the old and the new memory at once.

/// The number of items in each chunk except the last.
const CHUNK: usize = 1 << 14;

/// A list in chunks of equal length.
#[derive(Clone, Debug)]
pub(crate) struct Chunks<T> {
    full: Vec<Vec<T>>,
    last: Vec<T>,
}

impl<T> Default for Chunks<T> {
    fn default() -> Self {
        Chunks {
            full: Vec::new(),
            last: Vec::new(),
        }
    }
}

impl<T> Chunks<T> {
    /// Adds an item at the end.
    #[inline]
    pub(crate) fn push(&mut self, item: T) {
        if self.last.len() == CHUNK {
            let next = Vec::with_capacity(CHUNK);
            self.full.push(std::mem::replace(&mut self.last, next));
        }
        self.last.push(item);
    }

    /// The number of items.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.full.len() * CHUNK + self.last.len()
    }
}

impl<T> std::ops::Index<usize> for Chunks<T> {
    type Output = T;

    #[inline]
    fn index(&self, index: usize) -> &T {
        match self.full.get(index / CHUNK) {
            Some(chunk) => &chunk[index % CHUNK],
            None => &self.last[index - self.full.len() * CHUNK],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CHUNK, Chunks};

    #[test]
    fn items_are_where_they_were_put() {
        let mut all = Chunks::default();
        for number in 0..3 * CHUNK {
            assert_eq!(all.len(), number);
            all.push(number);
            for index in [0, number / 2, number] {
                assert_eq!(all[index], index);
            }
        }
    }
}
