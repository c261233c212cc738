//! The state machine that steps act on: the monitor together with its knowledge of the variables.
//!
//! A state is a monitor state and a class of values for each variable; an action is one of the
//! property's events (or none) and the classes that it writes. Values that no letter distinguishes
//! are one class, and once a verdict is final the values no longer matter.
//!
//! The creator of a product determines the steps: an analyzer those that occur, and
//! [`shape`](crate::shape) all that a property's text implies. If all states fit in a table, that is
//! the automaton to work with; if not (`x >= y` over thousands of values) the product itself is
//! stepped, and a state exists as long as it is referenced.

use portent_monitor_core::{Exact, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{ActionId, Automaton, Explored, explore};
use crate::{
    alphabet::{Alphabet, EventId, Letter, VariableId},
    monitor::{Monitor, StateId},
    verdict::Verdict,
};

/// For each variable its class, by number; empty once the verdict is final.
type Classes = SmallVec<[u32; 4]>;

/// A state of a [`Product`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProductState {
    monitor: StateId,
    classes: Classes,
}

impl ProductState {
    /// The bytes that it points to, besides its own.
    pub fn heap_bytes(&self) -> usize {
        if self.classes.spilled() {
            self.classes.capacity() * size_of::<u32>()
        } else {
            0
        }
    }
}

/// A step in terms of classes: what is left of it for the property. Steps that write different values
/// of the same classes are one action, which is found by this.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct ClassStep {
    event: Option<EventId>,
    writes: SmallVec<[(VariableId, u32); 1]>,
}

/// What the values of one class have in common.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct ClassKey {
    /// The bits of a letter for the gauges that read the variable alone.
    bits: u64,
    /// The value itself, if the property compares the variable with another: then no two values
    /// are known to be the same.
    value: Option<Exact<Value>>,
}

/// A variable, and the classes of its values that are known.
#[derive(Clone, Debug)]
struct Variable {
    /// The gauges that read it alone.
    gauges: SmallVec<[usize; 2]>,
    /// Their bits in a letter.
    mask: u64,
    /// Whether some gauge reads it together with another.
    is_compared: bool,
    /// For each class the bits that it has in a letter.
    bits: Vec<u64>,
    /// For each class one of its values. A class that was made of cells has none, and needs none as
    /// long as the variable is not compared.
    values: Vec<Option<Value>>,
    ids: FxHashMap<ClassKey, u32>,
}

impl Variable {
    fn new(alphabet: &Alphabet, id: VariableId) -> Variable {
        let mut variable = Variable {
            gauges: SmallVec::new(),
            mask: 0,
            is_compared: false,
            bits: Vec::new(),
            values: Vec::new(),
            ids: FxHashMap::default(),
        };
        for (index, gauge) in alphabet.gauges().iter().enumerate() {
            let read = gauge.variables();
            if read == [id] {
                variable.gauges.push(index);
                variable.mask |= alphabet.places()[index + 1].mask;
            } else if read.contains(&id) {
                variable.is_compared = true;
            }
        }
        variable
    }

    fn key(&self, alphabet: &Alphabet, value: &Value) -> ClassKey {
        // Only the place of the variable is ever read.
        let values: SmallVec<[Value; 4]> =
            SmallVec::from_elem(value.clone(), alphabet.variables().len());
        let bits = { self.gauges.iter() }.fold(0, |bits, &gauge| {
            let cell = alphabet.gauges()[gauge].read(&values);
            bits | alphabet.places()[gauge + 1].code(cell)
        });
        ClassKey {
            bits,
            value: self.is_compared.then(|| Exact(value.clone())),
        }
    }

    /// The number of a class, which is added if it is new, with this value if there is one.
    fn class(&mut self, key: ClassKey, value: Option<&Value>) -> u32 {
        let bits = key.bits;
        *self.ids.entry(key).or_insert_with(|| {
            self.bits.push(bits);
            self.values.push(value.cloned());
            self.bits.len() as u32 - 1
        })
    }
}

/// The product of a monitor and the classes of its variables' values.
///
/// ```
/// use portent_monitor_dsl::{Property, Value, Verdict, automaton::Product};
///
/// let monitor = Property::parse("always (alarm -> w > 30)")?.monitor()?;
/// let alphabet = monitor.alphabet().clone();
/// let (alarm, w) = (alphabet.event("alarm"), alphabet.variable("w").expect("it is read"));
///
/// let mut product = Product::new(monitor, &[Value::from(0)]);
/// let high = product.act(None, &[(w, Value::from(31))]);
/// assert_eq!(product.act(None, &[(w, Value::from(90))]), high, "no letter tells them apart");
/// let alarm = product.act(alarm, &[]);
///
/// let begin = product.initial();
/// assert_eq!(product.verdict(&product.step(&begin, alarm)), Verdict::Violated);
/// let warm = product.step(&begin, high);
/// assert_eq!(product.verdict(&product.step(&warm, alarm)), Verdict::Ok);
///
/// // Low, high and violated.
/// let (automaton, _) = product.table(100, 1000).expect("small");
/// assert_eq!(automaton.verdicts.len(), 3);
/// # Ok::<(), portent_monitor_dsl::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Product {
    monitor: Monitor,
    variables: Vec<Variable>,
    /// The gauges that read several variables.
    joint: Vec<usize>,
    actions: Vec<ClassStep>,
    action_ids: FxHashMap<ClassStep, ActionId>,
    /// The states in which a run may begin.
    initial: Vec<ProductState>,
}

impl Product {
    /// The product for a run that begins with these values, one for each variable.
    ///
    /// # Panics
    ///
    /// If there is not one value of the declared type for each variable.
    pub fn new(monitor: Monitor, initial: &[Value]) -> Product {
        let first = monitor.initial_with(initial);
        Product::beginning(monitor, first, initial)
    }

    /// The product for a run that has come to a state with these values.
    ///
    /// # Panics
    ///
    /// Like [`Product::new`]; but once the verdict is final, no values are needed.
    pub fn beginning(monitor: Monitor, first: StateId, values: &[Value]) -> Product {
        let mut product = Product::without_beginning(monitor);
        let first = product.known(first, values);
        product.initial.push(first);
        product
    }

    /// A product without actions and initial states; the latter are to be [added](Product::begin_with).
    pub(crate) fn without_beginning(monitor: Monitor) -> Product {
        let alphabet = monitor.alphabet();
        let variables = alphabet.iter_variables();
        let variables = variables.map(|(id, _)| Variable::new(alphabet, id));
        let gauges = alphabet.gauges().iter().enumerate();
        let joint = gauges.filter(|(_, gauge)| gauge.variables().len() > 1);
        Product {
            variables: variables.collect(),
            joint: joint.map(|(index, _)| index).collect(),
            actions: Vec::new(),
            action_ids: FxHashMap::default(),
            initial: Vec::new(),
            monitor,
        }
    }

    /// Adds the initial state of runs whose first letter is this one, and whose classes are made of its
    /// cells; `None` if the property compares variables, as then cells are not enough.
    pub(crate) fn begin_with(&mut self, letter: Letter) -> Option<()> {
        if !self.joint.is_empty() {
            return None;
        }
        let variables = self.variables.iter_mut();
        let classes = variables.map(|variable| {
            let bits = letter.0 & variable.mask;
            variable.class(ClassKey { bits, value: None }, None)
        });
        let classes = classes.collect();
        let first = self.monitor.next(self.monitor.initial(), letter);
        self.initial.push(self.state(first, classes));
        Some(())
    }

    /// A product that knows no values but those of its initial states and of these states, which
    /// are said in its terms from now on, and no actions.
    pub fn renewed<'a>(&self, states: impl Iterator<Item = &'a mut ProductState>) -> Product {
        let mut product = Product::without_beginning(self.monitor.clone());
        let mut renew = |state: &ProductState| {
            let (monitor, values) = self.read(state);
            product.known(monitor, &values)
        };
        let initial = self.initial.iter().map(&mut renew).collect();
        for state in states {
            *state = renew(state);
        }
        product.initial = initial;
        product
    }

    /// The monitor's state, and for each variable a value of its class; none once the verdict is
    /// final.
    pub fn read(&self, state: &ProductState) -> (StateId, Vec<Value>) {
        (state.monitor, self.some_values(&state.classes).collect())
    }

    fn some_values<'a>(&'a self, classes: &'a Classes) -> impl Iterator<Item = Value> + 'a {
        let variables = self.variables.iter().zip(classes);
        variables.filter_map(|(variable, &class)| variable.values[class as usize].clone())
    }

    fn known(&mut self, monitor: StateId, values: &[Value]) -> ProductState {
        let alphabet = self.monitor.alphabet();
        let variables = self.variables.iter_mut().zip(values);
        let classes = variables
            .map(|(variable, value)| variable.class(variable.key(alphabet, value), Some(value)))
            .collect();
        self.state(monitor, classes)
    }

    fn state(&self, monitor: StateId, mut classes: Classes) -> ProductState {
        if self.monitor.verdict(monitor).is_final() {
            classes.clear();
        }
        ProductState { monitor, classes }
    }

    /// Adds the action of a step, or finds that of one that the property cannot tell from it.
    ///
    /// # Panics
    ///
    /// If a value is not of its variable's type.
    pub fn act(&mut self, event: Option<EventId>, writes: &[(VariableId, Value)]) -> ActionId {
        let alphabet = self.monitor.alphabet();
        let writes = { writes.iter() }
            .map(|(id, value)| {
                let variable = &mut self.variables[id.index()];
                let key = variable.key(alphabet, value);
                (*id, variable.class(key, Some(value)))
            })
            .collect();
        self.act_in_classes(ClassStep { event, writes })
    }

    /// Adds a write of this variable for each of its classes that are known.
    pub(crate) fn write_each_class(&mut self, variable: VariableId) {
        let classes = self.variables[variable.index()].bits.len() as u32;
        for class in 0..classes {
            self.act_in_classes(ClassStep {
                event: None,
                writes: SmallVec::from_elem((variable, class), 1),
            });
        }
    }

    fn act_in_classes(&mut self, step: ClassStep) -> ActionId {
        if let Some(&id) = self.action_ids.get(&step) {
            return id;
        }
        let id = ActionId(self.actions.len() as u32);
        self.actions.push(step.clone());
        self.action_ids.insert(step, id);
        id
    }

    /// The action of a step, if it was [added](Product::act).
    ///
    /// # Panics
    ///
    /// If a value is not of its variable's type.
    pub fn find(&self, event: Option<EventId>, writes: &[(VariableId, Value)]) -> Option<ActionId> {
        let alphabet = self.monitor.alphabet();
        let writes = { writes.iter() }
            .map(|(id, value)| {
                let variable = &self.variables[id.index()];
                let class = variable.ids.get(&variable.key(alphabet, value))?;
                Some((*id, *class))
            })
            .collect::<Option<_>>()?;
        self.action_ids.get(&ClassStep { event, writes }).copied()
    }

    /// How many actions there are.
    pub fn actions(&self) -> usize {
        self.actions.len()
    }

    /// The first variable that an action writes, if it writes any.
    pub(crate) fn written_by(&self, action: ActionId) -> Option<VariableId> {
        let writes = &self.actions[action.index()].writes;
        writes.first().map(|&(variable, _)| variable)
    }

    /// The state in which the run begins.
    pub fn initial(&self) -> ProductState {
        self.initial[0].clone()
    }

    /// The state after an action.
    pub fn step(&self, state: &ProductState, action: ActionId) -> ProductState {
        if self.verdict(state).is_final() {
            return state.clone();
        }
        let mut classes = state.classes.clone();
        let step = &self.actions[action.index()];
        for &(variable, class) in &step.writes {
            classes[variable.index()] = class;
        }
        let letter = self.letter(step.event, &classes);
        self.state(self.monitor.next(state.monitor, letter), classes)
    }

    fn letter(&self, event: Option<EventId>, classes: &Classes) -> Letter {
        let alphabet = self.monitor.alphabet();
        let event = { alphabet.event_code(event) }.expect("this property reads events only");
        let variables = self.variables.iter().zip(classes);
        let alone = variables.fold(event, |letter, (variable, &class)| {
            letter | variable.bits[class as usize]
        });
        if self.joint.is_empty() {
            return Letter(alone);
        }
        let values: SmallVec<[Value; 4]> = self.some_values(classes).collect();
        Letter(self.joint.iter().fold(alone, |letter, &gauge| {
            let cell = alphabet.gauges()[gauge].read(&values);
            letter | alphabet.places()[gauge + 1].code(cell)
        }))
    }

    /// The monitor's verdict in a state.
    pub fn verdict(&self, state: &ProductState) -> Verdict {
        self.monitor.verdict(state.monitor)
    }

    /// The automaton of all states that actions lead to. `None` if there are more than `max_states`
    /// states or `max_entries` entries.
    pub fn explore(&self, max_states: usize, max_entries: usize) -> Option<Explored> {
        explore(
            self.initial.iter().cloned(),
            self.actions.len(),
            (max_states, max_entries),
            |state, action| self.step(state, action),
            |state| self.verdict(state),
        )
    }

    /// The minimal automaton with these verdicts, and for each action its number there: actions that
    /// do the same in every state are one. `None` if it takes more than `max_states` states or
    /// `max_entries` entries to find it.
    pub fn table(
        &self,
        max_states: usize,
        max_entries: usize,
    ) -> Option<(Automaton, Vec<ActionId>)> {
        let whole = self.explore(max_states, max_entries)?.automaton;
        Some(whole.minimal(|verdict| verdict as u32))
    }
}
