//! The `portent` command as users and programs meet it: one binary, because linking many takes
//! longer than running them.

mod check;
mod common;
mod convert;
mod documents;
mod examples;
mod find;
mod help;
mod serve;
mod synth;
