//! A pool of slots without locks: those that are free are a stack, in which each names the one below it.

use portent::{
    sync::atomic::{AtomicU32, AtomicU64, Ordering::SeqCst},
    thread,
};

/// How a thread knows that nobody has changed the stack since it looked at it.
#[derive(Clone, Copy)]
pub(crate) enum Head {
    /// It begins with the same slot. But that may have been taken and given back, and another one be below it now (ABA).
    Slot,
    /// It has been changed as often.
    Counted,
}

const SLOTS: usize = 2;
/// What is below the last one.
const NONE: u32 = u32::MAX;

struct Pool {
    /// The first free slot, and above it, if that is counted, how often the stack was changed.
    top: AtomicU64,
    below: [AtomicU32; SLOTS],
    head: Head,
}

impl Pool {
    /// All slots are free, from 0 down to the last.
    fn new(head: Head) -> Pool {
        let below = |slot: usize| {
            if slot + 1 < SLOTS {
                slot as u32 + 1
            } else {
                NONE
            }
        };
        Pool {
            top: AtomicU64::with_name("top", 0),
            below: std::array::from_fn(|slot| {
                AtomicU32::with_name(&format!("below {slot}"), below(slot))
            }),
            head,
        }
    }

    fn take(&self) -> Option<u32> {
        let mut top = self.top.load(SeqCst);
        loop {
            let slot = first(top);
            let below = self.below.get(slot as usize)?.load(SeqCst);
            // Here others may take this slot and the one below it, and give this one back.
            let new = self.changed(top, below);
            match self.top.compare_exchange(top, new, SeqCst, SeqCst) {
                Ok(_) => return Some(slot),
                Err(now) => top = now,
            }
        }
    }

    fn give_back(&self, slot: u32) {
        let mut top = self.top.load(SeqCst);
        loop {
            self.below[slot as usize].store(first(top), SeqCst);
            let new = self.changed(top, slot);
            match self.top.compare_exchange(top, new, SeqCst, SeqCst) {
                Ok(_) => return,
                Err(now) => top = now,
            }
        }
    }

    /// What the top is after a change.
    fn changed(&self, top: u64, slot: u32) -> u64 {
        let changes = match self.head {
            Head::Slot => 0,
            Head::Counted => (top >> 32) + 1,
        };
        changes << 32 | u64::from(slot)
    }
}

/// The slot in a top: its lower half.
fn first(top: u64) -> u32 {
    top as u32
}

/// One thread takes a slot; another takes two and gives the first one back. Then somebody takes what is left. Nobody has the slot of another.
pub(crate) fn run(head: Head) {
    let pool = Pool::new(head);
    let mut taken: Vec<u32> = thread::scope(|s| {
        let one = s.spawn(|| pool.take());
        let other = s.spawn(|| {
            let (first, second) = (pool.take(), pool.take());
            if let Some(first) = first {
                pool.give_back(first);
            }
            second
        });
        let both = [one, other].map(|thread| thread.join().unwrap());
        both.into_iter().flatten().collect()
    });
    taken.extend((0..SLOTS).filter_map(|_| pool.take()));
    taken.sort_unstable();
    assert_eq!(taken, [0, 1], "each slot is taken once");
}
