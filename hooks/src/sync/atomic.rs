//! The types of `std::sync::atomic`, with clocks.
//!
//! Operations are performed natively, with at least the ordering that the program asks for: loads are at
//! least `Acquire`, stores at least `Release`, and other operations both. While a program is monitored,
//! reorderings that only `Relaxed` allows are therefore not seen.

use std::{fmt, panic::Location, sync::atomic as native};

use portent_monitor_core::Value;

use super::header::Header;
use crate::{
    ToValue,
    live::{
        names::Name,
        operation::{UPDATE, WRITE},
    },
};

pub use std::sync::atomic::{Ordering, compiler_fence, fence};

fn load_order(order: Ordering) -> Ordering {
    match order {
        Ordering::Relaxed => Ordering::Acquire,
        order => order,
    }
}

fn store_order(order: Ordering) -> Ordering {
    match order {
        Ordering::Relaxed => Ordering::Release,
        order => order,
    }
}

fn change_order(order: Ordering) -> Ordering {
    match order {
        Ordering::SeqCst => Ordering::SeqCst,
        _ => Ordering::AcqRel,
    }
}

fn both<R>(changed: Result<R, R>) -> R {
    match changed {
        Ok(value) | Err(value) => value,
    }
}

/// What all atomics have. `$tell` converts a value to the recorded one.
macro_rules! atomic {
    ($name:ident $(<$param:ident>)?, $native:ty, $value:ty, $kind:literal, $tell:expr) => {
        #[doc = concat!("[`std::sync::atomic::", $kind, "`], with clocks.")]
        pub struct $name $(<$param>)? {
            header: Header,
            value: $native,
        }

        impl $(<$param>)? $name $(<$param>)? {
            #[doc = concat!("As [`std::sync::atomic::", $kind, "::new`].")]
            #[inline]
            #[track_caller]
            pub const fn new(value: $value) -> Self {
                Self {
                    header: Header::new($kind, Name::here()),
                    value: <$native>::new(value),
                }
            }

            /// Creates an atomic with this name, by which properties can refer to it as a variable.
            #[track_caller]
            pub fn with_name(name: &str, value: $value) -> Self {
                Self {
                    header: Header::new($kind, Name::given(name, |symbols| &mut symbols.vars)),
                    value: <$native>::new(value),
                }
            }

            /// As in the standard library.
            #[inline]
            #[track_caller]
            pub fn load(&self, order: Ordering) -> $value {
                let order = load_order(order);
                self.header
                    .read(Some(Location::caller()), || self.value.load(order))
            }

            /// As in the standard library.
            #[inline]
            #[track_caller]
            pub fn store(&self, value: $value, order: Ordering) {
                let order = store_order(order);
                let store = || Ok(self.value.store(value, order));
                let tell: fn($value) -> Option<Value> = $tell;
                both(
                    self.header
                        .write(Some(Location::caller()), store, WRITE, || self.told(), || tell(value)),
                )
            }

            /// As in the standard library.
            #[inline]
            #[track_caller]
            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                self.change(order, |native, order| native.swap(value, order))
            }

            /// As in the standard library.
            #[inline]
            #[track_caller]
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                let (success, failure) = (change_order(success), load_order(failure));
                self.header.write(
                    Some(Location::caller()),
                    || self.value.compare_exchange(current, new, success, failure),
                    UPDATE,
                    || self.told(),
                    || self.told(),
                )
            }

            /// As in the standard library, where it is deprecated but still in use.
            #[inline]
            #[track_caller]
            #[deprecated(note = "use `compare_exchange` or `compare_exchange_weak`")]
            pub fn compare_and_swap(
                &self,
                current: $value,
                new: $value,
                order: Ordering,
            ) -> $value {
                let failure = match order {
                    Ordering::Release => Ordering::Relaxed,
                    Ordering::AcqRel => Ordering::Acquire,
                    order => order,
                };
                let (Ok(before) | Err(before)) =
                    self.compare_exchange(current, new, order, failure);
                before
            }

            /// As in the standard library.
            #[inline]
            #[track_caller]
            pub fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                let (success, failure) = (change_order(success), load_order(failure));
                self.header.write(
                    Some(Location::caller()),
                    || {
                        self.value
                            .compare_exchange_weak(current, new, success, failure)
                    },
                    UPDATE,
                    || self.told(),
                    || self.told(),
                )
            }

            /// As in the standard library.
            #[track_caller]
            pub fn fetch_update<F>(
                &self,
                set_order: Ordering,
                fetch_order: Ordering,
                mut f: F,
            ) -> Result<$value, $value>
            where
                F: FnMut($value) -> Option<$value>,
            {
                // No code of the program runs while others wait for the variable.
                let mut before = self.load(fetch_order);
                while let Some(next) = f(before) {
                    match self.compare_exchange_weak(before, next, set_order, fetch_order) {
                        Ok(before) => return Ok(before),
                        Err(now) => before = now,
                    }
                }
                Err(before)
            }

            /// As in the standard library, of version 1.95 of the compiler.
            #[track_caller]
            pub fn try_update(
                &self,
                set_order: Ordering,
                fetch_order: Ordering,
                f: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                self.fetch_update(set_order, fetch_order, f)
            }

            /// As in the standard library, of version 1.95 of the compiler.
            #[track_caller]
            pub fn update(
                &self,
                set_order: Ordering,
                fetch_order: Ordering,
                mut f: impl FnMut($value) -> $value,
            ) -> $value {
                both(self.fetch_update(set_order, fetch_order, |value| Some(f(value))))
            }

            /// As in the standard library.
            pub fn get_mut(&mut self) -> &mut $value {
                self.header.taken_apart();
                self.value.get_mut()
            }

            /// As in the standard library.
            pub fn into_inner(mut self) -> $value {
                self.header.taken_apart();
                self.value.into_inner()
            }

            /// As in the standard library. What is done through the pointer is not seen.
            pub const fn as_ptr(&self) -> *mut $value {
                self.value.as_ptr()
            }

            #[inline(always)]
            #[track_caller]
            fn change(
                &self,
                order: Ordering,
                f: impl FnOnce(&$native, Ordering) -> $value,
            ) -> $value {
                let order = change_order(order);
                both(self.header.write(
                    Some(Location::caller()),
                    || Ok(f(&self.value, order)),
                    UPDATE,
                    || self.told(),
                    || self.told(),
                ))
            }

            /// The current value, while no other thread can write.
            fn told(&self) -> Option<Value> {
                let tell: fn($value) -> Option<Value> = $tell;
                tell(self.value.load(Ordering::Relaxed))
            }
        }

        impl $(<$param>)? fmt::Debug for $name $(<$param>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                // To look at it is no step of the program.
                fmt::Debug::fmt(&self.value.load(Ordering::Relaxed), f)
            }
        }

        impl $(<$param>)? From<$value> for $name $(<$param>)? {
            #[track_caller]
            fn from(value: $value) -> Self {
                Self::new(value)
            }
        }
    };
}

/// Methods that change the value and return the one before.
macro_rules! changes {
    ($name:ident, $value:ty: $($method:ident)*) => {
        impl $name {$(
            /// As in the standard library.
            #[inline]
            #[track_caller]
            pub fn $method(&self, value: $value, order: Ordering) -> $value {
                self.change(order, |native, order| native.$method(value, order))
            }
        )*}

        impl Default for $name {
            #[track_caller]
            fn default() -> Self {
                Self::new(Default::default())
            }
        }
    };
}

macro_rules! integers {
    ($($name:ident $value:ty, $kind:literal;)*) => {$(
        atomic!($name, native::$name, $value, $kind, |value| Some(value.to_value()));
        changes!($name, $value: fetch_add fetch_sub fetch_and fetch_nand fetch_or fetch_xor fetch_max fetch_min);
    )*};
}

integers! {
    AtomicI8 i8, "AtomicI8";
    AtomicI16 i16, "AtomicI16";
    AtomicI32 i32, "AtomicI32";
    AtomicI64 i64, "AtomicI64";
    AtomicIsize isize, "AtomicIsize";
    AtomicU8 u8, "AtomicU8";
    AtomicU16 u16, "AtomicU16";
    AtomicU32 u32, "AtomicU32";
    AtomicU64 u64, "AtomicU64";
    AtomicUsize usize, "AtomicUsize";
}

atomic!(
    AtomicBool,
    native::AtomicBool,
    bool,
    "AtomicBool",
    |value| Some(value.to_value())
);
changes!(AtomicBool, bool: fetch_and fetch_nand fetch_or fetch_xor);

impl AtomicBool {
    /// As in the standard library.
    #[inline]
    #[track_caller]
    pub fn fetch_not(&self, order: Ordering) -> bool {
        self.fetch_xor(true, order)
    }
}

atomic!(
    AtomicPtr<T>,
    native::AtomicPtr<T>,
    *mut T,
    "AtomicPtr",
    |_| None
);

/// What there was before a pointer was changed.
macro_rules! pointer_changes {
    ($($method:ident = $next:expr;)*) => {
        impl<T> AtomicPtr<T> {$(
            /// As in the standard library, of version 1.91 of the compiler.
            #[inline]
            #[track_caller]
            pub fn $method(&self, value: usize, order: Ordering) -> *mut T {
                let next: fn(*mut T, usize) -> *mut T = $next;
                self.change(order, |native, order| {
                    both(native.fetch_update(order, Ordering::Acquire, |there| {
                        Some(next(there, value))
                    }))
                })
            }
        )*}
    };
}

pointer_changes! {
    fetch_ptr_add = |there, value| there.wrapping_add(value);
    fetch_ptr_sub = |there, value| there.wrapping_sub(value);
    fetch_byte_add = |there, value| there.wrapping_byte_add(value);
    fetch_byte_sub = |there, value| there.wrapping_byte_sub(value);
    fetch_or = |there, value| there.map_addr(|there| there | value);
    fetch_and = |there, value| there.map_addr(|there| there & value);
    fetch_xor = |there, value| there.map_addr(|there| there ^ value);
}

/// The deprecated constants for initial values.
macro_rules! old_constants {
    ($($constant:ident: $name:ident = $value:literal;)*) => {$(
        #[doc = concat!("As `std::sync::atomic::", stringify!($constant), "`.")]
        #[deprecated(note = "replaced by `new`, as in the standard library")]
        #[expect(clippy::declare_interior_mutable_const, reason = "as in the standard library")]
        pub const $constant: $name = $name::new($value);
    )*};
}

old_constants! {
    ATOMIC_BOOL_INIT: AtomicBool = false;
    ATOMIC_ISIZE_INIT: AtomicIsize = 0;
    ATOMIC_USIZE_INIT: AtomicUsize = 0;
}

/// As `std::sync::atomic::spin_loop_hint`.
#[deprecated(note = "replaced by `hint::spin_loop`, as in the standard library")]
#[inline]
#[track_caller]
pub fn spin_loop_hint() {
    crate::hint::spin_loop();
}

impl<T> Default for AtomicPtr<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new(std::ptr::null_mut())
    }
}

impl<T> fmt::Pointer for AtomicPtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Pointer::fmt(&self.value.load(Ordering::Relaxed), f)
    }
}
