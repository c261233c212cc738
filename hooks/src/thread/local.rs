//! Variables that each thread has for itself.
//!
//! They order nothing, so nothing of them is recorded. But threads under control share one thread of the operating system: what that
//! has for itself would be common to all of them, and stay from run to run.

use std::{
    any::Any,
    cell::{Cell, RefCell},
    fmt,
    rc::Rc,
    thread::{self, AccessError},
};

use crate::control;

/// [`std::thread::LocalKey`], of threads under control, too. Made by [`thread_local!`](crate::thread_local).
pub struct LocalKey<T: 'static> {
    native: &'static thread::LocalKey<T>,
    make: fn() -> T,
}

impl<T: 'static> LocalKey<T> {
    #[doc(hidden)]
    pub const fn new(native: &'static thread::LocalKey<T>, make: fn() -> T) -> LocalKey<T> {
        LocalKey { native, make }
    }

    /// As [`std::thread::LocalKey::with`].
    pub fn with<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&T) -> R,
    {
        match self.controlled() {
            Some(value) => f(&value),
            None => self.native.with(f),
        }
    }

    /// As [`std::thread::LocalKey::try_with`].
    ///
    /// # Errors
    ///
    /// If the thread is about to end, and has dropped it.
    pub fn try_with<F, R>(&'static self, f: F) -> Result<R, AccessError>
    where
        F: FnOnce(&T) -> R,
    {
        match self.controlled() {
            Some(value) => Ok(f(&value)),
            None => self.native.try_with(f),
        }
    }

    /// What the thread has, if somebody controls it.
    fn controlled(&'static self) -> Option<Rc<T>> {
        let controller = control::current()?;
        let key = std::ptr::from_ref(self).addr();
        let value = controller.local(key, &|| Rc::new((self.make)()) as Rc<dyn Any>);
        value.downcast().ok()
    }
}

impl<T: 'static> LocalKey<Cell<T>> {
    /// As [`std::thread::LocalKey::set`].
    pub fn set(&'static self, value: T) {
        self.with(|cell| cell.set(value));
    }

    /// As [`std::thread::LocalKey::get`].
    pub fn get(&'static self) -> T
    where
        T: Copy,
    {
        self.with(Cell::get)
    }

    /// As [`std::thread::LocalKey::take`].
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(Cell::take)
    }

    /// As [`std::thread::LocalKey::replace`].
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }
}

impl<T: 'static> LocalKey<RefCell<T>> {
    /// As [`std::thread::LocalKey::with_borrow`].
    pub fn with_borrow<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&T) -> R,
    {
        self.with(|cell| f(&cell.borrow()))
    }

    /// As [`std::thread::LocalKey::with_borrow_mut`].
    pub fn with_borrow_mut<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&mut T) -> R,
    {
        self.with(|cell| f(&mut cell.borrow_mut()))
    }
}

impl<T: 'static> fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalKey").finish_non_exhaustive()
    }
}
