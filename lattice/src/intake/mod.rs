//! From events to the steps of properties: what each property sees of an event, the record of its
//! steps, and the slice of them that belongs to one binding of its parameters.

mod binding;
mod joins;
mod line_note;
mod occurrence;
mod record;
mod relevance;
mod slice;

pub(crate) use binding::Bindings;
pub(crate) use joins::{JoinId, Joins};
pub use line_note::Note;
pub(crate) use line_note::{LineNote, Notes};
pub(crate) use occurrence::{Names, Occurrence};
pub(crate) use record::{Deed, DeedId, Record, Step};
pub(crate) use relevance::{Relevance, Seen, initial_values};
pub(crate) use slice::{Slice, slices};
