//! A controlled scheduler: runs a program again and again, one run of every class of equivalent ones.
//!
//! What a program does through [`portent_hooks`] is decided here, step by step: who goes on, and who waits. Runs that differ only in
//! the order of steps that commute are equivalent, and one of them stands for all.
//!
//! | file | |
//! |---|---|
//! | `coroutine` | stacks, and the switch between them; the only unsafe code |
//! | `engine` | one run: threads, objects, and what the engine is asked (`controller`), who goes on (`choosing`), what comes of it (`performing`) |
//! | `object/` | the state of each kind of primitive: who can go on, and what comes of it |
//! | `operation` | what threads do, and which two of these do not commute |
//! | `run` | events and clocks; `chain`s of events on one object, `race`s |
//! | `strategy/` | which run comes next; one file each |
//! | `relevance`, `predict`, `confirm` | what properties see of a run; whether an equivalent run violates them; how to make that happen |
//! | `recorded`, `explorer/attempt` | a run that was recorded by others; how to make happen what was predicted from it |
//! | `explorer`, `report`, `describe` | the way in (`search`: run after run; `count`, `summary`), what comes out, and how it is put into words |
//! | `interleavings`, `progress` | how many orders a run stands for; how far a search has come |
//! | `parallel` | one search by several threads of the operating system |
//! | `saved` | a search that was stopped, as a file |
//! | `token`, `table` | a schedule as a short text; a run as a table |
//! | `watchdog` | who notices that a program waits for something real |
//! | `panics` | what threads panicked with |
//!
//! All threads of an explored program are on one thread of the operating system, but what a program may send to another thread is
//! what the standard library lets it send, so that it is the same program:
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
//! **Atomics are sequentially consistent here**, whatever ordering they ask for: what only weaker memory models allow is not seen.

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
