//! Channels.

use portent_hooks::{sync::mpsc, thread};
use portent_monitor_core::{
    Access,
    Operation::{Notify, Recv, Send, TryRecv, Wait},
    Role,
};

use super::{access, compare, one_then_other, says, step};

#[test]
fn messages() {
    let open = mpsc::channel::<u8>;
    compare(
        "send, then recv",
        says(&[Send], &[Recv], Role::Message),
        |turns| {
            let (sender, receiver) = open();
            one_then_other(
                turns,
                move || sender.send(1).unwrap(),
                move || {
                    receiver.recv().unwrap();
                },
            );
        },
    );
    compare(
        "send, then send",
        says(&[Send], &[Send], Role::Sends),
        |turns| {
            let (sender, _receiver) = open();
            let other = sender.clone();
            let kept = sender.clone();
            one_then_other(turns, || kept.send(1).unwrap(), || other.send(2).unwrap());
        },
    );
    // What a later receive learns of an earlier one: through the order of the receives alone.
    compare(
        "recv, then recv",
        says(&[Recv], &[Recv], Role::Receives),
        |turns| {
            let (sender, receiver) = open();
            sender.send(1).unwrap();
            sender.send(2).unwrap();
            let receiver = std::sync::Mutex::new(receiver);
            let receive = || assert!(receiver.lock().unwrap().recv().is_ok());
            one_then_other(turns, receive, receive);
        },
    );
    compare(
        "recv, then send where there is room for one",
        says(&[Recv], &[Send], Role::Room),
        |turns| {
            let (sender, receiver) = mpsc::sync_channel(1);
            sender.send(1).unwrap();
            let receiver = std::sync::Mutex::new(receiver);
            one_then_other(
                turns,
                || assert!(receiver.lock().unwrap().recv().is_ok()),
                || sender.send(2).unwrap(),
            );
        },
    );
    compare(
        "recv, then send where there is no bound",
        says(&[Recv], &[Send], Role::Channel),
        |turns| {
            let (sender, receiver) = open();
            sender.send(1).unwrap();
            let receiver = std::sync::Mutex::new(receiver);
            one_then_other(
                turns,
                || assert!(receiver.lock().unwrap().recv().is_ok()),
                || sender.send(2).unwrap(),
            );
        },
    );
    compare(
        "finding nothing, then send",
        says(&[TryRecv], &[Send], Role::Channel),
        |turns| {
            let (sender, receiver) = open();
            let receiver = std::sync::Mutex::new(receiver);
            one_then_other(
                turns,
                || assert!(receiver.lock().unwrap().try_recv().is_err()),
                || sender.send(2).unwrap(),
            );
        },
    );
    let after_both = says(&[Send], &[TryRecv], Role::Channel);
    compare("send and recv, then finding nothing", after_both, |turns| {
        let (sender, receiver) = open();
        let receiver = std::sync::Mutex::new(receiver);
        let receiver = &receiver;
        let kept = &sender;
        thread::scope(|s| {
            s.spawn(|| {
                turns.at(0, || {
                    step(1);
                    kept.send(1).unwrap();
                });
            });
            s.spawn(|| turns.at(1, || assert!(receiver.lock().unwrap().recv().is_ok())));
            s.spawn(|| {
                turns.at(2, || {
                    assert!(receiver.lock().unwrap().try_recv().is_err());
                    step(2);
                });
            });
        });
    });
    compare(
        "finding nothing, twice",
        says(&[TryRecv], &[TryRecv], Role::Channel),
        |turns| {
            let (_sender, receiver) = open();
            let receiver = std::sync::Mutex::new(receiver);
            let look = || assert!(receiver.lock().unwrap().try_recv().is_err());
            one_then_other(turns, look, look);
        },
    );
    // A sender that waits for the receiver goes on after it.
    let waits = access(Send, Role::Delivery) == Access::Await;
    assert_eq!(access(Recv, Role::Delivery), Access::Contribute);
    compare("recv, then what follows a send without room", waits, |_| {
        let (sender, receiver) = mpsc::sync_channel(0);
        thread::scope(|s| {
            s.spawn(move || {
                step(1);
                receiver.recv().unwrap();
            });
            s.spawn(move || {
                sender.send(1).unwrap();
                step(2);
            });
        });
    });
    compare(
        "closing, then hearing of it",
        says(&[Notify], &[Wait], Role::Condition),
        |turns| {
            let (sender, receiver) = open();
            one_then_other(
                turns,
                move || drop(sender),
                move || {
                    assert!(receiver.recv().is_err());
                },
            );
        },
    );
}
