//! Futures that are woken by other threads.

use std::task::Poll;

use loom::{
    future::{AtomicWaker, block_on},
    sync::{
        Arc, Notify,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    thread,
};

use crate::failure;

/// A flag that is waited for; `registers_first`: before it is looked at.
fn waits(registers_first: bool) {
    let both = Arc::new((AtomicBool::new(false), AtomicWaker::new()));
    thread::spawn({
        let both = both.clone();
        move || {
            both.0.store(true, SeqCst);
            both.1.wake();
        }
    });
    block_on(std::future::poll_fn(|context| {
        if registers_first {
            both.1.register_by_ref(context.waker());
        }
        if both.0.load(SeqCst) {
            return Poll::Ready(());
        }
        both.1.register_by_ref(context.waker());
        Poll::Pending
    }));
}

#[test]
fn a_future_is_woken() {
    loom::model(|| waits(true));
}

#[test]
fn a_lost_wake_up() {
    let text = failure(|| waits(false));
    assert!(text.contains("deadlock"), "{text}");
}

#[test]
fn a_notification_is_not_lost() {
    loom::model(|| {
        let notify = Arc::new(Notify::new());
        let other = notify.clone();
        let thread = thread::spawn(move || other.notify());
        notify.wait();
        thread.join().unwrap();
    });
}
