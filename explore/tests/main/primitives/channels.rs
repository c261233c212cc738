//! Channels without a bound, with little room and with none.

use std::sync::Arc;

use portent_explore::{Explorer, FailureKind};
use portent_hooks::{
    sync::{
        atomic::{AtomicU32, Ordering::SeqCst},
        mpsc,
    },
    thread,
};

use super::{TIME, checked, failure};

#[test]
fn a_channel_with_two_senders() {
    let program = || {
        let (sender, receiver) = mpsc::channel();
        for number in 0..2 {
            let sender = sender.clone();
            thread::spawn(move || sender.send(number).unwrap());
        }
        drop(sender);
        assert_eq!(receiver.iter().sum::<i32>(), 1);
    };
    assert_eq!(checked(program), (2, 0, 0));
}

#[test]
fn a_message_that_is_there_or_not() {
    let program = || {
        let (sender, receiver) = mpsc::channel();
        let thread = thread::spawn(move || sender.send(1));
        let seen = receiver.try_recv();
        let _ = thread.join();
        seen
    };
    let seen = std::cell::RefCell::new(std::collections::BTreeSet::new());
    // Before the message; between it and the end of the sender; after that.
    assert_eq!(
        checked(|| {
            seen.borrow_mut().insert(format!("{:?}", program()));
        }),
        (3, 0, 0)
    );
    assert_eq!(
        seen.into_inner().into_iter().collect::<Vec<_>>(),
        ["Err(Empty)", "Ok(1)"]
    );
}

#[test]
fn a_receiver_that_does_not_wait_for_ever() {
    let seen = std::cell::RefCell::new(std::collections::BTreeSet::new());
    checked(|| {
        let (sender, receiver) = mpsc::channel();
        let thread = thread::spawn(move || {
            let _ = sender.send(1);
        });
        let mut all = String::new();
        for _ in 0..2 {
            all += &format!("{:?} ", receiver.recv_timeout(TIME));
        }
        thread.join().unwrap();
        seen.borrow_mut().insert(all);
    });
    let seen = seen.into_inner();
    for expected in [
        "Ok(1) Err(Timeout) ",
        "Ok(1) Err(Disconnected) ",
        "Err(Timeout) Ok(1) ",
    ] {
        assert!(seen.contains(expected), "{seen:?}");
    }
}

#[test]
fn a_channel_without_room() {
    let program = || {
        let (sender, receiver) = mpsc::sync_channel(0);
        let number = Arc::new(AtomicU32::new(0));
        let there = Arc::clone(&number);
        let thread = thread::spawn(move || {
            sender.send(1).unwrap();
            there.load(SeqCst)
        });
        number.store(1, SeqCst);
        receiver.recv().unwrap();
        assert_eq!(
            thread.join().unwrap(),
            1,
            "it went on before its message was received"
        );
    };
    assert_eq!(checked(program), (1, 0, 0));
    // Nobody receives: the sender waits, until there is nobody to wait for.
    let report = Explorer::new().check(|| {
        let (sender, receiver) = mpsc::sync_channel(0);
        let thread = thread::spawn(move || sender.send(1).is_err());
        drop(receiver);
        assert!(thread.join().unwrap());
    });
    report.assert_passed();
    let report = Explorer::new().check(|| {
        let (sender, _receiver) = mpsc::sync_channel(0);
        sender.send(1).unwrap();
    });
    let message = failure(&report, FailureKind::Deadlock);
    assert!(
        message.contains("main waits for others, to send to mpsc@"),
        "{message}"
    );
    let report = Explorer::new().check(|| {
        let (sender, _receiver) = mpsc::sync_channel(0);
        let _ = sender.try_send(1);
    });
    assert!(failure(&report, FailureKind::Limit).contains("cannot be explored"));
}

#[test]
fn a_channel_with_little_room() {
    let program = || {
        let (sender, receiver) = mpsc::sync_channel(1);
        let number = Arc::new(AtomicU32::new(0));
        let there = Arc::clone(&number);
        let thread = thread::spawn(move || {
            sender.send(1).unwrap();
            sender.send(2).unwrap();
            there.load(SeqCst)
        });
        number.store(1, SeqCst);
        receiver.recv().unwrap();
        receiver.recv().unwrap();
        assert_eq!(thread.join().unwrap(), 1, "there was no room");
    };
    assert_eq!(checked(program), (1, 0, 0));
}
