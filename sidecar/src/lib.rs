//! Watches a running program from a thread of the same process, and records what it does to disk.
//!
//! | to do this | use |
//! |---|---|
//! | be told of violations while the program runs | [`Sidecar`] |
//! | be told of data races and potential deadlocks | [`Builder::find`] |
//! | record now and ask later | [`Recorder`] |
//! | let another process watch, `portent serve` | [`Sidecar::remote`] |
//!
//! A sidecar subscribes to what hooks record, takes the events in causal order, and passes them to a `Watch`, which reports a prediction at
//! the event that makes it possible. **Every verdict accounts for what was not seen** ([`Lost`]).

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
