//! Findings without a property: data races, deadlocks and blocks that are not atomic.
//!
//! Give the events of a trace to a [`Finder`], one by one; at the end it makes a [`Report`]. Each finding states how certain it
//! is: the observed run shows it; another run of the same program shows it, which is printed and was checked by code that is
//! independent of the search; or it is merely possible.
//!
//! | file | |
//! |---|---|
//! | `finder`, `end` | the entry point: one pass over the events, then everything that needs all of them |
//! | `record`, `chunks` | the events, stored compactly |
//! | `turns` | the moment at which each event became next in the observed run |
//! | `races/` | accesses that can both be next: by clocks, or by closed cuts |
//! | `deadlocks/` | acquires, their cycles, and which of these a run can end in |
//! | `atomicity` | cycles of transactions of the observed run |
//! | `news` | findings while the program still runs |
//! | `run`, `check` | witnesses, and the checker that replays them |
//! | `describe`, `report` | names for everything |
//! | `suppress` | findings that a user does not want to see |
//!
//! The [`Model`] decides which runs count: under `strong`, critical sections and unread writes may be left out. Closed cuts come from
//! [`portent_monitor_core::Reorderings`].

#![warn(missing_docs)]

mod atomicity;
pub mod check;
mod chunks;
mod deadlocks;
mod describe;
mod end;
mod error;
mod finder;
mod graph;
mod news;
mod options;
mod races;
mod record;
pub mod report;
mod run;
mod suppress;
mod turns;

pub use error::Error;
pub use finder::Finder;
pub use options::{Hunt, Model, Options};
pub use record::{AccessKind, EventId, Record};
pub use report::Report;
pub use suppress::Suppressions;
