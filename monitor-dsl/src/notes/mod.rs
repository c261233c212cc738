//! What a user should know before trusting a property.
//!
//! A property can parse and be useless: always true, never decided by any finite run, or with a part
//! that makes no difference. The last is found by trying: a part never matters if the minimal
//! machine stays the same whether it is replaced by `true` or by `false` (in a regular expression: by
//! nothing or by everything), and is redundant if it can be left out of a conjunction or disjunction.

mod examine;
mod part;

use std::fmt;

use self::examine::{Examination, GaveUp};
use crate::{
    diagnostic::Diagnostic,
    monitor::{Monitor, StateId},
    resolve::ResolvedBody,
    verdict::Verdict,
};

/// Machines larger than this are not taken apart.
const MAX_STATES: usize = 1_000;

/// Something that a user should know about a property.
///
/// ```
/// use portent_monitor_dsl::{NoteKind, Property};
///
/// let monitor = Property::parse("always (request -> eventually response)")?.monitor()?;
/// assert_eq!(monitor.notes()[0].kind, NoteKind::NotMonitorable);
/// # Ok::<(), portent_monitor_dsl::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Note {
    /// What kind of thing it is.
    pub kind: NoteKind,
    /// The thing in words.
    pub message: String,
    /// The place in the text, if it is about a part.
    #[cfg_attr(
        feature = "serde",
        serde(rename = "part", serialize_with = "offending")
    )]
    pub place: Option<Diagnostic>,
}

#[cfg(feature = "serde")]
fn offending<S: serde::Serializer>(
    place: &Option<Diagnostic>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serde::Serialize::serialize(&place.as_ref().map(Diagnostic::offending), serializer)
}

/// The kinds of [`Note`]s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum NoteKind {
    /// Every run satisfies the property.
    TriviallyTrue,
    /// No run satisfies the property.
    TriviallyFalse,
    /// No finite run decides the property.
    NotMonitorable,
    /// After some runs no continuation decides the property any more.
    PartlyMonitorable,
    /// A part of the property makes no difference, whatever stands there.
    NeverMatters,
    /// A part of the property can be left out: the parts next to it say as much.
    Redundant,
    /// A part of the property is true at every position of every run.
    AlwaysTrue,
    /// A part of the property is false at every position of every run.
    AlwaysFalse,
    /// The property is too large to look for parts that make no difference.
    Unexamined,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Note {
    /// A note about the whole property.
    fn on_all(kind: NoteKind, message: impl Into<String>) -> Note {
        Note {
            kind,
            message: message.into(),
            place: None,
        }
    }
}

impl Monitor {
    /// What a user should know before trusting the property. This tries out variants of the
    /// property, and so takes many times as long as making the monitor did.
    pub fn notes(&self) -> Vec<Note> {
        match self.verdict(self.initial()) {
            Verdict::Satisfied => {
                let message = "trivially true: every run satisfies it";
                return vec![Note::on_all(NoteKind::TriviallyTrue, message)];
            }
            Verdict::Violated => {
                let message = "trivially false: no run satisfies it";
                return vec![Note::on_all(NoteKind::TriviallyFalse, message)];
            }
            _ => {}
        }
        let mut notes: Vec<Note> = self.decidability().into_iter().collect();
        match self.idle_parts() {
            Ok(found) => notes.extend(found),
            Err(GaveUp { why }) => {
                let message = format!("not examined for parts that never matter: {why}");
                notes.push(Note::on_all(NoteKind::Unexamined, message));
            }
        }
        notes
    }

    /// The parts that make no difference.
    fn idle_parts(&self) -> Result<Vec<Note>, GaveUp> {
        if self.states() > MAX_STATES {
            let why = format!("the monitor has more than {MAX_STATES} states");
            return Err(GaveUp { why });
        }
        let examination = Examination::new(self);
        match self.property().body() {
            // The parts of a pattern are written by Portent, not by the user.
            ResolvedBody::Ltl {
                pattern: Some(_), ..
            } => Ok(Vec::new()),
            ResolvedBody::Ltl { formula, .. } => examination.formula(formula),
            ResolvedBody::Ere { expression, mode } => examination.expression(expression, *mode),
        }
    }

    /// Whether finite runs decide the property, if that is worth a note.
    fn decidability(&self) -> Option<Note> {
        let mut predecessors: Vec<Vec<StateId>> = vec![Vec::new(); self.states()];
        for state in self.state_ids() {
            for target in self.successors(state) {
                predecessors[target.index()].push(state);
            }
        }
        let mut decidable = vec![false; self.states()];
        let mut stack: Vec<StateId> = self
            .state_ids()
            .filter(|&state| self.verdict(state).is_final())
            .collect();
        while let Some(state) = stack.pop() {
            if !std::mem::replace(&mut decidable[state.index()], true) {
                stack.extend_from_slice(&predecessors[state.index()]);
            }
        }
        if !decidable[0] {
            let message = "not monitorable: no finite run decides it; \
                           only the verdicts on runs that have ended mean something";
            return Some(Note::on_all(NoteKind::NotMonitorable, message));
        }
        let message = "partly monitorable: after some runs nothing decides it any more";
        decidable
            .contains(&false)
            .then(|| Note::on_all(NoteKind::PartlyMonitorable, message))
    }
}
