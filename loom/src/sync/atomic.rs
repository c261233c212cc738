//! As [`std::sync::atomic`], sequentially consistent.

use std::fmt;

use portent_hooks::sync::atomic as hooked;

pub use std::sync::atomic::Ordering;

/// As [`std::sync::atomic::fence`]. Atomics are sequentially consistent here, so it has no effect.
pub fn fence(order: Ordering) {
    hooked::fence(order);
}

/// As [`std::hint::spin_loop`].
#[track_caller]
pub fn spin_loop_hint() {
    crate::hint::spin_loop();
}

/// The operations of all atomics.
macro_rules! atomic {
    ($name:ident $(<$param:ident>)?, $value:ty) => {
        #[doc = concat!("As [`std::sync::atomic::", stringify!($name), "`].")]
        pub struct $name $(<$param>)?(hooked::$name $(<$param>)?);

        impl $(<$param>)? $name $(<$param>)? {
            /// As in the standard library.
            #[track_caller]
            pub const fn new(value: $value) -> Self {
                Self(hooked::$name::new(value))
            }

            /// The value; the caller promises that no thread writes it meanwhile.
            ///
            /// # Safety
            ///
            /// No thread may write it meanwhile.
            #[allow(unsafe_code)]
            #[track_caller]
            pub unsafe fn unsync_load(&self) -> $value {
                self.0.load(Ordering::Relaxed)
            }

            /// The value, accessed exclusively.
            pub fn with_mut<R>(&mut self, f: impl FnOnce(&mut $value) -> R) -> R {
                f(self.0.get_mut())
            }

            /// As in the standard library.
            pub fn into_inner(self) -> $value {
                self.0.into_inner()
            }

            /// As in the standard library.
            #[track_caller]
            pub fn load(&self, order: Ordering) -> $value {
                self.0.load(order)
            }

            /// As in the standard library.
            #[track_caller]
            pub fn store(&self, value: $value, order: Ordering) {
                self.0.store(value, order);
            }

            /// As in the standard library.
            #[track_caller]
            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                self.0.swap(value, order)
            }

            /// As in the standard library.
            #[track_caller]
            pub fn compare_and_swap(&self, current: $value, new: $value, order: Ordering) -> $value {
                match self.0.compare_exchange(current, new, order, Ordering::Relaxed) {
                    Ok(there) | Err(there) => there,
                }
            }

            /// As in the standard library.
            #[track_caller]
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.0.compare_exchange(current, new, success, failure)
            }

            /// As in the standard library, but never fails spuriously.
            #[track_caller]
            pub fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.0.compare_exchange(current, new, success, failure)
            }

            /// As in the standard library.
            #[track_caller]
            pub fn fetch_update<F>(&self, set: Ordering, fetch: Ordering, f: F) -> Result<$value, $value>
            where
                F: FnMut($value) -> Option<$value>,
            {
                self.0.fetch_update(set, fetch, f)
            }
        }

        impl $(<$param>)? From<$value> for $name $(<$param>)? {
            #[track_caller]
            fn from(value: $value) -> Self {
                Self::new(value)
            }
        }

        impl $(<$param>)? fmt::Debug for $name $(<$param>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

/// The additional operations of some atomics.
macro_rules! fetch {
    ($name:ident, $value:ty, $($method:ident)+) => {
        impl $name {
            $(
                /// As in the standard library.
                #[track_caller]
                pub fn $method(&self, value: $value, order: Ordering) -> $value {
                    self.0.$method(value, order)
                }
            )+
        }

        impl Default for $name {
            #[track_caller]
            fn default() -> Self {
                Self::new(<$value>::default())
            }
        }
    };
}

macro_rules! integers {
    ($($name:ident $value:ty)+) => {
        $(
            atomic!($name, $value);
            fetch!($name, $value, fetch_add fetch_sub fetch_and fetch_nand fetch_or fetch_xor fetch_max fetch_min);
        )+
    };
}

integers! {
    AtomicU8 u8
    AtomicU16 u16
    AtomicU32 u32
    AtomicU64 u64
    AtomicUsize usize
    AtomicI8 i8
    AtomicI16 i16
    AtomicI32 i32
    AtomicI64 i64
    AtomicIsize isize
}

atomic!(AtomicBool, bool);
fetch!(AtomicBool, bool, fetch_and fetch_nand fetch_or fetch_xor);

atomic!(AtomicPtr<T>, *mut T);

impl<T> Default for AtomicPtr<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new(std::ptr::null_mut())
    }
}
