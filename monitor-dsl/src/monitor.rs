//! The monitor: a minimal Moore machine, ready to be stepped, shared and stored.

use portent_monitor_core::Value;
use std::{fmt, sync::Arc};

use crate::{
    alphabet::{Alphabet, Letter},
    error::Error,
    machine::{DecisionTrees, Machine, Table},
    property::Property,
    stepper::{Hot, Plans, Stepper},
    verdict::{Verdict, Verdicts},
};

portent_monitor_core::ids! {
    /// A state of a [`Monitor`].
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    pub struct StateId(pub(crate) u32);
}

/// A minimal monitor for a property.
///
/// Immutable, `Send + Sync`, and cheap to clone: all clones share one table. Runs are followed by
/// [steppers](Stepper), one for each run.
///
/// ```
/// use portent_monitor_dsl::{Property, Verdict};
///
/// let monitor = Property::parse("always (logout -> once login)")?.monitor()?;
/// let [login, logout] = ["login", "logout"].map(|name| monitor.alphabet().event(name).unwrap());
///
/// let mut run = monitor.start()?;
/// assert_eq!(run.verdict(), Verdict::Ok);
/// assert_eq!(run.event(login), Verdict::Satisfied);
///
/// let mut other = monitor.start()?;
/// assert_eq!(other.event(logout), Verdict::Violated);
/// # Ok::<(), portent_monitor_dsl::Error>(())
/// ```
///
/// With the `serde` traits a monitor can be made once and stored:
///
/// ```
/// use portent_monitor_dsl::{Monitor, Property};
///
/// let monitor = Property::parse("ere: (open read* close)*")?.monitor()?;
/// let stored = serde_json::to_string(&monitor).unwrap();
/// let again: Monitor = serde_json::from_str(&stored).unwrap();
/// assert_eq!(again, monitor);
/// # Ok::<(), portent_monitor_dsl::Error>(())
/// ```
#[derive(Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(into = "Stored", try_from = "Stored"))]
pub struct Monitor(Arc<Parts>);

struct Parts {
    property: Property,
    verdicts: Verdicts,
    outputs: Vec<Verdict>,
    table: Table,
    plans: Plans,
    hot: Hot,
}

impl Monitor {
    pub(crate) fn new(property: Property, machine: Machine, verdicts: Verdicts) -> Self {
        let trees = DecisionTrees::new(&machine, property.alphabet());
        Monitor::from_parts(property, verdicts, machine.verdicts, trees)
    }

    fn from_parts(
        property: Property,
        verdicts: Verdicts,
        outputs: Vec<Verdict>,
        trees: DecisionTrees,
    ) -> Self {
        let table = Table::new(trees, property.alphabet());
        let plans = Plans::new(property.alphabet());
        let hot = Hot::new(property.alphabet(), &table, &outputs, &plans);
        Monitor(Arc::new(Parts {
            property,
            verdicts,
            outputs,
            table,
            plans,
            hot,
        }))
    }

    /// The property that is monitored.
    pub fn property(&self) -> &Property {
        &self.0.property
    }

    /// The letters that the monitor reads.
    pub fn alphabet(&self) -> &Alphabet {
        self.0.property.alphabet()
    }

    /// How many verdicts the monitor tells apart.
    pub fn verdicts(&self) -> Verdicts {
        self.0.verdicts
    }

    /// The number of states: no smaller machine gives the same verdicts.
    pub fn states(&self) -> usize {
        self.outputs().len()
    }

    /// All states.
    pub fn state_ids(&self) -> impl Iterator<Item = StateId> + use<> {
        (0..self.states() as u32).map(StateId)
    }

    /// The state before anything happens, not even the letter for the initial values.
    pub fn initial(&self) -> StateId {
        StateId(0)
    }

    /// The state in which a run begins: if the property reads variables, it has read the letter for
    /// these initial values.
    ///
    /// ```
    /// use portent_monitor_dsl::{Property, Value, Verdict};
    ///
    /// let monitor = Property::parse("always x < 3")?.monitor()?;
    /// assert_eq!(monitor.verdict(monitor.initial_with(&[Value::from(3)])), Verdict::Violated);
    /// # Ok::<(), portent_monitor_dsl::Error>(())
    /// ```
    ///
    /// # Panics
    ///
    /// If there is not one value of the declared type for each variable.
    pub fn initial_with(&self, values: &[Value]) -> StateId {
        if self.alphabet().reads_variables() {
            self.next(self.initial(), self.alphabet().letter(None, values))
        } else {
            self.initial()
        }
    }

    /// The verdict in a state.
    pub fn verdict(&self, state: StateId) -> Verdict {
        self.outputs()[state.index()]
    }

    /// The state after a letter. If the property reads variables, the first letter carries no
    /// event; what the machine does from its initial state on a letter with one means nothing.
    pub fn next(&self, state: StateId, letter: Letter) -> StateId {
        StateId(self.0.table.next(state.0, letter))
    }

    /// The states that some letter leads to, each once.
    pub fn successors(&self, state: StateId) -> Vec<StateId> {
        self.trees()
            .successors(state.0)
            .into_iter()
            .map(StateId)
            .collect()
    }

    /// The number of classes of letters that no state tells apart, where the table is small enough
    /// to be stored by them.
    pub fn letter_classes(&self) -> Option<usize> {
        self.0.table.dense.as_ref().map(|dense| dense.classes())
    }

    /// Begins a run, with the initial values that the property declares.
    pub fn start(&self) -> Result<Stepper, Error> {
        self.start_with(|_| None)
    }

    /// Begins a run with the values that `initial` gives for the names of variables, and those that
    /// the property declares for the others.
    ///
    /// ```
    /// use portent_monitor_dsl::{Property, Value, Verdict};
    ///
    /// let monitor = Property::parse("always (x >= y)")?.monitor()?;
    /// let mut run = monitor.start_with(|_| Some(Value::Int(0)))?;
    /// let y = monitor.alphabet().variable("y").unwrap();
    /// assert_eq!(run.write(y, 2)?, Verdict::Violated);
    /// # Ok::<(), portent_monitor_dsl::Error>(())
    /// ```
    pub fn start_with(&self, initial: impl FnMut(&str) -> Option<Value>) -> Result<Stepper, Error> {
        Stepper::new(self.clone(), initial)
    }

    pub(crate) fn trees(&self) -> &DecisionTrees {
        &self.0.table.trees
    }

    pub(crate) fn table(&self) -> &Table {
        &self.0.table
    }

    pub(crate) fn outputs(&self) -> &[Verdict] {
        &self.0.outputs
    }

    pub(crate) fn hot(&self) -> &Hot {
        &self.0.hot
    }

    pub(crate) fn plans(&self) -> &Plans {
        &self.0.plans
    }
}

/// Equal monitors are for the same text and have the same machine.
impl PartialEq for Monitor {
    fn eq(&self, other: &Self) -> bool {
        self.0.property.origin() == other.0.property.origin()
            && self.0.verdicts == other.0.verdicts
            && self.outputs() == other.outputs()
            && self.0.table.trees == other.0.table.trees
    }
}

impl fmt::Debug for Monitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Monitor")
            .field("property", &self.0.property)
            .field("states", &self.states())
            .finish()
    }
}

/// A monitor with all that was found out about its property, so that no text is read when it is made again.
#[cfg(feature = "serde")]
#[derive(serde::Serialize, serde::Deserialize)]
pub(crate) struct SealedParts {
    property: crate::property::SealedProperty,
    verdicts: Verdicts,
    outputs: Vec<Verdict>,
    trees: DecisionTrees,
}

#[cfg(feature = "serde")]
impl From<&Monitor> for SealedParts {
    fn from(monitor: &Monitor) -> SealedParts {
        SealedParts {
            property: monitor.0.property.seal(),
            verdicts: monitor.0.verdicts,
            outputs: monitor.outputs().to_vec(),
            trees: monitor.0.table.trees.clone(),
        }
    }
}

#[cfg(feature = "serde")]
impl From<SealedParts> for Monitor {
    fn from(sealed: SealedParts) -> Monitor {
        let SealedParts {
            property,
            verdicts,
            outputs,
            trees,
        } = sealed;
        Monitor::from_parts(property.into(), verdicts, outputs, trees)
    }
}

/// A monitor as it is stored. The text of the property is kept instead of what follows from it.
#[cfg(feature = "serde")]
#[derive(serde::Serialize, serde::Deserialize)]
struct Stored {
    property: crate::property::Origin,
    verdicts: Verdicts,
    outputs: Vec<Verdict>,
    trees: DecisionTrees,
}

#[cfg(feature = "serde")]
impl From<Monitor> for Stored {
    fn from(monitor: Monitor) -> Stored {
        Stored {
            property: monitor.0.property.origin().clone(),
            verdicts: monitor.0.verdicts,
            outputs: monitor.outputs().to_vec(),
            trees: monitor.0.table.trees.clone(),
        }
    }
}

#[cfg(feature = "serde")]
impl TryFrom<Stored> for Monitor {
    type Error = String;

    fn try_from(stored: Stored) -> Result<Monitor, String> {
        let property =
            Property::from_origin(&stored.property).map_err(|error| error.to_string())?;
        let states = stored.outputs.len();
        if states == 0 || !stored.trees.fits(states, property.alphabet()) {
            return Err("the stored machine does not fit its property".to_owned());
        }
        Ok(Monitor::from_parts(
            property,
            stored.verdicts,
            stored.outputs,
            stored.trees,
        ))
    }
}
