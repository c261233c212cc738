//! The macros of the façade `portent`; use them through it, with its feature `macros`.
//!
//! They read properties at compile time and report what is wrong with them there. What happens at run time is elsewhere: each macro
//! expands to one call of the façade.
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

/// A test that fails if some run that is equivalent to its own violates a property.
///
/// All that the body does with `portent::sync`, `portent::thread`, `portent::Shared` and `portent::event!` is recorded. When it
/// has ended, the property is checked on every run that is causally equivalent, and the test fails with one that violates it. A body
/// that panics or returns an error fails as it always does.
///
/// | option | |
/// |---|---|
/// | `property = "always (x >= y)"` | what is to hold: a formula, or a whole `property name { ... }` |
/// | `spec = "file.portent"` | or a file of properties, from the folder of `Cargo.toml`; if it changes, the test is compiled again |
/// | `find = "races, deadlocks"` | or besides: data races, deadlocks and blocks that are not atomic (`atomicity`) fail the test, without any property; a lock order that no run was shown to end in is a warning |
/// | `causality = "strong"` | also runs in which threads go without critical sections of others |
/// | `causality = "maximal"` | also runs that swap whole critical sections |
/// | `complete` | what is still pending when the body ends is violated |
/// | `window = 1000` | at most this many cuts of a level of the lattice are kept |
/// | `repeat = 10` | the body is run so often, and each run is checked |
/// | `expect_violation` | the test fails if no run violates the property |
/// | `confirm` | a violation that is predicted is made to happen, under a controlled scheduler (feature `explore`) |
/// | `explore = "guided"`, `target = "src/queue.rs:24"` | it is explored, guided to this place, or to several, separated by commas |
/// | `confirm = "trace.jsonl"` | the same from a recording that was left before, which is looked for from the folder of `Cargo.toml` |
/// | `explore = "source"` | the body is not recorded, but run under a controlled scheduler, once for every class of equivalent runs; other strategies are `optimal`, `exhaustive`, `flipping`, `preemptions`, `random`, `pct`, `uniform` (feature `explore`) |
/// | `max_runs = 1000` | an exploration ends after that many runs |
/// | `strict` | what is else a warning fails the test: an event that never occurs, nothing that was checked |
///
/// Variables begin with the values that the property declares, or else with those that they had before they were first written.
#[proc_macro_attribute]
pub fn test(options: TokenStream, function: TokenStream) -> TokenStream {
    let options = parse_macro_input!(options as options::TestOptions);
    let function = parse_macro_input!(function as syn::ItemFn);
    test::expand(&options, function)
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}

/// The monitor of a property, as a `&'static Monitor`. What is wrong with the property is an error of the compiler.
///
/// The text is a formula, or a whole `property name { ... }`. The monitor is made when the program is compiled; when it is first
/// used, the text is read again, for the names and types in it, and the machine is taken as it was stored.
#[proc_macro]
pub fn property(text: TokenStream) -> TokenStream {
    let text = parse_macro_input!(text as property::PropertyText);
    property::expand(&text)
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}

/// Gives a struct whose fields are all `Shared<T>` a function `new`, which takes their first values and names them `Struct.field`.
///
/// `#[monitored(name = "...")]` on a field gives it another name; on the struct, it stands in the place of the struct's name, and if
/// it is empty, fields are called as they are. In a property a name with a dot is written in quotes, and is to be declared if it is
/// compared with something.
#[proc_macro_derive(Monitored, attributes(monitored))]
pub fn monitored(structure: TokenStream) -> TokenStream {
    let structure = parse_macro_input!(structure as syn::DeriveInput);
    monitored::expand(&structure)
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}
