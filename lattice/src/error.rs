//! What can go wrong between the events of a run and an answer.

use portent_monitor_core::{SymbolKind, Type};

/// Why events cannot be checked against a property.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A variable has no value to begin with.
    #[error(
        "property `{property}`: variable `{variable}` has no initial value; give one in its \
         declaration, `var {variable}: ... = ...`, or with the run"
    )]
    NoInitialValue {
        /// The property that reads it.
        property: String,
        /// Its name.
        variable: String,
    },
    /// A value of another type was written to a variable.
    #[error(
        "property `{property}`: variable `{variable}` is of type {expected}, but {place} gives it \
         the {found} {value}"
    )]
    WrongType {
        /// The property that reads it.
        property: String,
        /// Its name.
        variable: String,
        /// Its type.
        expected: Type,
        /// The type of the value.
        found: Type,
        /// The value as it is spelled.
        value: String,
        /// The line of the trace, or where else the value comes from.
        place: String,
    },
    /// A text that should be the value of a variable cannot be read as one.
    #[error(
        "property `{property}`: variable `{variable}` is of type {expected}, but {place} gives it \
         the text {text:?}"
    )]
    BadText {
        /// The property that reads it.
        property: String,
        /// Its name.
        variable: String,
        /// Its type.
        expected: Type,
        /// What the regular expression found.
        text: String,
        /// The line of the trace.
        place: String,
    },
    /// A write does not tell the value.
    #[error(
        "property `{property}`: {place} writes variable `{variable}` without telling the value"
    )]
    NoValue {
        /// The property that reads it.
        property: String,
        /// Its name.
        variable: String,
        /// The line of the trace.
        place: String,
    },
    /// What is kept of the steps of a run takes more than the memory that there is.
    #[error(
        "what is kept of {steps} relevant events takes most of the {memory} bytes that may be used"
    )]
    StepsBeyondMemory {
        /// How many there were.
        steps: u64,
        /// How many bytes may be used.
        memory: u64,
    },
    /// More events than 32 bits number.
    #[error("more than 4294967295 relevant events")]
    TooManyEvents,
    /// More events than 32 bits number, under another model than happens-before.
    #[error("more than 4294967295 events; the models `strong` and `maximal` number them all")]
    TooManyEventsInAll,
    /// Other models than happens-before need the whole trace.
    #[error(
        "the models `strong` and `maximal` need the whole trace; a running program is watched by happens-before"
    )]
    OnlineModel,
    /// Stamps say what comes before what, and other models than happens-before do not keep to that.
    #[error(
        "the models `strong` and `maximal` go by what events do and not by their stamps; give them without stamps"
    )]
    StampedModel,
    /// An event was made with other symbols than those of the run.
    #[error(
        "an event has a {kind} that is not among the symbols of this run: events must be made with the `symbols_mut()` of whoever \
         takes them"
    )]
    UnknownSymbol {
        /// What it has no name for.
        kind: SymbolKind,
    },
    /// Some events bring a stamp, and others do not.
    #[error("either all events of a run bring stamps or none: there is one clock for all")]
    MixedStamps,
    /// An event comes after one whose clock counts it, or after a later one of its chain.
    #[error(
        "an event comes too late: it is number {number} of its chain, of which {known} were known \
         before"
    )]
    LateStamp {
        /// The number that its stamp gives it.
        number: u32,
        /// How many events of the chain were known.
        known: u32,
    },
    /// An event that cannot follow those before it, or a limit of the clocks.
    #[error(transparent)]
    Causality(#[from] portent_monitor_core::Error),
    /// The monitor refused.
    #[error(transparent)]
    Monitor(#[from] portent_monitor_dsl::Error),
    /// A witness failed its independent check: a defect of Portent, not of the input.
    #[error("property `{property}`: the witness does not hold: {why}")]
    BadWitness {
        /// The property.
        property: String,
        /// What is wrong with it.
        why: String,
    },
}
