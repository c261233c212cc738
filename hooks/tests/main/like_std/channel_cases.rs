//! Channels, case by case: each with as many messages in it as one likes, with little room, and with none.

use std::time::{Duration, Instant};

use super::{
    any_channel::{Room, in_each, make},
    sync::mpsc::{Receiver, RecvError, RecvTimeoutError, SendError, TryRecvError, channel},
    thread,
};

/// How often a race is run.
const RACES: usize = 12;
const SOON: Duration = Duration::from_millis(1);

/// Cases in which a receiver is there for each message that is sent.
const ROOMS: [Room; 3] = [None, Some(2), Some(0)];

#[test]
fn from_one_thread_to_another() {
    in_each(&ROOMS, |room| {
        let (sender, receiver) = make(room);
        let other = thread::spawn(move || sender.send(1).unwrap());
        assert_eq!(receiver.recv(), Ok(1));
        other.join().unwrap();
    });
}

#[test]
fn the_receiver_is_gone() {
    in_each(&ROOMS, |room| {
        let (sender, receiver) = make(room);
        drop(receiver);
        assert_eq!(sender.send(1), Err(SendError(1)));
    });
}

#[test]
fn the_receiver_is_gone_and_there_are_two_senders() {
    in_each(&ROOMS, |room| {
        let (sender, receiver) = make(room);
        let second = sender.clone();
        drop(receiver);
        assert_eq!(sender.send(1), Err(SendError(1)));
        assert_eq!(second.send(2), Err(SendError(2)));
        drop(sender);
        assert_eq!(second.send(3), Err(SendError(3)));
    });
}

#[test]
fn the_receiver_goes_while_one_sends() {
    in_each(&ROOMS, |room| {
        let (sender, receiver) = make(room);
        let other = thread::spawn(move || receiver.recv().unwrap());
        while sender.send(1).is_ok() {}
        assert_eq!(other.join().unwrap(), 1);
    });
}

#[test]
fn the_receiver_goes_while_two_send() {
    in_each(&ROOMS, |room| {
        let (sender, receiver) = make(room);
        let second = sender.clone();
        let other = thread::spawn(move || receiver.recv().unwrap());
        while sender.send(1).is_ok() && second.send(1).is_ok() {}
        assert_eq!(other.join().unwrap(), 1);
    });
}

#[test]
fn the_sender_is_gone() {
    in_each(&ROOMS, |room| {
        let (sender, receiver): (_, Receiver<i32>) = make(room);
        drop(sender);
        assert_eq!(receiver.recv(), Err(RecvError));
    });
}

#[test]
fn all_senders_are_gone() {
    in_each(&ROOMS, |room| {
        let (sender, receiver): (_, Receiver<i32>) = make(room);
        let second = sender.clone();
        drop(sender);
        drop(second);
        assert_eq!(receiver.recv(), Err(RecvError));
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
        assert_eq!(
            receiver.recv_timeout(SOON),
            Err(RecvTimeoutError::Disconnected)
        );
    });
}

#[test]
fn the_sender_goes_while_one_receives() {
    in_each(&ROOMS, |room| {
        let (sender, receiver) = make(room);
        let other = thread::spawn(move || {
            sender.send(1).unwrap();
            sender.send(1).unwrap();
        });
        while receiver.recv().is_ok() {}
        other.join().unwrap();
    });
}

#[test]
fn many_messages() {
    in_each(&ROOMS, |room| {
        let (sender, receiver) = make(room);
        let other = thread::spawn(move || (0..100).for_each(|_| sender.send(1).unwrap()));
        (0..100).for_each(|_| assert_eq!(receiver.recv(), Ok(1)));
        other.join().unwrap();
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
    });
}

#[test]
fn many_messages_of_many() {
    in_each(&ROOMS, |room| {
        let (sender, receiver) = make(room);
        for _ in 0..4 {
            let sender = sender.clone();
            thread::spawn(move || (0..25).for_each(|_| sender.send(1).unwrap()));
        }
        drop(sender);
        let other = thread::spawn(move || {
            (0..100).for_each(|_| assert_eq!(receiver.recv(), Ok(1)));
            assert_eq!(receiver.recv(), Err(RecvError));
        });
        other.join().unwrap();
    });
}

#[test]
fn between_other_threads() {
    in_each(&ROOMS, |room| {
        let (to, from_here) = make(room);
        let (back, answers) = make(room);
        let other = thread::spawn(move || {
            assert_eq!(from_here.recv(), Ok(10));
            back.send(20).unwrap();
        });
        to.send(10).unwrap();
        assert_eq!(answers.recv(), Ok(20));
        other.join().unwrap();
    });
}

#[test]
fn one_that_is_closed_at_once() {
    in_each(&ROOMS, |room| {
        let (sender, receiver): (_, Receiver<i32>) = make(room);
        drop(sender);
        drop(receiver);
        let (sender, receiver): (_, Receiver<i32>) = make(room);
        drop(receiver);
        drop(sender);
    });
}

#[test]
fn one_that_is_empty() {
    in_each(&ROOMS, |room| {
        let (sender, receiver): (_, Receiver<i32>) = make(room);
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        assert_eq!(receiver.try_iter().next(), None);
        assert_eq!(receiver.recv_timeout(SOON), Err(RecvTimeoutError::Timeout));
        assert_eq!(
            receiver.recv_timeout(Duration::ZERO),
            Err(RecvTimeoutError::Timeout)
        );
        drop(sender);
    });
}

#[test]
fn receive_boxes_then_send() {
    in_each(&ROOMS, |room| {
        let (sender, receiver) = make(room);
        let other = thread::spawn(move || assert_eq!(receiver.recv(), Ok(Box::new(10))));
        sender.send(Box::new(10)).unwrap();
        other.join().unwrap();
    });
}

#[test]
fn receive_then_close() {
    in_each(&ROOMS, |room| {
        let (sender, receiver): (_, Receiver<Box<i32>>) = make(room);
        let closes = thread::spawn(move || {
            drop(sender);
        });
        assert_eq!(receiver.recv(), Err(RecvError));
        closes.join().unwrap();
    });
}

#[test]
fn races_of_both_closes() {
    in_each(&ROOMS, |room| {
        for _ in 0..RACES {
            let (sender, receiver): (_, Receiver<i32>) = make(room);
            let other = thread::spawn(move || drop(receiver));
            drop(sender);
            other.join().unwrap();
        }
    });
}

#[test]
fn races_of_a_send_and_a_close() {
    in_each(&ROOMS, |room| {
        for _ in 0..RACES {
            let (sender, receiver) = make(room);
            let other = thread::spawn(move || drop(receiver));
            let _ = sender.send(1);
            other.join().unwrap();
        }
    });
}

#[test]
fn races_of_a_receive_and_a_close() {
    in_each(&ROOMS, |room| {
        for _ in 0..RACES {
            let (sender, receiver): (_, Receiver<i32>) = make(room);
            let receives = thread::spawn(move || assert_eq!(receiver.recv(), Err(RecvError)));
            let closes = thread::spawn(move || {
                drop(sender);
            });
            receives.join().unwrap();
            closes.join().unwrap();
        }
    });
}

#[test]
fn races_of_a_send_and_a_receive() {
    in_each(&ROOMS, |room| {
        for _ in 0..RACES {
            let (sender, receiver) = make(room);
            let other = thread::spawn(move || sender.send(Box::new(10)).unwrap());
            assert_eq!(receiver.recv(), Ok(Box::new(10)));
            other.join().unwrap();
        }
    });
}

#[test]
fn both_ends_travel_from_thread_to_thread() {
    in_each(&ROOMS, |room| {
        fn send(sender: impl Fn(i32) + Send + 'static, next: i32) {
            if next < 5 {
                thread::spawn(move || {
                    sender(next);
                    send(sender, next + 1);
                });
            }
        }
        let (sender, mut receiver) = make(room);
        send(move |next| sender.send(next).unwrap(), 0);
        for next in 0..5 {
            receiver = thread::spawn(move || {
                assert_eq!(receiver.recv(), Ok(next));
                receiver
            })
            .join()
            .unwrap();
        }
    });
}

#[test]
fn one_that_looks_again_and_again_for_a_time() {
    in_each(&ROOMS, |room| {
        let (sender, receiver) = make(room);
        let other = thread::spawn(move || {
            for n in 0..8 {
                if n % 4 == 0 {
                    thread::sleep(SOON * 2);
                }
                sender.send(1).unwrap();
            }
        });
        let mut received = 0;
        loop {
            match receiver.recv_timeout(SOON) {
                Ok(n) => received += n,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        assert_eq!(received, 8);
        other.join().unwrap();
    });
}

#[test]
fn many_senders_and_one_who_waits_for_a_time() {
    in_each(&ROOMS, |room| {
        let (sender, receiver) = make(room);
        for index in 0..6 {
            let sender = sender.clone();
            thread::spawn(move || {
                thread::sleep(Duration::from_micros(200 * index));
                sender.send(1).unwrap();
            });
        }
        drop(sender);
        let mut received = 0;
        loop {
            match receiver.recv_timeout(SOON) {
                Ok(n) => received += n,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        assert_eq!(received, 6);
    });
}

#[test]
fn a_time_that_is_over_is_over() {
    in_each(&ROOMS, |room| {
        let (sender, receiver): (_, Receiver<i32>) = make(room);
        let second = sender.clone();
        let start = Instant::now();
        assert_eq!(receiver.recv_timeout(SOON), Err(RecvTimeoutError::Timeout));
        assert!(start.elapsed() >= SOON);
        drop((sender, second));
    });
}

#[test]
fn a_very_long_time() {
    in_each(&ROOMS, |room| {
        let (sender, receiver) = make(room);
        let other = thread::spawn(move || receiver.recv_timeout(Duration::from_secs(u64::MAX)));
        thread::yield_now();
        sender.send(1u8).unwrap();
        assert_eq!(other.join().unwrap(), Ok(1));
    });
}

#[test]
fn the_sum_of_all() {
    in_each(&ROOMS, |room| {
        let (sender, receiver) = make(room);
        let (total, sum) = make(room);
        let adds = thread::spawn(move || total.send(receiver.iter().sum::<i32>()));
        for n in [3, 1, 2] {
            sender.send(n).unwrap();
        }
        drop(sender);
        assert_eq!(sum.recv(), Ok(6));
        adds.join().unwrap().unwrap();
    });
}

#[test]
fn a_loop_that_ends_early() {
    in_each(&ROOMS, |room| {
        let (sender, receiver) = make(room);
        let (count, counted) = make(room);
        let counts = thread::spawn(move || {
            let mut seen = 0;
            for n in receiver.iter() {
                if seen >= 3 {
                    break;
                }
                seen += n;
            }
            drop(receiver);
            count.send(seen).unwrap();
        });
        for n in [2, 2, 2] {
            sender.send(n).unwrap();
        }
        let _ = sender.send(2);
        drop(sender);
        assert_eq!(counted.recv(), Ok(4));
        counts.join().unwrap();
    });
}

#[test]
fn request_and_response_by_looking() {
    in_each(&ROOMS, |room| {
        let (request, requests) = make(room);
        let (response, responses) = make(room);
        let asks = thread::spawn(move || {
            let mut count = 0;
            for n in responses.iter() {
                count += n;
                if count == 3 {
                    break;
                }
                request.send(()).unwrap();
            }
            count
        });
        response.send(1).unwrap();
        for _ in 0..2 {
            while requests.try_iter().next().is_none() {
                thread::yield_now();
            }
            response.send(1).unwrap();
        }
        assert_eq!(asks.join().unwrap(), 3);
        assert_eq!(requests.try_recv(), Err(TryRecvError::Disconnected));
    });
}

#[test]
fn what_a_try_sees_in_turn() {
    in_each(&ROOMS, |room| {
        let (sender, receiver) = make(room);
        let (go, gone) = channel::<()>();
        let (done, is_done) = channel::<()>();
        let other = thread::spawn(move || {
            gone.recv().unwrap();
            sender.send(1).unwrap();
            done.send(()).unwrap();
            gone.recv().unwrap();
            drop(sender);
            done.send(()).unwrap();
        });
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        go.send(()).unwrap();
        assert_eq!(receiver.recv(), Ok(1));
        is_done.recv().unwrap();
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        go.send(()).unwrap();
        is_done.recv().unwrap();
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
        other.join().unwrap();
    });
}

#[test]
fn the_receiver_is_dropped_while_senders_are_alive() {
    in_each(&ROOMS, |room| {
        let (sender, receiver) = make(room);
        let (dropped, was_dropped) = channel();
        let other = thread::spawn(move || {
            assert_eq!(receiver.recv(), Ok(()));
            drop(receiver);
            dropped.send(()).unwrap();
        });
        sender.clone().send(()).unwrap();
        was_dropped.recv().unwrap();
        assert_eq!(sender.send(()), Err(SendError(())));
        other.join().unwrap();
    });
}
