//! The interface of [`loom`](https://docs.rs/loom/0.7) on Portent's explorer, so that loom tests run as they are:
//!
//! ```toml
//! [patch.crates-io]
//! loom = { path = "../portent/loom" }
//! ```
//!
//! ```
//! use loom::{sync::{Arc, atomic::{AtomicUsize, Ordering::SeqCst}}, thread};
//!
//! loom::model(|| {
//!     let count = Arc::new(AtomicUsize::new(0));
//!     let other = thread::spawn({
//!         let count = count.clone();
//!         move || count.fetch_add(1, SeqCst)
//!     });
//!     count.fetch_add(1, SeqCst);
//!     other.join().unwrap();
//!     assert_eq!(count.load(SeqCst), 2);
//! });
//! ```
//!
//! **The memory model is sequential consistency**, and every model says so in its output: behaviour that only weaker orderings
//! allow is not found. What loom calls a causality violation is found, unless it takes a `Relaxed` access to arise: for cells,
//! an atomic orders threads as `Acquire` and `Release` do, whatever ordering it requests, and a fence orders nothing more.
//!
//! | file | |
//! |---|---|
//! | `model` | the entry point: loom's settings, and their meaning here |
//! | `run` | the state of one run: lazy statics, and resources that must not be left over at its end |
//! | `sync`, `thread`, `cell`, `future`, `hint`, `alloc` | loom's modules of these names |
//! | `raw` | pointers and lifetimes: the only unsafe code |

pub mod alloc;
pub mod cell;
pub mod future;
pub mod hint;
pub mod lazy_static;
pub mod model;
mod raw;
mod run;
pub mod sync;
pub mod thread;

#[doc(inline)]
pub use model::model;

#[doc(hidden)]
pub use portent_hooks as __hooks;

/// The largest number of threads under loom. Here there can be more.
pub const MAX_THREADS: usize = 5;

/// In loom, starts exploring here if it was configured to wait for this. Here everything is explored.
pub fn explore() {}

/// In loom, stops exploring here. Here everything is explored.
pub fn stop_exploring() {}

/// In loom, leaves this out of the exploration. Here everything is explored.
pub fn skip_branch() {}

/// As [`std::thread_local!`], with a value for each thread of a model.
#[macro_export]
macro_rules! thread_local {
    ($($all:tt)*) => {
        $crate::__hooks::thread_local! { $($all)* }
    };
}

/// As `lazy_static::lazy_static!`, with a value for each run of a model.
#[macro_export]
macro_rules! lazy_static {
    () => {};
    ($(#[$attr:meta])* static ref $name:ident : $type:ty = $init:expr; $($rest:tt)*) => {
        $crate::__lazy_static!($(#[$attr])* () $name, $type, $init);
        $crate::lazy_static!($($rest)*);
    };
    ($(#[$attr:meta])* pub static ref $name:ident : $type:ty = $init:expr; $($rest:tt)*) => {
        $crate::__lazy_static!($(#[$attr])* (pub) $name, $type, $init);
        $crate::lazy_static!($($rest)*);
    };
    ($(#[$attr:meta])* pub ($($vis:tt)+) static ref $name:ident : $type:ty = $init:expr; $($rest:tt)*) => {
        $crate::__lazy_static!($(#[$attr])* (pub ($($vis)+)) $name, $type, $init);
        $crate::lazy_static!($($rest)*);
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __lazy_static {
    ($(#[$attr:meta])* ($($vis:tt)*) $name:ident, $type:ty, $init:expr) => {
        #[allow(missing_copy_implementations, non_camel_case_types, dead_code)]
        $(#[$attr])*
        $($vis)* struct $name {
            private: (),
        }

        #[doc(hidden)]
        #[allow(dead_code)]
        $($vis)* static $name: $name = $name { private: () };

        impl ::core::ops::Deref for $name {
            type Target = $type;

            fn deref(&self) -> &$type {
                fn init() -> $type {
                    $init
                }
                static LAZY: $crate::lazy_static::Lazy<$type> = $crate::lazy_static::Lazy::new(init);
                LAZY.get()
            }
        }
    };
}
