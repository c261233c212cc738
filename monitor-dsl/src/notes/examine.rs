//! Taking a property apart: what becomes of the machine if a part is replaced.

use std::cell::Cell;

use super::{Note, NoteKind, part::SyntaxTree};
use crate::{
    config::Config,
    diagnostic::Diagnostic,
    ere::{Ere, EreOp, Mode},
    ltl::{Ltl, LtlOp},
    machine::DecisionTrees,
    monitor::Monitor,
    resolve::ResolvedBody,
    syntax::Span,
    verdict::Verdict,
};

/// Properties with more parts than this are not taken apart.
const MAX_PARTS: usize = 150;
/// This many steps may be taken to take one apart.
const MAX_STEPS: usize = 4_000_000;
/// And this many for one variant, for each state of the monitor.
const STEPS_PER_STATE: usize = 1_200;

/// Tries variants of a property.
pub(super) struct Examination<'a> {
    monitor: &'a Monitor,
    config: Config,
    /// How many steps a variant may take.
    max_steps: usize,
    /// How many steps may still be taken.
    steps: Cell<usize>,
}

/// There is too much to look at.
pub(super) struct GaveUp {
    pub(super) why: String,
}

impl<'a> Examination<'a> {
    pub(super) fn new(monitor: &'a Monitor) -> Self {
        let states = monitor.states().max(100);
        let max_steps = (STEPS_PER_STATE * states).min(MAX_STEPS);
        let config = Config::new()
            .verdicts(monitor.verdicts())
            .max_states(4 * states)
            .max_steps(max_steps);
        Examination {
            monitor,
            config,
            max_steps,
            steps: Cell::new(MAX_STEPS),
        }
    }

    /// The machine of a variant, if it is not too large.
    fn machine(&self, body: &ResolvedBody) -> Option<(Vec<Verdict>, DecisionTrees)> {
        let property = self.monitor.property();
        let mut steps = self.steps.get();
        let machine = self.config.machine(property, body, &mut steps);
        self.steps.set(steps);
        let machine = machine.ok()?;
        let trees = DecisionTrees::new(&machine, property.alphabet());
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
                "never matters: what stands next to it says as much, and it can be left out",
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

    fn check_steps(&self) -> Result<(), GaveUp> {
        if self.steps.get() < self.max_steps {
            Err(GaveUp {
                why: "that would take too long".to_owned(),
            })
        } else {
            Ok(())
        }
    }

    /// Judges the parts of a tree, from the root on. `judge` gets the rest of the tree, the way to
    /// the part and the part; it takes out of the rest what it finds redundant, since of two equal
    /// parts only one can be left out.
    fn parts<T: SyntaxTree>(
        &self,
        whole: &T,
        judge: impl Fn(&mut T, &[usize], &T) -> Option<NoteKind>,
    ) -> Result<Vec<Note>, GaveUp> {
        let paths = whole.paths();
        if paths.len() > MAX_PARTS {
            let why = format!("it has more than {MAX_PARTS} parts");
            return Err(GaveUp { why });
        }
        let mut notes = Vec::new();
        let mut told: Vec<Vec<usize>> = Vec::new();
        let mut rest = whole.clone();
        for path in paths {
            let part = whole.at(&path);
            // The whole is no part, and what is said of a part need not be said of its parts.
            let is_told = path.is_empty() || told.iter().any(|above| path.starts_with(above));
            if is_told || part.is_constant() {
                continue;
            }
            self.check_steps()?;
            if let Some(kind) = judge(&mut rest, &path, part) {
                notes.push(self.note(kind, part.span()));
                told.push(path);
            }
        }
        Ok(notes)
    }

    pub(super) fn formula(&self, formula: &Ltl) -> Result<Vec<Note>, GaveUp> {
        self.parts(formula, |rest, path, part| {
            let joined_by = formula.at(&path[..path.len() - 1]).op;
            let kind = self.judge(rest, path, part, joined_by)?;
            if kind == NoteKind::Redundant {
                let unit = match joined_by {
                    LtlOp::And => LtlOp::True,
                    _ => LtlOp::False,
                };
                *rest = rest.replaced(path, &Ltl::new(unit, Vec::new(), part.span));
            }
            Some(kind)
        })
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
            pattern: None,
        };
        let unchanged_with = |op: LtlOp| {
            let constant = Ltl::new(op, Vec::new(), part.span);
            self.is_unchanged(&ltl(formula.replaced(path, &constant)))
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
                if throughout(negation) {
                    Some(NoteKind::AlwaysFalse)
                } else {
                    (joined_by == LtlOp::Or).then_some(NoteKind::Redundant)
                }
            }
            (false, false) => None,
        }
    }

    pub(super) fn expression(&self, expression: &Ere, mode: Mode) -> Result<Vec<Note>, GaveUp> {
        let is_unchanged = |variant: &Ere| {
            let expression = variant.clone();
            self.is_unchanged(&ResolvedBody::Ere { expression, mode })
        };
        self.parts(expression, |rest, path, part| {
            let nothing = Ere::new(EreOp::Empty, Vec::new(), part.span);
            let everything = Ere::new(EreOp::Complement, vec![nothing.clone()], part.span);
            let without = rest.replaced(path, &nothing);
            let anything = rest.replaced(path, &everything);
            let joined_by = &expression.at(&path[..path.len() - 1]).op;
            match (is_unchanged(&without), is_unchanged(&anything)) {
                (true, true) => Some(NoteKind::NeverMatters),
                (true, false) if *joined_by == EreOp::Union => {
                    *rest = without;
                    Some(NoteKind::Redundant)
                }
                (false, true) if *joined_by == EreOp::Intersection => {
                    *rest = anything;
                    Some(NoteKind::Redundant)
                }
                _ => None,
            }
        })
    }
}
