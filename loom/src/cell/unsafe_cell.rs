//! [`std::cell::UnsafeCell`], by closures and pointers that know when an access begins and ends.

use std::{cell, fmt, sync::Arc};

use portent_hooks::control::{Access, Memory};

use super::{check, read, write};
use crate::raw;

/// As [`std::cell::UnsafeCell`]; the program promises which threads may share it.
pub struct UnsafeCell<T: ?Sized> {
    /// Pointers may outlive the borrow that they were made from.
    memory: Arc<Memory>,
    value: cell::UnsafeCell<T>,
}

impl<T> UnsafeCell<T> {
    /// As [`std::cell::UnsafeCell::new`].
    #[track_caller]
    pub fn new(value: T) -> UnsafeCell<T> {
        UnsafeCell {
            memory: Arc::new(Memory::new("UnsafeCell")),
            value: cell::UnsafeCell::new(value),
        }
    }

    /// As [`std::cell::UnsafeCell::into_inner`].
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// The cell is read while this is called.
    #[track_caller]
    pub fn with<F, R>(&self, f: F) -> R
    where
        F: FnOnce(*const T) -> R,
    {
        let access = read(&self.memory);
        let done = f(self.value.get());
        check(self.memory.end(access));
        done
    }

    /// The cell is written while this is called.
    #[track_caller]
    pub fn with_mut<F, R>(&self, f: F) -> R
    where
        F: FnOnce(*mut T) -> R,
    {
        let access = write(&self.memory);
        let done = f(self.value.get());
        check(self.memory.end(access));
        done
    }

    /// The cell is being read as long as the pointer exists.
    #[track_caller]
    pub fn get(&self) -> ConstPtr<T> {
        ConstPtr {
            use_: Use::new(&self.memory, read(&self.memory)),
            pointer: self.value.get(),
        }
    }

    /// The cell is being written as long as the pointer exists.
    #[track_caller]
    pub fn get_mut(&self) -> MutPtr<T> {
        MutPtr {
            use_: Use::new(&self.memory, write(&self.memory)),
            pointer: self.value.get(),
        }
    }
}

impl<T: Default> Default for UnsafeCell<T> {
    #[track_caller]
    fn default() -> UnsafeCell<T> {
        UnsafeCell::new(T::default())
    }
}

impl<T> From<T> for UnsafeCell<T> {
    #[track_caller]
    fn from(value: T) -> UnsafeCell<T> {
        UnsafeCell::new(value)
    }
}

impl<T: ?Sized> fmt::Debug for UnsafeCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnsafeCell").finish_non_exhaustive()
    }
}

/// An access that lasts as long as a pointer.
#[derive(Debug)]
struct Use {
    memory: Arc<Memory>,
    access: Access,
}

impl Use {
    fn new(memory: &Arc<Memory>, access: Access) -> Use {
        Use {
            memory: Arc::clone(memory),
            access,
        }
    }
}

impl Drop for Use {
    fn drop(&mut self) {
        check(self.memory.end(self.access));
    }
}

/// A pointer for reading a cell.
#[derive(Debug)]
pub struct ConstPtr<T: ?Sized> {
    #[expect(dead_code, reason = "what counts is that it goes")]
    use_: Use,
    pointer: *const T,
}

/// A pointer for writing a cell.
#[derive(Debug)]
pub struct MutPtr<T: ?Sized> {
    #[expect(dead_code, reason = "what counts is that it goes")]
    use_: Use,
    pointer: *mut T,
}

impl<T: ?Sized> ConstPtr<T> {
    /// What it points to.
    ///
    /// # Safety
    ///
    /// As for dereferencing a pointer.
    #[allow(unsafe_code)]
    pub unsafe fn deref(&self) -> &T {
        // SAFETY: as the caller promises.
        unsafe { raw::shared(self.pointer) }
    }

    /// The pointer itself.
    pub fn with<F, R>(&self, f: F) -> R
    where
        F: FnOnce(*const T) -> R,
    {
        f(self.pointer)
    }
}

impl<T: ?Sized> MutPtr<T> {
    /// What it points to.
    ///
    /// # Safety
    ///
    /// As for dereferencing a pointer.
    #[allow(unsafe_code, clippy::mut_from_ref)]
    pub unsafe fn deref(&self) -> &mut T {
        // SAFETY: as the caller promises.
        unsafe { raw::exclusive(self.pointer) }
    }

    /// The pointer itself.
    pub fn with<F, R>(&self, f: F) -> R
    where
        F: FnOnce(*mut T) -> R,
    {
        f(self.pointer)
    }
}
