//! Data races: unordered accesses of plain variables.
//!
//! For the search, two accesses of one variable are ordered, since they do not commute. For data races only the
//! synchronisation of the program counts. So each event has a second vector clock, along these edges:
//!
//! | from | to |
//! |---|---|
//! | the spawn of a thread; its end | its start; the join |
//! | an unlock | the next lock; for a shared lock, from the last exclusive unlock |
//! | a write of an atomic | a read of its value, or of a value left by updates of it |
//! | a send; the receive that made room; the drop of an end of a channel | the receive; the send; the operation that notices the drop |
//! | a notify, an unpark, the last arrival at a barrier | the threads that it wakes |
//! | a one-time initialisation | a thread that finds it complete |
//!
//! **Atomics order threads as `Acquire` and `Release` do**, whatever ordering they ask for: a read comes after the write of its
//! value, and a write alone is not ordered after anything. So every reported race is one in any memory model; races that only
//! `Relaxed` allows are not found.

use super::Event;

/// Two accesses of one plain variable, one of them a write, that nothing orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DataRace {
    pub(crate) first: u32,
    pub(crate) second: u32,
}

/// What each event comes after by what the program synchronises by. Rows have the numbers that they have in the run.
#[derive(Debug, Default)]
pub(crate) struct Order {
    width: usize,
    clocks: Vec<u16>,
    extra: Vec<u16>,
    current: Vec<u16>,
    races: Vec<DataRace>,
}

impl Order {
    pub(crate) fn new(width: usize) -> Order {
        Order {
            width,
            ..Order::default()
        }
    }

    /// A run begins; so many events are kept.
    pub(crate) fn begin(&mut self, keep: usize) {
        self.clocks.truncate(keep * self.width);
        self.extra.clear();
        self.current.clear();
        self.races.retain(|race| (race.second as usize) < keep);
    }

    /// There is a thread more; it comes after what its spawner did.
    pub(crate) fn add_thread(&mut self, spawner: Option<usize>) {
        match spawner {
            Some(spawner) => {
                let from = spawner * self.width;
                self.current.extend_from_within(from..from + self.width);
            }
            None => self.current.resize(self.current.len() + self.width, 0),
        }
    }

    /// All the rows, which become wider.
    pub(crate) fn rows(&mut self, width: usize) -> [&mut Vec<u16>; 3] {
        self.width = width;
        [&mut self.clocks, &mut self.extra, &mut self.current]
    }

    /// One thread comes after all that another did.
    pub(crate) fn learn(&mut self, thread: usize, from: usize) {
        for i in 0..self.width {
            let other = self.current[from * self.width + i];
            let mine = &mut self.current[thread * self.width + i];
            *mine = (*mine).max(other);
        }
    }

    /// A thread comes after an event.
    pub(crate) fn receive(&mut self, thread: usize, event: usize) {
        join(
            &mut self.current[thread * self.width..][..self.width],
            &self.clocks[event * self.width..],
        );
    }

    /// A thread comes after what another one knew when it gave something back.
    pub(crate) fn receive_extra(&mut self, thread: usize, row: usize) {
        join(
            &mut self.current[thread * self.width..][..self.width],
            &self.extra[row * self.width..],
        );
    }

    /// What a thread knows now is one of the extra rows.
    pub(crate) fn keep(&mut self, thread: usize) {
        let mine = thread * self.width;
        self.extra
            .extend_from_slice(&self.current[mine..mine + self.width]);
    }

    /// An event of the thread happens that was known.
    pub(crate) fn follow(&mut self, thread: usize, event: usize) {
        let row = &self.clocks[event * self.width..(event + 1) * self.width];
        self.current[thread * self.width..(thread + 1) * self.width].copy_from_slice(row);
    }

    /// An event of the thread happens.
    pub(crate) fn add(&mut self, thread: usize, index: u16) {
        let mine = &mut self.current[thread * self.width..][..self.width];
        mine[thread] = index;
        self.clocks.extend_from_slice(mine);
    }

    /// Whether what a thread does now is not ordered with an event.
    pub(crate) fn is_concurrent(&self, thread: usize, event: &Event) -> bool {
        let other = usize::from(event.thread);
        other != thread && self.current[thread * self.width + other] < event.index
    }

    /// Nothing orders these two.
    pub(crate) fn race(&mut self, first: u32, second: u32) {
        self.races.push(DataRace { first, second });
    }

    /// The data races of the run, in the order of their second accesses.
    pub(crate) fn races(&self) -> &[DataRace] {
        &self.races
    }
}

fn join(mine: &mut [u16], other: &[u16]) {
    for (mine, other) in mine.iter_mut().zip(other) {
        *mine = (*mine).max(*other);
    }
}
