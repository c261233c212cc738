//! When a monitor goes where: conditions on propositions for the edges of a machine.
//!
//! Machines branch on cells of gauges; people, DOT and generated code read propositions. The
//! conditions of one state are disjoint and cover every letter that can occur; letters that cannot
//! occur are used to make them shorter (`b` instead of `!a && b` where `a` and `b` are events).
//!
//! A condition is [written](write) from a decision diagram and shares parts as the diagram does, so that it is
//! never larger than the machine. Written out as text it may be: "at least eight of sixteen flags" has
//! thousands of cases. What is longer than [`MAX_LITERALS`] is counted instead.

mod cover;
mod write;

use rustc_hash::FxHashMap;
use std::sync::Arc;

use crate::monitor::{Monitor, StateId};
use write::ConditionWriter;

/// A condition that mentions more propositions than this, each as often as it occurs, is not written
/// out.
pub(crate) const MAX_LITERALS: usize = 2_000;

/// A Boolean combination of the propositions of an alphabet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Always.
    True,
    /// Never.
    False,
    /// A proposition, by its place in [`Alphabet::propositions`](crate::Alphabet::propositions).
    Proposition(usize),
    /// Not a proposition.
    Not(usize),
    /// All of these.
    And(Arc<[Condition]>),
    /// At least one of these.
    Or(Arc<[Condition]>),
    /// An odd number of these.
    Xor(Arc<[Condition]>),
}

impl Monitor {
    /// The edges that leave a state: where to, and when. The conditions are disjoint and cover all
    /// letters that can occur.
    ///
    /// ```
    /// use portent_monitor_dsl::Property;
    ///
    /// let monitor = Property::parse("always (p -> next q)")?.monitor()?;
    /// let edges: Vec<String> = monitor
    ///     .edges(monitor.initial())
    ///     .iter()
    ///     .map(|(to, when)| format!("{} to {}", monitor.spell(when), to.index()))
    ///     .collect();
    /// assert_eq!(edges, ["!p to 0", "p to 1"]);
    /// # Ok::<(), portent_monitor_dsl::Error>(())
    /// ```
    pub fn edges(&self, state: StateId) -> Vec<(StateId, Condition)> {
        ConditionWriter::new(self).edges(state)
    }

    /// The letters of one step from `state` that lead to a state that is `wanted`.
    pub(crate) fn condition_for(
        &self,
        state: StateId,
        wanted: impl Fn(StateId) -> bool,
    ) -> Condition {
        ConditionWriter::new(self).condition_for(state, &wanted)
    }

    /// A condition as text, with propositions as
    /// [`Alphabet::propositions`](crate::Alphabet::propositions) spells them. One with more than 2,000
    /// [literals](Condition::literals) is not written out; the text says how many it has.
    ///
    /// ```
    /// use portent_monitor_dsl::Property;
    ///
    /// let monitor = Property::parse("always (p xor q xor r)")?.monitor()?;
    /// let (_, when) = &monitor.edges(monitor.initial())[1];
    /// assert_eq!((monitor.spell(when).as_str(), when.literals()), ("p || q || r", 3));
    /// # Ok::<(), portent_monitor_dsl::Error>(())
    /// ```
    pub fn spell(&self, condition: &Condition) -> String {
        self.try_spell(condition)
            .unwrap_or_else(|literals| format!("(a condition of {literals} literals)"))
    }

    /// A condition as text, or the number of its literals if they are too many.
    pub(crate) fn try_spell(&self, condition: &Condition) -> Result<String, usize> {
        let literals = condition.literals();
        if literals > MAX_LITERALS {
            return Err(literals);
        }
        let propositions = self.alphabet().propositions();
        let name = |index: usize| {
            let text = propositions[index].to_string();
            let atom = propositions[index].event().is_some() || !text.contains(' ');
            (text, atom)
        };
        Ok(condition.spell(
            &|part| match part {
                Condition::Proposition(index) => Some(name(*index).0),
                Condition::Not(index) => Some(match name(*index) {
                    (text, true) => format!("!{text}"),
                    (text, false) => format!("!({text})"),
                }),
                _ => None,
            },
            " xor ",
        ))
    }
}

impl Condition {
    /// How many propositions the condition mentions, each counted as often as it is mentioned.
    pub fn literals(&self) -> usize {
        self.count(&mut FxHashMap::default())
    }

    fn count(&self, known: &mut FxHashMap<*const Condition, usize>) -> usize {
        let Some(parts) = self.parts() else {
            return usize::from(!matches!(self, Condition::True | Condition::False));
        };
        if let Some(&count) = known.get(&parts.as_ptr()) {
            return count;
        }
        let count = parts
            .iter()
            .fold(0usize, |sum, part| sum.saturating_add(part.count(known)));
        known.insert(parts.as_ptr(), count);
        count
    }

    /// What it is made of, if it is made of others. Parts that are shared are at the same address.
    pub(crate) fn parts(&self) -> Option<&[Condition]> {
        match self {
            Condition::And(parts) | Condition::Or(parts) | Condition::Xor(parts) => Some(parts),
            _ => None,
        }
    }

    /// The condition as text. `name` gives the text of propositions, negated ones and others that
    /// have a name; `xor` is the sign for "either, but not both".
    pub(crate) fn spell(&self, name: &dyn Fn(&Condition) -> Option<String>, xor: &str) -> String {
        if let Some(name) = name(self) {
            return name;
        }
        let (parts, sign) = match self {
            Condition::True => return "true".to_owned(),
            Condition::False => return "false".to_owned(),
            Condition::Proposition(_) | Condition::Not(_) => {
                unreachable!("propositions have names")
            }
            Condition::And(parts) => (parts, " && "),
            Condition::Or(parts) => (parts, " || "),
            Condition::Xor(parts) => (parts, xor),
        };
        let spell = |part: &Condition| match (part.parts(), name(part)) {
            (_, Some(name)) => name,
            (Some(_), None) => format!("({})", part.spell(name, xor)),
            (None, None) => part.spell(name, xor),
        };
        parts.iter().map(spell).collect::<Vec<_>>().join(sign)
    }

    fn constant(value: bool) -> Condition {
        if value {
            Condition::True
        } else {
            Condition::False
        }
    }

    fn and(self, other: Condition) -> Condition {
        match (self, other) {
            (Condition::True, other) | (other, Condition::True) => other,
            (Condition::False, _) | (_, Condition::False) => Condition::False,
            (first, second) => {
                let mut parts = Vec::new();
                for condition in [first, second] {
                    match condition {
                        Condition::And(inner) => parts.extend_from_slice(&inner),
                        other => parts.push(other),
                    }
                }
                Condition::And(parts.into())
            }
        }
    }

    fn any(conditions: Vec<Condition>) -> Condition {
        let mut parts = Vec::new();
        for condition in conditions {
            match condition {
                Condition::True => return Condition::True,
                Condition::False => {}
                Condition::Or(inner) => parts.extend_from_slice(&inner),
                other => parts.push(other),
            }
        }
        match parts.len() {
            0 => Condition::False,
            1 => parts.swap_remove(0),
            _ => Condition::Or(parts.into()),
        }
    }

    /// Either, but not both; none of them is constant.
    fn xor(self, other: Condition) -> Condition {
        let mut parts = Vec::new();
        for condition in [self, other] {
            match condition {
                Condition::Xor(inner) => parts.extend_from_slice(&inner),
                other => parts.push(other),
            }
        }
        Condition::Xor(parts.into())
    }
}
