//! Traces that are damaged, cut off, odd or wrong: what is said of them, and that nothing worse
//! happens.

mod fuzz_corpus;
mod messages;
mod odd_text;
mod truncated;
