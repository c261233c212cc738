//! What a property declares: events and variables, and how the text of a log line shows them.

use portent_monitor_core::{Operation, Type, Value};

use super::pattern::TextPattern;
use crate::spelling;

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
    /// The parameter that the name of the acting thread or host binds.
    #[cfg_attr(feature = "serde", serde(default))]
    pub by: Option<usize>,
    /// Recognises the event in the text of a log line instead of by its name.
    pub matches: Option<TextPattern>,
    /// Recognises the event by what was done instead of by its name.
    #[cfg_attr(feature = "serde", serde(default))]
    pub on: Option<On>,
}

/// An operation of the run that is an event of the property.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct On {
    /// What is done.
    pub operation: Operation,
    /// What it is done to; `None` if that does not matter.
    pub object: Option<Object>,
}

/// What an operation is done to: a variable, a lock, a channel, a child, ...
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Object {
    /// Its name binds this parameter.
    Parameter(usize),
    /// It has this name.
    Name(String),
}

impl Event {
    /// An event that is recognised by its name, whatever its arguments.
    pub(crate) fn named(name: &str) -> Event {
        Event {
            name: name.to_owned(),
            parameters: None,
            by: None,
            matches: None,
            on: None,
        }
    }

    /// The parameters that the event binds, by arguments, actor or object; some may come twice.
    pub fn binds(&self) -> impl Iterator<Item = usize> {
        let object = self.on.as_ref().and_then(|on| on.object.as_ref());
        let object = object.and_then(|object| match object {
            Object::Parameter(parameter) => Some(*parameter),
            Object::Name(_) => None,
        });
        let arguments = self.parameters.iter().flatten().copied();
        arguments.chain(self.by).chain(object)
    }

    /// The event as it is declared in a property with these parameters.
    ///
    /// ```
    /// use portent_monitor_dsl::Property;
    ///
    /// let text = r#"property p(t, l) { event a(l) by t on lock(l), b on send("c")  ltl: always !(a || b) }"#;
    /// let property = Property::parse(text)?;
    /// let events = property.alphabet().events().iter();
    /// let declared: Vec<String> = events.map(|event| event.declaration(property.parameters())).collect();
    /// assert_eq!(declared, ["a(l) by t on lock(l)", r#"b on send("c")"#]);
    /// # Ok::<(), portent_monitor_dsl::Error>(())
    /// ```
    pub fn declaration(&self, parameters: &[String]) -> String {
        let parameter = |index: usize| parameters[index].as_str();
        let mut text = spelling::name(&self.name);
        if let Some(arguments) = &self.parameters {
            let arguments: Vec<&str> = arguments.iter().map(|&index| parameter(index)).collect();
            text += &format!("({})", arguments.join(", "));
        }
        if let Some(by) = self.by {
            text += &format!(" by {}", parameter(by));
        }
        if let Some(pattern) = &self.matches {
            text += &format!(" matches \"{}\"", pattern.as_str());
        }
        if let Some(on) = &self.on {
            text += &format!(" on {}", on.spelled(parameters));
        }
        text
    }
}

impl On {
    /// As it is written in a property with these parameters.
    pub(crate) fn spelled(&self, parameters: &[String]) -> String {
        let operation = self.operation;
        match &self.object {
            None => operation.to_string(),
            Some(Object::Parameter(index)) => format!("{operation}({})", parameters[*index]),
            Some(Object::Name(name)) => format!("{operation}({name:?})"),
        }
    }
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
    pub matches: Option<TextPattern>,
}
