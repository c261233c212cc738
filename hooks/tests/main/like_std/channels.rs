//! Channels.

use std::time::Duration;

use super::{
    run,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc::{
            Receiver, RecvError, RecvTimeoutError, SendError, Sender, TryRecvError, TrySendError,
            channel, sync_channel,
        },
    },
    thread,
};

#[test]
fn smoke() {
    run(|| {
        let (sender, receiver) = channel();
        sender.send(1).unwrap();
        assert_eq!(receiver.recv(), Ok(1));
        sender.clone().send(2).unwrap();
        assert_eq!(receiver.recv(), Ok(2));
        let (sender, receiver) = sync_channel(1);
        sender.send(1).unwrap();
        assert_eq!(receiver.recv(), Ok(1));
    });
}

#[test]
fn the_last_of_many_senders_ends_it() {
    run(|| {
        for _ in 0..20 {
            let (sender, receiver) = channel();
            let threads: Vec<_> = (0..4)
                .map(|n| {
                    let sender = sender.clone();
                    thread::spawn(move || sender.send(n).unwrap())
                })
                .collect();
            drop(sender);
            // All were sent before the last sender was gone.
            assert_eq!(receiver.iter().sum::<i32>(), 6);
            assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
            for thread in threads {
                thread.join().unwrap();
            }
        }
    });
}

#[test]
fn a_receiver_that_goes_ends_all_sends() {
    run(|| {
        for room in [0, 1, 3] {
            let (sender, receiver) = sync_channel(room);
            // Senders outlive the threads: where one goes while another finds that nobody receives, a recording of
            // everything may put the first before the second, though nothing did.
            let threads: Vec<_> = (0..3)
                .map(|_| {
                    let sender = sender.clone();
                    thread::spawn(move || ((0..).find(|n| sender.send(*n).is_err()), sender))
                })
                .collect();
            for _ in 0..5 {
                receiver.recv().unwrap();
            }
            drop(receiver);
            let ended: Vec<_> = { threads.into_iter() }
                .map(|thread| thread.join().unwrap())
                .collect();
            let sent: i32 = ended.iter().map(|(sent, _)| sent.unwrap()).sum();
            // What found room counts as sent, though nobody received it.
            assert!((5..=5 + room as i32).contains(&sent), "{sent} with {room}");
            assert_eq!(sender.send(7), Err(SendError(7)));
        }
    });
}

#[test]
fn messages_that_nobody_receives_are_dropped() {
    run(|| {
        struct Counted(Arc<AtomicUsize>);
        impl Drop for Counted {
            fn drop(&mut self) {
                self.0.fetch_add(1, Ordering::SeqCst);
            }
        }
        let count = Arc::new(AtomicUsize::new(0));
        let (sender, receiver) = channel();
        sender.send(Counted(Arc::clone(&count))).unwrap();
        drop(receiver);
        assert_eq!(count.load(Ordering::SeqCst), 1);
        assert!(sender.send(Counted(Arc::clone(&count))).is_err());
        assert_eq!(count.load(Ordering::SeqCst), 2);
        let (sender, receiver) = sync_channel(3);
        sender.send(Counted(Arc::clone(&count))).unwrap();
        drop((sender, receiver));
        assert_eq!(count.load(Ordering::SeqCst), 3);
    });
}

#[test]
fn ends() {
    run(|| {
        let (sender, receiver) = channel::<i32>();
        drop(receiver);
        assert_eq!(sender.send(1), Err(SendError(1)));
        let (sender, receiver) = channel::<i32>();
        sender.send(5).unwrap();
        drop(sender);
        assert_eq!((receiver.recv(), receiver.recv()), (Ok(5), Err(RecvError)));
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
        let (sender, receiver) = sync_channel::<i32>(0);
        drop(receiver);
        assert_eq!(sender.send(1), Err(SendError(1)));
        assert_eq!(sender.try_send(1), Err(TrySendError::Disconnected(1)));
    });
}

#[test]
fn a_receiver_waits_for_the_end() {
    run(|| {
        let (sender, receiver) = channel::<i32>();
        let other = thread::spawn(move || {
            thread::yield_now();
            drop(sender);
        });
        assert_eq!(receiver.recv(), Err(RecvError));
        other.join().unwrap();
    });
}

#[test]
fn a_sender_waits_for_the_end() {
    run(|| {
        let (sender, receiver) = sync_channel::<i32>(0);
        let other = thread::spawn(move || {
            thread::yield_now();
            drop(receiver);
        });
        assert_eq!(sender.send(1), Err(SendError(1)));
        other.join().unwrap();
        let (sender, receiver) = sync_channel::<i32>(1);
        sender.send(1).unwrap();
        let other = thread::spawn(move || drop(receiver));
        assert_eq!(sender.send(2), Err(SendError(2)));
        other.join().unwrap();
    });
}

#[test]
fn many_senders() {
    run(|| {
        const THREADS: usize = 4;
        const MESSAGES: usize = 50;
        let (sender, receiver) = channel();
        for _ in 0..THREADS {
            let sender = sender.clone();
            thread::spawn(move || (0..MESSAGES).for_each(|n| sender.send(n).unwrap()));
        }
        drop(sender);
        let mut all: Vec<usize> = receiver.iter().collect();
        all.sort_unstable();
        assert_eq!(all.len(), THREADS * MESSAGES);
        assert_eq!(all[THREADS * MESSAGES - 1], MESSAGES - 1);
    });
}

#[test]
fn little_room() {
    run(|| {
        for room in [0, 1, 3] {
            let (sender, receiver) = sync_channel(room);
            for _ in 0..3 {
                let sender = sender.clone();
                thread::spawn(move || (0..20).for_each(|n| sender.send(n).unwrap()));
            }
            drop(sender);
            assert_eq!(receiver.into_iter().sum::<i32>(), 3 * 190);
        }
    });
}

#[test]
fn in_order() {
    run(|| {
        let (sender, receiver) = sync_channel(2);
        let other = thread::spawn(move || (0..50).for_each(|n| sender.send(n).unwrap()));
        let mut next = 0;
        for n in &receiver {
            assert_eq!(n, next);
            next += 1;
        }
        assert_eq!(next, 50);
        other.join().unwrap();
    });
}

#[test]
fn try_send() {
    run(|| {
        let (sender, receiver) = sync_channel(1);
        assert_eq!(sender.try_send(1), Ok(()));
        assert_eq!(sender.try_send(2), Err(TrySendError::Full(2)));
        assert_eq!(receiver.try_recv(), Ok(1));
        assert_eq!(sender.try_send(3), Ok(()));
        let (sender, receiver) = sync_channel(0);
        assert_eq!(sender.try_send(1), Err(TrySendError::Full(1)));
        let other = thread::spawn(move || receiver.recv().unwrap());
        while sender.try_send(7).is_err() {
            thread::yield_now();
        }
        assert_eq!(other.join().unwrap(), 7);
    });
}

#[test]
fn try_recv_and_times() {
    run(|| {
        let (sender, receiver) = channel();
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        let soon = Duration::from_millis(1);
        assert_eq!(receiver.recv_timeout(soon), Err(RecvTimeoutError::Timeout));
        sender.send(1).unwrap();
        assert_eq!(receiver.recv_timeout(soon), Ok(1));
        sender.send(2).unwrap();
        sender.send(3).unwrap();
        assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [2, 3]);
        drop(sender);
        assert_eq!(
            receiver.recv_timeout(soon),
            Err(RecvTimeoutError::Disconnected)
        );
        let (sender, receiver) = channel();
        let other = thread::spawn(move || receiver.recv_timeout(Duration::MAX));
        sender.send(4).unwrap();
        assert_eq!(other.join().unwrap(), Ok(4));
    });
}

#[test]
fn a_receiver_may_change_hands() {
    run(|| {
        let (sender, receiver) = channel();
        sender.send(1).unwrap();
        let receiver = thread::spawn(move || {
            assert_eq!(receiver.recv(), Ok(1));
            receiver
        })
        .join()
        .unwrap();
        sender.send(2).unwrap();
        assert_eq!(receiver.recv(), Ok(2));
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    });
}

#[test]
fn traits() {
    fn sync_and_send<T: Sync + Send>() {}
    fn send<T: Send>() {}
    sync_and_send::<Sender<std::cell::Cell<i32>>>();
    send::<Receiver<std::cell::Cell<i32>>>();
    let (sender, receiver) = channel::<i32>();
    assert_eq!(
        format!("{sender:?} {receiver:?}"),
        "Sender { .. } Receiver { .. }"
    );
    assert_eq!(
        format!("{:?}", sync_channel::<i32>(1).0),
        "SyncSender { .. }"
    );
}
