//! A value that is created when it is first needed.

use std::{
    fmt,
    ops::{Deref, DerefMut},
    sync,
};

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

    /// As [`std::sync::LazyLock::force_mut`], of version 1.94 of the compiler.
    ///
    /// # Panics
    ///
    /// If making the value does, or did.
    #[track_caller]
    pub fn force_mut(this: &mut LazyLock<T, F>) -> &mut T {
        LazyLock::force(this);
        match this.cell.get_mut() {
            Some(value) => value,
            None => unreachable!("it was just made"),
        }
    }
}

impl<T, F> LazyLock<T, F> {
    /// As [`std::sync::LazyLock::get`], of version 1.94 of the compiler.
    #[inline]
    #[track_caller]
    pub fn get(this: &LazyLock<T, F>) -> Option<&T> {
        this.cell.get()
    }

    /// As [`std::sync::LazyLock::get_mut`], of version 1.94 of the compiler.
    pub fn get_mut(this: &mut LazyLock<T, F>) -> Option<&mut T> {
        this.cell.get_mut()
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

impl<T, F: FnOnce() -> T> DerefMut for LazyLock<T, F> {
    #[track_caller]
    fn deref_mut(&mut self) -> &mut T {
        LazyLock::force_mut(self)
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
