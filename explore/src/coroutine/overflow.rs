//! The message when a thread's stack overflows.
//!
//! Below each stack there is a guard page. A thread that touches it has no stack left to report anything, so the handler runs
//! on a separate stack, which the standard library provides for every thread.

use std::{
    cell::Cell,
    sync::{Once, OnceLock},
};

thread_local! {
    /// Where the guard of the stack is that runs, and whose that is.
    static RUNNING: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

/// Larger than any page.
const GUARD: usize = 64 * 1024;

/// What was called before.
static BEFORE: OnceLock<[libc::sigaction; 2]> = OnceLock::new();

/// The coroutine of this number goes on, whose stack ends here.
#[inline]
pub(super) fn runs_on(limit: usize, number: usize) {
    RUNNING.set((limit, number));
}

/// From now on it is said.
pub(super) fn listen() {
    static LISTENING: Once = Once::new();
    LISTENING.call_once(|| {
        let before = [libc::SIGSEGV, libc::SIGBUS].map(|signal| {
            // SAFETY: all fields of the structures are set, or zero, which is valid for them; the handler does only what handlers may.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                let mut before: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = on_fault as *const () as usize;
                action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                libc::sigemptyset(&raw mut action.sa_mask);
                libc::sigaction(signal, &raw const action, &raw mut before);
                before
            }
        });
        let _ = BEFORE.set(before);
    });
}

extern "C" fn on_fault(signal: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    let (limit, number) = RUNNING.get();
    // SAFETY: the system passes what is about this signal.
    let address = unsafe { (*info).si_addr() } as usize;
    if limit != 0 && (limit..limit + GUARD).contains(&address) {
        tell(number);
    }
    // It is somebody else's: as it was before, and once more.
    let before = BEFORE
        .get()
        .map(|before| before[usize::from(signal != libc::SIGSEGV)]);
    // SAFETY: what was there before is put back; a zeroed action is that of the system.
    unsafe {
        let action = before.unwrap_or_else(|| std::mem::zeroed());
        libc::sigaction(signal, &raw const action, std::ptr::null_mut());
    }
}

/// Without any memory, and without anything that may be locked.
fn tell(number: usize) -> ! {
    let digits = [b'0' + (number / 10 % 10) as u8, b'0' + (number % 10) as u8];
    for part in [
        b"portent: thread ".as_slice(),
        &digits[usize::from(number < 10)..],
        b" of an explored program has overflowed its stack; `Explorer::stack_size` makes stacks larger\n",
    ] {
        // SAFETY: the bytes are there.
        unsafe {
            libc::write(2, part.as_ptr().cast(), part.len());
        }
    }
    // SAFETY: nobody can go on.
    unsafe { libc::abort() }
}
