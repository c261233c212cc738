//! The maximal model against its definition: all orders of small traces, each checked from scratch.

use super::posets::{random_automaton, shortest_violation};
use portent_lattice::{
    Reductions,
    laboratory::{
        ActionId, Automaton, Poset, Problem, StateIndex,
        maximal::{self, FeasibilityAnswer, FeasibleRun, Rules},
    },
};
use portent_monitor_core::{
    Action, Causality, ChanId, Delivery, Discipline, Event, LockId, Msg, Op, Stamped, Symbols,
    ThreadId, VarId,
};
use portent_monitor_dsl::Verdict;
use portent_testing::{Rng, may_follow, synchronising};

struct Brute<'a> {
    trace: &'a [Event],
    actions: &'a [Option<ActionId>],
    automaton: &'a Automaton,
    /// The fewest steps of the property to a violation.
    fewest: Option<usize>,
    /// The fewest to one that can be completed.
    whole: Option<usize>,
}

impl Brute<'_> {
    fn try_all(&mut self, order: &mut Vec<usize>, state: StateIndex, steps: usize) {
        if self.automaton.verdict(state) == Verdict::Violated {
            let least = |known: Option<usize>| Some(known.map_or(steps, |known| known.min(steps)));
            self.fewest = least(self.fewest);
            if self.whole.is_none_or(|whole| steps < whole) && can_be_completed(self.trace, order) {
                self.whole = least(self.whole);
            }
            return;
        }
        for event in 0..self.trace.len() {
            if order.contains(&event) || !may_follow(self.trace, order, event) {
                continue;
            }
            order.push(event);
            match self.actions[event] {
                Some(action) => self.try_all(order, self.automaton.step(state, action), steps + 1),
                None => self.try_all(order, state, steps),
            }
            order.pop();
        }
    }
}

fn can_be_completed(trace: &[Event], order: &mut Vec<usize>) -> bool {
    if order.len() == trace.len() {
        return true;
    }
    (0..trace.len()).any(|event| {
        if order.contains(&event) || !may_follow(trace, order, event) {
            return false;
        }
        order.push(event);
        let found = can_be_completed(trace, order);
        order.pop();
        found
    })
}

/// The relevant events as happens-before orders them.
pub(super) fn poset(trace: &[Event], actions: &[Option<ActionId>]) -> Poset {
    let mut causality = Causality::default();
    let stamps: Vec<_> = trace
        .iter()
        .zip(actions)
        .filter_map(|(event, action)| causality.step(event, action.is_some()).unwrap())
        .collect();
    let mut poset = Poset::new(causality.chains());
    for stamp in &stamps {
        let mut clock = stamp.clock.counts().to_vec();
        clock.resize(causality.chains(), 0);
        poset.push(stamp.chain, &clock);
    }
    poset
}

pub(super) type Steps = (Automaton, Vec<Option<ActionId>>);

/// Any automaton, and what some of the events do to it.
pub(super) fn random_steps(rng: &mut Rng, trace: &[Event]) -> Steps {
    let automaton = random_automaton(rng);
    let relevant = 1 + rng.below(3);
    let actions = trace.iter().map(|_| {
        let action = ActionId(rng.below(automaton.actions) as u32);
        (rng.below(3) < relevant).then_some(action)
    });
    let actions = actions.collect();
    (automaton, actions)
}

/// Violated if an event comes before one that it was observed after.
pub(super) fn swapped_steps(rng: &mut Rng, trace: &[Event]) -> Steps {
    let later = 1 + rng.below(trace.len() - 1);
    let mut actions = vec![None; trace.len()];
    actions[rng.below(later)] = Some(ActionId(0));
    actions[later] = Some(ActionId(1));
    (first_one(), actions)
}

/// Violated by action 1 first.
pub(super) fn first_one() -> Automaton {
    Automaton {
        initial: StateIndex(0),
        actions: 2,
        next: [1, 2, 1, 1, 2, 2].map(StateIndex).to_vec(),
        verdicts: vec![Verdict::Ok, Verdict::Satisfied, Verdict::Violated],
    }
}

/// Every reduction alone, and all without each.
pub(super) fn reductions() -> Vec<Reductions> {
    let (all, none) = (Reductions::ALL, Reductions::NONE);
    let mut found = vec![all, none];
    let switches: [fn(&mut Reductions) -> &mut bool; 4] = [
        |r| &mut r.commutation,
        |r| &mut r.subsumption,
        |r| &mut r.absorption,
        |r| &mut r.dead_ends,
    ];
    for switch in switches {
        for mut reductions in [all, none] {
            let on = switch(&mut reductions);
            *on = !*on;
            found.push(reductions);
        }
    }
    found
}

/// This many random traces are compared; more if `PORTENT_CASES` asks for them.
fn cases() -> u64 {
    let asked = std::env::var("PORTENT_CASES").ok();
    asked.and_then(|n| n.parse().ok()).unwrap_or(20_000)
}

/// How many cases were of which kind.
#[derive(Debug, Default)]
struct Compared {
    violated: usize,
    safe: usize,
    /// Violated, but not under happens-before.
    widened: usize,
    /// Violated, but no violation can be completed.
    cut_short: usize,
}

impl Compared {
    /// Compares the answers with all settings of reductions to what trying everything finds.
    fn compare(&mut self, seed: u64, trace: &[Event], (automaton, actions): Steps) {
        let mut brute = Brute {
            trace,
            actions: &actions,
            automaton: &automaton,
            fewest: None,
            whole: None,
        };
        brute.try_all(&mut Vec::new(), automaton.initial, 0);
        let (fewest, whole) = (brute.fewest, brute.whole);
        self.violated += usize::from(fewest.is_some());
        self.safe += usize::from(fewest.is_none());
        self.cut_short += usize::from(fewest.is_some() && whole.is_none());

        let rules = Rules::new(trace);
        for on in reductions() {
            let found = maximal::search(&rules, &actions, &automaton, 1 << 20, on);
            let run = match &found.answer {
                FeasibilityAnswer::Violated(run) => run,
                FeasibilityAnswer::Safe => {
                    assert_eq!(fewest, None, "seed {seed}, {on:?}: {trace:?}");
                    continue;
                }
                FeasibilityAnswer::GaveUp => panic!("seed {seed}: gave up"),
            };
            for (index, &event) in run.order.iter().enumerate() {
                let before = &run.order[..index];
                assert!(may_follow(trace, before, event), "seed {seed}, {on:?}");
            }
            let (mut state, mut steps) = (automaton.initial, 0);
            for &event in &run.order[..run.violated_at] {
                assert_ne!(automaton.verdict(state), Verdict::Violated, "seed {seed}");
                if let Some(action) = actions[event] {
                    state = automaton.step(state, action);
                    steps += 1;
                }
            }
            assert_eq!(automaton.verdict(state), Verdict::Violated, "seed {seed}");
            // A whole run if there is one; and then as soon as any.
            let is_whole = run.order.len() == trace.len();
            assert_eq!(
                is_whole,
                whole.is_some() || run.violated_at == trace.len(),
                "seed {seed}, {on:?}"
            );
            assert_eq!(Some(steps), whole.or(fewest), "seed {seed}, {on:?}");
            assert!(
                !run.is_shortest || fewest == Some(steps),
                "seed {seed}, {on:?}"
            );
        }

        // What happens-before allows is feasible.
        let problem = Problem {
            poset: poset(trace, &actions),
            actions: actions.iter().flatten().copied().collect(),
            automaton,
        };
        match shortest_violation(&problem) {
            Some(steps) => assert!(fewest.is_some_and(|fewest| fewest <= steps), "seed {seed}"),
            None => self.widened += usize::from(fewest.is_some()),
        }
    }

    fn assert_many_of_each(&self) {
        let counts = [self.violated, self.safe, self.widened, self.cut_short];
        assert!(counts.iter().all(|&count| count > 50), "{self:?}");
    }
}

fn any_steps(seed: u64, rng: &mut Rng, trace: &[Event]) -> Steps {
    match seed % 2 {
        0 => random_steps(rng, trace),
        _ => swapped_steps(rng, trace),
    }
}

/// Compares the engine with the definition on random traces of some kind.
fn agree_with_the_definition(draw: impl Fn(&mut Rng, usize) -> Vec<Event>) {
    let mut compared = Compared::default();
    for seed in 0..cases() {
        let rng = &mut Rng::new(seed);
        let events = 3 + rng.below(6);
        let trace = draw(rng, events);
        let steps = any_steps(seed, rng, &trace);
        compared.compare(seed, &trace, steps);
    }
    compared.assert_many_of_each();
}

#[test]
fn agrees_with_the_definition() {
    agree_with_the_definition(synchronising);
}

/// This many events, most of which send, receive, or find a channel empty; some find it so though it is not.
fn random_traffic(rng: &mut Rng, events: usize) -> Vec<Event> {
    let threads = 2 + rng.below(2);
    let delivery = rng.pick(&[
        Delivery::Unordered,
        Delivery::Unordered,
        Delivery::Fifo,
        Delivery::Bounded(0),
        Delivery::Bounded(1),
        Delivery::Bounded(2),
    ]);
    let channels = 1 + rng.below(2);
    // Names of messages may come again, unless senders wait for theirs; and a network may deliver twice or lose something.
    let names = match delivery {
        Delivery::Bounded(0) => 100,
        _ => rng.pick(&[1, 2, 100]),
    };
    let is_exact = delivery != Delivery::Unordered || !rng.one_in(4);
    let mut sent = 0;
    let mut inside: Vec<Vec<i64>> = vec![Vec::new(); channels];
    let mut blocked: Vec<(usize, usize)> = Vec::new();
    let mut held = None;
    let mut trace = Vec::new();
    while trace.len() < events {
        let who = rng.below(threads);
        let thread = ThreadId::from_index(who).unwrap();
        let number = rng.below(channels);
        let chan = ChanId::from_index(number).unwrap();
        let queue = &mut inside[number];
        let is_blocked = blocked.iter().any(|&(other, _)| other == who);
        let op = match rng.below(12) {
            _ if is_blocked && blocked.len() < threads => continue,
            // All wait for somebody to receive: one more does.
            _ if is_blocked => {
                trace.push(Event::new(
                    ThreadId::from_index(threads).unwrap(),
                    Op::TryRecv(ChanId::from_index(channels).unwrap()),
                ));
                continue;
            }
            0..=2 => {
                match delivery {
                    Delivery::Bounded(0) if !queue.is_empty() => continue,
                    Delivery::Bounded(0) => blocked.push((who, number)),
                    Delivery::Bounded(room) if queue.len() >= room as usize => continue,
                    _ => {}
                }
                sent += 1;
                let msg = 1 + sent % names;
                queue.push(msg);
                Op::Send(chan, Msg::Number(msg), delivery)
            }
            3..=5 if !queue.is_empty() => {
                let place = match delivery {
                    Delivery::Unordered => rng.below(queue.len()),
                    _ => 0,
                };
                let msg = queue[place];
                if is_exact || rng.one_in(2) {
                    queue.remove(place);
                }
                blocked.retain(|&(_, other)| other != number);
                Op::Recv(chan, Msg::Number(msg), delivery)
            }
            6..=8 if queue.is_empty() || rng.one_in(6) => Op::TryRecv(chan),
            9 => Op::Write(VarId::from_index(0).unwrap(), None),
            10 => Op::Read(VarId::from_index(0).unwrap()),
            11 => {
                let lock = LockId::from_index(0).unwrap();
                match held {
                    None => {
                        held = Some(who);
                        Op::Lock(lock)
                    }
                    Some(holder) if holder == who => {
                        held = None;
                        Op::Unlock(lock)
                    }
                    Some(_) => Op::TryLock(lock),
                }
            }
            _ => continue,
        };
        trace.push(Event::new(thread, op));
    }
    trace
}

#[test]
fn channels_that_are_found_empty_agree_with_the_definition() {
    agree_with_the_definition(random_traffic);
}

#[test]
fn a_channel_is_also_empty_before_anything_is_sent() {
    let [a, b] = [0, 1].map(|i| ThreadId::from_index(i).unwrap());
    let q = ChanId::from_index(0).unwrap();
    let event = || Op::Event(Box::default());
    let message = Msg::Number(1);
    let mut trace = vec![
        Event::new(a, event()),
        Event::new(a, Op::Send(q, message, Delivery::Unordered)),
        Event::new(a, Op::Recv(q, message, Delivery::Unordered)),
        Event::new(b, Op::TryRecv(q)),
        Event::new(b, event()),
    ];
    let mut actions = vec![Some(ActionId(0)), None, None, None, Some(ActionId(1))];
    let answer = |trace: &[Event], actions: &[Option<ActionId>], on| {
        maximal::search(&Rules::new(trace), actions, &first_one(), 100, on).answer
    };
    for on in reductions() {
        let FeasibilityAnswer::Violated(run) = answer(&trace, &actions, on) else {
            panic!("{on:?}: the receive also fails before the send");
        };
        assert_eq!(run.order[..run.violated_at], [3, 4], "{on:?}");
        assert_eq!(run.order.len(), 5, "{on:?}");
    }
    // Somebody who knows that it was sent finds nothing only after it was received.
    let fork = Event::new(a, Op::Fork(b));
    trace.insert(2, fork);
    trace[3].thread = ThreadId::from_index(2).unwrap();
    trace.insert(3, Event::new(trace[3].thread, event()));
    actions = vec![
        None,
        None,
        None,
        Some(ActionId(0)),
        None,
        None,
        Some(ActionId(1)),
    ];
    for on in reductions() {
        assert_eq!(
            answer(&trace, &actions, on),
            FeasibilityAnswer::Safe,
            "{on:?}"
        );
    }
}

#[test]
fn clocks_of_the_trace_are_respected() {
    // Two writes of one variable, the second with or without the first in its clock.
    let [t1, t2] = [0, 1].map(|i| ThreadId::from_index(i).unwrap());
    let write = |thread, clock: &[(ThreadId, u32)]| {
        let action = Action::default().set([(VarId::from_index(0).unwrap(), 1)]);
        Event::new(thread, Stamped::new(action, clock.to_vec()))
    };
    let actions = [Some(ActionId(0)), Some(ActionId(1))];
    let answer = |second: &[(ThreadId, u32)]| {
        let trace = [write(t1, &[(t1, 1)]), write(t2, second)];
        maximal::search(
            &Rules::new(&trace),
            &actions,
            &first_one(),
            100,
            Reductions::ALL,
        )
        .answer
    };
    let second_first = FeasibleRun {
        order: vec![1, 0],
        violated_at: 1,
        is_shortest: true,
    };
    assert_eq!(
        answer(&[(t2, 1)]),
        FeasibilityAnswer::Violated(second_first)
    );
    assert_eq!(answer(&[(t1, 1), (t2, 1)]), FeasibilityAnswer::Safe);
}

#[test]
fn what_a_name_does_after_it_was_forked_again_comes_after_that_fork() {
    let [s, t] = [0, 1].map(|i| ThreadId::from_index(i).unwrap());
    let x = VarId::from_index(0).unwrap();
    let event = || Op::Event(Box::default());
    let trace = [
        Event::new(s, Op::Read(x)),
        Event::new(t, Op::Join(s)),
        Event::new(t, event()),
        Event::new(t, Op::Fork(s)),
        Event::new(s, event()),
    ];
    // Violated if the second event of S comes before that of T.
    let actions = [None, None, Some(ActionId(0)), None, Some(ActionId(1))];
    let found = maximal::search(
        &Rules::new(&trace),
        &actions,
        &first_one(),
        100,
        Reductions::ALL,
    );
    assert_eq!(found.answer, FeasibilityAnswer::Safe);
}

#[test]
fn random_traces_are_runs() {
    let mut symbols = Symbols::default();
    for name in ["0", "1", "2", "3"] {
        symbols.threads.intern(name).unwrap();
        symbols.locks.intern(name).unwrap();
        symbols.vars.intern(name).unwrap();
        symbols.chans.intern(name).unwrap();
        symbols.conds.intern(name).unwrap();
        symbols.barriers.intern(name).unwrap();
    }
    let mut forked_again = 0;
    for seed in 0..2_000 {
        let trace = synchronising(&mut Rng::new(seed), 8);
        let mut discipline = Discipline::default();
        let joined = trace.iter().position(|e| matches!(e.op, Op::Join(_)));
        let mut after = trace[joined.unwrap_or(trace.len())..].iter();
        forked_again += usize::from(after.any(|e| e.thread == ThreadId::from_index(2).unwrap()));
        for event in &trace {
            discipline
                .admit(event, &symbols)
                .unwrap_or_else(|error| panic!("seed {seed}: {error:?}"));
        }
    }
    assert!(forked_again > 0, "a joined name acts again");
}

#[test]
fn a_wait_releases_its_lock_and_takes_it_again() {
    let [t1, t2] = [0, 1].map(|i| ThreadId::from_index(i).unwrap());
    let lock = LockId::from_index(0).unwrap();
    let [x, y] = [0, 1].map(|i| VarId::from_index(i).unwrap());
    // The second thread gets the lock though the first never says that it released it.
    let mut trace = vec![
        Event::new(t1, Op::Lock(lock)),
        Event::new(t1, Op::Write(x, None)),
        Event::new(t2, Op::Lock(lock)),
        Event::new(t2, Op::Write(y, None)),
    ];
    let mut actions = vec![None, Some(ActionId(0)), None, Some(ActionId(1))];
    let answer = |trace: &[Event], actions: &[Option<ActionId>]| {
        maximal::search(
            &Rules::new(trace),
            actions,
            &first_one(),
            100,
            Reductions::ALL,
        )
        .answer
    };
    // Between its lock and its write it had no chance to.
    trace.push(Event::new(t1, Op::Unlock(lock)));
    actions.push(None);
    let first = FeasibilityAnswer::Violated(FeasibleRun {
        order: vec![2, 3],
        violated_at: 2,
        is_shortest: true,
    });
    assert_eq!(answer(&trace, &actions), first, "the sections swapped");
    trace.insert(0, Event::new(t2, Op::Read(x)));
    trace.insert(0, Event::new(t1, Op::Fork(t2)));
    trace.swap(1, 2);
    trace.swap(2, 3);
    // Now the second thread begins by reading what the first wrote under the lock.
    let actions = [
        None,
        None,
        Some(ActionId(0)),
        None,
        None,
        Some(ActionId(1)),
        None,
    ];
    assert_eq!(answer(&trace, &actions), FeasibilityAnswer::Safe);
}

#[test]
fn many_locks_held_take_little_memory() {
    let t1 = ThreadId::from_index(0).unwrap();
    let trace: Vec<Event> = (0..100_000)
        .map(|i| Event::new(t1, Op::Lock(LockId::from_index(i).unwrap())))
        .collect();
    // A list of what is held after each event would have five billion entries.
    assert_eq!(Rules::new(&trace).len(), 100_000);
}
