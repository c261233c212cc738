//! What events act on: the monitor together with what it knows of the variables.
//!
//! A state is a monitor state and a class of values for each variable; an action is one of the
//! property's events (or none) and the classes that it writes. Values that no letter tells apart
//! are one class, and once a verdict is final the values no longer matter. States are made when
//! they are first reached. If all of them fit in a table, the table is what the engines get;
//! if not (`x >= y` over thousands of values) the product itself is stepped, and only the states
//! that occur at some cut are ever made.

use std::sync::{Mutex, PoisonError};

use portent_monitor_core::Value;
use portent_monitor_dsl::{EventId, Monitor, StateId, Verdict};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::{ActionId, Automaton, StateIndex, record::Deed};

/// Something that events act on.
pub(crate) trait Machine: Sync {
    fn initial(&self) -> StateIndex;
    fn step(&self, state: StateIndex, action: ActionId) -> StateIndex;
    fn verdict(&self, state: StateIndex) -> Verdict;
}

impl Machine for Automaton {
    fn initial(&self) -> StateIndex {
        self.initial
    }

    fn step(&self, state: StateIndex, action: ActionId) -> StateIndex {
        Automaton::step(self, state, action)
    }

    fn verdict(&self, state: StateIndex) -> Verdict {
        Automaton::verdict(self, state)
    }
}

/// For each variable its class; empty once the verdict is final.
type Classes = SmallVec<[u32; 4]>;

/// An action in terms of classes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Act {
    event: Option<EventId>,
    writes: Vec<(usize, u32)>,
}

/// The states that were made so far.
#[derive(Clone, Debug, Default)]
struct States {
    all: Vec<(StateId, Classes)>,
    ids: FxHashMap<(StateId, Classes), u32>,
    next: FxHashMap<(u32, u32), u32>,
}

/// The product of a monitor and the classes of its variables' values.
#[derive(Debug)]
pub(crate) struct Product {
    monitor: Monitor,
    /// For each variable a value of every class.
    values: Vec<Vec<Value>>,
    class_ids: Vec<FxHashMap<String, u32>>,
    acts: Vec<Act>,
    /// The acts by what they are, for those that are [found](Product::act_once) again.
    act_ids: FxHashMap<Act, ActionId>,
    /// Steps come from several threads; a step is rare and short where this is used at all.
    states: Mutex<States>,
}

impl Product {
    /// The product for a run that begins with these values.
    pub(crate) fn new(monitor: Monitor, initial: &[Value]) -> Product {
        let mut product = Product::empty(monitor);
        let classes = product.classes(initial);
        let mut first = product.monitor.initial();
        if product.monitor.alphabet().reads_variables() {
            let letter = product.monitor.alphabet().letter(None, initial);
            first = product.monitor.next(first, letter);
        }
        let mut states = product.lock();
        product.state(&mut states, first, classes);
        drop(states);
        product
    }

    fn empty(monitor: Monitor) -> Product {
        let variables = monitor.alphabet().variables().len();
        Product {
            values: vec![Vec::new(); variables],
            class_ids: vec![FxHashMap::default(); variables],
            acts: Vec::new(),
            act_ids: FxHashMap::default(),
            states: Mutex::default(),
            monitor,
        }
    }

    /// The product with none but these states, which get the numbers from 0 on, and no actions. Its
    /// first state is no longer that of a run that begins.
    pub(crate) fn with_only(&self, live: impl Iterator<Item = StateIndex>) -> Product {
        let mut product = Product::empty(self.monitor.clone());
        let mut states = States::default();
        for state in live {
            let (monitor, values) = self.read(state);
            let classes = product.classes(&values);
            product.state(&mut states, monitor, classes);
        }
        product.states = Mutex::new(states);
        product
    }

    /// The monitor's state, and for each variable a value of its class; none once the verdict is
    /// final.
    pub(crate) fn read(&self, state: StateIndex) -> (StateId, Vec<Value>) {
        let (monitor, classes) = &self.lock().all[state.0 as usize];
        (*monitor, self.some_values(classes).collect())
    }

    fn some_values<'a>(&'a self, classes: &'a Classes) -> impl Iterator<Item = Value> + 'a {
        let values = self.values.iter().zip(classes);
        values.map(|(values, &class)| values[class as usize].clone())
    }

    fn classes(&mut self, values: &[Value]) -> Classes {
        let values = values.iter().enumerate();
        values
            .map(|(variable, value)| self.class(variable, value))
            .collect()
    }

    /// Adds an action, or finds one that the property cannot tell from it.
    pub(crate) fn act_once(&mut self, deed: &Deed) -> ActionId {
        let act = self.read_act(deed);
        if let Some(&id) = self.act_ids.get(&act) {
            return id;
        }
        let id = ActionId(self.acts.len() as u32);
        self.acts.push(act.clone());
        self.act_ids.insert(act, id);
        id
    }

    /// Adds an action. Deeds that the property cannot tell apart are different actions until
    /// the table is made.
    pub(crate) fn act(&mut self, deed: &Deed) -> ActionId {
        let act = self.read_act(deed);
        self.acts.push(act);
        ActionId(self.acts.len() as u32 - 1)
    }

    fn read_act(&mut self, deed: &Deed) -> Act {
        let writes = deed.writes.iter();
        let writes = writes
            .map(|(variable, value)| (variable.index(), self.class(variable.index(), value)))
            .collect();
        Act {
            event: deed.event,
            writes,
        }
    }

    fn class(&mut self, variable: usize, value: &Value) -> u32 {
        let alphabet = self.monitor.alphabet();
        let id = alphabet.variable(&alphabet.variables()[variable].name);
        let spelling = match id.and_then(|id| alphabet.cells(id, value)) {
            Some(cells) => format!("{cells:?}"),
            None => value.to_string(),
        };
        let values = &mut self.values[variable];
        *self.class_ids[variable].entry(spelling).or_insert_with(|| {
            values.push(value.clone());
            values.len() as u32 - 1
        })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, States> {
        // A panic elsewhere leaves no half-made state behind: entries are made whole.
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn state(&self, states: &mut States, monitor: StateId, mut classes: Classes) -> u32 {
        if self.monitor.verdict(monitor).is_final() {
            classes.clear();
        }
        let key = (monitor, classes);
        if let Some(&id) = states.ids.get(&key) {
            return id;
        }
        let id = states.all.len() as u32;
        states.all.push(key.clone());
        states.ids.insert(key, id);
        id
    }

    fn next(&self, states: &mut States, state: u32, action: ActionId) -> u32 {
        let (monitor, classes) = &states.all[state as usize];
        if self.monitor.verdict(*monitor).is_final() {
            return state;
        }
        if let Some(&next) = states.next.get(&(state, action.0)) {
            return next;
        }
        let mut classes = classes.clone();
        let act = &self.acts[action.0 as usize];
        for &(variable, class) in &act.writes {
            classes[variable] = class;
        }
        let values: SmallVec<[Value; 4]> = self.some_values(&classes).collect();
        let letter = self.monitor.alphabet().letter(act.event, &values);
        let monitor = self.monitor.next(*monitor, letter);
        let next = self.state(states, monitor, classes);
        states.next.insert((state, action.0), next);
        next
    }

    /// The table over all actions, and for each action of the product its number in the table:
    /// actions that do the same in every state are one. `None` if there are more than
    /// `max_states` states or `max_entries` entries.
    pub(crate) fn table(
        &self,
        max_states: usize,
        max_entries: usize,
    ) -> Option<(Automaton, Vec<ActionId>)> {
        // Deeds with equal classes are one action before anything is computed.
        let mut distinct: FxHashMap<&Act, usize> = FxHashMap::default();
        let mut kinds = Vec::new();
        let mut kind_of = Vec::with_capacity(self.acts.len());
        for (index, act) in self.acts.iter().enumerate() {
            let kind = *distinct.entry(act).or_insert_with(|| {
                kinds.push(index);
                kinds.len() - 1
            });
            kind_of.push(kind);
        }
        let mut states = self.lock();
        let mut next = Vec::new();
        let mut done = 0;
        while done < states.all.len() {
            if states.all.len() > max_states || next.len() + kinds.len() > max_entries {
                return None;
            }
            for &kind in &kinds {
                let to = self.next(&mut states, done as u32, ActionId(kind as u32));
                next.push(StateIndex(to));
            }
            done += 1;
        }
        let verdicts = states.all.iter().map(|(q, _)| self.monitor.verdict(*q));
        let whole = Automaton {
            initial: StateIndex(0),
            actions: kinds.len(),
            next,
            verdicts: verdicts.collect(),
        };
        let (small, merged) = whole.minimal(|verdict| verdict as u32);
        let actions = kind_of.into_iter().map(|kind| merged[kind]).collect();
        Some((small, actions))
    }
}

impl Clone for Product {
    fn clone(&self) -> Product {
        Product {
            monitor: self.monitor.clone(),
            values: self.values.clone(),
            class_ids: self.class_ids.clone(),
            acts: self.acts.clone(),
            act_ids: self.act_ids.clone(),
            states: Mutex::new(self.lock().clone()),
        }
    }
}

impl Machine for Product {
    fn initial(&self) -> StateIndex {
        StateIndex(0)
    }

    fn step(&self, state: StateIndex, action: ActionId) -> StateIndex {
        StateIndex(self.next(&mut self.lock(), state.0, action))
    }

    fn verdict(&self, state: StateIndex) -> Verdict {
        let monitor = self.lock().all[state.0 as usize].0;
        self.monitor.verdict(monitor)
    }
}
