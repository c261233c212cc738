//! [`std::cell::Cell`], checked.

use std::{cell, cmp::Ordering, fmt};

use portent_hooks::control::Memory;

use super::{read, write};

/// As [`std::cell::Cell`]; the program promises which threads may share it.
pub struct Cell<T> {
    memory: Memory,
    value: cell::Cell<T>,
}

impl<T> Cell<T> {
    /// As [`std::cell::Cell::new`].
    #[track_caller]
    pub const fn new(value: T) -> Cell<T> {
        Cell {
            memory: Memory::new("Cell"),
            value: cell::Cell::new(value),
        }
    }

    /// As [`std::cell::Cell::set`].
    #[track_caller]
    pub fn set(&self, value: T) {
        drop(self.replace(value));
    }

    /// As [`std::cell::Cell::swap`].
    #[track_caller]
    pub fn swap(&self, other: &Cell<T>) {
        if !std::ptr::eq(self, other) {
            let _ = write(&self.memory);
            let _ = write(&other.memory);
            self.value.swap(&other.value);
        }
    }

    /// As [`std::cell::Cell::replace`].
    #[track_caller]
    pub fn replace(&self, value: T) -> T {
        let _ = write(&self.memory);
        self.value.replace(value)
    }

    /// As [`std::cell::Cell::get`].
    #[track_caller]
    pub fn get(&self) -> T
    where
        T: Copy,
    {
        let _ = read(&self.memory);
        self.value.get()
    }

    /// As [`std::cell::Cell::take`].
    #[track_caller]
    pub fn take(&self) -> T
    where
        T: Default,
    {
        self.replace(T::default())
    }

    /// As [`std::cell::Cell::into_inner`].
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: Default> Default for Cell<T> {
    #[track_caller]
    fn default() -> Cell<T> {
        Cell::new(T::default())
    }
}

impl<T: Copy> Clone for Cell<T> {
    #[track_caller]
    fn clone(&self) -> Cell<T> {
        Cell::new(self.get())
    }
}

impl<T> From<T> for Cell<T> {
    #[track_caller]
    fn from(value: T) -> Cell<T> {
        Cell::new(value)
    }
}

impl<T: PartialEq + Copy> PartialEq for Cell<T> {
    fn eq(&self, other: &Cell<T>) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq + Copy> Eq for Cell<T> {}

impl<T: PartialOrd + Copy> PartialOrd for Cell<T> {
    fn partial_cmp(&self, other: &Cell<T>) -> Option<Ordering> {
        self.get().partial_cmp(&other.get())
    }
}

impl<T: Ord + Copy> Ord for Cell<T> {
    fn cmp(&self, other: &Cell<T>) -> Ordering {
        self.get().cmp(&other.get())
    }
}

impl<T: Copy + fmt::Debug> fmt::Debug for Cell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cell").field("value", &self.get()).finish()
    }
}
