//! How monitors are made: how many verdicts, and how large they may get.

use crate::{
    diagnostic::Diagnostic,
    ere::{self, Ere, Mode},
    error::{Error, Limit},
    ltl::{self, Ltl},
    machine::{MAX_PAST, Machine, TooLarge, minimize},
    monitor::Monitor,
    property::Property,
    resolve::ResolvedBody,
    syntax::Span,
    verdict::{Verdict, Verdicts},
};

/// Before minimisation a machine may be this many times larger than the limit says.
const SLACK: usize = 4;
/// This much work on decision diagrams may be done for each state that the limit allows.
const WORK_PER_STATE: usize = 300;
/// The part that makes a property grow is looked for with a limit that is this many times smaller.
const HASTE: usize = 16;
/// But not below this many states, and with at least this much work in all.
const FEW_STATES: usize = 500;
const LITTLE_WORK: usize = 1 << 20;

/// Options of the synthesis.
///
/// ```
/// use portent_monitor_dsl::{Config, Error, Limit, Property, Verdicts};
///
/// let property = Property::parse("G (p -> F q)")?;
/// assert_eq!(Config::new().monitor(&property)?.states(), 2);
/// // With three verdicts nothing can be told apart: the property is not monitorable.
/// assert_eq!(Config::new().verdicts(Verdicts::Three).monitor(&property)?.states(), 1);
///
/// // A limit that is met is an ordinary error.
/// let large = Property::parse("G (p -> X X X X X X q)")?;
/// let error = Config::new().max_states(20).monitor(&large).unwrap_err();
/// assert!(matches!(error, Error::Limit(Limit::States, _)));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    verdicts: Verdicts,
    max_states: usize,
    max_propositions: usize,
}

impl Default for Config {
    fn default() -> Self {
        Config::new()
    }
}

impl Config {
    /// Four verdicts, at most 10,000 states and 20 propositions.
    pub fn new() -> Self {
        Config {
            verdicts: Verdicts::Four,
            max_states: 10_000,
            max_propositions: 20,
        }
    }

    /// How many verdicts the monitor tells apart.
    pub fn verdicts(mut self, verdicts: Verdicts) -> Self {
        self.verdicts = verdicts;
        self
    }

    /// How many states the monitor may have.
    pub fn max_states(mut self, states: usize) -> Self {
        self.max_states = states.clamp(1, u32::MAX as usize / (SLACK * WORK_PER_STATE));
        self
    }

    /// How many atomic propositions (events and comparisons) the property may have: at most 1,000,
    /// which is as many as can be parsed.
    pub fn max_propositions(mut self, propositions: usize) -> Self {
        self.max_propositions = propositions;
        self
    }

    /// The minimal monitor for a property.
    pub fn monitor(&self, property: &Property) -> Result<Monitor, Error> {
        let count = property.alphabet().propositions().len();
        if count > self.max_propositions {
            let message = format!(
                "the property has {count} propositions; the limit is {}",
                self.max_propositions
            );
            let diagnostic = Diagnostic::error(
                property.source(),
                property.body_span(),
                message,
                "in this body",
            );
            let diagnostic = diagnostic.help("allow more propositions, or split the property");
            return Err(Error::Limit(Limit::Propositions, Box::new(diagnostic)));
        }
        let machine = self.machine(property, property.body(), &mut self.work());
        let machine = machine.map_err(|limit| self.too_large(property, limit))?;
        Ok(Monitor::new(property.clone(), machine, self.verdicts))
    }

    /// How much work may be done for a monitor.
    pub(crate) fn work(&self) -> usize {
        self.max_states.saturating_mul(WORK_PER_STATE).max(1 << 16)
    }

    /// The minimal machine for a body over the alphabet of a property. What it took is taken from
    /// `budget`, and if there is no machine the same as if it had taken everything.
    pub(crate) fn machine(
        &self,
        property: &Property,
        body: &ResolvedBody,
        budget: &mut usize,
    ) -> Result<Machine, TooLarge> {
        let alphabet = property.alphabet();
        let states = self.max_states * SLACK;
        let work = self.work().min(*budget);
        *budget -= work;
        let mut machine = match body {
            ResolvedBody::Ltl { formula, .. } => ltl::synthesize(formula, alphabet, states, work)?,
            ResolvedBody::Ere { expression, mode } => {
                ere::synthesize(expression, *mode, alphabet, states, work)?
            }
        };
        *budget += machine.diagrams.budget();
        if self.verdicts == Verdicts::Three {
            for verdict in &mut machine.verdicts {
                if !verdict.is_final() {
                    *verdict = Verdict::Unknown;
                }
            }
        }
        let machine = minimize(&machine, alphabet.reads_variables());
        if machine.verdicts.len() > self.max_states {
            return Err(TooLarge::States);
        }
        Ok(machine)
    }

    fn too_large(&self, property: &Property, limit: TooLarge) -> Error {
        let mut search = Search {
            config: self,
            property,
            budget: (self.work() / 2).max(LITTLE_WORK),
        };
        let span = match property.body() {
            ResolvedBody::Ltl { formula, .. } => search.in_formula(formula),
            ResolvedBody::Ere { expression, mode } => search.in_expression(expression, *mode),
        };
        let (kind, message, label, help) = match limit {
            TooLarge::States => (
                Limit::States,
                match self.max_states {
                    1 => "the monitor would have more than 1 state".to_owned(),
                    states => format!("the monitor would have more than {states} states"),
                },
                "this part makes it grow",
                "simplify this part, or allow more states",
            ),
            TooLarge::Work => (
                Limit::States,
                format!(
                    "making the monitor takes more work than {} states should",
                    self.max_states
                ),
                "this part makes it hard",
                "simplify this part, or allow more states, which allows more work too",
            ),
            TooLarge::Past => (
                Limit::Language,
                format!("the property has more than {MAX_PAST} operators of the past"),
                "in this part",
                "simplify this part",
            ),
        };
        let diagnostic = Diagnostic::error(property.source(), span, message, label);
        Error::Limit(kind, Box::new(diagnostic.help(help)))
    }
}

/// Looks for the smallest part of a property that is too large by itself.
struct Search<'a> {
    config: &'a Config,
    property: &'a Property,
    /// How much work may still be done.
    budget: usize,
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

    /// Tried with a smaller limit than the one that was met, to be quick.
    fn is_large(&mut self, body: &ResolvedBody) -> bool {
        let states = (self.config.max_states / HASTE).max(FEW_STATES);
        let states = states.min(self.config.max_states);
        let config = self.config.clone().max_states(states);
        if self.budget < config.work() {
            return false;
        }
        let machine = config.machine(self.property, body, &mut self.budget);
        machine.is_err()
    }
}
