//! Statics of one run, and of one thread.

use std::cell::Cell;

use loom::{
    sync::atomic::{AtomicUsize, Ordering::SeqCst},
    thread,
};

loom::lazy_static! {
    static ref COUNT: AtomicUsize = AtomicUsize::new(1);
}

loom::thread_local! {
    static MINE: Cell<u32> = Cell::new(3);
}

#[test]
fn every_run_begins_with_new_ones() {
    loom::model(|| {
        let other = thread::spawn(|| {
            MINE.with(|mine| mine.set(mine.get() + 1));
            assert_eq!(MINE.with(Cell::get), 4);
            COUNT.fetch_add(1, SeqCst);
        });
        COUNT.fetch_add(1, SeqCst);
        assert_eq!(MINE.with(Cell::get), 3);
        other.join().unwrap();
        assert_eq!(COUNT.load(SeqCst), 3);
    });
}
