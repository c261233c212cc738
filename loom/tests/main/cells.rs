//! Cells whose accesses nothing orders.

use loom::{
    cell::{Cell, UnsafeCell},
    sync::{
        Arc, Mutex,
        atomic::{
            AtomicBool,
            Ordering::{Acquire, Release, SeqCst},
        },
    },
    thread,
};

use crate::failure;

/// What some threads share; that is what is tested.
struct Shared<T>(T);

#[expect(unsafe_code)]
// SAFETY: all threads of a model are on one thread of the operating system.
unsafe impl<T> Send for Shared<T> {}

#[expect(unsafe_code)]
// SAFETY: as above.
unsafe impl<T> Sync for Shared<T> {}

#[test]
fn what_is_published_is_in_order() {
    loom::model(|| {
        let cell = Arc::new(Shared((UnsafeCell::new(0), AtomicBool::new(false))));
        let reader = thread::spawn({
            let cell = cell.clone();
            move || {
                if cell.0.1.load(Acquire) {
                    cell.0.0.with(|_| ());
                }
            }
        });
        cell.0.0.with_mut(|_| ());
        cell.0.1.store(true, Release);
        reader.join().unwrap();
        cell.0.0.with_mut(|_| ());
    });
}

#[test]
fn two_writes_and_a_write_beside_a_read() {
    let first = failure(|| {
        let cell = Arc::new(Shared(UnsafeCell::new(0)));
        let other = thread::spawn({
            let cell = cell.clone();
            move || cell.0.with_mut(|_| ())
        });
        cell.0.with_mut(|_| ());
        other.join().unwrap();
    });
    assert!(first.contains("data race on UnsafeCell@"), "{first}");
    assert!(first.contains("Causality violation"), "{first}");
    let second = failure(|| {
        let cell = Arc::new(Shared(Cell::new(0)));
        let other = thread::spawn({
            let cell = cell.clone();
            move || cell.0.set(1)
        });
        cell.0.get();
        other.join().unwrap();
    });
    assert!(second.contains("data race on Cell@"), "{second}");
}

#[test]
fn a_pointer_that_lasts() {
    let text = failure(|| {
        let cell = Arc::new(Shared((UnsafeCell::new(0), AtomicBool::new(false))));
        let other = thread::spawn({
            let cell = cell.clone();
            move || {
                if cell.0.1.load(SeqCst) {
                    drop(cell.0.0.get_mut());
                }
            }
        });
        let pointer = cell.0.0.get();
        cell.0.1.store(true, SeqCst);
        // Only now it is no longer used.
        drop(pointer);
        other.join().unwrap();
    });
    assert!(text.contains("data race"), "{text}");
}

#[test]
fn who_drops_the_last_reference_comes_after_all_others() {
    loom::model(|| {
        struct Watched(Shared<UnsafeCell<u32>>, Mutex<()>);
        impl Drop for Watched {
            fn drop(&mut self) {
                self.0.0.with_mut(|_| ());
            }
        }
        let watched = Arc::new(Watched(Shared(UnsafeCell::new(0)), Mutex::new(())));
        let other = thread::spawn({
            let watched = watched.clone();
            move || {
                let _guard = watched.1.lock().unwrap();
                watched.0.0.with_mut(|_| ());
            }
        });
        drop(watched);
        drop(other);
    });
}
