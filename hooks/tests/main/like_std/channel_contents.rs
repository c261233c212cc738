//! Channels, case by case: messages that stay in a channel for a while, and those that wait for somebody to take them.

use std::time::Duration;

use super::{
    any_channel::{Room, in_each, make},
    run,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
        mpsc::{
            RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError, channel,
            sync_channel,
        },
    },
    thread,
};

const SOON: Duration = Duration::from_millis(1);
const LATE: Duration = Duration::from_secs(600);

/// Says when it is dropped.
struct Dropped(Arc<AtomicUsize>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

/// Cases in which messages stay for a while.
const ROOMS: [Room; 2] = [None, Some(2)];

#[test]
fn what_nobody_received_is_dropped_with_both_ends() {
    in_each(&ROOMS, |room| {
        let count = Arc::new(AtomicUsize::new(0));
        let (sender, receiver) = make(room);
        sender.send(Dropped(Arc::clone(&count))).unwrap();
        sender.clone().send(Dropped(Arc::clone(&count))).unwrap();
        drop(sender);
        assert_eq!(count.load(SeqCst), 0);
        drop(receiver);
        assert_eq!(count.load(SeqCst), 2);
    });
}

#[test]
fn the_receiver_goes_and_takes_what_is_there() {
    in_each(&ROOMS, |room| {
        let count = Arc::new(AtomicUsize::new(0));
        let (sender, receiver) = make(room);
        sender.send(Dropped(Arc::clone(&count))).unwrap();
        drop(receiver);
        assert_eq!(count.load(SeqCst), 1);
        drop(sender);
        assert_eq!(count.load(SeqCst), 1);
    });
}

#[test]
fn what_was_sent_is_there_after_the_sender() {
    in_each(&ROOMS, |room| {
        let (sender, receiver) = make(room);
        sender.send(Box::new(10)).unwrap();
        drop(sender);
        assert_eq!(receiver.recv(), Ok(Box::new(10)));
        assert_eq!(receiver.recv(), Err(RecvError));
    });
}

#[test]
fn what_is_received_at_once() {
    in_each(&ROOMS, |room| {
        let (sender, receiver) = make(room);
        sender.send(10).unwrap();
        assert_eq!(receiver.try_recv(), Ok(10));
        sender.send(11).unwrap();
        assert_eq!(receiver.recv_timeout(Duration::ZERO), Ok(11));
        sender.send(12).unwrap();
        assert_eq!(receiver.recv_timeout(LATE), Ok(12));
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    });
}

#[test]
fn a_sender_that_waits_for_a_time_and_then_finds() {
    in_each(&ROOMS, |room| {
        let (sender, receiver) = make(room);
        sender.send(1).unwrap();
        assert_eq!(receiver.recv_timeout(SOON), Ok(1));
        assert_eq!(receiver.recv_timeout(SOON), Err(RecvTimeoutError::Timeout));
        sender.clone().send(2).unwrap();
        assert_eq!(receiver.recv_timeout(SOON), Ok(2));
    });
}

#[test]
fn a_lot_of_messages_one_by_one() {
    in_each(&ROOMS, |room| {
        let (sender, receiver) = make(room);
        for n in 0..300 {
            sender.send(n).unwrap();
            assert_eq!(receiver.recv(), Ok(n));
        }
    });
}

#[test]
fn iteration_by_one_who_owns_the_receiver() {
    in_each(&ROOMS, |room| {
        let mut all = {
            let (sender, receiver) = make(room);
            sender.send(1).unwrap();
            sender.send(2).unwrap();
            receiver.into_iter()
        };
        assert_eq!(
            (all.next(), all.next(), all.next()),
            (Some(1), Some(2), None)
        );
    });
}

#[test]
fn iteration_by_one_who_borrows_the_receiver() {
    in_each(&ROOMS, |room| {
        let (sender, receiver) = make(room);
        sender.send(1).unwrap();
        sender.send(2).unwrap();
        drop(sender);
        let mut all = IntoIterator::into_iter(&receiver);
        assert_eq!(
            (all.next(), all.next(), all.next()),
            (Some(1), Some(2), None)
        );
    });
}

#[test]
fn each_thread_says_that_it_is_done() {
    in_each(&ROOMS, |room| {
        let (sender, receiver) = make(room);
        for _ in 0..10 {
            let sender = sender.clone();
            thread::spawn(move || sender.send(()).unwrap());
        }
        (0..10).for_each(|_| receiver.recv().unwrap());
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        drop(sender);
        assert_eq!(receiver.recv(), Err(RecvError));
    });
}

#[test]
fn messages_with_senders_inside() {
    in_each(&ROOMS, |room| {
        let (sender, receiver) = make(room);
        let (answer, answers) = make(room);
        sender.send(answer).unwrap();
        let other = thread::spawn(move || receiver.recv().unwrap().send(7).unwrap());
        assert_eq!(answers.recv(), Ok(7));
        other.join().unwrap();
        assert_eq!(answers.recv(), Err(RecvError));
    });
}

#[test]
fn a_send_without_room_waits_for_the_receiver() {
    run(|| {
        let (sender, receiver) = sync_channel(0);
        let received = Arc::new(AtomicUsize::new(0));
        let there = Arc::clone(&received);
        let other = thread::spawn(move || {
            there.store(1, SeqCst);
            receiver.recv().unwrap()
        });
        sender.send(7).unwrap();
        assert_eq!(received.load(SeqCst), 1);
        assert_eq!(other.join().unwrap(), 7);
    });
}

#[test]
fn a_send_without_room_learns_that_the_receiver_is_gone() {
    run(|| {
        for second in [false, true] {
            let (sender, receiver) = sync_channel::<i32>(0);
            let other = second.then(|| {
                let sender = sender.clone();
                thread::spawn(move || assert!(sender.send(1).is_err()))
            });
            let closes = thread::spawn(move || {
                thread::yield_now();
                drop(receiver);
            });
            assert!(sender.send(1).is_err());
            closes.join().unwrap();
            other.into_iter().for_each(|other| other.join().unwrap());
        }
    });
}

#[test]
fn a_sender_that_waits_for_room_learns_that_the_receiver_is_gone() {
    run(|| {
        let (sender, receiver) = sync_channel::<i32>(1);
        sender.send(1).unwrap();
        let waits = {
            let sender = sender.clone();
            thread::spawn(move || assert_eq!(sender.send(2), Err(SendError(2))))
        };
        drop(receiver);
        waits.join().unwrap();
        assert_eq!(sender.send(3), Err(SendError(3)));
    });
}

#[test]
fn tries_to_send() {
    run(|| {
        let (sender, _receiver) = sync_channel(0);
        assert_eq!(sender.try_send(1), Err(TrySendError::Full(1)));
        let (sender, receiver) = sync_channel(1);
        assert_eq!(sender.try_send(1), Ok(()));
        assert_eq!(sender.try_send(2), Err(TrySendError::Full(2)));
        assert_eq!((receiver.recv(), sender.try_send(3)), (Ok(1), Ok(())));
        drop(receiver);
        assert_eq!(sender.try_send(4), Err(TrySendError::Disconnected(4)));
        let (sender, receiver) = sync_channel(1);
        drop(receiver);
        assert_eq!(sender.try_send(1), Err(TrySendError::Disconnected(1)));
    });
}

#[test]
fn a_try_to_send_without_room_meets_one_who_waits() {
    run(|| {
        let (sender, receiver) = sync_channel(0);
        let waits = thread::spawn(move || {
            assert_eq!(receiver.recv_timeout(LATE), Ok(1));
            receiver.recv()
        });
        while sender.try_send(1).is_err() {
            thread::yield_now();
        }
        // The same sender, clones of it, and other ways to send mix.
        sender.clone().send(2).unwrap();
        assert_eq!(waits.join().unwrap(), Ok(2));
    });
}

#[test]
fn two_ends_of_two_channels_in_one_loop() {
    run(|| {
        let (sender, receiver) = channel();
        let (ack, acks) = sync_channel::<()>(0);
        let other = thread::spawn(move || {
            for n in &receiver {
                ack.send(()).unwrap();
                if n == 4 {
                    return;
                }
            }
        });
        for n in 0..5 {
            sender.send(n).unwrap();
            acks.recv().unwrap();
        }
        other.join().unwrap();
        assert!(sender.send(5).is_err() && acks.recv().is_err());
    });
}

#[test]
fn errors_speak() {
    assert_eq!(SendError(1).to_string(), "sending on a closed channel");
    assert_eq!(format!("{:?}", SendError(1)), "SendError { .. }");
    assert_eq!(
        TrySendError::Full(1).to_string(),
        "sending on a full channel"
    );

    assert_eq!(RecvError.to_string(), "receiving on a closed channel");
    assert_eq!(
        TryRecvError::Empty.to_string(),
        "receiving on an empty channel"
    );
    assert_eq!(
        RecvTimeoutError::Timeout.to_string(),
        "timed out waiting on channel"
    );
    assert_eq!(
        RecvTimeoutError::from(RecvError),
        RecvTimeoutError::Disconnected
    );
    assert_eq!(TryRecvError::from(RecvError), TryRecvError::Disconnected);
    assert_eq!(
        TrySendError::from(SendError(1)),
        TrySendError::Disconnected(1)
    );
}
