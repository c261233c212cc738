//! From a search to an answer: chooses the reductions, and reconstructs the run that leads to the violation.

use portent_monitor_dsl::Verdict;

use super::{
    Bits, Configuration, LabelledPoset, LatticeSize, Lists, Paths, Persistent, Reducer, Saved,
    Search, SearchExtent, Sets, Visible,
    path::{MIN_CHECKPOINTS, checkpoint_bytes},
};
use crate::{
    automaton::{ActionId, Automaton, TransitionSystem},
    engine::{Solution, Violation},
    options::{Engine, Options},
    order::{EventIndex, ObservedCuts, Poset, Requirements},
};

/// To find a shorter witness than a reduced search did, this many cuts are worth visiting.
const REFINE: u64 = 10_000_000;
/// All levels, however many cuts they have.
const EVERYWHERE: SearchExtent = SearchExtent {
    levels: usize::MAX,
    nodes: u64::MAX,
};
/// A walk back to the start keeps at most this many levels.
const CHECKPOINTS: usize = 64;

/// Searches the lattice of events that act on a table.
pub(crate) fn search_table(
    poset: &Poset,
    actions: &[ActionId],
    automaton: &Automaton,
    options: &Options,
) -> Solution {
    let requirements = Requirements::of_poset(poset);
    let labelled = LabelledPoset::new(poset, &requirements, actions);
    let on = options.reductions;
    // A window is laid around the observed run, whose cuts commutation would skip.
    let cone = options.window.is_some() || options.lookahead.is_some();
    let commute = on.commutation && !cone;
    if commute && let Some(visible) = Visible::new(poset, actions, automaton) {
        return search_visible(labelled, &visible, automaton, options);
    }
    search_all(labelled, automaton, commute, options, EVERYWHERE)
}

/// Searches the order of the relevant events, and then for a shorter way in the order of all events.
fn search_visible(
    labelled: LabelledPoset<'_>,
    visible: &Visible,
    automaton: &Automaton,
    options: &Options,
) -> Solution {
    let whole = labelled.poset;
    let requirements = Requirements::of_poset(&visible.poset);
    let small = LabelledPoset::new(&visible.poset, &requirements, &visible.actions);
    let mut solution = search_all(small, automaton, true, options, EVERYWHERE);
    solution.saved.invisible = visible.hidden(whole);
    // The measured lattice was a different one.
    solution.shape = None;
    let Some(found) = solution.violation.take() else {
        return solution;
    };
    let prefix = visible.lift(whole, &found.run[..found.violated_at]);
    let lifted = complete(
        labelled,
        automaton,
        &bottom(labelled, automaton),
        prefix,
        false,
    );
    let extent = SearchExtent {
        levels: lifted.violated_at,
        nodes: REFINE,
    };
    let again = search_all(labelled, automaton, false, options, extent);
    solution.nodes += again.nodes;
    solution.violation = again.violation.or(Some(lifted));
    solution
}

fn search_all(
    labelled: LabelledPoset<'_>,
    automaton: &Automaton,
    commute: bool,
    options: &Options,
    extent: SearchExtent,
) -> Solution {
    let reducer = Reducer::new(labelled, automaton, options.goal, options.reductions);
    let Some(bits) = Bits::new(labelled, automaton, options.goal, reducer) else {
        return search_lists(labelled, automaton, options, extent);
    };
    let persistent = commute
        .then(|| Persistent::new(labelled, automaton))
        .flatten();
    let mut solution = run_search(
        labelled,
        &bits,
        automaton,
        persistent.as_ref(),
        options,
        extent,
    );
    let Saved {
        absorbed,
        dead_ends,
        subsumed,
    } = bits.reducer().saved();
    solution.saved.absorption = absorbed;
    solution.saved.dead_ends = dead_ends;
    solution.saved.subsumption = subsumed;
    solution
}

/// Searches the lattice of events that act on something without a table.
pub(crate) fn search_open<M: TransitionSystem>(
    poset: &Poset,
    actions: &[ActionId],
    machine: &M,
    options: &Options,
) -> Solution {
    let requirements = Requirements::of_poset(poset);
    let labelled = LabelledPoset::new(poset, &requirements, actions);
    search_lists(labelled, machine, options, EVERYWHERE)
}

fn search_lists<M: TransitionSystem>(
    labelled: LabelledPoset<'_>,
    machine: &M,
    options: &Options,
    extent: SearchExtent,
) -> Solution {
    let lists = Lists {
        labelled,
        machine,
        goal: options.goal,
        absorb: options.reductions.absorption,
    };
    run_search(labelled, &lists, machine, None, options, extent)
}

fn run_search<S: Sets<State = M::State>, M: TransitionSystem>(
    labelled: LabelledPoset<'_>,
    sets: &S,
    machine: &M,
    persistent: Option<&Persistent>,
    options: &Options,
    extent: SearchExtent,
) -> Solution {
    let observed = ObservedCuts::new(labelled.poset);
    let initial = machine.initial();
    let look = |persistent: Option<&Persistent>, extent: SearchExtent| {
        super::search(labelled, sets, initial.clone(), persistent, options, extent)
    };
    let mut search = look(persistent, extent);
    let mut solution = Solution {
        engine: Engine::Enumerate,
        nodes: search.nodes,
        dropped: search.left_out.dropped,
        limit: search.limit,
        shape: search.whole.then_some(LatticeSize {
            levels: labelled.poset.len() as u64 + 1,
            cuts: search.nodes,
            widest: search.widest,
            peak: search.peak,
        }),
        peak: search.peak,
        ..Solution::default()
    };
    solution.saved.commutation = search.left_out.commuted;
    solution.saved.emptied = search.left_out.emptied;
    let Some(found) = search.found.take() else {
        return solution;
    };
    let (spot, shortest) = sooner(found, &mut search, |extent| look(None, extent));
    let from = bottom(labelled, machine);
    let starts = std::slice::from_ref(&from);
    let found = way(
        labelled, machine, &observed, starts, &spot, &search, options,
    );
    solution.violation =
        found.map(|(_, prefix)| complete(labelled, machine, &from, prefix, shortest));
    solution
}

/// A search that commutes events may find a violation late; looks for one before it.
fn sooner<S>(
    found: Configuration<S>,
    search: &mut Search<S>,
    look: impl Fn(SearchExtent) -> Search<S>,
) -> (Configuration<S>, bool) {
    let exact = search.limit.is_none();
    if search.left_out.commuted == 0 {
        return (found, exact);
    }
    let level = found.events();
    let again = look(SearchExtent {
        levels: level,
        nodes: REFINE,
    });
    let exact = exact && !again.gave_up && again.limit.is_none();
    search.window = search.window.max(again.window);
    (again.found.unwrap_or(found), exact)
}

/// Where runs begin.
fn bottom<M: TransitionSystem>(
    labelled: LabelledPoset<'_>,
    machine: &M,
) -> Configuration<M::State> {
    Configuration {
        cut: vec![0; labelled.poset.width()],
        state: machine.initial(),
    }
}

/// The events that lead to a spot from one of several sorted starting spots, and the index of that start.
pub(crate) fn way<M: TransitionSystem>(
    labelled: LabelledPoset<'_>,
    machine: &M,
    observed: &ObservedCuts,
    from: &[Configuration<M::State>],
    spot: &Configuration<M::State>,
    search: &Search<M::State>,
    options: &Options,
) -> Option<(usize, Vec<EventIndex>)> {
    // Keys of one or two words; with too many chains for these, one number per chain. The window leaves room for two
    // checkpoints.
    let strip = 24 + 4 * labelled.poset.width() as u64 / 8;
    let mark_bytes = checkpoint_bytes::<M::State>(strip, 2);
    let levels = (options.memory / 3) / (search.widest.max(1) * mark_bytes);
    let levels = usize::try_from(levels).unwrap_or(usize::MAX);
    let paths = |window| Paths {
        labelled,
        machine,
        observed,
        window,
        lookahead: options.lookahead,
        checkpoints: levels.clamp(MIN_CHECKPOINTS as usize, CHECKPOINTS),
        parallel: options.parallel,
    };
    // A walk with a window reaches everything that a search with this window reached, unless commutation made the search leave
    // out other cuts, so that fewer competed for the window.
    let found = search.window.and_then(|w| paths(Some(w)).find(from, spot));
    found.or_else(|| paths(None).find(from, spot))
}

/// A run from a spot that begins with these events and continues in observed order, to the end.
pub(crate) fn complete<M: TransitionSystem>(
    labelled: LabelledPoset<'_>,
    machine: &M,
    from: &Configuration<M::State>,
    prefix: Vec<EventIndex>,
    is_shortest: bool,
) -> Violation {
    let mut done = vec![false; labelled.poset.len()];
    for (chain, &count) in labelled.poset.chains().zip(&from.cut) {
        for event in &labelled.poset.chain(chain)[..count as usize] {
            done[event.index()] = true;
        }
    }
    let mut state = from.state.clone();
    // The walk back may meet a violation sooner than a limited search did.
    let mut violated_at = None;
    for (step, event) in prefix.iter().enumerate() {
        if machine.verdict(&state) == Verdict::Violated {
            violated_at.get_or_insert(step);
        }
        done[event.index()] = true;
        state = machine.step(&state, labelled.action(*event));
    }
    let after = prefix.len();
    let rest = (0..labelled.poset.len() as u32).map(EventIndex);
    let mut run = prefix;
    run.extend(rest.filter(|event| !done[event.index()]));
    let violated_at = match machine.verdict(&state) {
        Verdict::Violated => violated_at.unwrap_or(after),
        // The run is bad only at the end of the trace.
        _ => run.len(),
    };
    Violation {
        run,
        violated_at,
        is_shortest,
    }
}
