//! The version of the running thread's clock, which is all that most hooks ever look at.
//!
//! It is in a separate thread-local without a destructor, so reading it is one load. If it equals
//! an object's version, the clocks are equal and there is nothing to do. A thread that records
//! everything, or whose actor is gone, shows a version that no object has, so the same
//! comparison sends it to the slow path.

use std::cell::Cell;

use portent_monitor_core::Version;

thread_local! {
    static SHOWN: Cell<Version> = const { Cell::new(Version::EMPTY) };
}

/// The version to be compared with those of objects.
#[inline(always)]
pub(crate) fn shown() -> Version {
    SHOWN.with(Cell::get)
}

#[inline(always)]
pub(crate) fn show(version: Version) {
    SHOWN.with(|shown| shown.set(version));
}

/// Whether every operation takes the slow path.
#[inline(always)]
pub(crate) fn is_hidden() -> bool {
    shown() == Version::NONE
}
