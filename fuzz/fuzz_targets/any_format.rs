//! Any bytes as a trace of a format that is recognised by looking, compressed or not.

#![no_main]

#[path = "../trace.rs"]
#[allow(dead_code, reason = "each target uses its part")]
mod trace;

libfuzzer_sys::fuzz_target!(|data: &[u8]| trace::any_format(data));
