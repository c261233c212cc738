//! Philosophers at a round table: who wants to eat needs the forks on both sides.

use portent::{sync::Mutex, thread};

/// Which fork a philosopher takes first.
#[derive(Clone, Copy)]
pub(crate) enum First {
    /// The left one: if all have done so, nobody gets a second one.
    Left,
    /// That with the lower number: so forks are taken in one order by all, and no circle closes.
    Lower,
}

const SEATS: usize = 3;

/// Everybody eats once.
pub(crate) fn dine(first: First) {
    let forks: [_; SEATS] =
        std::array::from_fn(|seat| Mutex::with_name(&format!("fork {seat}"), ()));
    thread::scope(|s| {
        for seat in 0..SEATS {
            let forks = &forks;
            let (left, right) = (seat, (seat + 1) % SEATS);
            let (one, other) = match first {
                First::Left => (left, right),
                First::Lower => (left.min(right), left.max(right)),
            };
            s.spawn(move || {
                let _one = forks[one].lock().unwrap();
                let _other = forks[other].lock().unwrap();
            });
        }
    });
}
