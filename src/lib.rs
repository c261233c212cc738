//! Portent finds the concurrency bugs that a run did *not* show.
//!
//! You write a temporal property. Portent watches one run of a concurrent program and checks the
//! property on every run that is causally equivalent to it.
//!
//! Applications depend on this crate, which re-exports the parts:
//!
//! | part | what it is for | feature |
//! |---|---|---|
//! | [`dsl`] | properties: text → [`Property`] → [`Monitor`] → [`Stepper`] | always present |
//! | [`events`] | values, events, vector clocks, and the causality relation | always present |
//! | `lattice` | the analyzer: a property and the events of a run, checked on every equivalent run; `Checker` for a run that has ended, `Watch` for one that goes on | `lattice`, on by default |
//! | [`sync`], [`thread`], [`Shared`], [`event!`] | drop-in replacements for `std` that make a program observable; without the feature they *are* `std` | always present; they record with `monitor` |
//! | `task` | the same for tokio tasks and what they synchronise with | `tokio`; they record with `monitor` |
//! | `TracingLayer` | events from a program instrumented with `tracing`, by rules | `tracing-layer` |
//! | `test`, `property!`, `Monitored` | tests checked on every equivalent run, properties checked by the compiler, variables with names | `macros` |
//! | `trace` | readers and writers of traces | `trace` |
//! | `Sidecar`, `Recorder` | a running program watched by one of its own threads; recordings on disk | `sidecar`; `tracing` and `metrics` pass on what it reports |
//!
//! If monitors are all you want, switch the default features off; the crate then pulls in little. Three
//! small features add to that: `snippets` (messages show the offending line; on by default), `serde`
//! (monitors can be stored) and `regex` (properties may read the texts of log lines); `lattice` includes
//! the last two.
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

#[cfg(feature = "macros")]
#[doc(hidden)]
pub mod annotated;
mod error;

#[cfg(feature = "findings")]
pub use portent_findings as findings;
pub use portent_hooks as hooks;
#[cfg(feature = "lattice")]
pub use portent_lattice as lattice;
pub use portent_monitor_core as events;
pub use portent_monitor_dsl as dsl;
#[cfg(feature = "sidecar")]
pub use portent_sidecar as sidecar;
#[cfg(feature = "trace")]
pub use portent_trace as trace;

pub use error::Error;
/// A controlled scheduler: a program is run again and again, one run of every class of equivalent ones.
#[cfg(feature = "explore")]
pub use portent_explore as explore;
#[cfg(feature = "tokio")]
pub use portent_hooks::task;
pub use portent_hooks::{
    AtomicBlock, Context, ContextError, Shared, ToValue, atomic_block, event, hint, sync, thread,
    thread_local,
};
#[cfg(feature = "monitor")]
pub use portent_hooks::{Counts, Full, Recorded, Recording, Stream};
#[cfg(feature = "tracing-layer")]
pub use portent_hooks::{TracingLayer, TracingLayerBuilder, TracingRule};
#[cfg(feature = "lattice")]
pub use portent_lattice::{Checker, Engine, Options, Report, Watch};
pub use portent_monitor_core::{Action, Event, Op, Symbols, Type, Value};
pub use portent_monitor_dsl::{Config, Monitor, Property, Stepper, Verdict, Verdicts};
#[cfg(feature = "sidecar")]
pub use portent_sidecar::{Recorder, Sidecar, Violation};

/// Variables that are called after the fields of a struct.
///
/// ```
/// use portent::{Monitored, Shared};
///
/// #[derive(Monitored)]
/// struct Reservoir {
///     level: Shared<i64>,
///     #[monitored(name = "valve")]
///     is_open: Shared<bool>,
/// }
///
/// #[portent::test(property = r#"property relief {
///     var "Reservoir.level": int  var valve: bool
///     ltl: always ("Reservoir.level" > 30 -> valve)
/// }"#)]
/// fn opens_in_time() {
///     let reservoir = Reservoir::new(20, false);
///     reservoir.is_open.set(true);
///     reservoir.level.set(31);
/// }
/// # let reservoir = Reservoir::new(20, false);
/// # assert_eq!((reservoir.level.get(), reservoir.is_open.get()), (20, false));
/// ```
#[cfg(feature = "macros")]
pub use portent_macros::Monitored;
/// A monitor that is made by the compiler.
///
/// ```
/// let monitor = portent::property! { "always (logout -> once login)" };
/// let logout = monitor.alphabet().event("logout").unwrap();
/// let mut run = monitor.start()?;
/// assert_eq!(run.event(logout), portent::Verdict::Violated);
/// # Ok::<(), portent::Error>(())
/// ```
///
/// ```compile_fail
/// portent::property! { "alwyas (logout -> once login)" };
/// ```
#[cfg(feature = "macros")]
pub use portent_macros::property;

/// A test that is checked on every run that is equivalent to its own.
///
/// ```
/// use portent::{Shared, thread};
///
/// #[portent::test(property = "always (x >= y)")]
/// fn x_stays_ahead() {
///     let (x, y) = (Shared::with_name("x", 0), Shared::with_name("y", 0));
///     thread::scope(|s| {
///         s.spawn(|| x.set(2)).join().unwrap();
///         s.spawn(|| y.set(1));
///     });
/// }
/// ```
#[cfg(feature = "macros")]
pub use portent_macros::test;

/// The Rust of the README is compiled and run with the tests.
#[cfg(all(doctest, feature = "macros"))]
#[doc = include_str!("../README.md")]
struct Readme;

/// So is that of the guide to running programs.
#[cfg(all(
    doctest,
    feature = "macros",
    feature = "sidecar",
    feature = "tokio",
    feature = "tracing-layer"
))]
#[doc = include_str!("../docs/live.md")]
struct Live;

/// That of the guide to exploring.
#[cfg(all(doctest, feature = "explore", feature = "macros"))]
#[doc = include_str!("../docs/explore.md")]
struct ExploreGuide;

/// And that of the guide to findings.
#[cfg(all(doctest, feature = "macros", feature = "sidecar"))]
#[doc = include_str!("../docs/findings.md")]
struct FindingsGuide;
