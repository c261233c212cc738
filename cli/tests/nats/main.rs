//! Events over NATS JetStream. A binary of its own, as it wants a feature that the others do without, and Debian's `nats-server`: `ci/nats.sh`.
#![cfg(unix)]

mod broker;
#[path = "../common/mod.rs"]
#[allow(dead_code, reason = "the other binary has use for the rest")]
mod common;
mod scenarios;

// As it is called in the other binary: processes find their roles by this name.
#[path = "../serve"]
mod serve {
    pub(crate) mod orders;
    #[allow(dead_code, reason = "the other binary has use for the rest")]
    pub(crate) mod server;
}
