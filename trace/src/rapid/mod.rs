//! The formats of the RAPID tools: STD text and its binary form.
//!
//! | word | dialects | meaning here |
//! |---|---|---|
//! | `r`, `w` | `rd`, `wr` | read, write of a variable, the value unknown |
//! | `acq`, `rel` | | exclusive lock and unlock |
//! | `fork`, `join` | | of a thread |
//! | `begin`, `end` | | of an atomic block: a note without an effect on the order |
//! | | `req` | a lock is requested: likewise |
//! | | `wait`, `notify`, `notifyall` | the wake-up of a wait, and what caused it; after `rel(m)`, `wait(m)` is the begin of the wait, and the next `acq(m)` the wake-up |
//!
//! `fork(0)` and `join(0)` are of `T0` where threads are named so.

mod binary;
mod text;

pub(crate) use binary::{BinaryWriter, RapidBinary};
pub(crate) use text::{Monitors, StdText, is_word, write_event};
