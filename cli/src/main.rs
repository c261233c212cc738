//! The portent command.
fn main() {}
