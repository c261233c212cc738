//! What a user should know before trusting a property.
//!
//! A property can parse and be useless: always true, never decided by any finite run, or with a part
//! that makes no difference. The last is found by trying: a part never matters if the minimal
//! machine stays the same whether it is replaced by `true` or by `false` (in a regular expression: by
//! nothing or by everything), and is redundant if it can be left out of a conjunction or disjunction.

use serde::{Serialize, Serializer};
use std::{cell::Cell, fmt};

use crate::{
    config::Config,
    diagnostic::Diagnostic,
    ere::{Ere, EreOp, Mode},
    ltl::{Ltl, LtlOp},
    machine::Trees,
    monitor::{Monitor, StateId},
    resolve::ResolvedBody,
    syntax::Span,
    verdict::Verdict,
};

/// Machines larger than this are not taken apart.
const MAX_STATES: usize = 1_000;
/// Nor are properties with more parts than this.
const MAX_PARTS: usize = 150;
/// So much work may be done to take one apart.
const MAX_WORK: usize = 2_000_000;

/// Something that a user should know about a property.
///
/// ```
/// use portent_monitor_dsl::{NoteKind, Property};
///
/// let monitor = Property::parse("always (request -> eventually response)")?.monitor()?;
/// assert_eq!(monitor.notes()[0].kind, NoteKind::NotMonitorable);
/// # Ok::<(), portent_monitor_dsl::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Note {
    /// What kind of thing it is.
    pub kind: NoteKind,
    /// The thing in words.
    pub message: String,
    /// The place in the text, if it is about a part.
    #[serde(rename = "part", serialize_with = "offending")]
    pub place: Option<Diagnostic>,
}

fn offending<S: Serializer>(place: &Option<Diagnostic>, serializer: S) -> Result<S::Ok, S::Error> {
    place
        .as_ref()
        .map(Diagnostic::offending)
        .serialize(serializer)
}

/// The kinds of [`Note`]s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
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
    /// A part of the property can be left out: the parts beside it say as much.
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

impl Monitor {
    /// What a user should know before trusting the property. This tries out variants of the
    /// property, and so takes many times as long as making the monitor did.
    pub fn notes(&self) -> Vec<Note> {
        let plain = |kind, message: &str| {
            vec![Note {
                kind,
                message: message.into(),
                place: None,
            }]
        };
        match self.verdict(self.initial()) {
            Verdict::Satisfied => {
                return plain(
                    NoteKind::TriviallyTrue,
                    "trivially true: every run satisfies it",
                );
            }
            Verdict::Violated => {
                return plain(
                    NoteKind::TriviallyFalse,
                    "trivially false: no run satisfies it",
                );
            }
            _ => {}
        }
        let mut notes = self.decidability();
        if self.states() > MAX_STATES {
            let message = format!(
                "not examined for parts that never matter: the monitor has more than {MAX_STATES} states"
            );
            notes.push(Note {
                kind: NoteKind::Unexamined,
                message,
                place: None,
            });
            return notes;
        }
        let examination = Examination::new(self);
        let found = match self.property().body() {
            // The parts of a pattern are written by Portent, not by the user.
            ResolvedBody::Ltl { pattern: true, .. } => Ok(Vec::new()),
            ResolvedBody::Ltl { formula, .. } => examination.formula(formula),
            ResolvedBody::Ere { expression, mode } => examination.expression(expression, *mode),
        };
        match found {
            Ok(found) => notes.extend(found),
            Err(GaveUp { why }) => notes.push(Note {
                kind: NoteKind::Unexamined,
                message: format!("not examined for parts that never matter: {why}"),
                place: None,
            }),
        }
        notes
    }

    fn decidability(&self) -> Vec<Note> {
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
            let kind = NoteKind::NotMonitorable;
            return vec![Note {
                kind,
                message: message.into(),
                place: None,
            }];
        }
        if decidable.contains(&false) {
            let message = "partly monitorable: after some runs nothing decides it any more";
            let kind = NoteKind::PartlyMonitorable;
            return vec![Note {
                kind,
                message: message.into(),
                place: None,
            }];
        }
        Vec::new()
    }
}

/// Tries variants of a property.
struct Examination<'a> {
    monitor: &'a Monitor,
    config: Config,
    /// How much work may still be done.
    budget: Cell<usize>,
}

/// There is too much to look at.
struct GaveUp {
    why: String,
}

impl GaveUp {
    fn too_many_parts() -> Self {
        let why = format!("it has more than {MAX_PARTS} parts");
        GaveUp { why }
    }
}

impl<'a> Examination<'a> {
    fn new(monitor: &'a Monitor) -> Self {
        let config = Config::new()
            .verdicts(monitor.verdicts())
            .max_states(4 * monitor.states().max(100));
        Examination {
            monitor,
            config,
            budget: Cell::new(MAX_WORK),
        }
    }

    /// The machine of a variant, if it is not too large.
    fn machine(&self, body: &ResolvedBody) -> Option<(Vec<Verdict>, Trees)> {
        let property = self.monitor.property();
        let mut budget = self.budget.get();
        let machine = self.config.machine(property, body, &mut budget);
        self.budget.set(budget);
        let machine = machine.ok()?;
        let trees = Trees::new(&machine, property.alphabet());
        Some((machine.verdicts, trees))
    }

    fn is_unchanged(&self, body: &ResolvedBody) -> bool {
        self.machine(body).is_some_and(|(verdicts, trees)| {
            verdicts == self.monitor.outputs() && trees == *self.monitor.trees()
        })
    }

    fn note(&self, kind: NoteKind, span: Span) -> Note {
        let property = self.monitor.property();
        let text = property.source().text[span.start..span.end].to_owned();
        let (says, label) = match kind {
            NoteKind::AlwaysTrue => ("is always true", "always true"),
            NoteKind::AlwaysFalse => ("is always false", "always false"),
            NoteKind::Redundant => (
                "never matters: what stands beside it says as much, and it can be left out",
                "can be left out",
            ),
            _ => (
                "never matters: the property is the same whatever stands there",
                "never matters",
            ),
        };
        let message = format!("`{text}` {says}");
        let place = Diagnostic::warning(property.source(), span, message.clone(), label);
        Note {
            kind,
            message,
            place: Some(place),
        }
    }

    fn check_budget(&self) -> Result<(), GaveUp> {
        match self.budget.get() < self.config.work() {
            true => Err(GaveUp {
                why: "that would take too long".to_owned(),
            }),
            false => Ok(()),
        }
    }

    fn formula(&self, formula: &Ltl) -> Result<Vec<Note>, GaveUp> {
        let mut paths = Vec::new();
        collect_paths(formula, &mut Vec::new(), &mut paths, &|ltl| &ltl.parts);
        if paths.len() > MAX_PARTS {
            return Err(GaveUp::too_many_parts());
        }
        let mut notes = Vec::new();
        let mut told: Vec<Vec<usize>> = Vec::new();
        // Without what was found redundant: of two equal parts only one can be left out.
        let mut rest = formula.clone();
        for path in paths {
            let part = at(formula, &path, &|ltl: &Ltl| &ltl.parts);
            // The whole is no part, and what is said of a part need not be said of its parts.
            if path.is_empty() || told.iter().any(|above| path.starts_with(above)) {
                continue;
            }
            if matches!(part.op, LtlOp::True | LtlOp::False) {
                continue;
            }
            self.check_budget()?;
            let (_, above) = path.split_last().expect("not the whole");
            let joined_by = at(formula, above, &|ltl: &Ltl| &ltl.parts).op;
            if let Some(kind) = self.judge(&rest, &path, part, joined_by) {
                if kind == NoteKind::Redundant {
                    let unit = match joined_by {
                        LtlOp::And => LtlOp::True,
                        _ => LtlOp::False,
                    };
                    let unit = Ltl::new(unit, Vec::new(), part.span);
                    rest = replaced(&rest, &path, &unit, &|ltl| &mut ltl.parts);
                }
                notes.push(self.note(kind, part.span));
                told.push(path);
            }
        }
        Ok(notes)
    }

    fn judge(
        &self,
        formula: &Ltl,
        path: &[usize],
        part: &Ltl,
        joined_by: LtlOp,
    ) -> Option<NoteKind> {
        let ltl = |formula| ResolvedBody::Ltl {
            formula,
            pattern: false,
        };
        let unchanged_with = |op: LtlOp| {
            let constant = Ltl::new(op, Vec::new(), part.span);
            self.is_unchanged(&ltl(replaced(formula, path, &constant, &|ltl| {
                &mut ltl.parts
            })))
        };
        let as_true = unchanged_with(LtlOp::True);
        let as_false = unchanged_with(LtlOp::False);
        let throughout = |formula: Ltl| {
            let span = formula.span;
            let always = Ltl::new(LtlOp::Always, vec![formula], span);
            self.machine(&ltl(always))
                .is_some_and(|(verdicts, _)| verdicts == [Verdict::Satisfied])
        };
        match (as_true, as_false) {
            (true, true) => Some(NoteKind::NeverMatters),
            (true, false) if throughout(part.clone()) => Some(NoteKind::AlwaysTrue),
            (true, false) => (joined_by == LtlOp::And).then_some(NoteKind::Redundant),
            (false, true) => {
                let negation = Ltl::new(LtlOp::Not, vec![part.clone()], part.span);
                match throughout(negation) {
                    true => Some(NoteKind::AlwaysFalse),
                    false => (joined_by == LtlOp::Or).then_some(NoteKind::Redundant),
                }
            }
            (false, false) => None,
        }
    }

    fn expression(&self, expression: &Ere, mode: Mode) -> Result<Vec<Note>, GaveUp> {
        let mut paths = Vec::new();
        collect_paths(expression, &mut Vec::new(), &mut paths, &|ere| &ere.parts);
        if paths.len() > MAX_PARTS {
            return Err(GaveUp::too_many_parts());
        }
        let mut notes = Vec::new();
        let mut told: Vec<Vec<usize>> = Vec::new();
        let mut rest = expression.clone();
        for path in paths {
            let part = at(expression, &path, &|ere: &Ere| &ere.parts);
            if path.is_empty() || told.iter().any(|above| path.starts_with(above)) {
                continue;
            }
            if matches!(part.op, EreOp::Empty | EreOp::Epsilon) {
                continue;
            }
            self.check_budget()?;
            let nothing = Ere::new(EreOp::Empty, Vec::new(), part.span);
            let everything = Ere::new(EreOp::Complement, vec![nothing.clone()], part.span);
            let with = |other: &Ere| replaced(&rest, &path, other, &|ere| &mut ere.parts);
            let [without, anything] = [with(&nothing), with(&everything)];
            let is_unchanged = |variant: &Ere| {
                let expression = variant.clone();
                self.is_unchanged(&ResolvedBody::Ere { expression, mode })
            };
            let (_, above) = path.split_last().expect("not the whole");
            let joined_by = &at(expression, above, &|ere: &Ere| &ere.parts).op;
            let kind = match (is_unchanged(&without), is_unchanged(&anything)) {
                (true, true) => NoteKind::NeverMatters,
                (true, false) if *joined_by == EreOp::Union => {
                    rest = without;
                    NoteKind::Redundant
                }
                (false, true) if *joined_by == EreOp::Intersection => {
                    rest = anything;
                    NoteKind::Redundant
                }
                _ => continue,
            };
            notes.push(self.note(kind, part.span));
            told.push(path);
        }
        Ok(notes)
    }
}

/// The ways from the root of a tree to all of its nodes, shorter ones first in each direction.
fn collect_paths<T>(
    tree: &T,
    path: &mut Vec<usize>,
    paths: &mut Vec<Vec<usize>>,
    parts: &dyn Fn(&T) -> &Vec<T>,
) {
    paths.push(path.clone());
    for (index, part) in parts(tree).iter().enumerate() {
        path.push(index);
        collect_paths(part, path, paths, parts);
        path.pop();
    }
}

fn at<'t, T>(tree: &'t T, path: &[usize], parts: &dyn Fn(&'t T) -> &'t Vec<T>) -> &'t T {
    path.iter().fold(tree, |tree, &index| &parts(tree)[index])
}

/// The tree with another part at the end of a path.
fn replaced<T: Clone>(
    tree: &T,
    path: &[usize],
    part: &T,
    parts: &dyn Fn(&mut T) -> &mut Vec<T>,
) -> T {
    let mut copy = tree.clone();
    let place = path
        .iter()
        .fold(&mut copy, |tree, &index| &mut parts(tree)[index]);
    *place = part.clone();
    copy
}
