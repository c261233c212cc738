//! A value that is made when it is first needed.

use std::{fmt, ops::Deref, sync};

use super::OnceLock;
use crate::live::{lock, names::Name};

/// [`std::sync::LazyLock`], with clocks.
///
/// ```
/// use portent_hooks::sync::LazyLock;
///
/// static PRIMES: LazyLock<Vec<u32>> = LazyLock::new(|| vec![2, 3, 5]);
/// assert_eq!(PRIMES.len(), 3);
/// ```
pub struct LazyLock<T, F = fn() -> T> {
    cell: OnceLock<T>,
    /// Taken by the one who makes the value.
    make: sync::Mutex<Option<F>>,
}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    /// As [`std::sync::LazyLock::new`].
    #[inline]
    #[track_caller]
    pub const fn new(make: F) -> LazyLock<T, F> {
        LazyLock {
            cell: OnceLock::called("LazyLock", Name::here()),
            make: sync::Mutex::new(Some(make)),
        }
    }

    /// As [`std::sync::LazyLock::force`].
    ///
    /// # Panics
    ///
    /// If making the value did.
    #[inline]
    #[track_caller]
    pub fn force(this: &LazyLock<T, F>) -> &T {
        this.cell.get_or_init(|| {
            let make = lock(&this.make).take();
            match make {
                Some(make) => make(),
                None => panic!("LazyLock instance has previously been poisoned"),
            }
        })
    }
}

impl<T, F: FnOnce() -> T> Deref for LazyLock<T, F> {
    type Target = T;

    #[inline]
    #[track_caller]
    fn deref(&self) -> &T {
        LazyLock::force(self)
    }
}

impl<T: Default> Default for LazyLock<T> {
    #[track_caller]
    fn default() -> LazyLock<T> {
        LazyLock::new(T::default)
    }
}

impl<T: fmt::Debug, F> fmt::Debug for LazyLock<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_tuple("LazyLock");
        match self.cell.peek() {
            Some(value) => shown.field(value),
            None => shown.field(&format_args!("<uninit>")),
        };
        shown.finish()
    }
}
