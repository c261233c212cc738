//! Pointers and lifetimes: the only unsafe code of this package.
//!
//! All threads of a model are on one thread of the operating system, and one of them runs at a time.
#![allow(unsafe_code)]

use std::{any::Any, rc::Rc};

/// A value that moves to another thread of the same model.
pub(crate) struct Moved<T>(T);

// SAFETY: `take` refuses to be anywhere but on the thread of the operating system on which all threads of a model are.
unsafe impl<T> Send for Moved<T> {}

impl<T> Moved<T> {
    pub(crate) fn new(value: T) -> Moved<T> {
        assert!(
            crate::run::is_on(),
            "threads are spawned inside of `loom::model`"
        );
        Moved(value)
    }

    pub(crate) fn take(self) -> T {
        assert!(crate::run::is_on(), "threads run inside of `loom::model`");
        self.0
    }
}

/// A lazy static, for as long as the run lasts.
pub(crate) fn lazy<T: 'static>(value: Rc<dyn Any>) -> Option<&'static T> {
    let value: Rc<T> = value.downcast().ok()?;
    // SAFETY: the run keeps another reference until the function of the model has returned, and none is given out after that. A thread that
    // still has it then reads what is gone, as with loom.
    Some(unsafe { &*Rc::as_ptr(&value) })
}

/// The value that a pointer of a cell points to.
///
/// # Safety
///
/// As for dereferencing a pointer.
pub(crate) unsafe fn shared<'a, T: ?Sized>(pointer: *const T) -> &'a T {
    // SAFETY: as the caller promises.
    unsafe { &*pointer }
}

/// The value that a pointer of a cell points to, exclusively.
///
/// # Safety
///
/// As for dereferencing a pointer.
pub(crate) unsafe fn exclusive<'a, T: ?Sized>(pointer: *mut T) -> &'a mut T {
    // SAFETY: as the caller promises.
    unsafe { &mut *pointer }
}

/// As [`std::sync::Arc::from_raw`].
///
/// # Safety
///
/// As for [`std::sync::Arc::from_raw`].
pub(crate) unsafe fn arc_from<T: ?Sized>(pointer: *const T) -> std::sync::Arc<T> {
    // SAFETY: as the caller promises.
    unsafe { std::sync::Arc::from_raw(pointer) }
}

/// As [`std::alloc::alloc`].
///
/// # Safety
///
/// As for [`std::alloc::alloc`].
pub(crate) unsafe fn alloc(layout: std::alloc::Layout, zeroed: bool) -> *mut u8 {
    // SAFETY: as the caller promises.
    unsafe {
        if zeroed {
            std::alloc::alloc_zeroed(layout)
        } else {
            std::alloc::alloc(layout)
        }
    }
}

/// As [`std::alloc::dealloc`].
///
/// # Safety
///
/// As for [`std::alloc::dealloc`].
pub(crate) unsafe fn dealloc(pointer: *mut u8, layout: std::alloc::Layout) {
    // SAFETY: as the caller promises.
    unsafe { std::alloc::dealloc(pointer, layout) }
}
