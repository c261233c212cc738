//! Reference counting, for programs in which it matters which thread drops the last reference.
//!
//! Dropping a reference is a step if the value has a destructor, and synchronises as in the standard library:
//! the thread that drops the value comes after all earlier holders. If reference counts are read, dropping is always a step,
//! and so is cloning; the search then starts over.

use std::{
    borrow::Borrow, fmt, mem, ops::Deref, panic::Location, pin::Pin, rc::Rc, sync as native,
};

use portent_hooks::sync::atomic::{
    AtomicUsize,
    Ordering::{AcqRel, Acquire},
};

use crate::{
    raw,
    run::{self, Kept},
};

/// As [`std::sync::Arc`]. If one is left over when a run ends, the model fails.
pub struct Arc<T: ?Sized> {
    /// The object for changes of the count: the steps that other threads may observe.
    count: native::Arc<AtomicUsize>,
    value: native::Arc<T>,
    /// Dropping this reference is not a step.
    is_silent: bool,
}

impl<T> Arc<T> {
    /// As [`std::sync::Arc::new`].
    #[track_caller]
    pub fn new(value: T) -> Arc<T> {
        Arc::from_std(native::Arc::new(value))
    }

    /// As [`std::sync::Arc::pin`].
    #[allow(unsafe_code)]
    #[track_caller]
    pub fn pin(value: T) -> Pin<Arc<T>> {
        // SAFETY: the value does not move, and exclusive access is only given by `get_mut`, which a pinned reference does not have.
        unsafe { Pin::new_unchecked(Arc::new(value)) }
    }

    /// As [`std::sync::Arc::try_unwrap`].
    ///
    /// # Errors
    ///
    /// The reference itself, if it is not the only one.
    #[track_caller]
    pub fn try_unwrap(this: Arc<T>) -> Result<T, Arc<T>> {
        this.look();
        if native::Arc::strong_count(&this.value) > 1 {
            return Err(this);
        }
        run::gone(this.key());
        let value = native::Arc::clone(&this.value);
        this.leave();
        match native::Arc::try_unwrap(value) {
            Ok(value) => Ok(value),
            Err(_) => unreachable!("it was the only one"),
        }
    }
}

impl<T: ?Sized> Arc<T> {
    /// Wraps a reference, which must be the only one.
    #[track_caller]
    pub fn from_std(value: native::Arc<T>) -> Arc<T> {
        let count = native::Arc::new(AtomicUsize::new(0));
        let arc = Arc {
            count,
            value,
            is_silent: false,
        };
        if run::is_on() {
            // It exists as long as the value, even if only a pointer is left.
            let data = native::Arc::clone(&arc.count);
            let kept = Kept {
                what: "an Arc",
                made: Location::caller(),
                data: Rc::new(data),
            };
            run::keep(arc.key(), kept);
        }
        arc
    }

    /// As [`std::sync::Arc::strong_count`].
    #[track_caller]
    pub fn strong_count(this: &Arc<T>) -> usize {
        this.look();
        native::Arc::strong_count(&this.value)
    }

    /// As [`std::sync::Arc::get_mut`].
    #[track_caller]
    pub fn get_mut(this: &mut Arc<T>) -> Option<&mut T> {
        this.look();
        native::Arc::get_mut(&mut this.value)
    }

    /// As [`std::sync::Arc::ptr_eq`].
    pub fn ptr_eq(this: &Arc<T>, other: &Arc<T>) -> bool {
        native::Arc::ptr_eq(&this.value, &other.value)
    }

    /// As [`std::sync::Arc::as_ptr`].
    pub fn as_ptr(this: &Arc<T>) -> *const T {
        native::Arc::as_ptr(&this.value)
    }

    /// As [`std::sync::Arc::into_raw`].
    pub fn into_raw(this: Arc<T>) -> *const T {
        let pointer = native::Arc::into_raw(native::Arc::clone(&this.value));
        this.leave();
        pointer
    }

    /// As [`std::sync::Arc::from_raw`].
    ///
    /// # Safety
    ///
    /// As for [`std::sync::Arc::from_raw`]; and the pointer must come from [`into_raw`](Self::into_raw).
    ///
    /// # Panics
    ///
    /// If the pointer comes from elsewhere.
    #[allow(unsafe_code)]
    pub unsafe fn from_raw(pointer: *const T) -> Arc<T> {
        let known = run::kept(pointer.cast::<()>().addr());
        let known = known.and_then(|data| data.downcast::<native::Arc<AtomicUsize>>().ok());
        let Some(count) = known.map(|count| native::Arc::clone(&count)) else {
            panic!("a pointer becomes an Arc that comes from none of this run");
        };
        // SAFETY: as the caller promises.
        let value = unsafe { raw::arc_from(pointer) };
        Arc {
            count,
            value,
            is_silent: false,
        }
    }

    /// As [`std::sync::Arc::increment_strong_count`].
    ///
    /// # Safety
    ///
    /// As for [`std::sync::Arc::increment_strong_count`].
    #[allow(unsafe_code)]
    #[track_caller]
    pub unsafe fn increment_strong_count(pointer: *const T) {
        // SAFETY: as the caller promises.
        let arc = mem::ManuallyDrop::new(unsafe { Arc::from_raw(pointer) });
        mem::forget((*arc).clone());
    }

    /// As [`std::sync::Arc::decrement_strong_count`].
    ///
    /// # Safety
    ///
    /// As for [`std::sync::Arc::decrement_strong_count`].
    #[allow(unsafe_code)]
    #[track_caller]
    pub unsafe fn decrement_strong_count(pointer: *const T) {
        // SAFETY: as the caller promises.
        drop(unsafe { Arc::from_raw(pointer) });
    }

    fn key(&self) -> usize {
        Arc::as_ptr(self).cast::<()>().addr()
    }

    /// The thread reads the count.
    #[track_caller]
    fn look(&self) {
        run::looks_at_counts();
        self.count.load(Acquire);
    }

    /// The count changes by one.
    #[track_caller]
    fn change(&self) {
        self.count.fetch_add(1, AcqRel);
    }

    /// Removes the reference, without a step.
    fn leave(mut self) {
        self.is_silent = true;
    }
}

impl<T: ?Sized> Clone for Arc<T> {
    #[track_caller]
    fn clone(&self) -> Arc<T> {
        if run::counts() {
            self.change();
        }
        Arc {
            count: native::Arc::clone(&self.count),
            value: native::Arc::clone(&self.value),
            is_silent: false,
        }
    }
}

impl<T: ?Sized> Drop for Arc<T> {
    #[track_caller]
    fn drop(&mut self) {
        if self.is_silent {
            return;
        }
        if run::counts() || mem::needs_drop::<T>() {
            self.change();
        }
        if native::Arc::strong_count(&self.value) == 1 {
            run::gone(self.key());
        }
    }
}

impl<T: ?Sized> Deref for Arc<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: ?Sized> AsRef<T> for Arc<T> {
    fn as_ref(&self) -> &T {
        self
    }
}

impl<T: ?Sized> Borrow<T> for Arc<T> {
    fn borrow(&self) -> &T {
        self
    }
}

impl<T: Default> Default for Arc<T> {
    #[track_caller]
    fn default() -> Arc<T> {
        Arc::new(T::default())
    }
}

impl<T> From<T> for Arc<T> {
    #[track_caller]
    fn from(value: T) -> Arc<T> {
        Arc::new(value)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
