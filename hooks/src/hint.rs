//! The functions of `std::hint`, one of which (`spin_loop`) a controlled scheduler has to know about.

pub use std::hint::*;
use std::panic::Location;

use crate::control;

/// As [`std::hint::spin_loop`]. A thread under control that does so again and again, though nothing has changed of what it looks
/// at, waits until something has.
///
/// ```
/// portent_hooks::hint::spin_loop();
/// ```
#[inline]
#[track_caller]
pub fn spin_loop() {
    match control::current() {
        Some(controller) => controller.pause(Some(Location::caller())),
        None => std::hint::spin_loop(),
    }
}
