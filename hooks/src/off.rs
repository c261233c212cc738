//! Stand-ins, without monitoring, for what the standard library lacks.

use std::{
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// A variable shared by threads; with the feature `monitor` its reads and writes are events.
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
    /// Creates a variable.
    #[inline]
    pub const fn new(value: T) -> Shared<T> {
        Shared(Mutex::new(value))
    }

    /// Creates a variable; without the feature `monitor` its name is not used.
    #[inline]
    pub fn with_name(_: &str, value: T) -> Shared<T> {
        Shared::new(value)
    }

    /// Consumes the variable and returns its value.
    pub fn into_inner(self) -> T {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: ?Sized> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the value and returns a copy.
    #[inline]
    pub fn get(&self) -> T
    where
        T: Clone,
    {
        self.lock().clone()
    }

    /// Reads the value through a closure; other threads wait meanwhile.
    #[inline]
    pub fn with<R>(&self, f: impl FnOnce(&T) -> R) -> R {
        f(&self.lock())
    }

    /// The value, accessed through an exclusive reference.
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

    /// Writes the value and returns the previous one.
    #[inline]
    pub fn replace(&self, value: T) -> T {
        std::mem::replace(&mut *self.lock(), value)
    }

    /// Changes the value through a closure; other threads wait meanwhile.
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

/// A block that is meant to be atomic; with the feature `monitor` its beginning and end are recorded.
#[must_use = "the block ends where this is dropped"]
#[derive(Debug)]
pub struct AtomicBlock {
    stays_here: std::marker::PhantomData<*const ()>,
}

/// Begins a block that is meant to be atomic; without the feature `monitor` it is not recorded.
#[inline]
pub fn atomic_block(_: &str) -> AtomicBlock {
    AtomicBlock {
        stays_here: std::marker::PhantomData,
    }
}
