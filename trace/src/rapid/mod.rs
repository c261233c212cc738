//! The formats of the RAPID tools: STD text and its binary form.
//!
//! | word | dialects | meaning here |
//! |---|---|---|
//! | `r`, `w` | `rd`, `wr` | read, write of a variable, the value unknown |
//! | `acq`, `rel` | | exclusive lock and unlock |
//! | `fork`, `join` | | of a thread |
//! | `begin`, `end` | | of an atomic block: a note without an effect on the order |
//! | | `req` | a lock is asked for: likewise |
//! | | `wait`, `notify`, `notifyall` | the wake-up of a wait, and what caused it |

mod binary;
mod text;

pub(crate) use binary::{BinaryWriter, RapidBinary};
pub(crate) use text::{StdText, is_word, write_event};
