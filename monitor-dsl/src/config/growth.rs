//! Which part of a property makes its monitor grow: the smallest that is too large by itself.

use super::Config;
use crate::{
    ere::{Ere, Mode},
    ltl::Ltl,
    property::Property,
    resolve::ResolvedBody,
    syntax::Span,
};

/// The part is searched for with limits that are this many times smaller than those that were reached.
const HASTE: usize = 16;
/// But not below this many states.
const FEW_STATES: usize = 500;

/// The place of the smallest part that meets a limit by itself, as far as can be told quickly.
pub(super) fn part_that_grows(config: &Config, property: &Property) -> Span {
    let states = (config.max_states / HASTE).max(FEW_STATES);
    let hasty = config
        .clone()
        .max_states(states.min(config.max_states))
        .max_steps(config.max_steps / HASTE);
    let mut search = Search {
        steps: config.max_steps / 4,
        config: hasty,
        property,
    };
    match property.body() {
        ResolvedBody::Ltl { formula, .. } => search.in_formula(formula),
        ResolvedBody::Ere { expression, mode } => search.in_expression(expression, *mode),
    }
}

struct Search<'a> {
    config: Config,
    property: &'a Property,
    /// How many steps may still be taken.
    steps: usize,
}

impl Search<'_> {
    fn in_formula(&mut self, formula: &Ltl) -> Span {
        for part in &formula.parts {
            let body = ResolvedBody::Ltl {
                formula: part.clone(),
                pattern: None,
            };
            if self.is_large(&body) {
                return self.in_formula(part);
            }
        }
        formula.span
    }

    fn in_expression(&mut self, expression: &Ere, mode: Mode) -> Span {
        for part in &expression.parts {
            let body = ResolvedBody::Ere {
                expression: part.clone(),
                mode,
            };
            if self.is_large(&body) {
                return self.in_expression(part, mode);
            }
        }
        expression.span
    }

    fn is_large(&mut self, body: &ResolvedBody) -> bool {
        self.steps >= self.config.max_steps
            && self
                .config
                .machine(self.property, body, &mut self.steps)
                .is_err()
    }
}
