//! A controlled scheduler: runs a program repeatedly, once for every class of equivalent runs.
//!
//! Everything that a program does through [`portent_hooks`] is scheduled by this crate: at each step it decides which thread runs and
//! which ones wait. Two runs are equivalent if they differ only in the order of steps that commute; one run stands for its whole class.
//!
//! | file | |
//! |---|---|
//! | `coroutine` | stacks, and the switch between them; the only unsafe code |
//! | `engine` | one run: its threads and objects, the requests of the hooks (`controller`), the next thread (`choosing`), and the effect of its step (`performing`) |
//! | `object/` | the state of each kind of primitive: which threads can proceed, and with what effect |
//! | `operation` | what threads do, and which operations do not commute |
//! | `run` | events and clocks; `chain`s of events on one object, `race`s |
//! | `strategy/` | which run comes next; one file per strategy |
//! | `relevance`, `predict`, `confirm` | the events that properties refer to; whether an equivalent run violates them; making that run happen |
//! | `recorded`, `explorer/attempt` | a run recorded elsewhere; making happen what was predicted from it |
//! | `explorer`, `report`, `describe` | the entry point (`search`: run after run; `count`, `summary`), the result, and the result in words |
//! | `interleavings`, `progress` | how many orders a run stands for; how far a search has come |
//! | `parallel` | one search on several OS threads |
//! | `saved` | an interrupted search, as a file |
//! | `token`, `table` | a schedule as a short text; a run as a table |
//! | `watchdog` | notices that a program is blocked outside the scheduler |
//! | `panics` | the messages of threads that panicked |
//!
//! All threads of an explored program share one OS thread. It may nevertheless send between threads only what the standard library
//! allows, so that the same program compiles without the explorer:
//!
//! ```compile_fail,E0277
//! use std::rc::Rc;
//! use portent_hooks::thread;
//!
//! let number = Rc::new(1);
//! portent_explore::Explorer::new().check(move || {
//!     let number = Rc::clone(&number);
//!     thread::spawn(move || assert_eq!(*number, 1)).join().unwrap();
//! });
//! ```
//!
//! **Atomics are sequentially consistent here**, whatever ordering they ask for: behaviour that only weaker memory models allow is not seen.

mod choose;
mod confirm;
mod coroutine;
mod describe;
mod engine;
mod error;
mod execution;
mod explorer;
mod interleavings;
mod object;
mod operation;
mod panics;
mod parallel;
mod predict;
mod progress;
mod random;
mod recorded;
mod relevance;
mod report;
mod run;
mod saved;
pub mod strategy;
mod table;
mod thread_set;
mod token;
mod watchdog;

pub use choose::choose;
pub use confirm::{Attempt, Confirmation, Difference};
pub use error::Error;
pub use execution::{Execution, Happened};
pub use explorer::Explorer;
pub use operation::Kind;
pub use progress::Progress;
pub use recorded::{RecordedRun, Witness};
pub use report::{Failure, FailureKind, Report, Shrunk, Stopped, TakenStep};
pub use run::{Event, Run};
pub use thread_set::ThreadSet;
