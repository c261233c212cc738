//! Sidecars beside real threads.

mod recording;
mod soak;
mod watching;
