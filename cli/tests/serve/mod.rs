//! A server of events, as programs, viewers and enemies meet it.
#![cfg(all(unix, feature = "serve"))]

mod clients;
mod orders;
mod remote;
mod server;
mod viewers;
