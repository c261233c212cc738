//! Annotated tests that pass only because of the order in which threads took locks.

use portent::{event, sync, thread};

use crate::annotated::{alone, critical_sections};

#[portent::test(property = "always (close -> once open)", strict)]
fn locks_keep_the_order() {
    critical_sections();
}

#[test]
fn what_only_the_order_of_locks_hides_is_told() {
    let output = alone("hidden_by_locks::locks_keep_the_order", None);
    assert!(output.contains("test result: ok. 1 passed"), "{output}");
    assert!(
        output.contains("note: suite::hidden_by_locks::locks_keep_the_order: `always (close -> once open)`: 1 step comes after others only because of the order in which threads took locks; under `causality = \"strong\"` it is violated, with close (thread"),
        "{output}"
    );
}

/// In the maximal model only, close comes first.
#[portent::test(property = "never: .* close .* open", strict)]
fn locks_hide_it_well() {
    critical_sections();
}

/// The same without a lock: a channel keeps the order.
#[portent::test(property = "always (close -> once open)", strict)]
fn a_channel_keeps_the_order() {
    let (sender, receiver) = sync::mpsc::channel();
    let lock = &sync::Mutex::new(());
    thread::scope(|s| {
        s.spawn(move || {
            let held = lock.lock().unwrap();
            event!(open);
            drop(held);
            sender.send(()).unwrap();
        });
        s.spawn(move || {
            receiver.recv().unwrap();
            let _held = lock.lock().unwrap();
            event!(close);
        });
    });
}

#[test]
fn nothing_is_told_where_the_order_of_locks_hides_nothing_from_strong() {
    for test in ["locks_hide_it_well", "a_channel_keeps_the_order"] {
        let output = alone(&format!("hidden_by_locks::{test}"), None);
        assert!(output.contains("test result: ok. 1 passed"), "{output}");
        assert!(!output.contains("note: "), "{output}");
    }
}
