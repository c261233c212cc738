//! Chooses an engine for a problem and puts its answer together.

use portent_monitor_dsl::Verdict;

use crate::{
    ActionId, Automaton, EventIndex, Poset, Problem,
    automaton_shape::AutomatonShape,
    enumerate::{
        self, Bits, Extent, Ground, Limit, Lists, Needs, Observed, Paths, Peak, Persistent,
        Reducer, RunCounts, Saved, Search, Sets, Shape, Spot, Visible,
    },
    fast::solve_fast,
    instance::Task,
    options::{Counting, Engine, Options},
    product::Machine,
    report::SavedReport,
    violation::Answer,
};

/// To find a shorter witness than a reduced search did, so many cuts are worth visiting.
const REFINE: u64 = 10_000_000;
/// All levels, however many cuts they have.
const EVERYWHERE: Extent = Extent {
    levels: usize::MAX,
    nodes: u64::MAX,
};
/// A lattice with at most so many cuts is enumerated: its numbers are worth more than the time.
const FEW_CUTS: usize = 100_000;
/// A search without the lattice is given up after so many symbolic nodes.
const FAST_NODES: usize = 100_000;
/// A walk back to the start keeps at most so many levels.
const CHECKPOINTS: usize = 64;

/// A violated run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// All events.
    pub events: Vec<EventIndex>,
    /// After how many of them it is violated.
    pub violated_at: usize,
    /// Whether no run is violated sooner.
    pub shortest: bool,
}

/// The answer to a problem.
#[derive(Clone, Debug, Default)]
pub struct Solution {
    /// Which engine gave it.
    pub engine: &'static str,
    /// A violated run, if there is one.
    pub run: Option<Run>,
    /// How many nodes the engine visited.
    pub nodes: u64,
    /// How many cuts were reached and let go.
    pub dropped: u64,
    /// Why not everything was searched.
    pub limit: Option<Limit>,
    /// What the reductions saved.
    pub saved: SavedReport,
    /// The size of the lattice, if it was counted.
    pub shape: Option<Shape>,
    /// The runs, if they were counted.
    pub runs: Option<RunCounts>,
    /// The memory of the frontier.
    pub peak: Peak,
}

/// Searches for a violated run of a problem, and counts runs if that is asked for.
///
/// ```
/// use portent_lattice::{ActionId, Automaton, Options, Poset, Problem, StateIndex, solve};
/// use portent_monitor_dsl::Verdict;
///
/// // Two threads with one event each; the second event must not come first.
/// let mut poset = Poset::new(2);
/// poset.push(0, &[1, 0]);
/// poset.push(1, &[0, 1]);
/// let automaton = Automaton {
///     initial: StateIndex(0),
///     actions: 2,
///     next: [1, 2, 1, 1, 2, 2].map(StateIndex).to_vec(),
///     verdicts: vec![Verdict::Ok, Verdict::Satisfied, Verdict::Violated],
/// };
/// let problem = Problem { poset, actions: vec![ActionId(0), ActionId(1)], automaton };
/// let solution = solve(&problem, &Options::default());
/// assert_eq!(solution.run.unwrap().violated_at, 1);
/// assert_eq!(solution.runs.unwrap().total, 2u32.into());
/// ```
pub fn solve(problem: &Problem, options: &Options) -> Solution {
    let (automaton, numbers) = options.goal.automaton(&problem.automaton);
    let actions: Vec<ActionId> = problem
        .actions
        .iter()
        .map(|action| numbers[action.0 as usize])
        .collect();
    let poset = &problem.poset;
    let mut solution = search_fast(poset, &actions, &automaton, options)
        .unwrap_or_else(|| search_table(poset, &actions, &automaton, options));
    count(
        poset,
        &problem.actions,
        &problem.automaton,
        options,
        &mut solution,
    );
    solution
}

/// Solves what an instance of a property comes down to.
pub(crate) fn solve_task(task: &Task, options: &Options) -> Solution {
    match task {
        Task::Table(problem) => solve(problem, options),
        Task::Open(poset, actions, product) => {
            let mut solution = search_open(poset, actions, product.as_ref(), options);
            count(poset, actions, product.as_ref(), options, &mut solution);
            solution
        }
    }
}

/// Searches without the lattice, where the automaton and the options allow that and the lattice is
/// not small anyway; `None` otherwise, or if such a search grew too large.
fn search_fast(
    poset: &Poset,
    actions: &[ActionId],
    automaton: &Automaton,
    options: &Options,
) -> Option<Solution> {
    let cut_off = options.window.is_some() || options.lookahead.is_some();
    // A run that is bad only because it ended is no bad prefix.
    if options.engine == Engine::Enumerate || cut_off || options.goal.complete {
        return None;
    }
    if options.engine == Engine::Auto && has_few_cuts(poset) {
        return None;
    }
    let shape = AutomatonShape::new(automaton).ok()?;
    let problem = Problem {
        poset: poset.clone(),
        actions: actions.to_vec(),
        automaton: automaton.clone(),
    };
    let found = solve_fast(&problem, &shape, FAST_NODES)?;
    let run = match found.answer {
        Answer::GaveUp => return None,
        Answer::Safe => None,
        Answer::Violated(violation) => {
            debug_assert_eq!(violation.refute(&problem), None);
            Some(Run {
                events: violation.run,
                violated_at: violation.violated_at,
                shortest: violation.is_shortest,
            })
        }
    };
    let (engine, nodes) = (found.engine.as_str(), found.nodes as u64);
    Some(Solution {
        engine,
        run,
        nodes,
        ..Solution::default()
    })
}

/// Whether the lattice is small, whatever the order: a bound from the lengths of the chains.
fn has_few_cuts(poset: &Poset) -> bool {
    let cuts = (0..poset.width()).try_fold(1usize, |cuts, chain| {
        cuts.checked_mul(poset.chain(chain).len() + 1)
            .filter(|&cuts| cuts <= FEW_CUTS)
    });
    cuts.is_some()
}

fn search_table(
    poset: &Poset,
    actions: &[ActionId],
    automaton: &Automaton,
    options: &Options,
) -> Solution {
    let needs = Needs::of_poset(poset);
    let ground = Ground {
        poset,
        needs: &needs,
        actions,
    };
    let on = options.reductions;
    // A window is laid around the observed run, whose cuts commutation would skip.
    let cone = options.window.is_some() || options.lookahead.is_some();
    let commute = on.commutation && !cone;
    if commute && let Some(visible) = Visible::new(poset, actions, automaton) {
        return search_visible(ground, &visible, automaton, options);
    }
    search_all(ground, automaton, commute, options, EVERYWHERE)
}

/// Searches the order of the events that matter, and then for a shorter way in the order of all.
fn search_visible(
    ground: Ground<'_>,
    visible: &Visible,
    automaton: &Automaton,
    options: &Options,
) -> Solution {
    let whole = ground.poset;
    let needs = Needs::of_poset(&visible.poset);
    let small = Ground {
        poset: &visible.poset,
        needs: &needs,
        actions: &visible.actions,
    };
    let mut solution = search_all(small, automaton, true, options, EVERYWHERE);
    solution.saved.invisible = visible.hidden(whole);
    // It is another lattice that was measured.
    solution.shape = None;
    let Some(run) = solution.run.take() else {
        return solution;
    };
    let prefix = visible.lift(whole, &run.events[..run.violated_at]);
    let lifted = complete(ground, automaton, prefix, false);
    let extent = Extent {
        levels: lifted.violated_at,
        nodes: REFINE,
    };
    let again = search_all(ground, automaton, false, options, extent);
    solution.nodes += again.nodes;
    solution.run = again.run.or(Some(lifted));
    solution
}

fn search_all(
    ground: Ground<'_>,
    automaton: &Automaton,
    commute: bool,
    options: &Options,
    extent: Extent,
) -> Solution {
    let reducer = Reducer::new(ground, automaton, options.goal, options.reductions);
    let Some(bits) = Bits::new(ground, automaton, options.goal, reducer) else {
        return search_lists(ground, automaton, options, extent);
    };
    let persistent = commute
        .then(|| Persistent::new(ground, automaton))
        .flatten();
    let mut solution = run_search(
        ground,
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

fn search_open<M: Machine>(
    poset: &Poset,
    actions: &[ActionId],
    machine: &M,
    options: &Options,
) -> Solution {
    let needs = Needs::of_poset(poset);
    let ground = Ground {
        poset,
        needs: &needs,
        actions,
    };
    search_lists(ground, machine, options, EVERYWHERE)
}

fn search_lists<M: Machine>(
    ground: Ground<'_>,
    machine: &M,
    options: &Options,
    extent: Extent,
) -> Solution {
    let lists = Lists {
        ground,
        machine,
        goal: options.goal,
        absorb: options.reductions.absorption,
    };
    run_search(ground, &lists, machine, None, options, extent)
}

fn run_search<S: Sets, M: Machine>(
    ground: Ground<'_>,
    sets: &S,
    machine: &M,
    persistent: Option<&Persistent>,
    options: &Options,
    extent: Extent,
) -> Solution {
    let observed = Observed::new(ground.poset);
    let initial = machine.initial();
    let look = |persistent: Option<&Persistent>, extent: Extent| {
        enumerate::search(ground, sets, initial, persistent, options, extent)
    };
    let mut search = look(persistent, extent);
    let mut solution = Solution {
        engine: "enumerate",
        nodes: search.nodes,
        dropped: search.left_out.dropped,
        limit: search.limit,
        shape: search.whole.then_some(Shape {
            levels: ground.poset.len() as u64 + 1,
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
    let prefix = way(ground, machine, &observed, &spot, &search, options);
    solution.run = prefix.map(|prefix| complete(ground, machine, prefix, shortest));
    solution
}

/// A search that commutes events may find a violation late; looks for one before it.
fn sooner(found: Spot, search: &mut Search, look: impl Fn(Extent) -> Search) -> (Spot, bool) {
    let exact = search.limit.is_none();
    if search.left_out.commuted == 0 {
        return (found, exact);
    }
    let level = found.cut.iter().map(|&n| n as usize).sum::<usize>();
    let again = look(Extent {
        levels: level,
        nodes: REFINE,
    });
    let exact = exact && !again.gave_up && again.limit.is_none();
    search.window = search.window.max(again.window);
    (again.found.unwrap_or(found), exact)
}

/// The events that lead to a spot.
pub(crate) fn way<M: Machine>(
    ground: Ground<'_>,
    machine: &M,
    observed: &Observed,
    spot: &Spot,
    search: &Search,
    options: &Options,
) -> Option<Vec<EventIndex>> {
    let spot_bytes = 64 + 4 * ground.poset.width() as u64;
    let levels = (options.memory / 2) / (search.widest.max(1) * spot_bytes);
    let levels = usize::try_from(levels).unwrap_or(usize::MAX);
    let start = Spot {
        cut: vec![0; ground.poset.width()],
        state: machine.initial(),
    };
    let paths = |window| Paths {
        ground,
        machine,
        observed,
        window,
        lookahead: options.lookahead,
        checkpoints: levels.clamp(2, CHECKPOINTS),
        parallel: options.parallel,
    };
    // What a search with a window reached, a walk with that window reaches too, except if the
    // search left out other cuts for commutation, so that fewer competed for the window.
    let found = search
        .window
        .and_then(|w| paths(Some(w)).find(&start, spot));
    found.or_else(|| paths(None).find(&start, spot))
}

/// A whole run that begins so and goes on in observed order.
pub(crate) fn complete<M: Machine>(
    ground: Ground<'_>,
    machine: &M,
    prefix: Vec<EventIndex>,
    shortest: bool,
) -> Run {
    let mut done = vec![false; ground.poset.len()];
    let mut state = machine.initial();
    // The walk back may meet a violation sooner than a search that was limited did.
    let mut violated_at = None;
    for (step, event) in prefix.iter().enumerate() {
        if machine.verdict(state) == Verdict::Violated {
            violated_at.get_or_insert(step);
        }
        done[event.index()] = true;
        state = machine.step(state, ground.action(*event));
    }
    let violated_at = match machine.verdict(state) {
        Verdict::Violated => violated_at.unwrap_or(prefix.len()),
        // Bad only where the trace ends.
        _ => ground.poset.len(),
    };
    let rest = (0..ground.poset.len() as u32).map(EventIndex);
    let mut events = prefix;
    events.extend(rest.filter(|event| !done[event.index()]));
    Run {
        events,
        violated_at,
        shortest,
    }
}

fn count<M: Machine>(
    poset: &Poset,
    actions: &[ActionId],
    machine: &M,
    options: &Options,
    solution: &mut Solution,
) {
    if options.counting == Counting::Never {
        return;
    }
    // A window or lookahead says that not all runs are wanted; then none are counted.
    if solution.limit.is_some() {
        return;
    }
    let needs = Needs::of_poset(poset);
    let ground = Ground {
        poset,
        needs: &needs,
        actions,
    };
    let most = options.counting.max_cuts();
    if solution.shape.is_none() {
        solution.shape = enumerate::measure(ground, most, options.memory, options.parallel);
    }
    if solution.shape.is_some_and(|shape| shape.cuts <= most) {
        solution.runs = Some(enumerate::count_runs(ground, machine, options.parallel));
    }
}
