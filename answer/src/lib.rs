//! Presents reports to people: as sentences and tables ([`text`]), and as one HTML page ([`html`]).
//!
//! The command and annotated tests share it. It does not know the names of options there: sentences take them from
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

/// The results for one execution.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    /// The report of the analyzer.
    pub report: &'a Report,
    /// The name of the execution, in a log that names several.
    pub execution: Option<&'a str>,
    /// All warnings to read before trusting the report.
    pub warnings: &'a [Warning],
    /// The violations left out because a baseline has them.
    pub known: &'a [PropertyReport],
}
