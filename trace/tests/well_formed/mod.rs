//! Traces that are as they should be, in every format: what is read from them, and what becomes of
//! them on the way to another format and back.

mod formats;
mod frontiers;
mod round_trips;
mod shared_logs;
