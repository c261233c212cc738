//! Two transfers between two accounts. Each thread locks the account that it takes from, and then the other: in two orders. In
//! this run the second begins when the first is done, and all is well.
//!
//! `cargo run --example transfer > transfer.jsonl`, and then `portent find --causality strong transfer.jsonl`

#[path = "../recorder/mod.rs"]
mod recorder;

use recorder::Recorder;
use std::{
    sync::{Mutex, MutexGuard},
    thread,
    time::Duration,
};

struct Account {
    name: &'static str,
    balance: Mutex<i64>,
}

impl Account {
    fn new(name: &'static str) -> Account {
        Account {
            name,
            balance: Mutex::new(100),
        }
    }

    /// Locks the account; the line is written while it is held.
    fn lock(&self, log: &Recorder, thread: &str, line: u32) -> MutexGuard<'_, i64> {
        let guard = self.balance.lock().expect("nobody panics");
        let text = format!(
            "\"op\": \"lock\", \"lock\": \"{}\", \"loc\": \"{}:{line}\"",
            self.name,
            file!()
        );
        log.record(thread, &text, || ());
        guard
    }

    fn unlock(&self, log: &Recorder, thread: &str, guard: MutexGuard<'_, i64>) {
        let text = format!("\"op\": \"unlock\", \"lock\": \"{}\"", self.name);
        log.record(thread, &text, || drop(guard));
    }
}

fn transfer(log: &Recorder, thread: &str, from: &Account, to: &Account, amount: i64) {
    let mut source = from.lock(log, thread, line!());
    let mut target = to.lock(log, thread, line!());
    *source -= amount;
    *target += amount;
    to.unlock(log, thread, target);
    from.unlock(log, thread, source);
}

fn main() {
    let log = Recorder::default();
    let (alice, bob) = (Account::new("alice"), Account::new("bob"));
    thread::scope(|scope| {
        scope.spawn(|| transfer(&log, "T1", &alice, &bob, 30));
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(50));
            transfer(&log, "T2", &bob, &alice, 50);
        });
    });
}
