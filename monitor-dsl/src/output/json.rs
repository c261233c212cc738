//! The machine as JSON, for other programs.

use crate::{monitor::Monitor, verdict::Verdict};

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

/// An edge of a [`Description`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Edge {
    /// A Boolean expression over the propositions.
    pub when: String,
    /// The state it leads to.
    pub to: usize,
}

impl Monitor {
    /// The machine in a form to be serialised.
    pub fn description(&self) -> Description {
        let edges = |state| {
            let edge = |(to, when): &(crate::StateId, _)| Edge {
                when: self.spell(when),
                to: to.index(),
            };
            self.edges(state).iter().map(edge).collect()
        };
        Description {
            name: self.property().name().to_owned(),
            kind: self.property().kind().as_str(),
            parameters: self.property().parameters().to_vec(),
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
