//! Any bytes as a CSV file of Kairos.

#![no_main]

#[path = "../trace.rs"]
#[allow(dead_code, reason = "each target uses its part")]
mod trace;

libfuzzer_sys::fuzz_target!(|data: &[u8]| trace::kairos(data));
