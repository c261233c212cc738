//! What a property declares: events and variables, and how the text of a log line shows them.

use portent_monitor_core::{Type, Value};

use super::pattern::Pattern;

portent_monitor_core::ids! {
    /// One of the events of a property.
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    pub struct EventId(u32);
    /// One of the variables of a property.
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    pub struct VariableId(u32);
}

impl EventId {
    pub(crate) fn new(index: usize) -> Self {
        EventId(u32::try_from(index).expect("the text of a property is bounded"))
    }
}

impl VariableId {
    pub(crate) fn new(index: usize) -> Self {
        VariableId(u32::try_from(index).expect("the text of a property is bounded"))
    }
}

/// An event as the property declares it.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Event {
    /// Its name.
    pub name: String,
    /// For each of its arguments the parameter of the property that it binds, as an index.
    /// `None` if no argument list was declared: then arguments do not matter.
    pub parameters: Option<Vec<usize>>,
    /// Recognises the event in the text of a log line instead of by its name.
    pub matches: Option<Pattern>,
}

/// A state variable as the property declares it, or as its use implies.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct StateVariable {
    /// Its name.
    pub name: String,
    /// The type of its values.
    #[cfg_attr(feature = "serde", serde(rename = "type"))]
    pub type_of: Type,
    /// Its value before anything happens, unless a trace says otherwise.
    pub initial: Option<Value>,
    /// Reads new values out of the text of a log line.
    pub matches: Option<Pattern>,
}
