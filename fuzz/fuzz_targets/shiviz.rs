//! Any bytes as a log with vector clocks, with expressions for records and delimiters on its first two lines.

#![no_main]

#[path = "../trace.rs"]
#[allow(dead_code, reason = "each target uses its part")]
mod trace;

libfuzzer_sys::fuzz_target!(|data: &[u8]| trace::shiviz(data));
