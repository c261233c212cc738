//! Whether a run, or one equivalent to it, violates a property.
//!
//! The relevant steps of a run and their order, as the search knows it, form a poset; its linearisations are all the sequences of
//! relevant steps in the runs of the class. Many classes have the same poset, and each poset is checked once for each set of initial
//! values. A property without parameters is an automaton, and one solver checks its posets and reuses its memory; other properties, and
//! all violations, go through the checker of recorded runs, which also words the report.

use std::{num::NonZeroU64, sync::Arc};

use indexmap::IndexSet;
use portent_lattice::{
    Checker, Options, Report,
    laboratory::{ActionId, Answer, Poset, Solver},
};
use portent_monitor_core::{Action, ChainId, Clock, Event, Exact, Op, Stamp, Value};
use portent_monitor_dsl::{Monitor, automaton::Product};
use rustc_hash::FxHashMap;

use crate::{
    describe::thread_name,
    engine::State,
    error::Error,
    random::mix,
    relevance::{Label, Relevance},
};

/// An automaton with more states or entries is not tabulated.
const MOST_STATES: usize = 10_000;
const MOST_ENTRIES: usize = 1 << 20;

/// What there is to know of properties in one exploration.
pub(crate) struct Predictor {
    monitors: Vec<Monitor>,
    tables: Vec<Table>,
    /// Posets that were looked at, by two independent hashes of 64 bits, and what became of them.
    seen: FxHashMap<(u64, u64), Outcome>,
    /// With which values variables began, each once: a poset is another one if they began with others.
    beginnings: IndexSet<Vec<Option<Exact<Value>>>>,
    /// The places of relevant steps in the causal order, row by row.
    rows: Vec<u32>,
    /// For each thread the events of its relevant steps, by their numbers in it.
    positions: Vec<Vec<u16>>,
    /// Posets that were searched.
    pub(crate) searched: u64,
}

/// What is known of a run, and of all that show the same.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Outcome {
    /// One of them violates a property.
    pub(crate) violated: bool,
    /// Of some property nobody knows with which values its variables begin.
    pub(crate) unknown: bool,
    /// Not all of them were searched: a limit was met.
    pub(crate) gave_up: bool,
    /// A property cannot be asked about them.
    pub(crate) refused: bool,
}

/// What comes of a look at a run.
pub(crate) struct Looked {
    pub(crate) outcome: Outcome,
    /// In full, the first time, if there is something wrong.
    pub(crate) answer: Option<Result<Report, Error>>,
}

/// How one property is searched.
enum Table {
    /// By the checker: it has parameters, or too many states.
    Checker,
    /// By solvers, one for each beginning, each for the labels that were known when it was made.
    Solvers(Vec<Solved>),
}

struct Solved {
    solver: Solver,
    /// For each label its action, if the property sees it.
    actions: Vec<Option<ActionId>>,
    initial: Vec<Value>,
}

impl Outcome {
    /// Whether something is wrong with the run.
    pub(crate) fn has_failed(self) -> bool {
        self.violated || self.refused
    }

    /// Whether the run was not checked, or not with all that are equivalent to it.
    pub(crate) fn is_unchecked(self) -> bool {
        self.unknown || self.gave_up
    }
}

impl Predictor {
    pub(crate) fn new(monitors: Vec<Monitor>) -> Predictor {
        Predictor {
            tables: monitors
                .iter()
                .map(|_| Table::Solvers(Vec::new()))
                .collect(),
            monitors,
            seen: FxHashMap::default(),
            beginnings: IndexSet::new(),
            rows: Vec::new(),
            positions: Vec::new(),
            searched: 0,
        }
    }

    /// Forgets what was looked at: the search begins anew.
    pub(crate) fn restart(&mut self) {
        self.seen.clear();
        self.searched = 0;
    }

    /// What the properties make of the last run and its equivalents, seen before or not.
    pub(crate) fn answer(&mut self, state: &State) -> Result<Report, Error> {
        let relevance = state.relevance.as_ref().expect("there are properties");
        let threads = state.threads.len();
        self.order(state, relevance, threads);
        self.check(state, relevance, threads)
    }

    /// Looks at the last run, and at all that are equivalent to it.
    pub(crate) fn look(&mut self, state: &State) -> Looked {
        let mut outcome = Outcome::default();
        let Some(relevance) = &state.relevance else {
            return Looked {
                outcome,
                answer: None,
            };
        };
        let threads = state.threads.len();
        let poset = self.order(state, relevance, threads);
        if let Some(&outcome) = self.seen.get(&poset) {
            return Looked {
                outcome,
                answer: None,
            };
        }
        self.searched += 1;
        let mut is_safe = true;
        for number in 0..self.monitors.len() {
            match self.solve(number, relevance, threads) {
                Found::Safe => {}
                Found::Unknown => outcome.unknown = true,
                Found::GaveUp => outcome.gave_up = true,
                Found::Look => is_safe = false,
            }
        }
        let mut answer = None;
        if !is_safe {
            let checked = self.check(state, relevance, threads);
            match &checked {
                Ok(report) => {
                    let is_cut = { report.properties.iter() }.any(|one| !one.lattice.exhaustive);
                    outcome.violated = report.is_violated();
                    outcome.gave_up |= is_cut && !outcome.violated;
                }
                Err(_) => outcome.refused = true,
            }
            answer = outcome.has_failed().then_some(checked);
        }
        self.seen.insert(poset, outcome);
        Looked { outcome, answer }
    }

    /// Orders the relevant steps; by what to know that poset, with what it begins with, again.
    fn order(&mut self, state: &State, relevance: &Relevance, threads: usize) -> (u64, u64) {
        let run = &state.run;
        if self.positions.len() < threads {
            self.positions.resize_with(threads, Vec::new);
        }
        self.positions.iter_mut().for_each(Vec::clear);
        self.rows.clear();
        let mut hashes = (0_u64, 1_u64);
        let mut feed = |word: u64| {
            hashes.0 = mix(hashes.0 ^ word);
            hashes.1 = mix(hashes.1.rotate_left(17).wrapping_add(word));
        };
        feed(match self.beginnings.get_index_of(&relevance.initial) {
            Some(number) => number as u64,
            None => self.beginnings.insert_full(relevance.initial.clone()).0 as u64,
        });
        for step in &relevance.steps {
            let event = &run.events()[step.event as usize];
            let thread = usize::from(event.thread);
            self.positions[thread].push(event.index);
            feed(u64::from(event.thread) << 32 | u64::from(step.label));
            let clock = run.clock(step.event as usize);
            for (positions, &known) in self.positions[..threads].iter().zip(clock) {
                let count = positions.partition_point(|&position| position <= known);
                self.rows.push(count as u32);
                feed(count as u64);
            }
        }
        hashes
    }

    /// Looks for a violation of one property.
    fn solve(&mut self, number: usize, relevance: &Relevance, threads: usize) -> Found {
        let monitor = &self.monitors[number];
        let Some(initial) = initial_values(monitor, relevance) else {
            return Found::Unknown;
        };
        let table = &mut self.tables[number];
        let Table::Solvers(solvers) = table else {
            return Found::Look;
        };
        let made = { solvers.iter() }.position(|solved| solved.initial == initial);
        let is_stale = |at: usize| solvers[at].actions.len() < relevance.labels().len();
        let at = match made {
            Some(at) if !is_stale(at) => at,
            _ => {
                let Some(solved) = Solved::new(monitor, relevance, initial) else {
                    *table = Table::Checker;
                    return Found::Look;
                };
                match made {
                    Some(at) => solvers[at] = solved,
                    None => solvers.push(solved),
                }
                made.unwrap_or(solvers.len() - 1)
            }
        };
        let Solved {
            solver, actions, ..
        } = &mut solvers[at];
        // Steps that the property does not see are left out, and so are their counts.
        let sees = |label: u32| actions[label as usize].is_some();
        let mut poset = Poset::new(threads);
        let mut acts = Vec::with_capacity(relevance.steps.len());
        let all = relevance.steps.iter().all(|step| sees(step.label));
        let mut seen: Vec<Vec<bool>> = vec![Vec::new(); if all { 0 } else { threads }];
        for (step, row) in relevance
            .steps
            .iter()
            .zip(self.rows.chunks_exact(threads.max(1)))
        {
            let thread = usize::from(step.thread);
            let action = actions[step.label as usize];
            if !all {
                seen[thread].push(action.is_some());
            }
            let Some(action) = action else { continue };
            acts.push(action);
            let chain = ChainId::from(u32::from(step.thread));
            if all {
                poset.push(chain, row);
            } else {
                let count = |(seen, &known): (&Vec<bool>, &u32)| {
                    seen[..known as usize].iter().filter(|one| **one).count() as u32
                };
                let row: Vec<u32> = seen.iter().zip(row).map(count).collect();
                poset.push(chain, &row);
            }
        }
        match solver.solve(&poset, &acts) {
            Answer::Safe => Found::Safe,
            Answer::Violated(_) => Found::Look,
            Answer::GaveUp => Found::GaveUp,
        }
    }

    /// The full answer, of all properties of which it is known what their variables begin with.
    fn check(&self, state: &State, relevance: &Relevance, threads: usize) -> Result<Report, Error> {
        // What a property declares goes before what was seen.
        let is_declared = |name: &str| {
            let mut monitors = self.monitors.iter();
            monitors.any(|monitor| {
                let mut variables = monitor.alphabet().variables().iter();
                variables.any(|variable| variable.name == name && variable.initial.is_some())
            })
        };
        let initial = |name: &str| {
            let variable = { relevance.variables.iter() }.position(|other| other == name)?;
            let seen = relevance.initial[variable].as_ref()?;
            (!is_declared(name)).then(|| seen.0.clone())
        };
        let options = Options::default().admitted(true);
        let is_known = |monitor: &&Monitor| initial_values(monitor, relevance).is_some();
        let monitors = self.monitors.iter().filter(is_known).cloned();
        let mut checker = Checker::new(monitors, initial, options)?;
        let symbols = checker.symbols_mut();
        let unlimited = "an exploration has few names";
        let names: Vec<_> = (0..threads)
            .map(|thread| {
                symbols
                    .threads
                    .intern(&thread_name(state, thread))
                    .expect(unlimited)
            })
            .collect();
        let variables: Vec<_> = { relevance.variables.iter() }
            .map(|name| symbols.vars.intern(name).expect(unlimited))
            .collect();
        let events: Vec<_> = { relevance.events.iter() }
            .map(|name| symbols.names.intern(name).expect(unlimited))
            .collect();
        let rows = self.rows.chunks_exact(threads.max(1));
        for ((number, step), row) in (1..).zip(&relevance.steps).zip(rows) {
            let label = &relevance.labels()[step.label as usize];
            let op = match label {
                Label::Write(variable, value) => {
                    Op::Write(variables[*variable as usize], Some(value.0.clone()))
                }
                Label::Event(name, args) => {
                    let args = args.iter().map(|arg| arg.0.clone());
                    Action::new(events[*name as usize]).args(args).into()
                }
            };
            let mut event = Event::new(names[usize::from(step.thread)], op);
            event.line = NonZeroU64::new(number);
            if let Some(place) = step.spelled_place() {
                event.loc = checker.symbols_mut().locs.intern(&place).ok();
            }
            let stamp = Stamp {
                chain: ChainId::from(u32::from(step.thread)),
                clock: Arc::new(Clock::from_counts(row)),
            };
            checker.take_stamped(&event, &stamp)?;
        }
        Ok(checker.finish("run")?)
    }
}

/// What a search for one property found.
enum Found {
    /// No run violates it.
    Safe,
    /// The checker has to say.
    Look,
    /// Nobody knows what its variables begin with.
    Unknown,
    /// Not all was searched: a limit was met.
    GaveUp,
}

impl Solved {
    /// `None` if the property is not a small automaton over these labels.
    fn new(monitor: &Monitor, relevance: &Relevance, initial: Vec<Value>) -> Option<Solved> {
        if !monitor.property().parameters().is_empty() {
            return None;
        }
        let mut product = Product::new(monitor.clone(), &initial);
        let mut acts = Vec::with_capacity(relevance.labels().len());
        for label in relevance.labels() {
            acts.push(act(&mut product, monitor, relevance, label)?);
        }
        let (automaton, numbers) = product.table(MOST_STATES, MOST_ENTRIES)?;
        let act = |act: Option<ActionId>| act.map(|act| numbers[act.index()]);
        Some(Solved {
            solver: Solver::new(automaton, Options::default()),
            actions: acts.into_iter().map(act).collect(),
            initial,
        })
    }
}

/// The action of a label, `None` inside if the property does not see it; `None` if the value is not of the type that was declared.
pub(crate) fn act(
    product: &mut Product,
    monitor: &Monitor,
    relevance: &Relevance,
    label: &Label,
) -> Option<Option<ActionId>> {
    let alphabet = monitor.alphabet();
    Some(match label {
        Label::Event(name, args) => {
            let name = &relevance.events[*name as usize];
            let same = |arity: Option<usize>| arity.is_none_or(|arity| arity == args.len());
            let event = { alphabet.iter_events() }.find(|(_, event)| {
                event.name == *name && same(event.parameters.as_ref().map(Vec::len))
            });
            event.map(|(id, _)| product.act(Some(id), &[]))
        }
        Label::Write(variable, value) => {
            let name = &relevance.variables[*variable as usize];
            match alphabet.variable(name) {
                Some(id) if value.0.type_of() != alphabet.variables()[id.index()].type_of => {
                    return None;
                }
                Some(id) => Some(product.act(None, &[(id, value.0.clone())])),
                None => None,
            }
        }
    })
}

/// What the variables of a property begin with, by its declarations or by what they were before they were first written.
pub(crate) fn initial_values(monitor: &Monitor, relevance: &Relevance) -> Option<Vec<Value>> {
    let variables = monitor.alphabet().variables().iter();
    variables
        .map(|variable| {
            let seen = || {
                let number =
                    { relevance.variables.iter() }.position(|name| *name == variable.name)?;
                relevance.initial[number]
                    .as_ref()
                    .map(|value| value.0.clone())
            };
            variable.initial.clone().or_else(seen)
        })
        .collect()
}
