//! The number of allocations of a piece of work.
//!
//! The counter replaces the allocator of the whole program, so the program that uses it declares it:
//!
//! ```
//! use portent_testing::{Counting, allocations};
//!
//! #[global_allocator]
//! static ALLOCATOR: Counting = Counting;
//!
//! assert_eq!(allocations(|| drop(std::hint::black_box(Box::new(1)))), 1);
//! assert_eq!(allocations(|| ()), 0);
//! ```
//!
//! It counts for each thread separately, so that neither the test harness nor other tests of the same binary disturb the counts.

// A global allocator is inherently unsafe; this one only counts and forwards.
#![allow(unsafe_code)]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator, which counts for [`allocations`].
#[derive(Debug)]
pub struct Counting;

fn count() {
    // Unavailable while a thread ends; nothing is measured then.
    let _ = ALLOCATIONS.try_with(|allocations| allocations.set(allocations.get() + 1));
}

// SAFETY: everything is forwarded to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// The number of allocations that `work` makes on this thread.
///
/// # Panics
///
/// If [`Counting`] is not the allocator of the program: then nothing is counted.
pub fn allocations(work: impl FnOnce()) -> usize {
    let start = ALLOCATIONS.get();
    drop(std::hint::black_box(Box::new(1u8)));
    let before = ALLOCATIONS.get();
    assert_ne!(start, before, "the allocator does not count");
    work();
    ALLOCATIONS.get() - before
}
