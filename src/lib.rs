//! Portent finds the concurrency bugs that a run did *not* show.
//!
//! You write a temporal property. Portent watches one run of a concurrent program and checks the
//! property on every run that is causally equivalent to it.
//!
//! This crate is what applications depend on; it re-exports the parts:
//!
//! | part | what it is for |
//! |---|---|
//! | [`dsl`] | properties: text → [`Property`] → [`Monitor`] → [`Stepper`] |
//! | [`lattice`] | the analyzer: a property and the events of a run, checked on every equivalent run; [`Checker`] when it has ended, [`Watch`] while it goes on |
//! | [`core`] | values, events, vector clocks, and the causality relation |
//! | `trace` | readers and writers of traces, with the feature `trace` |
//!
//! # A property as a monitor
//!
//! ```
//! use portent::{Property, Verdict};
//!
//! let monitor = Property::parse("always (logout -> once login)")?.monitor()?;
//! let logout = monitor.alphabet().event("logout").unwrap();
//! let mut run = monitor.start()?;
//! assert_eq!(run.event(logout), Verdict::Violated);
//! # Ok::<(), portent::Error>(())
//! ```

#![warn(missing_docs)]

pub use portent_lattice as lattice;
pub use portent_monitor_core as core;
pub use portent_monitor_dsl as dsl;
#[cfg(feature = "trace")]
pub use portent_trace as trace;

pub use portent_lattice::{Checker, Options, Report, Watch};
pub use portent_monitor_core::{Type, Value};
pub use portent_monitor_dsl::{Config, Error, Monitor, Property, Stepper, Verdict, Verdicts};

/// The Rust of the README is compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
