//! The functions and types of `std::thread`, with clocks.
//!
//! A thread comes after its spawner, and whoever joins it comes after everything that it did. It takes part in
//! the recording of its spawner.
//!
//! | file | |
//! |---|---|
//! | `spawn` | threads that may outlive their spawner |
//! | `scope` | threads that do not |
//! | `local` | thread-local variables |
//! | `park` | handles of threads; parking and unparking |

mod local;
mod park;
mod scope;
mod spawn;

pub use std::thread::{AccessError, Result, ThreadId, available_parallelism, panicking};

pub use local::LocalKey;
pub use park::{Thread, current, park, park_timeout, sleep, yield_now};
#[expect(deprecated, reason = "so are those of the standard library")]
pub use park::{park_timeout_ms, sleep_ms};
pub use scope::{Scope, ScopedJoinHandle, scope};
#[cfg(feature = "tokio")]
pub(crate) use spawn::joined;
pub use spawn::{Builder, JoinHandle, spawn};
