//! The model `strong` against its definition: all runs of small random traces that leave something out, each event checked from scratch.

use std::collections::{HashMap, HashSet};

use super::{
    maximal::{Steps, first_one, poset, random_steps, reductions, swapped_steps},
    posets::shortest_violation,
};
use portent_lattice::{
    Checker, Model, Options, Reductions,
    laboratory::{
        ActionId, Automaton, Problem, StateIndex,
        maximal::{self, FeasibilityAnswer, FeasibleRun, Rules},
        strong::{self, Guards},
    },
};
use portent_monitor_core::{Event, LockId, Op, Symbols, ThreadId, Value, VarId};
use portent_monitor_dsl::{Property, Verdict};
use portent_testing::{Rng, RunModel, Runs, may_follow_leaving_out, synchronising};

/// This many random traces are compared; more if `PORTENT_CASES` asks for them.
fn cases() -> u64 {
    let asked = std::env::var("PORTENT_CASES").ok();
    asked.and_then(|n| n.parse().ok()).unwrap_or(5_000)
}

/// The fewest steps to a violation, over all runs.
fn fewest(trace: &[Event], (automaton, actions): &Steps) -> Option<usize> {
    let runs = Runs::new(trace, RunModel::Strong);
    // What was done, and where that led to, with how many steps.
    let mut reached: HashMap<(u64, StateIndex), usize> = HashMap::new();
    let mut level: Vec<(u64, StateIndex)> = vec![(0, automaton.initial)];
    let mut fewest: Option<usize> = None;
    while let Some((done, state)) = level.pop() {
        let steps = members(done, trace.len()).into_iter();
        let steps = steps.filter(|&event| actions[event].is_some()).count();
        if reached.insert((done, state), steps).is_some() {
            continue;
        }
        if automaton.verdict(state) == Verdict::Violated {
            fewest = Some(fewest.map_or(steps, |known| known.min(steps)));
            continue;
        }
        let events = members(done, trace.len());
        for (event, action) in actions.iter().enumerate() {
            if runs.may_follow(&events, event) {
                let after = action.map_or(state, |action| automaton.step(state, action));
                level.push((done | 1 << event, after));
            }
        }
    }
    fewest
}

/// Whether a run that was found is one, and violated where it is said to be.
fn examine(trace: &[Event], (automaton, actions): &Steps, run: &FeasibleRun) -> usize {
    let mut done: Vec<usize> = Vec::new();
    let (mut state, mut steps) = (automaton.initial, 0);
    for (place, &event) in run.order.iter().enumerate() {
        let is_violated = automaton.verdict(state) == Verdict::Violated;
        assert!(!is_violated, "violated after {place} already: {run:?}");
        assert!(
            may_follow_leaving_out(trace, &done, event),
            "{event} in {run:?}"
        );
        done.push(event);
        done.sort_unstable();
        if let Some(action) = actions[event] {
            state = automaton.step(state, action);
            steps += 1;
        }
    }
    assert_eq!(automaton.verdict(state), Verdict::Violated, "{run:?}");
    assert_eq!(run.violated_at, run.order.len());
    steps
}

/// The events of a set, in observed order.
fn members(set: u64, events: usize) -> Vec<usize> {
    (0..events).filter(|event| set >> event & 1 == 1).collect()
}

#[derive(Debug, Default)]
struct Compared {
    violated: usize,
    safe: usize,
    /// Violated, but not under happens-before.
    widened: usize,
    /// Not violated, but under the maximal model.
    narrowed: usize,
}

impl Compared {
    fn compare(&mut self, seed: u64, trace: &[Event], steps: Steps) {
        let expected = fewest(trace, &steps);
        let (automaton, actions) = &steps;
        let guards = Guards::new(trace).expect("few events");
        for on in reductions() {
            let found = strong::search(&guards, actions, automaton, 1 << 20, on);
            match (found.answer, expected) {
                (FeasibilityAnswer::Safe, None) => {}
                (FeasibilityAnswer::Violated(run), Some(fewest)) => {
                    let steps = examine(trace, &steps, &run);
                    assert!(steps >= fewest, "seed {seed}, {on:?}");
                    let is_right = !run.is_shortest || steps == fewest;
                    assert!(is_right, "seed {seed}, {on:?}: {run:?}, but {fewest}");
                }
                (found, expected) => {
                    panic!(
                        "seed {seed}, {on:?}: {found:?} instead of {expected:?} for {trace:#?} {steps:?}"
                    )
                }
            }
        }
        // Each model is part of the next.
        let problem = Problem {
            poset: poset(trace, actions),
            actions: actions.iter().copied().flatten().collect(),
            automaton: automaton.clone(),
        };
        let by_happens_before = shortest_violation(&problem);
        assert!(
            by_happens_before.is_none() || expected.is_some(),
            "seed {seed}"
        );
        let rules = Rules::new(trace);
        let all = maximal::search(&rules, actions, automaton, 1 << 20, Reductions::ALL).answer;
        let is_feasible = matches!(all, FeasibilityAnswer::Violated(_));
        assert!(expected.is_none() || is_feasible, "seed {seed}");
        match expected {
            Some(_) => self.violated += 1,
            None => self.safe += 1,
        }
        self.widened += usize::from(expected.is_some() && by_happens_before.is_none());
        self.narrowed += usize::from(expected.is_none() && is_feasible);
    }

    fn assert_many_of_each(&self) {
        let counts = [self.violated, self.safe, self.widened];
        let are_many = counts.iter().all(|&count| count > 5);
        assert!(are_many && self.narrowed > 0, "{self:?}");
    }
}

#[test]
fn any_steps_agree_with_all_runs_and_the_models_include_each_other() {
    let mut compared = Compared::default();
    for seed in 0..cases() {
        let mut rng = Rng::new(seed);
        let events = 6 + rng.below(7);
        let trace = synchronising(&mut rng, events);
        let steps = random_steps(&mut rng, &trace);
        compared.compare(seed, &trace, steps);
    }
    compared.assert_many_of_each();
}

#[test]
fn a_swap_agrees_with_all_runs_and_the_models_include_each_other() {
    let mut compared = Compared::default();
    for seed in 0..cases() {
        let mut rng = Rng::new(seed + 1_000_000);
        let events = 6 + rng.below(8);
        let trace = synchronising(&mut rng, events);
        let steps = match rng.below(2) {
            0 => swapped_steps(&mut rng, &trace),
            _ => reversed_steps(&mut rng, &trace),
        };
        compared.compare(seed, &trace, steps);
    }
    compared.assert_many_of_each();
}

/// Violated if two events come in the order in which they were not observed.
fn reversed_steps(rng: &mut Rng, trace: &[Event]) -> Steps {
    let (_, actions) = swapped_steps(rng, trace);
    let automaton = Automaton {
        initial: StateIndex(0),
        actions: 2,
        next: [2, 1, 3, 1, 2, 2, 3, 3].map(StateIndex).to_vec(),
        verdicts: vec![
            Verdict::Ok,
            Verdict::Ok,
            Verdict::Satisfied,
            Verdict::Violated,
        ],
    };
    (automaton, actions)
}

/// The report of a property on a trace.
fn is_violated(text: &str, trace: &[Event], symbols: &Symbols, model: Model) -> bool {
    let monitor = Property::parse(text).unwrap().monitor().unwrap();
    let options = Options::default().causality(model);
    let mut checker = Checker::new([monitor], |_| Some(Value::from(0)), options).unwrap();
    *checker.symbols_mut() = symbols.clone();
    for event in trace {
        checker.take(event).unwrap();
    }
    let report = checker.finish("random").unwrap();
    assert!(
        report
            .properties
            .iter()
            .all(|property| property.lattice.exhaustive)
    );
    assert!(model == Model::HappensBefore || report.properties.iter().all(|p| p.runs.is_none()));
    report.is_violated()
}

#[test]
fn conditions_that_hold_together_agree_with_all_runs() {
    let mut symbols = Symbols::default();
    for name in ["a", "b", "c", "d"] {
        symbols.threads.intern(name).unwrap();
        symbols.locks.intern(name).unwrap();
    }
    for name in ["x", "y"] {
        symbols.vars.intern(name).unwrap();
    }
    let [x, y] = [0, 1].map(|index| VarId::from_index(index).unwrap());
    let (mut found, mut none, mut widened) = (0, 0, 0);
    for seed in 0..cases() {
        let mut rng = Rng::new(seed + 2_000_000);
        let mut trace = sections(&mut rng, [x, y]);
        // In half of the traces every variable is written by one thread.
        if rng.one_in(2) {
            for event in &mut trace {
                if let Op::Write(var, _) = &mut event.op {
                    *var = [x, y][event.thread.index() % 2];
                }
            }
        }
        let value = |set: u64, var: VarId| {
            let last = { members(set, trace.len()).into_iter().rev() }.find_map(|event| {
                let mut writes = trace[event].writes();
                writes.find_map(|(v, value)| (v == var).then(|| value.cloned()))
            });
            last.flatten().unwrap_or(Value::from(0))
        };
        let both = |&set: &u64| [x, y].iter().all(|&var| value(set, var) == Value::from(1));
        let expected = Runs::new(&trace, RunModel::Strong)
            .reached()
            .iter()
            .any(both);
        let text = "always !(x == 1 && y == 1)";
        let strong = is_violated(text, &trace, &symbols, Model::Strong);
        assert_eq!(strong, expected, "seed {seed}: {trace:#?}");
        let less = is_violated(text, &trace, &symbols, Model::HappensBefore);
        let more = is_violated(text, &trace, &symbols, Model::Maximal);
        assert!(less <= strong && strong <= more, "seed {seed}");
        *if expected { &mut found } else { &mut none } += 1;
        widened += usize::from(expected && !less);
    }
    assert!(
        found > 20 && none > 20 && widened > 5,
        "{found}, {none}, {widened}"
    );
}

/// Writes of 0 and 1 by three threads, mostly inside critical sections.
fn sections(rng: &mut Rng, vars: [VarId; 2]) -> Vec<Event> {
    let threads: Vec<ThreadId> = ThreadId::first(3).collect();
    let locks: Vec<LockId> = LockId::first(2).collect();
    let mut trace = Vec::new();
    let mut held: HashMap<LockId, ThreadId> = HashMap::new();
    while trace.len() < 12 {
        let thread = rng.pick(&threads);
        let lock = rng.pick(&locks);
        let op = match (rng.below(3), held.get(&lock)) {
            (0, None) => {
                held.insert(lock, thread);
                Op::Lock(lock)
            }
            (0, Some(&holder)) if holder == thread => {
                held.remove(&lock);
                Op::Unlock(lock)
            }
            (0, _) => continue,
            (1, _) => Op::Read(rng.pick(&vars)),
            _ => Op::Write(rng.pick(&vars), Some(Value::from(rng.below(2) as i64))),
        };
        trace.push(Event::new(thread, op));
    }
    trace
}

#[test]
fn a_search_that_is_cut_off_says_so() {
    let [t1, t2] = [0, 1].map(|index| ThreadId::from_index(index).unwrap());
    let [x, y] = [0, 1].map(|index| VarId::from_index(index).unwrap());
    let mut trace = Vec::new();
    for _ in 0..10 {
        trace.push(Event::new(t1, Op::Write(x, None)));
        trace.push(Event::new(t2, Op::Write(x, None)));
    }
    trace.push(Event::new(t1, Op::Write(y, None)));
    trace.push(Event::new(t2, Op::Write(y, None)));
    let mut actions = vec![None; trace.len()];
    (actions[20], actions[21]) = (Some(ActionId(0)), Some(ActionId(1)));
    let steps = (first_one(), actions);
    let guards = Guards::new(&trace).unwrap();
    let without = Reductions::NONE;
    let cut_off = strong::search(&guards, &steps.1, &steps.0, 5, without);
    assert_eq!(cut_off.answer, FeasibilityAnswer::GaveUp);
    assert!(cut_off.left > 0);
    let found = strong::search(&guards, &steps.1, &steps.0, 10_000, without);
    let FeasibilityAnswer::Violated(run) = found.answer else {
        panic!("the second thread can do without the first");
    };
    assert_eq!(examine(&trace, &steps, &run), 1);
    let kept: HashSet<usize> = run.order.iter().copied().collect();
    assert!(!kept.contains(&20));
}
