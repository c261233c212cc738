//! What events act on: the monitor together with what it knows of the variables.
//!
//! A state is a monitor state and a class of values for each variable; an action is one of the
//! property's events (or none) and the classes that it writes. Values that no letter tells apart
//! are one class, and once a verdict is final the values no longer matter. If all states fit in a
//! table, the table is what the engines get; if not (`x >= y` over thousands of values) the product
//! itself is stepped, and a state is there as long as somebody holds it.

use std::fmt::Debug;

use portent_monitor_core::{Exact, Value};
use portent_monitor_dsl::{EventId, Monitor, StateId, VariableId, Verdict, automaton::explore};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{ActionId, Automaton, Machine};
use crate::intake::Step;

/// For each variable its class; empty once the verdict is final.
type Classes = SmallVec<[u32; 4]>;

/// The bytes that a list takes besides its own, if it has become too long for these.
pub(crate) fn spilled<A: smallvec::Array>(list: &SmallVec<A>) -> usize {
    if list.spilled() {
        list.capacity() * size_of::<A::Item>()
    } else {
        0
    }
}

/// What values of one class have in common.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum ClassKey {
    /// The cells in which they put the gauges of their variable.
    Cells(SmallVec<[u32; 4]>),
    /// The value itself, as the property compares the variable with another.
    Value(Exact<Value>),
}

/// A [`Step`] in terms of classes: what is left of it for the property. Steps that write different values of the
/// same classes, or differ only in their arguments, are one action, and it is found by this.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct ClassStep {
    event: Option<EventId>,
    writes: SmallVec<[(VariableId, u32); 1]>,
}

/// A state of the product.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ProductState {
    monitor: StateId,
    classes: Classes,
}

/// The product of a monitor and the classes of its variables' values.
#[derive(Clone, Debug)]
pub(crate) struct Product {
    monitor: Monitor,
    /// For each variable a value of every class.
    values: Vec<Vec<Value>>,
    class_ids: Vec<FxHashMap<ClassKey, u32>>,
    acts: Vec<ClassStep>,
    /// The acts by what they are, for those that are [found](Product::act_once) again.
    act_ids: FxHashMap<ClassStep, ActionId>,
    initial: ProductState,
}

impl Product {
    /// The product for a run that begins with these values.
    pub(crate) fn new(monitor: Monitor, initial: &[Value]) -> Product {
        let mut first = monitor.initial();
        if monitor.alphabet().reads_variables() {
            first = monitor.next(first, monitor.alphabet().letter(None, initial));
        }
        Product::beginning(monitor, first, initial)
    }

    /// The product for a run that has come to a state with these values.
    pub(crate) fn beginning(monitor: Monitor, first: StateId, values: &[Value]) -> Product {
        let variables = monitor.alphabet().variables().len();
        let mut product = Product {
            values: vec![Vec::new(); variables],
            class_ids: vec![FxHashMap::default(); variables],
            acts: Vec::new(),
            act_ids: FxHashMap::default(),
            initial: ProductState {
                monitor: first,
                classes: Classes::new(),
            },
            monitor,
        };
        product.initial = product.known(first, values);
        product
    }

    /// A product that knows no values but those of its initial state and of these states, which
    /// are said in its terms from now on, and no actions.
    pub(crate) fn renewed<'a>(
        &self,
        states: impl Iterator<Item = &'a mut ProductState>,
    ) -> Product {
        let (first, values) = self.read(&self.initial);
        let mut product = Product::beginning(self.monitor.clone(), first, &values);
        for state in states {
            let (monitor, values) = self.read(state);
            *state = product.known(monitor, &values);
        }
        product
    }

    /// The monitor's state, and for each variable a value of its class; none once the verdict is
    /// final.
    pub(crate) fn read(&self, state: &ProductState) -> (StateId, Vec<Value>) {
        let values = self.some_values(&state.classes).collect();
        (state.monitor, values)
    }

    fn known(&mut self, monitor: StateId, values: &[Value]) -> ProductState {
        let variables = self.monitor.alphabet().iter_variables();
        let variables: SmallVec<[VariableId; 4]> = variables.map(|(id, _)| id).collect();
        let classes = { variables.into_iter().zip(values) }
            .map(|(variable, value)| self.class(variable, value))
            .collect();
        self.state(monitor, classes)
    }

    fn state(&self, monitor: StateId, mut classes: Classes) -> ProductState {
        if self.monitor.verdict(monitor).is_final() {
            classes.clear();
        }
        ProductState { monitor, classes }
    }

    fn some_values<'a>(&'a self, classes: &'a Classes) -> impl Iterator<Item = Value> + 'a {
        let values = self.values.iter().zip(classes);
        values.map(|(values, &class)| values[class as usize].clone())
    }

    /// Adds an action, or finds one that the property cannot tell from it.
    pub(crate) fn act_once(&mut self, step: &Step) -> ActionId {
        let act = self.read_act(step);
        if let Some(&id) = self.act_ids.get(&act) {
            return id;
        }
        let id = ActionId(self.acts.len() as u32);
        self.acts.push(act.clone());
        self.act_ids.insert(act, id);
        id
    }

    /// Adds an action. Steps that the property cannot tell apart are different actions until
    /// the table is made.
    pub(crate) fn act(&mut self, step: &Step) -> ActionId {
        let act = self.read_act(step);
        self.acts.push(act);
        ActionId(self.acts.len() as u32 - 1)
    }

    /// How many actions there are.
    pub(crate) fn actions(&self) -> usize {
        self.acts.len()
    }

    /// The action of a step that the property cannot tell from one that was [added once](Product::act_once).
    pub(crate) fn find(&self, step: &Step) -> Option<ActionId> {
        let writes = step.writes.iter();
        let writes = writes
            .map(|(variable, value)| {
                let class = self.class_ids[variable.index()].get(&self.key(*variable, value))?;
                Some((*variable, *class))
            })
            .collect::<Option<_>>()?;
        let act = ClassStep {
            event: step.event,
            writes,
        };
        self.act_ids.get(&act).copied()
    }

    fn read_act(&mut self, step: &Step) -> ClassStep {
        let writes = step.writes.iter();
        let writes = writes
            .map(|(variable, value)| (*variable, self.class(*variable, value)))
            .collect();
        ClassStep {
            event: step.event,
            writes,
        }
    }

    fn key(&self, variable: VariableId, value: &Value) -> ClassKey {
        match self.monitor.alphabet().cells(variable, value) {
            Some(cells) => ClassKey::Cells(cells.into()),
            None => ClassKey::Value(Exact(value.clone())),
        }
    }

    fn class(&mut self, variable: VariableId, value: &Value) -> u32 {
        let key = self.key(variable, value);
        let values = &mut self.values[variable.index()];
        let class_ids = &mut self.class_ids[variable.index()];
        *class_ids.entry(key).or_insert_with(|| {
            values.push(value.clone());
            values.len() as u32 - 1
        })
    }

    /// The table over all actions, and for each action of the product its number in the table:
    /// actions that do the same in every state are one. `None` if there are more than
    /// `max_states` states or `max_entries` entries.
    pub(crate) fn table(
        &self,
        max_states: usize,
        max_entries: usize,
    ) -> Option<(Automaton, Vec<ActionId>)> {
        // Steps with equal classes are one action before anything is computed.
        let mut distinct: FxHashMap<&ClassStep, usize> = FxHashMap::default();
        let mut kinds = Vec::new();
        let mut kind_of = Vec::with_capacity(self.acts.len());
        for (index, act) in self.acts.iter().enumerate() {
            let kind = *distinct.entry(act).or_insert_with(|| {
                kinds.push(index);
                kinds.len() - 1
            });
            kind_of.push(kind);
        }
        let explored = explore(
            [self.initial()],
            kinds.len(),
            (max_states, max_entries),
            |state, kind| self.step(state, ActionId(kinds[kind.index()] as u32)),
            |state| self.verdict(state),
        )?;
        let whole = explored.automaton;
        let (small, merged) = whole.minimal(|verdict| verdict as u32);
        let actions = kind_of.into_iter().map(|kind| merged[kind]).collect();
        Some((small, actions))
    }
}

impl Machine for Product {
    type State = ProductState;

    fn initial(&self) -> ProductState {
        self.initial.clone()
    }

    fn step(&self, state: &ProductState, action: ActionId) -> ProductState {
        if self.verdict(state).is_final() {
            return state.clone();
        }
        let mut classes = state.classes.clone();
        let act = &self.acts[action.0 as usize];
        for &(variable, class) in &act.writes {
            classes[variable.index()] = class;
        }
        let values: SmallVec<[Value; 4]> = self.some_values(&classes).collect();
        let letter = self.monitor.alphabet().letter(act.event, &values);
        self.state(self.monitor.next(state.monitor, letter), classes)
    }

    fn verdict(&self, state: &ProductState) -> Verdict {
        self.monitor.verdict(state.monitor)
    }

    fn heap_bytes(state: &ProductState) -> usize {
        spilled(&state.classes)
    }
}
