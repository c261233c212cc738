//! Two branches of a bank, each a thread that keeps one account. A transfer is two messages, and
//! the client does not wait for the withdrawal before it asks for the deposit.
//!
//! `cargo run --example bank > bank.jsonl`

#[path = "../recorder/mod.rs"]
mod recorder;

use recorder::Recorder;
use std::{
    sync::mpsc::{Receiver, Sender, channel},
    thread,
    time::Duration,
};

/// An amount to add to the balance, and the number of the message.
type Order = (i64, u32);

fn branch(log: &Recorder, thread: &str, account: &str, orders: Receiver<Order>) {
    let mut balance = 100;
    for (amount, number) in orders {
        let line = format!("\"op\": \"recv\", \"chan\": \"{thread}\", \"msg\": {number}");
        log.record(thread, &line, || ());
        let line = format!(
            "\"op\": \"write\", \"var\": \"{account}\", \"val\": {}",
            balance + amount
        );
        log.record(thread, &line, || balance += amount);
    }
}

fn main() {
    let log = Recorder::default();
    let (north, north_orders) = channel();
    let (south, south_orders) = channel();
    let send = |branch: &str, to: &Sender<Order>, amount: i64, number: u32| {
        let line = format!("\"op\": \"send\", \"chan\": \"{branch}\", \"msg\": {number}");
        let sent = log.record("client", &line, || to.send((amount, number)));
        sent.expect("the branch is open");
        thread::sleep(Duration::from_millis(30));
    };
    println!("{{\"portent\": 1, \"init\": {{\"alice\": 100, \"bob\": 100}}}}");
    thread::scope(|scope| {
        let log = &log;
        scope.spawn(move || branch(log, "north", "alice", north_orders));
        scope.spawn(move || branch(log, "south", "bob", south_orders));
        // 30 from Alice to Bob, then 50 from Bob to Alice.
        send("north", &north, -30, 1);
        send("south", &south, 30, 1);
        send("south", &south, -50, 2);
        send("north", &north, 50, 2);
        drop((north, south));
    });
}
