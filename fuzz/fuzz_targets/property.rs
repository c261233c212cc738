//! Any bytes as a property: refused with a message, or made into a monitor that keeps its promises.

#![no_main]

#[path = "../property.rs"]
mod property;

libfuzzer_sys::fuzz_target!(|data: &[u8]| property::check(data));
