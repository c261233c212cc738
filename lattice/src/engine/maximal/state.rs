//! The part of a feasible prefix that determines what can follow, and which events can.

use super::rules::{Demands, Rules};
use crate::automaton::StateIndex;

/// A prefix, reduced to what is relevant: the state of the property, the number of events of each thread, and
/// the last write of each contended variable, or 0 for the initial value and for a variable that will not be
/// read again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Prefix {
    pub(super) state: StateIndex,
    numbers: Vec<u32>,
    threads: usize,
}

/// A packed prefix without its state; there are many of them.
pub(super) type PrefixKey = Box<[u8]>;

/// The size in bytes of each number of a key.
#[derive(Clone, Copy, Debug)]
pub(super) struct PrefixPacking {
    bytes: usize,
    threads: usize,
    numbers: usize,
}

impl PrefixPacking {
    pub(super) fn new(rules: &Rules) -> PrefixPacking {
        let lengths = rules.threads.iter().map(Vec::len);
        let writes = rules.variables.iter().map(|variable| variable.writes.len());
        let bytes = match lengths.chain(writes).max().unwrap_or(0) {
            0..0x100 => 1,
            0x100..0x1_0000 => 2,
            _ => 4,
        };
        PrefixPacking {
            bytes,
            threads: rules.threads.len(),
            numbers: rules.threads.len() + rules.contended,
        }
    }

    /// The size of a key in bytes.
    pub(super) fn key_bytes(self) -> usize {
        self.bytes * self.numbers
    }

    pub(super) fn pack(self, prefix: &Prefix) -> PrefixKey {
        let mut key = Vec::with_capacity(self.key_bytes());
        for number in &prefix.numbers {
            key.extend_from_slice(&number.to_le_bytes()[..self.bytes]);
        }
        key.into()
    }

    pub(super) fn unpack(self, key: &[u8], state: StateIndex, prefix: &mut Prefix) {
        prefix.state = state;
        prefix.threads = self.threads;
        prefix.numbers.clear();
        let numbers = key.chunks_exact(self.bytes).map(|bytes| {
            let mut number = [0; 4];
            number[..self.bytes].copy_from_slice(bytes);
            u32::from_le_bytes(number)
        });
        prefix.numbers.extend(numbers);
    }
}

impl Prefix {
    pub(super) fn empty(rules: &Rules, state: StateIndex) -> Prefix {
        Prefix {
            state,
            numbers: vec![0; rules.threads.len() + rules.contended],
            threads: rules.threads.len(),
        }
    }

    pub(super) fn cut(&self) -> &[u32] {
        &self.numbers[..self.threads]
    }

    /// The last write of a variable that is still to be read.
    pub(super) fn last_write(&self, rules: &Rules, variable: u32) -> u32 {
        match rules.variables[variable as usize].contended {
            Some(number) => self.numbers[self.threads + number as usize],
            None => rules.sole_write(variable, self.cut()),
        }
    }

    /// Whether all events have happened.
    pub(super) fn is_whole(&self, rules: &Rules) -> bool {
        let mut counts = self.cut().iter().zip(&rules.threads);
        counts.all(|(&count, events)| count as usize == events.len())
    }

    /// The next event of a thread.
    pub(super) fn next(&self, rules: &Rules, thread: usize) -> Option<u32> {
        rules.next(thread, self.numbers[thread])
    }

    /// The events that can happen next.
    pub(super) fn enabled<'a>(&'a self, rules: &'a Rules) -> impl Iterator<Item = u32> + 'a {
        (0..self.threads)
            .filter_map(|thread| self.next(rules, thread))
            .filter(|&event| self.is_enabled(rules, event))
    }

    /// Whether the next event of a thread can happen.
    pub(super) fn is_enabled(&self, rules: &Rules, event: u32) -> bool {
        let demands = &rules.events[event as usize];
        let cut = self.cut();
        let mut reads = demands.reads.iter();
        demands.after.iter().all(|place| place.is_in(cut))
            && reads.all(|read| self.last_write(rules, read.variable) == read.write)
            && self.can_take(rules, demands)
            && (demands.tries).is_none_or(|lock| rules.is_locked(lock, cut))
            && (demands.finds_empty())
                .is_none_or(|channel| rules.channels[channel as usize].is_empty(cut))
    }

    fn can_take(&self, rules: &Rules, demands: &Demands) -> bool {
        let mut takes = demands.takes.iter();
        takes.all(|&taken| rules.holder(taken, demands.thread, self.cut()).is_none())
    }

    /// Performs an event; its effect on the property is not handled here.
    pub(super) fn happen(&mut self, rules: &Rules, event: u32) {
        let demands = &rules.events[event as usize];
        self.numbers[demands.thread as usize] += 1;
        for write in &demands.writes {
            if let Some(number) = rules.variables[write.variable as usize].contended {
                self.numbers[self.threads + number as usize] = write.number;
            }
        }
        let written = demands.writes.iter().map(|write| write.variable);
        let read = demands.reads.iter().map(|read| read.variable);
        for variable in written.chain(read) {
            if let Some(number) = rules.variables[variable as usize].contended
                && !rules.is_to_be_read(variable, self.cut())
            {
                self.numbers[self.threads + number as usize] = 0;
            }
        }
    }
}
