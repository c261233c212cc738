//! Lists of counts in one block of memory, with as few bytes per count as necessary.
//!
//! There may be very many dormant searches, and most of their cost is fetching them from uncached memory: a single block that
//! is read from end to end arrives faster than a dozen blocks.

/// Lists, one after the other, each preceded by its length: in blocks, each preceded by a byte that gives the width of its
/// counts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Packed {
    bytes: Vec<u8>,
}

/// The number of counts in a block. Large counts are in few blocks, as neighbours are similar; the last block is padded.
const BLOCK: usize = 32;

/// Packs lists; its memory is reused.
#[derive(Clone, Debug, Default)]
pub(crate) struct Packing {
    counts: Vec<u32>,
    bytes: Vec<u8>,
    memory: Vec<u32>,
}

impl Packing {
    /// Adds the next list.
    pub(crate) fn put(&mut self, list: impl ExactSizeIterator<Item = u32>) {
        self.counts.push(list.len() as u32);
        self.counts.extend(list);
    }

    /// Adds a few numbers that are always present, as one list.
    pub(crate) fn put_numbers<const N: usize>(&mut self, numbers: [u32; N]) {
        self.counts.push(N as u32);
        self.counts.extend_from_slice(&numbers);
    }

    /// Adds the next list, whose items are several counts each.
    pub(crate) fn put_all<const N: usize>(
        &mut self,
        list: impl ExactSizeIterator<Item = [u32; N]>,
    ) {
        self.put_each(list.len(), list);
    }

    /// Adds the next list, which already exists.
    pub(crate) fn put_slice(&mut self, list: &[u32]) {
        self.counts.push(list.len() as u32);
        self.counts.extend_from_slice(list);
    }

    /// Adds the next list, of `len` items, which are several counts each.
    pub(crate) fn put_each<const N: usize>(
        &mut self,
        len: usize,
        list: impl Iterator<Item = [u32; N]>,
    ) {
        let (begin, len) = (self.counts.len() + 1, len * N);
        self.counts.push(len as u32);
        self.counts.resize(begin + len, 0);
        let (places, _) = self.counts[begin..].as_chunks_mut();
        for (place, counts) in places.iter_mut().zip(list) {
            *place = counts;
        }
    }

    /// Adds the next list, of all counts from an iterator.
    pub(crate) fn put_some(&mut self, list: impl Iterator<Item = u32>) {
        let begin = self.counts.len();
        self.counts.push(0);
        for count in list {
            self.counts.push(count);
        }
        self.counts[begin] = (self.counts.len() - begin - 1) as u32;
    }

    /// Adds the length of the next list, whose counts [follow](Packing::put_rest).
    pub(crate) fn put_count(&mut self, count: u32) {
        self.counts.push(count);
    }

    /// An empty list to work with, to be given back.
    pub(crate) fn take_memory(&mut self) -> Vec<u32> {
        self.memory.clear();
        std::mem::take(&mut self.memory)
    }

    pub(crate) fn give_memory(&mut self, memory: Vec<u32>) {
        self.memory = memory;
    }

    /// Adds counts whose number was added before.
    pub(crate) fn put_rest(&mut self, counts: &[u32]) {
        self.counts.extend_from_slice(counts);
    }

    /// Replaces previously packed lists by these.
    pub(crate) fn store(&mut self, packed: &mut Packed) {
        let filled = self.counts.len().next_multiple_of(BLOCK);
        self.counts.resize(filled, 0);
        self.bytes.clear();
        let (blocks, _) = self.counts.as_chunks();
        for block in blocks {
            append(&mut self.bytes, block);
        }
        let needed = self.bytes.len();
        if needed > packed.bytes.capacity() {
            // Existing memory need not be moved.
            packed.bytes = Vec::new();
            let room = (needed + needed / 4).next_multiple_of(64);
            packed.bytes.reserve_exact(room);
        }
        packed.bytes.clear();
        packed.bytes.extend_from_slice(&self.bytes);
        self.counts.clear();
    }
}

/// The largest count stands for *never*, and is frequent. So counts are stored incremented by one, which makes it 0.
fn stored(count: u32) -> u32 {
    count.wrapping_add(1)
}

fn count(stored: u32) -> u32 {
    stored.wrapping_sub(1)
}

fn append(bytes: &mut Vec<u8>, block: &[u32; BLOCK]) {
    let bits = block.iter().fold(0, |bits, &count| bits | stored(count));
    match bits {
        0..0x100 => {
            bytes.push(1);
            bytes.extend_from_slice(&block.map(|count| stored(count) as u8));
        }
        0x100..0x1_0000 => {
            bytes.push(2);
            let twos = block.map(|count| (stored(count) as u16).to_le_bytes());
            bytes.extend_from_slice(twos.as_flattened());
        }
        _ => {
            bytes.push(4);
            let fours = block.map(|count| stored(count).to_le_bytes());
            bytes.extend_from_slice(fours.as_flattened());
        }
    }
}

fn read<const WIDTH: usize>(
    bytes: &[u8],
    counts: &mut Vec<u32>,
    number: impl Fn([u8; WIDTH]) -> u32,
) {
    let (numbers, _) = bytes.as_chunks();
    if let Some(block) = numbers.first_chunk::<BLOCK>() {
        counts.extend_from_slice(&block.map(|bytes| count(number(bytes))));
    }
}

/// Reads lists in the order in which they were packed.
#[derive(Debug)]
pub(crate) struct Unpacking<'p> {
    rest: &'p [u32],
}

impl<'p> Unpacking<'p> {
    /// `counts` is a buffer for everything that is read.
    pub(crate) fn new(packed: &Packed, counts: &'p mut Vec<u32>) -> Unpacking<'p> {
        counts.clear();
        let mut bytes = packed.bytes.as_slice();
        while let Some((&width, rest)) = bytes.split_first() {
            let (block, rest) = rest.split_at(BLOCK * usize::from(width));
            match width {
                1 => read(block, counts, |[byte]| u32::from(byte)),
                2 => read(block, counts, |two| u32::from(u16::from_le_bytes(two))),
                _ => read(block, counts, u32::from_le_bytes),
            }
            bytes = rest;
        }
        Unpacking { rest: counts }
    }

    /// The next list.
    pub(crate) fn next(&mut self) -> &'p [u32] {
        let Some((&len, rest)) = self.rest.split_first() else {
            return &[];
        };
        let (list, rest) = rest.split_at(len as usize);
        self.rest = rest;
        list
    }

    /// The next counts, of the given number.
    pub(crate) fn take(&mut self, count: usize) -> &'p [u32] {
        let (counts, rest) = self.rest.split_at(count);
        self.rest = rest;
        counts
    }

    /// Replaces a list by the next one.
    pub(crate) fn next_into(&mut self, list: &mut Vec<u32>) {
        list.clear();
        list.extend_from_slice(self.next());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portent_testing::Rng;

    #[test]
    fn what_is_packed_is_unpacked() {
        let mut rng = Rng::new(5);
        let edges = [0, 1, 254, 255, 256, 65_534, 65_535, 65_536, u32::MAX - 1];
        let (mut packing, mut packed) = (Packing::default(), Packed::default());
        for _ in 0..2_000 {
            let lists: Vec<Vec<u32>> = (0..rng.below(6))
                .map(|_| {
                    let most = 1 + rng.below(edges.len());
                    let count = |rng: &mut Rng| match rng.below(4) {
                        0 => u32::MAX,
                        _ => edges[rng.below(most)],
                    };
                    (0..rng.below(80)).map(|_| count(&mut rng)).collect()
                })
                .collect();
            for list in &lists {
                match rng.below(3) {
                    0 => packing.put(list.iter().copied()),
                    1 if list.len() % 2 == 0 => {
                        packing.put_all(list.as_chunks::<2>().0.iter().copied())
                    }
                    _ => packing.put_slice(list),
                }
            }
            packing.store(&mut packed);
            let mut memory = Vec::new();
            let mut unpacking = Unpacking::new(&packed, &mut memory);
            for list in &lists {
                assert_eq!(unpacking.next(), list);
            }
            assert!(unpacking.rest.len() < BLOCK);
        }
    }

    #[test]
    fn small_counts_are_a_byte_each() {
        let (mut packing, mut packed) = (Packing::default(), Packed::default());
        packing.put_slice(&[0, 254, u32::MAX]);
        packing.store(&mut packed);
        assert_eq!(packed.bytes.len(), 1 + BLOCK);
    }
}
