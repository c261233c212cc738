//! What options are called wherever a report mentions them.

use serde::Serialize;

/// What options are called where somebody reads about them; `None` where there is no such option.
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
    /// What is pending at the end is violated.
    pub complete: &'static str,
    /// Runs are those of the model `strong`.
    pub strong: &'static str,
    /// Runs are those of the maximal model.
    pub maximal: &'static str,
    /// How many cuts of a level are kept.
    pub window: &'static str,
    /// How far ahead a search looks.
    pub lookahead: Option<&'static str>,
    /// How much memory a search may take.
    pub memory: Option<&'static str>,
    /// How long a search may take.
    pub time: Option<&'static str>,
    /// How many nodes a search may visit.
    pub max_nodes: Option<&'static str>,
    /// How many bindings a property may have.
    pub max_bindings: Option<&'static str>,
    /// Runs are counted whatever it takes.
    pub count: Option<&'static str>,
    /// Every witness is shown.
    pub all: Option<&'static str>,
    /// The answer for programs, with everything.
    pub json: Option<&'static str>,
}

impl Switches {
    /// Where there are only these: `complete`, those for the models `strong` and `maximal`, and `window`.
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

    /// When runs are pending, and how they can be taken for violated ones.
    pub(crate) fn at_end(&self) -> String {
        let complete = self.complete;
        format!(
            "at the end of the trace; if it has ended for good, {complete} counts such runs as violated."
        )
    }

    /// What more memory does, if one can ask for more.
    pub(crate) fn more_memory(&self, does: &str) -> String {
        match self.memory {
            Some(memory) => format!("; a larger {memory} {does}"),
            None => String::new(),
        }
    }
}
