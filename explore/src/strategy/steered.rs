//! Steers runs to a state of a property's monitor, using what earlier runs taught.
//!
//! The first run is a random walk. Every run shows which relevant steps follow each step of each thread, and which step follows which.
//! At each point, later runs prefer a thread whose next steps bring the monitor nearer to the state, by the automaton over the steps
//! seen so far; otherwise a thread that does not lead it elsewhere, and of those the one nearest to a step that would help. A thread that
//! would lead the monitor away is held while others can run. Ties are broken at random, and the longer nothing is found, the more
//! choices are purely random.

use std::collections::{HashMap, HashSet};

use indexmap::IndexSet;
use portent_monitor_core::Value;
use portent_monitor_dsl::{
    Monitor, StateId, Verdict,
    automaton::{Product, ProductState},
};

use super::{
    Choice, End, Next, Point, Strategy,
    target::{Map, SiteId},
};
use crate::{
    predict::{act, initial_values},
    random::Random as Numbers,
    relevance::Relevance,
    run::Run,
    thread_set::ThreadSet,
};

/// A product with more states is not looked at: then all runs are random walks.
const MOST_STATES: usize = 10_000;
/// Of so many choices all are left to chance once many runs were in vain.
const CHOICES: usize = 16;
/// So many of them at most are.
const MOST_LEFT_TO_CHANCE: usize = 8;

/// Steers runs to a state of a property's monitor.
///
/// It observes the run through the explorer's properties, so the property must be one of them.
///
/// ```
/// use std::sync::Arc;
/// use portent_explore::{Explorer, strategy::Steered};
/// use portent_hooks::{event, sync::Mutex, thread};
/// use portent_monitor_dsl::Property;
///
/// let monitor = Property::parse("always (second -> once first)").unwrap().monitor().unwrap();
/// let steered = monitor.clone();
/// let report = Explorer::new()
///     .property(monitor)
///     .strategy(move || Steered::new(1, 100, steered.clone()))
///     .check(|| {
///         let turn = Arc::new(Mutex::new(()));
///         let other = Arc::clone(&turn);
///         let thread = thread::spawn(move || {
///             let _turn = other.lock();
///             event!(second);
///         });
///         {
///             let _turn = turn.lock();
///             event!(first);
///         }
///         thread.join().unwrap();
///     });
/// assert_eq!(report.failed, 1);
/// assert!(report.executions <= 2);
/// ```
#[derive(Debug)]
pub struct Steered {
    monitor: Monitor,
    /// `None`: one in which the property is violated.
    state: Option<StateId>,
    seed: u64,
    runs: u64,
    left: u64,
    numbers: Numbers,
    map: Map,
    /// What came of a step of a thread: labels, one after the other. Threads by names that do not depend on the run.
    came: HashMap<(u64, SiteId), HashSet<Vec<u32>>>,
    /// What variables begin with, once that is known.
    initial: Option<Vec<Value>>,
    automaton: Option<Automaton>,
    /// How many labels were known when the automaton was made, or could not be.
    labels: usize,
    // Of one run:
    /// The state that the run has come to; `None` if that is not known.
    now: Option<usize>,
    /// Whose turn it was last, and from which step.
    last: Option<(u64, SiteId)>,
    /// How many relevant steps were taken into account.
    seen: usize,
    has_arrived: bool,
}

/// The states of the product of monitor and variables that known steps lead to, and how far each is from the state that is wanted.
#[derive(Debug)]
struct Automaton {
    /// For each state the one after each label.
    next: Vec<Vec<usize>>,
    distances: Vec<u32>,
}

impl Automaton {
    /// With the labels that are known; `None` if there are too many states, or a value is not of the type that was declared.
    fn new(
        monitor: &Monitor,
        initial: &[Value],
        wanted: Option<StateId>,
        relevance: &Relevance,
    ) -> Option<Automaton> {
        let mut product = Product::new(monitor.clone(), initial);
        let actions: Option<Vec<_>> = { relevance.labels().iter() }
            .map(|label| act(&mut product, monitor, relevance, label))
            .collect();
        let actions = actions?;
        let mut states: IndexSet<ProductState> = IndexSet::from([product.initial()]);
        let mut next = Vec::new();
        while let Some(state) = states.get_index(next.len()).cloned() {
            let stays = next.len();
            let after = actions.iter().map(|action| match action {
                Some(action) => states.insert_full(product.step(&state, *action)).0,
                None => stays,
            });
            next.push(after.collect::<Vec<_>>());
            if states.len() > MOST_STATES {
                return None;
            }
        }
        let is_wanted = |state: &ProductState| match wanted {
            Some(wanted) => product.read(state).0 == wanted,
            None => product.verdict(state) == Verdict::Violated,
        };
        let mut distances: Vec<u32> = { states.iter() }
            .map(|state| if is_wanted(state) { 0 } else { u32::MAX })
            .collect();
        // A round for each step of the way.
        for round in 0.. {
            let mut is_nearer = false;
            for state in 0..distances.len() {
                let leads = next[state].iter().any(|&after| distances[after] == round);
                if distances[state] == u32::MAX && leads {
                    distances[state] = round + 1;
                    is_nearer = true;
                }
            }
            if !is_nearer {
                break;
            }
        }
        Some(Automaton { next, distances })
    }

    fn after(&self, state: usize, labels: &[u32]) -> usize {
        labels
            .iter()
            .fold(state, |state, &label| self.next[state][label as usize])
    }
}

/// What is known to come of a step, as to the state that is wanted.
enum Leads {
    /// So near to it.
    Nearer(u32),
    Nowhere,
    Away,
}

impl Steered {
    /// Makes at most this many runs towards a violation. The same seed gives the same runs.
    ///
    /// # Panics
    ///
    /// If the property has parameters.
    #[must_use]
    pub fn new(seed: u64, runs: u64, monitor: Monitor) -> Steered {
        assert!(
            monitor.property().parameters().is_empty(),
            "`{}` has parameters: there is no one state to which a run can be steered",
            monitor.property().name()
        );
        Steered {
            monitor,
            state: None,
            seed,
            runs,
            left: runs,
            numbers: Numbers::new(seed),
            map: Map::default(),
            came: HashMap::new(),
            initial: None,
            automaton: None,
            labels: 0,
            now: None,
            last: None,
            seen: 0,
            has_arrived: false,
        }
    }

    /// Steers to this state of the monitor instead, whatever its verdict. The search ends with the run that gets there.
    #[must_use]
    pub fn to(mut self, state: StateId) -> Steered {
        self.state = Some(state);
        self
    }

    /// Takes into account what the run has shown since the last choice.
    fn look(&mut self, at: &Point<'_>) {
        let Some(relevance) = at.relevance else {
            return;
        };
        let labels: Vec<u32> = { relevance.steps[self.seen..].iter() }
            .map(|step| step.label)
            .collect();
        self.seen = relevance.steps.len();
        if let Some(last) = self.last
            && !labels.is_empty()
        {
            self.came.entry(last).or_default().insert(labels.clone());
        }
        if self.initial.is_none() {
            self.initial = initial_values(&self.monitor, relevance);
        }
        let known = relevance.labels().len();
        if let Some(initial) = &self.initial
            && self.labels < known
        {
            self.labels = known;
            self.automaton = Automaton::new(&self.monitor, initial, self.state, relevance);
            let all: Vec<u32> = relevance.steps.iter().map(|step| step.label).collect();
            self.now = self.automaton.as_ref().map(|one| one.after(0, &all));
        } else if let Some(automaton) = &self.automaton {
            let before = self.now.unwrap_or_default();
            self.now = Some(automaton.after(before, &labels));
        }
        if let (Some(automaton), Some(now)) = (&self.automaton, self.now) {
            self.has_arrived |= automaton.distances[now] == 0;
        }
    }

    fn leads(&self, automaton: &Automaton, now: usize, by: (u64, SiteId)) -> Leads {
        let Some(came) = self.came.get(&by) else {
            return Leads::Nowhere;
        };
        let distances = came.iter().map(|labels| automaton.after(now, labels));
        let nearest = { distances.map(|state| automaton.distances[state]) }.min();
        match nearest {
            Some(nearest) if nearest < automaton.distances[now] => Leads::Nearer(nearest),
            Some(nearest) if nearest > automaton.distances[now] => Leads::Away,
            _ => Leads::Nowhere,
        }
    }

    /// Those whose turn it may be.
    fn wanted(&self, at: &Point<'_>, pending: &[SiteId]) -> ThreadSet {
        let (Some(automaton), Some(now)) = (&self.automaton, self.now) else {
            return at.enabled;
        };
        if self.has_arrived {
            return at.enabled;
        }
        let mut nearer = (u32::MAX, ThreadSet::EMPTY);
        let mut nowhere = ThreadSet::EMPTY;
        for thread in at.enabled {
            let by = (at.threads[thread].path, pending[thread]);
            match self.leads(automaton, now, by) {
                Leads::Nearer(distance) => {
                    if distance < nearer.0 {
                        nearer = (distance, ThreadSet::EMPTY);
                    }
                    if distance == nearer.0 {
                        nearer.1.insert(thread);
                    }
                }
                Leads::Nowhere => nowhere.insert(thread),
                Leads::Away => {}
            }
        }
        if !nearer.1.is_empty() {
            return nearer.1;
        }
        if nowhere.is_empty() {
            return at.enabled;
        }
        // Those who come to a step that helps, each by its own.
        let mut nearest = (u32::MAX, ThreadSet::EMPTY);
        for thread in nowhere {
            let path = at.threads[thread].path;
            let helps = |by: &&(u64, SiteId)| {
                by.0 == path && matches!(self.leads(automaton, now, **by), Leads::Nearer(_))
            };
            let sites: Vec<SiteId> = self.came.keys().filter(helps).map(|by| by.1).collect();
            let distance = self.map.distances(&sites)[pending[thread]];
            if distance < nearest.0 {
                nearest = (distance, ThreadSet::EMPTY);
            }
            if distance < u32::MAX && distance == nearest.0 {
                nearest.1.insert(thread);
            }
        }
        if nearest.1.is_empty() {
            nowhere
        } else {
            nearest.1
        }
    }
}

impl Strategy for Steered {
    fn choose(&mut self, at: &Point<'_>, _: &Run) -> Choice {
        self.look(at);
        let pending = self.map.announced(at);
        let in_vain = (self.runs - self.left).saturating_sub(1) as usize;
        let is_chance = self.numbers.below(CHOICES) < in_vain.min(MOST_LEFT_TO_CHANCE);
        let mut among = if is_chance {
            at.enabled
        } else {
            self.wanted(at, &pending)
        };
        let nth = self.numbers.below(among.len());
        let thread = { among.nth(nth) }.expect("a point is where somebody can go on");
        self.map
            .step(thread, pending[thread], at.pending[thread], Vec::new());
        self.last = Some((at.threads[thread].path, pending[thread]));
        Choice::Run(thread)
    }

    fn pick(&mut self, _: usize, values: u32) -> u32 {
        self.numbers.below(values as usize) as u32
    }

    fn over(&mut self, at: &Point<'_>) {
        self.look(at);
    }

    fn finished(&mut self, _: &Run, _: End) -> Next {
        self.map.end();
        self.left = self.left.saturating_sub(1);
        if self.left == 0 || (self.state.is_some() && self.has_arrived) {
            return Next::Enough;
        }
        self.now = self.automaton.as_ref().map(|_| 0);
        self.last = None;
        self.seen = 0;
        self.has_arrived = false;
        Next::Keep(0)
    }

    fn wants_clocks(&self) -> bool {
        false
    }

    fn restart(&mut self) {
        let state = self.state;
        *self = Steered::new(self.seed, self.runs, self.monitor.clone());
        self.state = state;
    }

    fn remark(&self) -> Option<String> {
        let name = self.monitor.property().name();
        let state = match self.state {
            Some(state) => format!("the state {} of `{name}`", state.index()),
            None => format!("a violation of `{name}`"),
        };
        let became = match (&self.automaton, self.has_arrived) {
            (None, _) => "; none of its steps was seen",
            (_, true) => "; the last run got there",
            (_, false) => "",
        };
        Some(format!(
            "steered to {state} by the seed {}{became}",
            self.seed
        ))
    }
}
