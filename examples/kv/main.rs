//! A key-value store on three nodes that keep vector clocks and write a log as ShiViz reads it.
//!
//! Node `n1` takes the puts, sends them to the others, and acknowledges a put as soon as *one* of
//! them has it. Every node answers gets from what it has.
//!
//! `cargo run --example kv > kv.log`

use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Mutex,
        mpsc::{Receiver, Sender, channel},
    },
    thread,
    time::Duration,
};

type Clock = BTreeMap<&'static str, u32>;

enum Body {
    Put(&'static str, &'static str),
    Get(&'static str),
    Replicate(&'static str, &'static str),
    Stored(&'static str),
    Stop,
}

/// A message; one from a client has no clock.
struct Message {
    body: Body,
    clock: Clock,
}

struct Node<'a> {
    name: &'static str,
    clock: Clock,
    data: HashMap<&'static str, &'static str>,
    /// The puts that were not acknowledged yet.
    waiting: Vec<&'static str>,
    peers: HashMap<&'static str, Sender<Message>>,
    log: &'a Mutex<()>,
}

impl Node<'_> {
    /// A step of this node: its clock ticks, and a record is written.
    fn step(&mut self, text: &str) {
        *self.clock.entry(self.name).or_default() += 1;
        let clock: Vec<String> = self
            .clock
            .iter()
            .map(|(n, c)| format!("\"{n}\":{c}"))
            .collect();
        let guard = self.log.lock().expect("no node panics while it writes");
        println!("{} {{{}}}\n{text}", self.name, clock.join(","));
        drop(guard);
    }

    fn send(&mut self, to: &'static str, body: Body) {
        let clock = self.clock.clone();
        // A node that has stopped needs no message.
        let _ = self.peers[to].send(Message { body, clock });
    }

    fn take(&mut self, Message { body, clock }: Message) -> bool {
        for (node, count) in clock {
            let known = self.clock.entry(node).or_default();
            *known = count.max(*known);
        }
        match body {
            Body::Put(key, value) => {
                self.step(&format!("Put of '{key}' received"));
                self.data.insert(key, value);
                self.waiting.push(key);
                for peer in ["n2", "n3"] {
                    self.step(&format!("Sending '{key}' to {peer}"));
                    self.send(peer, Body::Replicate(key, value));
                }
            }
            Body::Replicate(key, value) => {
                if self.name == "n3" {
                    // A slow disk.
                    thread::sleep(Duration::from_millis(60));
                }
                self.data.insert(key, value);
                self.step(&format!("Stored '{key}'"));
                self.send("n1", Body::Stored(key));
            }
            Body::Stored(key) => {
                self.step(&format!("Confirmation of '{key}' received"));
                if let Some(place) = self.waiting.iter().position(|other| *other == key) {
                    self.waiting.remove(place);
                    self.step(&format!("Acknowledged put of '{key}'"));
                }
            }
            Body::Get(key) => match self.data.get(key) {
                Some(value) => self.step(&format!("Served '{key}' as '{value}'")),
                None => self.step(&format!("Served '{key}' as missing")),
            },
            Body::Stop => return false,
        }
        true
    }

    fn run(mut self, inbox: &Receiver<Message>) {
        while let Ok(message) = inbox.recv() {
            if !self.take(message) {
                return;
            }
        }
    }
}

fn main() {
    let names = ["n1", "n2", "n3"];
    let log = Mutex::new(());
    let (senders, inboxes): (Vec<_>, Vec<_>) = names.iter().map(|_| channel()).unzip();
    let peers: HashMap<_, _> = names.into_iter().zip(senders).collect();
    let ask = |node: &str, body: Body| {
        let clock = Clock::new();
        peers[node]
            .send(Message { body, clock })
            .expect("the node runs");
        thread::sleep(Duration::from_millis(20));
    };
    thread::scope(|scope| {
        for (name, inbox) in names.into_iter().zip(inboxes) {
            let node = Node {
                name,
                clock: Clock::new(),
                data: HashMap::new(),
                waiting: Vec::new(),
                peers: peers.clone(),
                log: &log,
            };
            scope.spawn(move || node.run(&inbox));
        }
        ask("n3", Body::Get("colour"));
        ask("n1", Body::Put("colour", "blue"));
        ask("n2", Body::Get("colour"));
        thread::sleep(Duration::from_millis(100));
        ask("n1", Body::Put("shape", "round"));
        thread::sleep(Duration::from_millis(100));
        ask("n3", Body::Get("shape"));
        for name in names {
            ask(name, Body::Stop);
        }
    });
}
