//! What a user reads about the text of a property.

mod diagnostics;
mod notes;
