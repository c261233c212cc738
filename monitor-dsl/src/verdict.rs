//! What a monitor says about a run so far.

use std::fmt;

/// The answer of a monitor after a finite run.
///
/// ```
/// use portent_monitor_dsl::Verdict;
///
/// assert!(Verdict::Violated.is_final());
/// assert_eq!(Verdict::Pending.to_string(), "pending");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Verdict {
    /// No continuation can satisfy the property.
    Violated,
    /// Every continuation satisfies the property.
    Satisfied,
    /// Open; if the run ended here the property would be false.
    Pending,
    /// Open; if the run ended here the property would be true.
    Ok,
    /// Open, in a monitor that was asked for [three verdicts](Verdicts::Three) only.
    Unknown,
}

impl Verdict {
    /// Whether no continuation can change the verdict.
    pub fn is_final(self) -> bool {
        matches!(self, Verdict::Violated | Verdict::Satisfied)
    }

    /// The open verdict for a run of that finite-trace truth.
    pub(crate) fn if_ended(truth: bool) -> Self {
        if truth { Verdict::Ok } else { Verdict::Pending }
    }

    /// The word for the verdict, as in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Violated => "violated",
            Verdict::Satisfied => "satisfied",
            Verdict::Pending => "pending",
            Verdict::Ok => "ok",
            Verdict::Unknown => "unknown",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// How many verdicts a monitor tells apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Verdicts {
    /// Violated, satisfied, unknown. The machine may be smaller.
    Three,
    /// Violated, satisfied, pending, ok.
    #[default]
    Four,
}
