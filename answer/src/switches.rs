//! The names of options wherever a report mentions them.

use serde::Serialize;

/// The names of options for the reader of a report; `None` if there is no such option.
///
/// ```
/// use portent_answer::Switches;
///
/// const SWITCHES: Switches = Switches {
///     memory: Some("--memory"),
///     ..Switches::new("--complete", "--causality strong", "--causality maximal", "--window")
/// };
/// assert_eq!(SWITCHES.time, None);
/// ```
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Switches {
    /// Runs pending at the end count as violated.
    pub complete: &'static str,
    /// Runs are those of the model `strong`.
    pub strong: &'static str,
    /// Runs are those of the maximal model.
    pub maximal: &'static str,
    /// The number of cuts of a level that are kept.
    pub window: &'static str,
    /// How far ahead a search looks.
    pub lookahead: Option<&'static str>,
    /// The memory limit of a search.
    pub memory: Option<&'static str>,
    /// The time limit of a search.
    pub time: Option<&'static str>,
    /// The limit on nodes of a search.
    pub max_nodes: Option<&'static str>,
    /// The limit on bindings of a property.
    pub max_bindings: Option<&'static str>,
    /// Runs are counted whatever the cost.
    pub count: Option<&'static str>,
    /// Every witness is shown.
    pub all: Option<&'static str>,
    /// The complete machine-readable answer.
    pub json: Option<&'static str>,
}

impl Switches {
    /// Only these options: `complete`, those for the models `strong` and `maximal`, and `window`.
    pub const fn new(
        complete: &'static str,
        strong: &'static str,
        maximal: &'static str,
        window: &'static str,
    ) -> Switches {
        Switches {
            complete,
            strong,
            maximal,
            window,
            lookahead: None,
            memory: None,
            time: None,
            max_nodes: None,
            max_bindings: None,
            count: None,
            all: None,
            json: None,
        }
    }

    /// When runs are pending, and how to count them as violated.
    pub(crate) fn at_end(&self) -> String {
        let complete = self.complete;
        format!(
            "at the end of the trace; if it has ended for good, {complete} counts such runs as violated."
        )
    }

    /// The effect of more memory, if it can be requested.
    pub(crate) fn more_memory(&self, does: &str) -> String {
        match self.memory {
            Some(memory) => format!("; a larger {memory} {does}"),
            None => String::new(),
        }
    }
}
