//! A controlled scheduler: runs a program repeatedly, once for every class of equivalent runs.
//!
//! For everything that a program does through [`portent_hooks`], this crate decides step by step who goes on and who waits. Runs that
//! differ only in the order of steps that commute are equivalent, and one of them stands for all.
//!
//! | file | |
//! |---|---|
//! | `coroutine` | stacks, and the switch between them; the only unsafe code |
//! | `engine` | one run: its threads and objects, what the hooks ask (`controller`), who goes on (`choosing`), and the effect (`performing`) |
//! | `object/` | the state of each kind of primitive: who can go on, and with what effect |
//! | `operation` | what threads do, and which two of these do not commute |
//! | `run` | events and clocks; `chain`s of events on one object, `race`s |
//! | `strategy/` | which run comes next; one file per strategy |
//! | `relevance`, `predict`, `confirm` | what properties see of a run; whether an equivalent run violates them; how to make that happen |
//! | `recorded`, `explorer/attempt` | a run recorded elsewhere; how to make happen what was predicted from it |
//! | `explorer`, `report`, `describe` | the entry point (`search`: run after run; `count`, `summary`), the result, and the result in words |
//! | `interleavings`, `progress` | how many orders a run stands for; how far a search has come |
//! | `parallel` | one search on several OS threads |
//! | `saved` | an interrupted search, as a file |
//! | `token`, `table` | a schedule as a short text; a run as a table |
//! | `watchdog` | notices that a program waits for something real |
//! | `panics` | what threads panicked with |
//!
//! All threads of an explored program share one OS thread, but it may send to other threads only what the standard library lets it
//! send, so that it remains the same program:
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
