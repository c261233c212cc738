//! References that are counted.

use std::sync::{
    Arc as Native,
    atomic::{AtomicUsize as NativeUsize, Ordering::Relaxed},
};

use loom::{alloc::Track, sync::Arc, thread};

use crate::failure;

#[test]
fn what_is_left_over_is_told() {
    let text = failure(|| std::mem::forget(Arc::new(0)));
    assert!(
        text.starts_with("an Arc leaked, made at loom/tests/main/arcs.rs"),
        "{text}"
    );
    let text = failure(|| std::mem::forget(Track::new(0)));
    assert!(text.starts_with("a tracked value leaked"), "{text}");
    loom::model(|| drop((Arc::new(0), Track::new(0))));
}

#[test]
fn counts_are_steps_if_somebody_looks() {
    let seen = Native::new(NativeUsize::new(0));
    loom::model({
        let seen = Native::clone(&seen);
        move || {
            let arc = Arc::new(7);
            let other = thread::spawn({
                let arc = arc.clone();
                move || drop(arc)
            });
            seen.fetch_or(1 << Arc::strong_count(&arc), Relaxed);
            match Arc::try_unwrap(arc) {
                Ok(value) => assert_eq!(value, 7),
                Err(arc) => {
                    other.join().unwrap();
                    assert_eq!(Arc::strong_count(&arc), 1);
                }
            }
        }
    });
    assert_eq!(seen.load(Relaxed), 0b110);
}

#[test]
#[expect(unsafe_code)]
fn pointers_and_back() {
    loom::model(|| {
        let arc = Arc::new(5);
        let pointer = Arc::into_raw(arc.clone());
        // SAFETY: it comes from `into_raw`, and is used once for each time that it was counted.
        unsafe {
            Arc::increment_strong_count(pointer);
            Arc::decrement_strong_count(pointer);
            assert!(Arc::ptr_eq(&Arc::from_raw(pointer), &arc));
        }
        assert_eq!(Arc::strong_count(&arc), 1);
    });
}

/// As an `Event` of the crate `event-listener` keeps what it refers to.
#[test]
#[expect(unsafe_code)]
fn the_only_reference_becomes_a_pointer_and_one_again() {
    loom::model(|| {
        let pointer = Arc::into_raw(Arc::new(5));
        // SAFETY: it comes from `into_raw`, and is used once.
        let arc = unsafe { Arc::from_raw(pointer) };
        assert_eq!(*arc, 5);
    });
}
