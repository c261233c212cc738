//! The engines by name.

use std::{fmt, str::FromStr};

use portent_monitor_dsl::EngineClass;
use serde::Serialize;

/// One way to search the equivalent runs.
///
/// ```
/// use portent_lattice::Engine;
///
/// assert_eq!("intervals".parse(), Ok(Engine::Intervals));
/// assert_eq!(Engine::Intervals.to_string(), "intervals");
/// let error = "interval".parse::<Engine>().unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "`interval` is no engine; there are linear, conjunctive, flow, intervals, enumerate, strong, maximal",
/// );
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Engine {
    /// One run speaks for all.
    Linear,
    /// Local conditions that hold together.
    Conjunctive,
    /// Counters that reach a bound, by one maximum flow.
    Flow,
    /// Symbolic nodes that stand for intervals of cuts.
    Intervals,
    /// Every cut, level by level: answers every question.
    #[default]
    Enumerate,
    /// What is feasible beyond happens-before by leaving something out; for [`Model::Strong`](crate::Model::Strong) only.
    Strong,
    /// All that is feasible; for [`Model::Maximal`](crate::Model::Maximal) only.
    Maximal,
}

impl Engine {
    /// All of them.
    pub const ALL: [Engine; 7] = [
        Engine::Linear,
        Engine::Conjunctive,
        Engine::Flow,
        Engine::Intervals,
        Engine::Enumerate,
        Engine::Strong,
        Engine::Maximal,
    ];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Engine::Linear => "linear",
            Engine::Conjunctive => "conjunctive",
            Engine::Flow => "flow",
            Engine::Intervals => "intervals",
            Engine::Enumerate => "enumerate",
            Engine::Strong => "strong",
            Engine::Maximal => "maximal",
        }
    }
}

impl From<EngineClass> for Engine {
    /// The cheapest engine for the properties of a class.
    fn from(class: EngineClass) -> Engine {
        match class {
            EngineClass::Linear => Engine::Linear,
            EngineClass::Conjunctive => Engine::Conjunctive,
            EngineClass::Intervals => Engine::Intervals,
            EngineClass::Enumerate => Engine::Enumerate,
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A word that names no engine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no engine; there are {all}", all = Engine::ALL.map(Engine::as_str).join(", "))]
pub struct UnknownEngine(String);

impl FromStr for Engine {
    type Err = UnknownEngine;

    fn from_str(word: &str) -> Result<Engine, UnknownEngine> {
        let engine = Engine::ALL
            .into_iter()
            .find(|engine| engine.as_str() == word);
        engine.ok_or_else(|| UnknownEngine(word.to_owned()))
    }
}
