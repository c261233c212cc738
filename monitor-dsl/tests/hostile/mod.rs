//! Inputs that mean harm, or look like it: every one is answered with a machine or an ordinary error, in bounded time and
//! memory, on the small stack of a test thread. Nothing here looks at a clock; what is asserted is what the answer is.

mod answer;
mod depth;
mod fuzz_corpus;
mod growth;
mod mutation;
