//! The engine class of a property, and how it is decided.

use std::fmt;

use super::{
    bad_prefixes::BadPrefixes,
    implied::{Implied, implied},
    saturated::Saturated,
};
use crate::{automaton::Explored, monitor::Monitor};

/// How the runs of a property can be searched, the cheapest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum EngineClass {
    /// Whether it is violated does not depend on the order of concurrent steps.
    Linear,
    /// Violated where local conditions on variables hold together.
    Conjunctive,
    /// Violations are chains of state changes.
    Intervals,
    /// Every cut may matter.
    Enumerate,
}

impl EngineClass {
    /// The word for the class.
    pub fn as_str(self) -> &'static str {
        match self {
            EngineClass::Linear => "linear",
            EngineClass::Conjunctive => "conjunctive",
            EngineClass::Intervals => "intervals",
            EngineClass::Enumerate => "enumerate",
        }
    }

    /// What it means, in one line for people.
    pub fn explanation(self) -> &'static str {
        match self {
            EngineClass::Linear => {
                "no order of concurrent steps violates it unless the observed one does: one run speaks for all"
            }
            EngineClass::Conjunctive => {
                "violated where conditions on single variables hold together: found in polynomial time"
            }
            EngineClass::Intervals => {
                "violations are chains of state changes: one symbolic node stands for many cuts"
            }
            EngineClass::Enumerate => {
                "every cut may matter: the lattice is enumerated, level by level"
            }
        }
    }
}

impl fmt::Display for EngineClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Monitor {
    /// How the runs of this property can be searched: what to expect before any trace is seen.
    ///
    /// It is decided for the steps that the text implies: each event, and each write of one
    /// variable, from any initial values. A trace whose events write variables too, or that shows
    /// only some of the steps, may belong to another class.
    ///
    /// ```
    /// use portent_monitor_dsl::{EngineClass, Property};
    ///
    /// let class = |text: &str| Ok::<_, portent_monitor_dsl::Error>(Property::parse(text)?.monitor()?.engine_class());
    /// assert_eq!(class("always !error")?, EngineClass::Linear);
    /// assert_eq!(class("always !(x > 5 && y > 5)")?, EngineClass::Conjunctive);
    /// assert_eq!(class("always (d -> [a, b))")?, EngineClass::Intervals);
    /// // A toggle: what `d` means depends on whether the number of `a`s is even.
    /// assert_eq!(class("never: (b* a b* a)* b* d")?, EngineClass::Enumerate);
    /// # Ok::<(), portent_monitor_dsl::Error>(())
    /// ```
    pub fn engine_class(&self) -> EngineClass {
        let Some(implied) = implied(self) else {
            return EngineClass::Enumerate;
        };
        let Explored { automaton, initial } = &implied.explored;
        let Ok(bad_prefixes) = BadPrefixes::from_states(automaton, initial) else {
            return EngineClass::Enumerate;
        };
        if all_commute(&bad_prefixes, &implied) {
            return EngineClass::Linear;
        }
        if self.conjunctions().is_some() {
            return EngineClass::Conjunctive;
        }
        match Saturated::new(&bad_prefixes) {
            Some(saturated) if saturated.is_chain() => EngineClass::Intervals,
            _ => EngineClass::Enumerate,
        }
    }
}

/// Whether all steps that can be concurrent commute; writes of one variable never are.
fn all_commute(bad_prefixes: &BadPrefixes, implied: &Implied) -> bool {
    let mut classes: Vec<_> = { implied.actions.iter() }
        .map(|&(action, writes)| (bad_prefixes.class_of(action), writes))
        .collect();
    classes.sort_unstable();
    classes.dedup();
    classes.iter().enumerate().all(|(index, &(a, of_a))| {
        classes[index..]
            .iter()
            .filter(|(_, of_b)| of_a.is_none() || of_a != *of_b)
            .all(|&(b, _)| bad_prefixes.commute(a, b))
    })
}
