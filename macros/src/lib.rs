//! The macros of the façade `portent`; use them through it, with its feature `macros`.
//!
//! They read properties at compile time, and report errors in them there. Each macro expands to one call of the façade, which
//! does the work at run time.
//!
//! | file | |
//! |---|---|
//! | `test` | `#[portent::test]`: a function that `cargo test` runs and checks |
//! | `options` | the options in its parentheses |
//! | `property` | `portent::property!`, and how monitors are stored |
//! | `monitored` | `#[derive(portent::Monitored)]`: variables with names |

#![deny(unsafe_code)]
#![warn(missing_docs)]

mod monitored;
mod options;
mod property;
mod test;

use proc_macro::TokenStream;
use syn::parse_macro_input;

/// A test that fails if some run that is causally equivalent to the observed one violates a property.
///
/// Everything that the body does with `portent::sync`, `portent::thread`, `portent::Shared` and `portent::event!` is recorded. When it
/// has ended, the property is checked on every equivalent run, and the test fails with a run that violates it, if there is one. A body
/// that panics or returns an error fails as usual.
///
/// | option | |
/// |---|---|
/// | `property = "always (x >= y)"` | what must hold: a formula, or a whole `property name { ... }` |
/// | `spec = "file.portent"` | or a file of properties, from the folder of `Cargo.toml`; if it changes, the test is compiled again |
/// | `find = "races, deadlocks"` | instead or in addition: data races, deadlocks and atomicity violations (`atomicity`) fail the test, without any property; a lock order for which no deadlocking run was found is a warning |
/// | `causality = "strong"` | also check runs in which threads continue without critical sections of others |
/// | `causality = "maximal"` | also check runs that swap whole critical sections |
/// | `complete` | what is still pending when the body ends counts as violated |
/// | `window = 1000` | keep at most this many cuts of each level of the lattice |
/// | `repeat = 10` | run the body this often, and check each run |
/// | `expect_violation` | the test fails if no run violates the property |
/// | `confirm` | make a predicted violation happen, under a controlled scheduler (feature `explore`) |
/// | `confirm = "trace.jsonl"` | the same with an earlier recording, relative to the folder of `Cargo.toml` |
/// | `explore = "guided"`, `target = "src/queue.rs:24"` | explore the body, guided to this place, or to several, separated by commas |
/// | `explore = "source"` | run the body under a controlled scheduler instead of recording it, once for every class of equivalent runs; other strategies are `optimal`, `exhaustive`, `flipping`, `preemptions`, `random`, `pct`, `uniform` (feature `explore`) |
/// | `max_runs = 1000` | end an exploration after this many runs |
/// | `strict` | warnings fail the test: an event that never occurs, a property that was never checked |
///
/// Variables begin with the values that the property declares, or else with those that they had before the test first wrote them.
#[proc_macro_attribute]
pub fn test(options: TokenStream, function: TokenStream) -> TokenStream {
    let options = parse_macro_input!(options as options::TestOptions);
    let function = parse_macro_input!(function as syn::ItemFn);
    test::expand(&options, function)
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}

/// The monitor of a property, as a `&'static Monitor`. Errors in the property are compiler errors.
///
/// The text is a formula, or a whole `property name { ... }`. The monitor is built at compile time and stored as constants of the
/// program; nothing is parsed at run time.
#[proc_macro]
pub fn property(text: TokenStream) -> TokenStream {
    let text = parse_macro_input!(text as property::PropertyText);
    property::expand(&text)
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}

/// Generates, for a struct whose fields are all `Shared<T>`, a function `new` that takes their initial values and names them `Struct.field`.
///
/// `#[monitored(name = "...")]` on a field gives it another name. On the struct it replaces the struct's name; if
/// it is empty, fields keep their own names. In a property, a name with a dot is written in quotes, and must be declared if it is
/// compared with something.
#[proc_macro_derive(Monitored, attributes(monitored))]
pub fn monitored(structure: TokenStream) -> TokenStream {
    let structure = parse_macro_input!(structure as syn::DeriveInput);
    monitored::expand(&structure)
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}
