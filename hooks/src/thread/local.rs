//! Thread-local variables.
//!
//! They order nothing, so they are not recorded. But all threads under control share one thread of the operating system: a native
//! thread-local would be shared by all of them, and survive from run to run.

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

    /// The value of the thread, if it is under control.
    fn controlled(&'static self) -> Option<Rc<T>> {
        let controller = control::current()?;
        let key = std::ptr::from_ref(self).addr();
        let value = controller.local(key, &|| Rc::new((self.make)()) as Rc<dyn Any>);
        value.downcast().ok()
    }

    /// Gives the thread this value, without making the one that it would begin with.
    fn put(&'static self, value: T, native: impl FnOnce(T), replace: impl FnOnce(&T, T)) {
        let Some(controller) = control::current() else {
            return native(value);
        };
        let value = Cell::new(Some(value));
        let key = std::ptr::from_ref(self).addr();
        let local = controller.local(key, &|| {
            let first = value.take().unwrap_or_else(|| (self.make)());
            Rc::new(first) as Rc<dyn Any>
        });
        // It had one before.
        if let (Some(value), Ok(local)) = (value.take(), local.downcast::<T>()) {
            replace(&local, value);
        }
    }
}

impl<T: 'static> LocalKey<Cell<T>> {
    /// As [`std::thread::LocalKey::set`].
    pub fn set(&'static self, value: T) {
        let replace = |cell: &Cell<T>, value: Cell<T>| cell.set(value.into_inner());
        let native = |value: Cell<T>| self.native.set(value.into_inner());
        self.put(Cell::new(value), native, replace);
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

    /// As [`std::thread::LocalKey::set`].
    pub fn set(&'static self, value: T) {
        let replace = |cell: &RefCell<T>, value: RefCell<T>| drop(cell.replace(value.into_inner()));
        let native = |value: RefCell<T>| self.native.set(value.into_inner());
        self.put(RefCell::new(value), native, replace);
    }

    /// As [`std::thread::LocalKey::take`].
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(RefCell::take)
    }

    /// As [`std::thread::LocalKey::replace`].
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }
}

impl<T: 'static> fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalKey").finish_non_exhaustive()
    }
}
