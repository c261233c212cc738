//! A monitor in other forms: JSON, Graphviz, Rust, and a table for people.

mod dot;
mod json;
mod rust;
mod table;

pub use json::{DeclaredEvent, Description, Edge};
