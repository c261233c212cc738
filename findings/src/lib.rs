//! Findings without a property: data races, deadlocks and blocks that are not atomic.
//!
//! A trace is given event by event to a [`Finder`], and at its end there is a [`Report`]. Each finding says how sure it is: the observed run
//! has it, or another run of the same program has it and is told and was checked by code that knows nothing of the search, or it only
//! looks like one.
//!
//! | file | |
//! |---|---|
//! | `finder`, `end` | the way in: one pass over the events, then what needs all of them |
//! | `record`, `chunks` | the events, kept small |
//! | `turns` | since when events were next in the observed run |
//! | `races/` | accesses that can both be next: by clocks, or by closed cuts |
//! | `deadlocks/` | acquires, their cycles, and which of those a run can end in |
//! | `atomicity` | cycles of transactions of the observed run |
//! | `news` | what is known while the program still runs |
//! | `run`, `check` | witnesses, and carries them out |
//! | `describe`, `report` | names for everything |
//! | `suppress` | what a user does not want to hear of |
//!
//! Which runs count is the [`Model`]: under `strong` sections and unread writes may be left out, and closed cuts are
//! [`portent_monitor_core::Reorderings`]'.

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
