//! Sidecars beside real threads.

mod finding;
mod recording;
mod soak;
mod watching;
