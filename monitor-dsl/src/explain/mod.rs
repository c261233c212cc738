//! Why a verdict is final: which part of the property decided it, and at which step.
//!
//! A monitor's table knows *that* a run is violated. The explanation goes back to the formula: it is
//! evaluated over the run in three-valued logic, and the truth is followed down to the part that
//! forced it. Where no single part did (`X a && X !a` contradict each other only together), the
//! smallest part that is decided as a whole is named.

mod prefix;

use std::fmt;

use crate::{
    alphabet::Letter,
    config::Config,
    ere::Mode,
    ltl::{Ltl, LtlOp},
    monitor::{Monitor, StateId},
    resolve::{ResolvedBody, WrittenPattern},
    syntax::Span,
    verdict::Verdict,
};
use prefix::Prefix;

/// This many steps may be taken to find the part of a formula that decided it.
const MAX_STEPS: usize = 2_000_000;

/// Of a conjunction that is false this many operands are named, as the first few say enough.
const MAX_NAMED: usize = 3;

/// Why the verdict on a run is final.
///
/// ```
/// use portent_monitor_dsl::{Property, Verdict};
///
/// let monitor = Property::parse("always (ack -> once send) && always !crash")?.monitor()?;
/// let [ack, crash] = ["ack", "crash"].map(|name| monitor.alphabet().event(name).unwrap());
/// let mut run = monitor.start()?.remembering();
/// run.event(ack);
/// let explanation = run.explain().unwrap();
/// assert_eq!(explanation.step, 1);
/// assert_eq!(explanation.part, "ack -> once send");
/// assert_eq!(
///     explanation.to_string(),
///     "violated at step 1: `ack -> once send` is false there (`ack` is true, `once send` is false)"
/// );
/// # Ok::<(), portent_monitor_dsl::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Explanation {
    /// The final verdict.
    pub verdict: Verdict,
    /// After how many steps it became final; 0 is the initial state.
    pub step: u64,
    /// The part of the property that decided it.
    pub part: String,
    /// The step at which that part was true or false.
    pub at: u64,
    /// What there is to say about that part.
    pub reason: String,
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Explanation {
            verdict,
            step,
            part,
            at,
            reason,
        } = self;
        if at == step {
            write!(f, "{verdict} at step {step}: `{part}` {reason}")
        } else {
            write!(
                f,
                "{verdict} at step {step}: `{part}`, at step {at}, {reason}"
            )
        }
    }
}

impl Monitor {
    /// Why the verdict on a run, given as its letters, is final; `None` if it is open. If the
    /// property reads variables, the first letter is the one for the initial values.
    pub fn explain(&self, run: &[Letter]) -> Option<Explanation> {
        let mut state = self.initial();
        let mut length = 0;
        while !self.verdict(state).is_final() {
            state = self.next(state, *run.get(length)?);
            length += 1;
        }
        let run = &run[..length];
        let verdict = self.verdict(state);
        Some(match self.property().body() {
            ResolvedBody::Ltl {
                pattern:
                    Some(WrittenPattern {
                        offence: Some(offence),
                    }),
                ..
            } if verdict == Verdict::Violated && !run.is_empty() => {
                self.explain_pattern(offence, run)
            }
            ResolvedBody::Ltl { formula, .. } => self.explain_formula(formula, run, verdict),
            ResolvedBody::Ere { mode, .. } => self.explain_expression(*mode, run, verdict),
        })
    }

    /// The step that the letter at a position belongs to.
    fn step_of(&self, position: usize) -> u64 {
        position as u64 + u64::from(!self.alphabet().reads_variables())
    }

    fn text(&self, span: Span) -> String {
        let text = &self.property().source().text[span.start..span.end];
        without_parentheses(text)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// Of a pattern that its last step broke.
    fn explain_pattern(&self, offence: &str, run: &[Letter]) -> Explanation {
        let step = self.step_of(run.len() - 1);
        Explanation {
            verdict: Verdict::Violated,
            step,
            part: self.text(self.property().body_span()),
            at: step,
            reason: format!("is broken, as {offence}"),
        }
    }

    fn explain_formula(&self, formula: &Ltl, run: &[Letter], verdict: Verdict) -> Explanation {
        let step = match run.len() {
            0 => 0,
            length => self.step_of(length - 1),
        };
        let truth = verdict == Verdict::Satisfied;
        let prefix = Prefix::new(self.alphabet(), run);
        let (part, position, reason) = match prefix.decided(formula, truth) {
            Some(cause) => {
                let reason = self.describe(&prefix, cause.part, cause.position, cause.truth);
                (cause.part, cause.position, reason)
            }
            None => {
                let part = self.smallest_decided(formula, run, verdict);
                let reason = if truth {
                    "cannot become false any more, whatever follows"
                } else {
                    "cannot become true any more, whatever follows"
                };
                (part, run.len().saturating_sub(1), reason.to_owned())
            }
        };
        let at = if run.is_empty() {
            0
        } else {
            self.step_of(position)
        };
        Explanation {
            verdict,
            step,
            part: self.text(part.span),
            at,
            reason,
        }
    }

    /// "is false there (`q` is true, `p` is false)".
    fn describe(&self, prefix: &Prefix, part: &Ltl, position: usize, truth: bool) -> String {
        let operands: Vec<String> = { part.parts.iter() }
            // The parts of a pattern all have its text.
            .filter(|operand| operand.span != part.span)
            .filter_map(|operand| {
                let truth = prefix.value(operand, position)?;
                Some(self.name_decisive(&prefix.decisive(operand, position, truth), truth))
            })
            .collect();
        if operands.is_empty() {
            format!("is {truth} there")
        } else {
            format!("is {truth} there ({})", operands.join(", "))
        }
    }

    /// "`p` is false", "`p` and `q` are false", or the first few of more.
    fn name_decisive(&self, parts: &[&Ltl], truth: bool) -> String {
        let mut names: Vec<String> = { parts.iter().take(MAX_NAMED) }
            .map(|part| format!("`{}`", self.text(part.span)))
            .collect();
        if parts.len() > MAX_NAMED {
            names.push(format!("{} more", parts.len() - MAX_NAMED));
        }
        match names.split_last() {
            Some((last, before)) if !before.is_empty() => {
                format!("{} and {last} are {truth}", before.join(", "))
            }
            _ => format!("{} is {truth}", names.concat()),
        }
    }

    /// Of a conjunction that is violated (or a disjunction that is satisfied) a part that is so by
    /// itself, if there is one.
    fn smallest_decided<'a>(&self, formula: &'a Ltl, run: &[Letter], verdict: Verdict) -> &'a Ltl {
        let joins = match verdict {
            Verdict::Violated => formula.op == LtlOp::And,
            _ => matches!(formula.op, LtlOp::Or | LtlOp::Implies),
        };
        if !joins || formula.op == LtlOp::Implies {
            return formula;
        }
        let config = Config::new();
        let mut steps = MAX_STEPS;
        let mut decided = |part: &&Ltl| {
            let body = ResolvedBody::Ltl {
                formula: (*part).clone(),
                pattern: None,
            };
            let Ok(machine) = config.machine(self.property(), &body, &mut steps) else {
                return false;
            };
            let monitor = Monitor::new(self.property().clone(), machine, self.verdicts());
            let last = run
                .iter()
                .fold(monitor.initial(), |state, &l| monitor.next(state, l));
            monitor.verdict(last) == verdict
        };
        match formula.parts.iter().find(|part| decided(part)) {
            Some(part) => self.smallest_decided(part, run, verdict),
            None => formula,
        }
    }

    fn explain_expression(&self, mode: Mode, run: &[Letter], verdict: Verdict) -> Explanation {
        let part = self.text(self.property().body_span());
        let Some((&last, before)) = run.split_last() else {
            let reason = match (mode, verdict) {
                (Mode::Prefix, Verdict::Violated) => "has no words at all",
                (Mode::Never, Verdict::Violated) => "matches the empty run",
                (Mode::Prefix, _) => "allows every run",
                (Mode::Never, _) => "matches no run",
            };
            return Explanation {
                verdict,
                step: 0,
                part,
                at: 0,
                reason: reason.to_owned(),
            };
        };
        let step = self.step_of(run.len() - 1);
        let state = before
            .iter()
            .fold(self.initial(), |state, &letter| self.next(state, letter));
        let reason = match (mode, verdict) {
            (Mode::Prefix, Verdict::Violated) => {
                let open = |to: StateId| self.verdict(to) != Verdict::Violated;
                let expected = self.spell(&self.condition_for(state, open));
                format!(
                    "expected `{expected}` here, found `{}`",
                    self.spell_letter(last)
                )
            }
            (Mode::Never, Verdict::Violated) => "matches the run up to here".to_owned(),
            (Mode::Prefix, _) => "allows whatever follows".to_owned(),
            (Mode::Never, _) => "cannot match any more".to_owned(),
        };
        Explanation {
            verdict,
            step,
            part,
            at: step,
            reason,
        }
    }

    /// The propositions that hold in a letter, or, if none does, all of them negated.
    fn spell_letter(&self, letter: Letter) -> String {
        let propositions = self.alphabet().propositions();
        let holding: Vec<String> = (0..propositions.len())
            .filter(|&index| self.alphabet().holds(letter, index))
            .map(|index| propositions[index].to_string())
            .collect();
        if !holding.is_empty() {
            return holding.join(" && ");
        }
        let none = (0..propositions.len()).map(crate::Condition::Not).collect();
        self.spell(&crate::Condition::And(none))
    }
}

/// The text without the parentheses around all of it.
fn without_parentheses(text: &str) -> &str {
    let Some(inner) = text
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'))
    else {
        return text;
    };
    let mut depth = 0;
    for character in inner.chars() {
        match character {
            '(' | '[' => depth += 1,
            ')' if depth == 0 => return text,
            ')' | ']' => depth -= 1,
            _ => {}
        }
    }
    inner
}
