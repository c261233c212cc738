//! What can go wrong between the text of a property and its monitor.

use portent_monitor_core::Type;

use crate::diagnostic::Diagnostic;

/// Why a text is not a property, a property has no monitor, or a monitor cannot continue.
///
/// The first three kinds carry a [`Diagnostic`] with the place in the text. Displayed, an error
/// shows it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The text is not in the language.
    #[error("{0}")]
    Syntax(Box<Diagnostic>),
    /// A name is unknown or used twice, or types do not fit.
    #[error("{0}")]
    Meaning(Box<Diagnostic>),
    /// A limit was met, of [`Config`](crate::Config) or of the language itself.
    #[error("{1}")]
    Limit(Limit, Box<Diagnostic>),
    /// A variable of that name has no value to begin with.
    #[error(
        "variable `{0}` has no initial value; give one in its declaration, \
         `var {0}: ... = ...`, or with the run"
    )]
    NoInitialValue(Box<str>),
    /// A value of another type was written to a variable.
    #[error("variable `{}` is of type {}, but a {} was written to it", .0.variable, .0.expected, .0.found)]
    WrongType(Box<Mismatch>),
}

/// Which limit was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Limit {
    /// [`Config::max_states`](crate::Config::max_states).
    States,
    /// [`Config::max_steps`](crate::Config::max_steps).
    Steps,
    /// [`Config::max_memory`](crate::Config::max_memory).
    Memory,
    /// [`Config::max_propositions`](crate::Config::max_propositions).
    Propositions,
    /// One that cannot be moved.
    Language,
}

/// A value that does not fit the variable it was written to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The name of the variable.
    pub variable: String,
    /// Its type.
    pub expected: Type,
    /// The type of the value.
    pub found: Type,
}

impl Error {
    /// The message and its place, if the error is about the text of a property.
    pub fn diagnostic(&self) -> Option<&Diagnostic> {
        match self {
            Error::Syntax(diagnostic)
            | Error::Meaning(diagnostic)
            | Error::Limit(_, diagnostic) => Some(diagnostic),
            Error::NoInitialValue(_) | Error::WrongType(_) => None,
        }
    }

    pub(crate) fn syntax(diagnostic: Diagnostic) -> Self {
        Error::Syntax(Box::new(diagnostic))
    }

    pub(crate) fn meaning(diagnostic: Diagnostic) -> Self {
        Error::Meaning(Box::new(diagnostic))
    }

    pub(crate) fn limit(diagnostic: Diagnostic) -> Self {
        Error::Limit(Limit::Language, Box::new(diagnostic))
    }
}
