//! Presents reports to people: as sentences and tables ([`text`]), and as one HTML page ([`html`]).
//!
//! The command and annotated tests share it. It does not know what options are called there: sentences take their names from
//! [`Switches`], and leave out advice that the reader could not follow.

mod error;
pub mod html;
mod paint;
mod switches;
pub mod text;
mod warning;

use portent_lattice::{Report, report::PropertyReport};

pub use error::Error;
pub use paint::Paint;
pub use switches::Switches;
pub use warning::Warning;

/// What is known of one execution.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    /// What the analyzer says.
    pub report: &'a Report,
    /// The name of the execution, in a log that names several.
    pub execution: Option<&'a str>,
    /// All that there is to know before trusting the report.
    pub warnings: &'a [Warning],
    /// The violations that were left out because a baseline has them.
    pub known: &'a [PropertyReport],
}
