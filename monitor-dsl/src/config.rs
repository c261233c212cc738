//! How monitors are made: how many verdicts, and how large they may get.

mod growth;

use crate::{
    diagnostic::Diagnostic,
    diagram::{Budget, Shortage},
    ere,
    error::{Error, Limit},
    ltl,
    machine::{Machine, TooLarge, minimize},
    monitor::Monitor,
    property::Property,
    resolve::ResolvedBody,
    verdict::{Verdict, Verdicts},
};

/// Before minimisation a machine may be this many times larger than the limit says.
const SLACK: usize = 3;

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
/// let error = Config::new().max_steps(100).monitor(&large).unwrap_err();
/// assert!(error.to_string().contains("more than 100 steps"));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    verdicts: Verdicts,
    max_states: usize,
    max_propositions: usize,
    max_steps: usize,
    max_memory: usize,
}

impl Default for Config {
    fn default() -> Self {
        Config::new()
    }
}

impl Config {
    /// Four verdicts, at most 10,000 states and 20 propositions, 10 million steps, 1 GiB of memory.
    pub fn new() -> Self {
        Config {
            verdicts: Verdicts::Four,
            max_states: 10_000,
            max_propositions: 20,
            max_steps: 10_000_000,
            max_memory: 1 << 30,
        }
    }

    /// How many verdicts the monitor tells apart.
    pub fn verdicts(mut self, verdicts: Verdicts) -> Self {
        self.verdicts = verdicts;
        self
    }

    /// How many states the monitor may have.
    pub fn max_states(mut self, states: usize) -> Self {
        self.max_states = states.clamp(1, u32::MAX as usize / (2 * SLACK));
        self
    }

    /// How many atomic propositions (events and comparisons) the property may have: at most 1,000,
    /// which is as many as can be parsed.
    pub fn max_propositions(mut self, propositions: usize) -> Self {
        self.max_propositions = propositions;
        self
    }

    /// How many steps the search for the states may take. A step is one of an operation on decision
    /// diagrams; three to ten million of them take a second, but unlike seconds they are the same on
    /// every machine.
    pub fn max_steps(mut self, steps: usize) -> Self {
        self.max_steps = steps;
        self
    }

    /// How much memory the decision diagrams may take, in bytes.
    pub fn max_memory(mut self, bytes: usize) -> Self {
        self.max_memory = bytes;
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
        let machine = self.machine(property, property.body(), &mut { self.max_steps });
        let machine = machine.map_err(|limit| self.too_large(property, limit))?;
        Ok(Monitor::new(property.clone(), machine, self.verdicts))
    }

    /// The minimal machine for a body over the alphabet of a property. The steps that it took are
    /// taken from `steps`; if there is no machine, as many as it may take.
    pub(crate) fn machine(
        &self,
        property: &Property,
        body: &ResolvedBody,
        steps: &mut usize,
    ) -> Result<Machine, TooLarge> {
        let alphabet = property.alphabet();
        let states = self.max_states * SLACK;
        let budget = Budget {
            steps: self.max_steps.min(*steps),
            memory: self.max_memory,
        };
        *steps -= budget.steps;
        let mut machine = match body {
            ResolvedBody::Ltl { formula, .. } => {
                ltl::synthesize(formula, alphabet, self.verdicts, states, budget)?
            }
            ResolvedBody::Ere { expression, mode } => {
                ere::synthesize(expression, *mode, alphabet, states, budget)?
            }
        };
        *steps += machine.diagrams.budget().steps;
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
        let span = growth::part_that_grows(self, property);
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
            TooLarge::Short(Shortage::Steps) => (
                Limit::Steps,
                format!(
                    "making the monitor takes more than {} steps",
                    self.max_steps
                ),
                "this part makes it hard",
                "simplify this part, or allow more steps",
            ),
            TooLarge::Short(Shortage::Memory) => (
                Limit::Memory,
                format!(
                    "making the monitor takes more than {} MiB of memory",
                    self.max_memory >> 20
                ),
                "this part makes it hard",
                "simplify this part",
            ),
        };
        let diagnostic = Diagnostic::error(property.source(), span, message, label);
        Error::Limit(kind, Box::new(diagnostic.help(help)))
    }
}
