//! A monitor in the forms in which it leaves the library.

mod generated_rust;
mod json;
mod sealed;
