//! What a user may ask for.

mod engine;

pub use engine::{Engine, UnknownEngine};

use crate::{goal::Goal, progress::Progress, stop::Stop};

/// Which reductions an engine may use; all by default. The answers are the same without them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reductions {
    /// Of events that commute, only one order is searched.
    pub commutation: bool,
    /// A state is dropped if another one at the cut is violated whenever it is.
    pub subsumption: bool,
    /// A state that nothing can violate any more is dropped.
    pub absorption: bool,
    /// A state that the remaining events cannot violate is dropped.
    pub dead_ends: bool,
}

impl Reductions {
    /// All of them.
    pub const ALL: Reductions = Reductions {
        commutation: true,
        subsumption: true,
        absorption: true,
        dead_ends: true,
    };
    /// None of them.
    pub const NONE: Reductions = Reductions {
        commutation: false,
        subsumption: false,
        absorption: false,
        dead_ends: false,
    };
}

impl Default for Reductions {
    fn default() -> Self {
        Reductions::ALL
    }
}

/// Whether equivalent runs are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Counting {
    /// Whatever the size of the lattice, within the memory limit.
    Always,
    /// Never; the search stops at the first violation.
    Never,
    /// If the lattice has at most 10 million cuts, and counting takes at most about a second longer than
    /// the search did.
    #[default]
    Auto,
}

impl Counting {
    /// How many cuts are counted at most.
    pub(crate) fn max_cuts(self) -> u64 {
        match self {
            Counting::Always => u64::MAX,
            Counting::Never => 0,
            Counting::Auto => 10_000_000,
        }
    }
}

/// Which other orders of events are the same computation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Model {
    /// Those that program order, synchronisation and conflicts leave open.
    #[default]
    HappensBefore,
    /// Also those in which a thread goes on without a critical section or an unread write of another, as long as conflicting events
    /// that are both kept stay in order: see [`strong`](crate::laboratory::strong). Runs are not counted.
    Strong,
    /// Also those that swap whole critical sections and unread writes: see
    /// [`maximal`](crate::laboratory::maximal). Runs are not counted.
    Maximal,
}

/// How a run is checked.
///
/// ```
/// use portent_lattice::{Counting, Engine, Options};
///
/// let options = Options::default().engine(Engine::Intervals).window(1000).counting(Counting::Never);
/// assert_eq!(options.window, Some(1000));
/// assert_eq!(options.memory, 1 << 30);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Which other orders are the same computation.
    pub causality: Model,
    /// At most this many cuts of a level are kept, those nearest the observed run.
    pub window: Option<usize>,
    /// Only events at most this many past the oldest unfinished one are considered.
    pub lookahead: Option<u32>,
    /// When a running program is watched, at least this many steps before a violation are shown; older ones may be
    /// forgotten. See [`Watch`](crate::Watch).
    pub history: usize,
    /// About how many bytes may be used. If they are not enough, levels of the lattice are limited to a window that fits, later events
    /// are assumed to come in observed order, and later bindings and texts are left out; the report says so.
    /// A [`Watch`](crate::Watch) applies it only to the levels of a lookahead.
    pub memory: u64,
    /// How many nodes the search for each instance may find under the models `strong` and `maximal`. `None` means a few seconds' worth,
    /// for all instances of a report together.
    pub max_nodes: Option<usize>,
    /// If happens-before finds no violation, partly because of the order of locks, and the run has at most this many events, the model
    /// `strong` is tried within a small budget; see [`PropertyReport::under_strong`]. None by default.
    ///
    /// [`PropertyReport::under_strong`]: crate::report::PropertyReport::under_strong
    pub trial_events: usize,
    /// Whether runs are counted.
    pub counting: Counting,
    /// Which runs are looked for.
    pub goal: Goal,
    /// Which engine looks for them. If it has no answer, the lattice is enumerated. `None` chooses by the property
    /// and the size of the lattice.
    pub engine: Option<Engine>,
    /// Which reductions are used.
    pub reductions: Reductions,
    /// Whether wide levels are made on all threads of the current `rayon` pool.
    pub parallel: bool,
    /// Whether a [`Discipline`](portent_monitor_core::Discipline) has already admitted the events, as it has those
    /// of a trace reader. If not, each event is checked against those before it, and one that cannot follow
    /// them is an error.
    pub admitted: bool,
    /// When a running program is watched: whether events with clocks may arrive before events that their clocks count; they are
    /// then held back until those have arrived. See [`Watch`](crate::Watch).
    pub causal_delivery: bool,
    /// How many bindings of its parameters a property may have.
    pub max_bindings: usize,
    /// How many states the table of monitor and variables may have; beyond that, no table is made.
    pub max_states: usize,
    /// How many instances of a property get a [picture]: first those whose observed run is violated, then other
    /// violated ones, then the rest.
    ///
    /// [picture]: crate::report::picture::Picture
    pub pictures: usize,
    /// How many witnesses of each property a report has in full, as long as they are short, those of observed
    /// violations first; other violated instances are reported without a witness. `None` means all, whatever their length.
    pub witnesses: Option<usize>,
    /// Where the search reports its progress.
    pub progress: Progress,
    /// Ends a search early, for example when its time is up.
    pub stop: Stop,
    /// How often a watch was [narrowed](crate::Watch::narrow).
    pub(crate) narrowed: u32,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            causality: Model::default(),
            window: None,
            lookahead: None,
            history: 1000,
            memory: 1 << 30,
            max_nodes: None,
            trial_events: 0,
            counting: Counting::Auto,
            goal: Goal::default(),
            engine: None,
            reductions: Reductions::ALL,
            parallel: false,
            admitted: false,
            causal_delivery: false,
            max_bindings: 100_000,
            max_states: 4096,
            pictures: 0,
            witnesses: Some(100),
            progress: Progress::default(),
            stop: Stop::default(),
            narrowed: 0,
        }
    }
}

impl Options {
    /// Runs with more events than this are too long for [trials](Options::trial_events) of another model.
    pub const TRIAL_EVENTS: usize = 50_000;

    /// Which other orders are the same computation.
    pub fn causality(mut self, causality: Model) -> Self {
        self.causality = causality;
        self
    }

    /// How many cuts of a level are kept at most; `None` for all that fit in the memory.
    pub fn window(mut self, window: impl Into<Option<usize>>) -> Self {
        self.window = window.into();
        self
    }

    /// How far past the oldest unfinished event other events are considered; `None` for all.
    pub fn lookahead(mut self, lookahead: impl Into<Option<u32>>) -> Self {
        self.lookahead = lookahead.into();
        self
    }

    /// How many steps before a violation are shown at least.
    pub fn history(mut self, history: usize) -> Self {
        self.history = history;
        self
    }

    /// About how many bytes may be used.
    pub fn memory(mut self, memory: u64) -> Self {
        self.memory = memory;
        self
    }

    /// How many nodes a search under the models `strong` and `maximal` may find; `None` for a few seconds' worth.
    pub fn max_nodes(mut self, max_nodes: impl Into<Option<usize>>) -> Self {
        self.max_nodes = max_nodes.into();
        self
    }

    /// Up to how many events of a run the model `strong` is tried where locks may hide a violation from happens-before.
    pub fn trial_events(mut self, trial_events: usize) -> Self {
        self.trial_events = trial_events;
        self
    }

    /// Whether runs are counted.
    pub fn counting(mut self, counting: Counting) -> Self {
        self.counting = counting;
        self
    }

    /// Whether the trace ended for good: then a run that is pending at its end is violated.
    pub fn complete(mut self, complete: bool) -> Self {
        self.goal.complete = complete;
        self
    }

    /// Which engine looks for violated runs, if it can; `None` to choose automatically.
    pub fn engine(mut self, engine: impl Into<Option<Engine>>) -> Self {
        self.engine = engine.into();
        self
    }

    /// Which reductions are used.
    pub fn reductions(mut self, reductions: Reductions) -> Self {
        self.reductions = reductions;
        self
    }

    /// Whether wide levels are made on all threads.
    pub fn parallel(mut self, parallel: bool) -> Self {
        self.parallel = parallel;
        self
    }

    /// Whether a discipline has already admitted the events.
    pub fn admitted(mut self, admitted: bool) -> Self {
        self.admitted = admitted;
        self
    }

    /// Whether events with clocks may arrive before what their clocks count.
    pub fn causal_delivery(mut self, causal_delivery: bool) -> Self {
        self.causal_delivery = causal_delivery;
        self
    }

    /// How many bindings of its parameters a property may have.
    pub fn max_bindings(mut self, max_bindings: usize) -> Self {
        self.max_bindings = max_bindings;
        self
    }

    /// How many states the table of monitor and variables may have.
    pub fn max_states(mut self, max_states: usize) -> Self {
        self.max_states = max_states;
        self
    }

    /// How many instances of a property get a picture.
    pub fn pictures(mut self, pictures: usize) -> Self {
        self.pictures = pictures;
        self
    }

    /// How many witnesses of each property a report has in full; `None` for all.
    pub fn witnesses(mut self, witnesses: impl Into<Option<usize>>) -> Self {
        self.witnesses = witnesses.into();
        self
    }

    /// Ends a search early.
    pub fn stop(mut self, stop: Stop) -> Self {
        self.stop = stop;
        self
    }

    /// Where the search reports its progress.
    pub fn progress(mut self, progress: Progress) -> Self {
        self.progress = progress;
        self
    }
}
