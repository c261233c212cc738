//! Turns clocks that count chains into clocks that count threads.
//!
//! A recording of some names has no locks or forks from which the order could be derived, so each of its lines has a clock, and clocks in a
//! trace count the lines of threads. A chain may belong to several threads in turn: it is kept as *stays*, consecutive lines of one thread
//! on one chain.

use std::collections::HashMap;

use portent_monitor_core::{ChainId, Id, Stamp, ThreadId};

/// Lines of one thread on one chain, both numbered without a gap.
#[derive(Clone, Copy, Debug)]
struct Stay {
    thread: ThreadId,
    /// Number on the chain of its first event.
    begins: u32,
    /// The lines of the thread from its first to its last.
    first: u32,
    last: u32,
}

/// The lines of a file so far.
#[derive(Debug, Default)]
pub(crate) struct ThreadClocks {
    /// By chain.
    stays: Vec<Vec<Stay>>,
    lines: HashMap<ThreadId, u32>,
}

impl ThreadClocks {
    /// Counts the next line, and gives its clock. What is not in this file is not counted.
    pub(super) fn clock(&mut self, thread: ThreadId, stamp: &Stamp) -> Vec<(ThreadId, u32)> {
        let line = self.lines.entry(thread).or_default();
        *line += 1;
        let (line, number) = (*line, stamp.number());
        let chain = stamp.chain.entry(&mut self.stays);
        match chain.last_mut() {
            Some(stay)
                if stay.thread == thread
                    && stay.last + 1 == line
                    && line - stay.first == number - stay.begins =>
            {
                stay.last = line;
            }
            _ => chain.push(Stay {
                thread,
                begins: number,
                first: line,
                last: line,
            }),
        }
        let mut clock = Vec::new();
        for (chain, stays) in self.stays.iter().enumerate() {
            let count = ChainId::from_index(chain).map_or(0, |chain| stamp.clock.get(chain));
            for stay in stays.iter().take_while(|stay| stay.begins <= count) {
                let line = stay.last.min(stay.first + (count - stay.begins));
                raise(&mut clock, stay.thread, line);
            }
        }
        clock
    }
}

fn raise(clock: &mut Vec<(ThreadId, u32)>, thread: ThreadId, line: u32) {
    match clock.iter_mut().find(|(other, _)| *other == thread) {
        Some((_, there)) => *there = line.max(*there),
        None => clock.push((thread, line)),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use portent_monitor_core::Clock;

    use super::*;

    fn stamp(chain: usize, counts: &[u32]) -> Stamp {
        Stamp {
            chain: ChainId::from_index(chain).expect("small"),
            clock: Arc::new(Clock::from_counts(counts)),
        }
    }

    #[test]
    fn threads_that_share_a_chain_count_for_themselves() {
        let [a, b, c] = [0, 1, 2].map(|index| ThreadId::from_index(index).expect("small"));
        let mut clocks = ThreadClocks::default();
        assert_eq!(clocks.clock(a, &stamp(0, &[1])), [(a, 1)]);
        assert_eq!(clocks.clock(a, &stamp(0, &[2])), [(a, 2)]);
        assert_eq!(clocks.clock(b, &stamp(1, &[1, 1])), [(a, 1), (b, 1)]);
        // Another thread on the chain of the first, which comes after all that the first did.
        assert_eq!(clocks.clock(c, &stamp(0, &[3])), [(a, 2), (c, 1)]);
        // An event of it is not in the file: number 4. Who counts it counts what is before it.
        assert_eq!(clocks.clock(c, &stamp(0, &[5])), [(a, 2), (c, 2)]);
        assert_eq!(
            clocks.clock(b, &stamp(1, &[4, 2])),
            [(a, 2), (c, 1), (b, 2)]
        );
        assert_eq!(
            clocks.clock(b, &stamp(1, &[5, 3])),
            [(a, 2), (c, 2), (b, 3)]
        );
        // The first thread goes on, on a chain of its own.
        assert_eq!(clocks.clock(a, &stamp(2, &[2, 0, 1])), [(a, 3)]);
        assert_eq!(clocks.clock(b, &stamp(1, &[2, 4, 1])), [(a, 3), (b, 4)]);
    }

    #[test]
    fn what_another_file_has_is_not_counted() {
        let [a, b] = [0, 1].map(|index| ThreadId::from_index(index).expect("small"));
        let mut clocks = ThreadClocks::default();
        assert_eq!(clocks.clock(a, &stamp(0, &[7, 3])), [(a, 1)]);
        assert_eq!(clocks.clock(b, &stamp(1, &[6, 4])), [(b, 1)]);
        assert_eq!(clocks.clock(b, &stamp(1, &[7, 5])), [(a, 1), (b, 2)]);
    }
}
