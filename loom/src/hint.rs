//! As [`std::hint`].

/// As [`std::hint::spin_loop`]: the thread waits until something has changed.
#[track_caller]
pub fn spin_loop() {
    portent_hooks::hint::spin_loop();
}

/// As [`std::hint::unreachable_unchecked`], which it should never be: it panics.
///
/// # Safety
///
/// As for [`std::hint::unreachable_unchecked`].
///
/// # Panics
///
/// Always.
#[allow(unsafe_code)]
#[track_caller]
pub unsafe fn unreachable_unchecked() -> ! {
    unreachable!("unreachable_unchecked was reached")
}
