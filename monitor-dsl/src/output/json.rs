//! The machine as JSON, for other programs.

use crate::{alphabet::Event, monitor::Monitor, verdict::Verdict};

/// A monitor as data.
///
/// ```
/// use portent_monitor_dsl::Property;
///
/// let monitor = Property::parse("always !error")?.monitor()?;
/// let json = serde_json::to_value(monitor.description()).unwrap();
/// assert_eq!(json["states"], 2);
/// assert_eq!(json["transitions"][0][1], serde_json::json!({"when": "error", "to": 1}));
/// # Ok::<(), portent_monitor_dsl::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Description {
    /// The name of the property.
    pub name: String,
    /// The kind of its body.
    pub kind: &'static str,
    /// Its parameters.
    pub parameters: Vec<String>,
    /// What `where` says of them: inequalities.
    #[cfg_attr(feature = "serde", serde(rename = "where"))]
    pub constraints: Vec<String>,
    /// The events as they are declared, each after its name.
    pub events: Vec<DeclaredEvent>,
    /// The number of states.
    pub states: usize,
    /// The initial state.
    pub initial: usize,
    /// The atomic propositions.
    pub propositions: Vec<String>,
    /// The verdict in each state.
    pub outputs: Vec<Verdict>,
    /// For each state the edges that leave it.
    pub transitions: Vec<Vec<Edge>>,
}

/// An event of a [`Description`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct DeclaredEvent {
    /// Its name.
    pub name: String,
    /// The parameters that its arguments bind; `None` if its arguments do not matter.
    pub parameters: Option<Vec<String>>,
    /// The parameter that the acting thread binds.
    pub by: Option<String>,
    /// The regular expression that finds it in text.
    pub matches: Option<String>,
    /// The operation that it is, as in `lock(l)`.
    pub on: Option<String>,
}

/// An edge of a [`Description`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Edge {
    /// A Boolean expression over the propositions, with the operators `!`, `&&`, `||` and `xor`.
    /// Nothing if it would have more than 2,000 literals.
    pub when: Option<String>,
    /// The state it leads to.
    pub to: usize,
}

impl DeclaredEvent {
    fn new(event: &Event, parameters: &[String]) -> DeclaredEvent {
        let parameter = |index: &usize| parameters[*index].clone();
        let arguments = event.parameters.as_ref();
        DeclaredEvent {
            name: event.name.clone(),
            parameters: arguments.map(|all| all.iter().map(parameter).collect()),
            by: event.by.as_ref().map(parameter),
            matches: { event.matches.as_ref() }.map(|pattern| pattern.as_str().to_owned()),
            on: event.on.as_ref().map(|on| on.spelled(parameters)),
        }
    }
}

impl Monitor {
    /// The machine in a form to be serialised.
    pub fn description(&self) -> Description {
        let edges = |state| {
            let edge = |(to, when): &(crate::StateId, _)| Edge {
                when: self.try_spell(when).ok(),
                to: to.index(),
            };
            self.edges(state).iter().map(edge).collect()
        };
        Description {
            name: self.property().name().to_owned(),
            kind: self.property().kind().as_str(),
            parameters: self.property().parameters().to_vec(),
            constraints: self.property().constraint_texts(),
            events: { self.alphabet().events().iter() }
                .map(|event| DeclaredEvent::new(event, self.property().parameters()))
                .collect(),
            states: self.states(),
            initial: self.initial().index(),
            propositions: self
                .alphabet()
                .propositions()
                .iter()
                .map(ToString::to_string)
                .collect(),
            outputs: self.state_ids().map(|state| self.verdict(state)).collect(),
            transitions: self.state_ids().map(edges).collect(),
        }
    }
}
