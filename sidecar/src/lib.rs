//! Watches a running program from a thread beside it, and records what it does on disk.
//!
//! | to do this | use |
//! |---|---|
//! | be told of violations while the program runs | [`Sidecar`] |
//! | be told of races and lock orders that may deadlock | [`Builder::find`] |
//! | record now and ask later | [`Recorder`] |
//! | have another process watch, `portent serve` | [`Sidecar::remote`] |
//!
//! A sidecar subscribes to what hooks record, takes it in causal order, and gives it to a `Watch`: what is
//! predicted is told with the event that makes it possible. **What it did not see is in every verdict** ([`Lost`]).

#![warn(missing_docs)]

mod counts;
mod error;
mod interest;
mod pause;
mod recorder;
mod remote;
mod sidecar;
mod telemetry;
mod violation;
mod worker;

pub use counts::{Counts, Lost};
pub use error::Error;
pub use recorder::{Files, Recorder};
pub use remote::Address;
#[cfg(feature = "nats")]
pub use remote::{EventStream, OpenStream};
pub use sidecar::{Builder, Sidecar, Summary};
pub use violation::Violation;
