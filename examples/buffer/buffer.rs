//! A bounded queue: who puts an item into a full one waits, and so does who takes one from an empty one.

use std::collections::VecDeque;

use portent::{
    sync::{Condvar, Mutex},
    thread,
};

/// Whom a change wakes.
#[derive(Clone, Copy)]
pub(crate) enum Wakes {
    /// Any one of those who wait, whatever for. If it is not the right one, nobody wakes that.
    One,
    /// All of them: each looks for itself.
    All,
}

struct Buffer {
    items: Mutex<VecDeque<u32>>,
    capacity: usize,
    /// Here wait both those who want room and those who want an item.
    changed: Condvar,
    wakes: Wakes,
}

impl Buffer {
    fn new(capacity: usize, wakes: Wakes) -> Buffer {
        Buffer {
            items: Mutex::with_name("items", VecDeque::new()),
            capacity,
            changed: Condvar::with_name("changed"),
            wakes,
        }
    }

    fn put(&self, item: u32) {
        let mut items = self.items.lock().unwrap();
        while items.len() == self.capacity {
            items = self.changed.wait(items).unwrap();
        }
        items.push_back(item);
        self.wake();
    }

    fn take(&self) -> u32 {
        let mut items = self.items.lock().unwrap();
        loop {
            if let Some(item) = items.pop_front() {
                self.wake();
                return item;
            }
            items = self.changed.wait(items).unwrap();
        }
    }

    fn wake(&self) {
        match self.wakes {
            Wakes::One => self.changed.notify_one(),
            Wakes::All => self.changed.notify_all(),
        }
    }
}

/// Two items go through a buffer with room for one, to two threads that take one each.
pub(crate) fn run(wakes: Wakes) {
    let buffer = Buffer::new(1, wakes);
    let taken = thread::scope(|s| {
        let takers = [(); 2].map(|()| s.spawn(|| buffer.take()));
        buffer.put(1);
        buffer.put(2);
        takers.map(|taker| taker.join().unwrap())
    });
    assert!(taken == [1, 2] || taken == [2, 1], "{taken:?}");
}
