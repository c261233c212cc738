//! What the standard library does not have, without a monitor.

use std::{
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// A variable that threads share; with the feature `monitor` its reads and writes are events.
///
/// ```
/// use portent_hooks::Shared;
///
/// let level = Shared::with_name("level", 20);
/// level.update(|level| *level += 1);
/// assert_eq!(level.get(), 21);
/// ```
#[derive(Default)]
pub struct Shared<T: ?Sized>(Mutex<T>);

impl<T> Shared<T> {
    /// A variable.
    #[inline]
    pub const fn new(value: T) -> Shared<T> {
        Shared(Mutex::new(value))
    }

    /// A variable; nobody asks for its name.
    #[inline]
    pub fn with_name(_: &str, value: T) -> Shared<T> {
        Shared::new(value)
    }

    /// The value, which is no longer shared.
    pub fn into_inner(self) -> T {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: ?Sized> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads a copy of the value.
    #[inline]
    pub fn get(&self) -> T
    where
        T: Clone,
    {
        self.lock().clone()
    }

    /// Reads the value; others wait meanwhile.
    #[inline]
    pub fn with<R>(&self, f: impl FnOnce(&T) -> R) -> R {
        f(&self.lock())
    }

    /// The value, of one who has it alone.
    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: crate::ToValue> Shared<T> {
    /// Writes the value.
    #[inline]
    pub fn set(&self, value: T) {
        drop(self.replace(value));
    }

    /// Writes the value, and returns the one before.
    #[inline]
    pub fn replace(&self, value: T) -> T {
        std::mem::replace(&mut *self.lock(), value)
    }

    /// Changes the value; others wait meanwhile.
    #[inline]
    pub fn update<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        f(&mut self.lock())
    }
}

impl<T> From<T> for Shared<T> {
    fn from(value: T) -> Shared<T> {
        Shared::new(value)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_tuple("Shared");
        match self.0.try_lock() {
            Ok(value) => shown.field(&&*value),
            Err(_) => shown.field(&format_args!("<in use>")),
        };
        shown.finish()
    }
}

/// A block that is meant to be atomic; with the feature `monitor` its begin and end are recorded.
#[must_use = "the block ends where this is dropped"]
#[derive(Debug)]
pub struct AtomicBlock {
    stays_here: std::marker::PhantomData<*const ()>,
}

/// Begins a block that is meant to be atomic; nobody records it.
#[inline]
pub fn atomic_block(_: &str) -> AtomicBlock {
    AtomicBlock {
        stays_here: std::marker::PhantomData,
    }
}
