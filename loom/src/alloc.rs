//! Memory that must be freed before a run ends.

use std::{panic::Location, rc::Rc};

pub use std::alloc::Layout;

use crate::{
    raw,
    run::{self, Kept},
};

/// As [`std::alloc::alloc`]; memory that is not freed fails the model.
///
/// # Safety
///
/// As for [`std::alloc::alloc`].
#[allow(unsafe_code)]
#[track_caller]
pub unsafe fn alloc(layout: Layout) -> *mut u8 {
    // SAFETY: as the caller promises.
    noted(unsafe { raw::alloc(layout, false) })
}

/// As [`std::alloc::alloc_zeroed`]; memory that is not freed fails the model.
///
/// # Safety
///
/// As for [`std::alloc::alloc_zeroed`].
#[allow(unsafe_code)]
#[track_caller]
pub unsafe fn alloc_zeroed(layout: Layout) -> *mut u8 {
    // SAFETY: as the caller promises.
    noted(unsafe { raw::alloc(layout, true) })
}

/// As [`std::alloc::dealloc`].
///
/// # Safety
///
/// As for [`std::alloc::dealloc`].
///
/// # Panics
///
/// If the memory was not allocated here, or is freed for the second time.
#[allow(unsafe_code)]
#[track_caller]
pub unsafe fn dealloc(ptr: *mut u8, layout: Layout) {
    assert!(
        !run::is_on() || run::gone(ptr.addr()),
        "memory is given back that is not there"
    );
    // SAFETY: as the caller promises.
    unsafe { raw::dealloc(ptr, layout) }
}

#[track_caller]
fn noted(pointer: *mut u8) -> *mut u8 {
    if run::is_on() && !pointer.is_null() {
        keep(pointer.addr(), "an allocation");
    }
    pointer
}

#[track_caller]
fn keep(key: usize, what: &'static str) {
    run::keep(
        key,
        Kept {
            what,
            made: Location::caller(),
            data: Rc::new(()),
        },
    );
}

/// A value that must be dropped before a run ends.
#[derive(Debug)]
pub struct Track<T> {
    value: T,
    leaves: Leaves,
}

/// Records that the value is dropped. Only the address of the box matters, not its content.
#[derive(Debug)]
struct Leaves(Box<u8>);

impl Drop for Leaves {
    fn drop(&mut self) {
        run::gone(std::ptr::from_ref(&*self.0).addr());
    }
}

impl<T> Track<T> {
    /// Tracks this value, which must be dropped.
    #[track_caller]
    pub fn new(value: T) -> Track<T> {
        let leaves = Leaves(Box::new(0));
        if run::is_on() {
            keep(std::ptr::from_ref(&*leaves.0).addr(), "a tracked value");
        }
        Track { value, leaves }
    }

    /// The value.
    pub fn get_ref(&self) -> &T {
        &self.value
    }

    /// The value.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.value
    }

    /// The value, which need no longer be dropped.
    pub fn into_inner(self) -> T {
        drop(self.leaves);
        self.value
    }
}
