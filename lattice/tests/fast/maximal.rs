//! The maximal model against its definition: all orders of small traces, each checked from scratch.

use super::posets::{random_automaton, shortest_violation};
use crate::oracle::feasible::may_follow;
use portent_lattice::laboratory::{
    ActionId, Automaton, Poset, Problem, StateIndex,
    maximal::{self, MaximalAnswer, Rules},
};
use portent_monitor_core::{
    Action, BarrierId, Causality, ChanId, CondId, Delivery, Details, Discipline, Event, LockId,
    Msg, Op, Stamped, Symbols, ThreadId, Value, VarId,
};
use portent_monitor_dsl::Verdict;
use portent_testing::Rng;

/// So many events that are feasible as they stand. That asks for more than the discipline does: locks exclude each other, and
/// nobody is joined who holds one.
fn random_trace(rng: &mut Rng, events: usize) -> Vec<Event> {
    let threads: Vec<ThreadId> = (0..3).map(|i| ThreadId::from_index(i).unwrap()).collect();
    let mut trace: Vec<Event> = Vec::new();
    let mut held: Vec<(ThreadId, LockId, bool)> = Vec::new();
    // Who waits for a condition, and the lock that was given back.
    let mut waits: Vec<(ThreadId, LockId)> = Vec::new();
    let mut sent = 0;
    let mut rounds = 0;
    // The last thread may be started and waited for by the first, again and again; or it runs from
    // the start.
    let mut runs = rng.below(2) == 0;
    let mut known = false;
    // Messages and the like order much; half of the traces do without.
    let kinds = [10, 17][rng.below(2)];
    while trace.len() < events {
        let who = rng.below(if runs { 3 } else { 2 });
        let thread = threads[who];
        // Who waits does nothing else.
        let wakes = waits.iter().any(|&(waiter, _)| waiter == thread);
        let lock = LockId::from_index(rng.below(2)).unwrap();
        let var = VarId::from_index(rng.below(2)).unwrap();
        let chan = ChanId::from_index(0).unwrap();
        let cond = CondId::from_index(0).unwrap();
        let mine = held.iter().rposition(|&(holder, ..)| holder == thread);
        let op = match if wakes { 12 } else { rng.below(kinds) } {
            0..=2 => Op::Write(var, None),
            3..=4 => Op::Read(var),
            5 => Op::Update(var, None),
            6 if !held.iter().any(|&(_, other, _)| other == lock) => {
                held.push((thread, lock, true));
                Op::Lock(lock)
            }
            7 if !held.iter().any(|&(holder, other, exclusive)| {
                other == lock && (exclusive || holder == thread)
            }) =>
            {
                held.push((thread, lock, false));
                Op::ReadLock(lock)
            }
            8..=9 if mine.is_some() => match held.remove(mine.unwrap()) {
                (_, lock, true) => Op::Unlock(lock),
                (_, lock, false) => Op::ReadUnlock(lock),
            },
            10 => {
                sent += 1;
                Op::Send(chan, Msg::Number(sent), Delivery::Unordered)
            }
            11 if sent > 0 => {
                let msg = Msg::Number(1 + rng.below(sent as usize) as i64);
                Op::Recv(chan, msg, Delivery::Unordered)
            }
            12 => match rng.below(5) {
                0 => Op::Notify(cond),
                1 => Op::Waiting(cond, None),
                2 => Op::TryRecv(chan),
                // What a wait gave back it takes again, if it does.
                _ => match waits.iter().position(|&(waiter, _)| waiter == thread) {
                    Some(wait) if held.iter().any(|&(_, lock, _)| lock == waits[wait].1) => {
                        continue;
                    }
                    Some(wait) => {
                        let (_, lock) = waits.remove(wait);
                        held.push((thread, lock, true));
                        Op::Wait(cond, Some(lock))
                    }
                    None => Op::Wait(cond, None),
                },
            },
            // A try fails whether or not it was seen why.
            15 => Op::TryLock(lock),
            16 => match held
                .iter()
                .rposition(|&(holder, _, exclusive)| holder == thread && exclusive)
            {
                Some(mine) => {
                    let (_, lock, _) = held.remove(mine);
                    waits.push((thread, lock));
                    Op::Waiting(cond, Some(lock))
                }
                None => continue,
            },
            13 => match rng.below(3) {
                0 if !runs && who == 0 => {
                    (runs, known) = (true, true);
                    Op::Fork(threads[2])
                }
                0 | 1 if runs && known && who == 0 => {
                    if held.iter().any(|&(holder, ..)| holder == threads[2]) {
                        continue;
                    }
                    runs = false;
                    Op::Join(threads[2])
                }
                2 => {
                    // The first two come to a barrier, and go on only then.
                    rounds += 1;
                    let op = Op::Barrier(BarrierId::from_index(0).unwrap(), rounds);
                    trace.push(Event::new(threads[1 - who.min(1)], op.clone()));
                    trace.push(Event::new(threads[who.min(1)], op));
                    continue;
                }
                _ => continue,
            },
            14 => {
                let set = (0..2).map(|i| (VarId::from_index(i).unwrap(), Value::from(1)));
                Action::default().set(set).into()
            }
            _ => continue,
        };
        known |= who == 2;
        let mut event = Event::new(thread, op);
        let is_joint = matches!(
            event.op,
            Op::Read(_) | Op::Write(..) | Op::Update(..) | Op::Event(_)
        );
        if is_joint && rng.one_in(10) {
            let mut details = Details::default();
            details.partners.push(threads[usize::from(who == 0)]);
            event.details = Some(Box::new(details));
        }
        trace.push(event);
    }
    trace
}

struct Brute<'a> {
    trace: &'a [Event],
    actions: &'a [Option<ActionId>],
    automaton: &'a Automaton,
    /// The fewest steps of the property to a violation.
    fewest: Option<usize>,
}

impl Brute<'_> {
    fn try_all(&mut self, order: &mut Vec<usize>, state: StateIndex, steps: usize) {
        if self.automaton.verdict(state) == Verdict::Violated {
            self.fewest = Some(self.fewest.map_or(steps, |fewest| fewest.min(steps)));
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

/// The relevant events as happens-before orders them.
fn poset(trace: &[Event], actions: &[Option<ActionId>]) -> Poset {
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
        poset.push(stamp.chain.index(), &clock);
    }
    poset
}

type Steps = (Automaton, Vec<Option<ActionId>>);

/// Any automaton, and what some of the events do to it.
fn random_steps(rng: &mut Rng, trace: &[Event]) -> Steps {
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
fn swapped_steps(rng: &mut Rng, trace: &[Event]) -> Steps {
    let later = 1 + rng.below(trace.len() - 1);
    let mut actions = vec![None; trace.len()];
    actions[rng.below(later)] = Some(ActionId(0));
    actions[later] = Some(ActionId(1));
    (first_one(), actions)
}

/// Violated by action 1 first.
fn first_one() -> Automaton {
    Automaton {
        initial: StateIndex(0),
        actions: 2,
        next: [1, 2, 1, 1, 2, 2].map(StateIndex).to_vec(),
        verdicts: vec![Verdict::Ok, Verdict::Satisfied, Verdict::Violated],
    }
}

#[test]
fn agrees_with_the_definition() {
    let (mut violated, mut safe, mut widened) = (0, 0, 0);
    for seed in 0..40_000 {
        let rng = &mut Rng::new(seed);
        let events = 3 + rng.below(6);
        let trace = random_trace(rng, events);
        let (automaton, actions) = match seed % 2 {
            0 => random_steps(rng, &trace),
            _ => swapped_steps(rng, &trace),
        };
        let rules = Rules::new(&trace);
        let found = maximal::search(&rules, &actions, &automaton, 1 << 20);

        let mut brute = Brute {
            trace: &trace,
            actions: &actions,
            automaton: &automaton,
            fewest: None,
        };
        brute.try_all(&mut Vec::new(), automaton.initial, 0);
        let fewest = brute.fewest;
        match &found.answer {
            MaximalAnswer::Violated(prefix) => {
                violated += 1;
                let mut state = automaton.initial;
                let mut steps = 0;
                for (index, &event) in prefix.iter().enumerate() {
                    assert!(may_follow(&trace, &prefix[..index], event), "seed {seed}");
                    assert_ne!(automaton.verdict(state), Verdict::Violated, "seed {seed}");
                    if let Some(action) = actions[event] {
                        state = automaton.step(state, action);
                        steps += 1;
                    }
                }
                assert_eq!(automaton.verdict(state), Verdict::Violated, "seed {seed}");
                assert_eq!(fewest, Some(steps), "seed {seed}");
            }
            MaximalAnswer::Safe => {
                safe += 1;
                assert_eq!(fewest, None, "seed {seed}: {trace:?}");
            }
            MaximalAnswer::GaveUp => panic!("seed {seed}: gave up"),
        }

        // What happens-before allows is feasible.
        let problem = Problem {
            poset: poset(&trace, &actions),
            actions: actions.iter().flatten().copied().collect(),
            automaton,
        };
        match shortest_violation(&problem) {
            Some(steps) => assert!(fewest.is_some_and(|fewest| fewest <= steps), "seed {seed}"),
            None => widened += usize::from(fewest.is_some()),
        }
    }
    let counts = [violated, safe, widened];
    assert!(counts.iter().all(|&count| count > 300), "{counts:?}");
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
        maximal::search(&Rules::new(&trace), &actions, &first_one(), 100).answer
    };
    assert_eq!(answer(&[(t2, 1)]), MaximalAnswer::Violated(vec![1]));
    assert_eq!(answer(&[(t1, 1), (t2, 1)]), MaximalAnswer::Safe);
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
    let found = maximal::search(&Rules::new(&trace), &actions, &first_one(), 100);
    assert_eq!(found.answer, MaximalAnswer::Safe);
}

#[test]
fn random_traces_are_runs() {
    let mut symbols = Symbols::default();
    for name in ["0", "1", "2"] {
        symbols.threads.intern(name).unwrap();
        symbols.locks.intern(name).unwrap();
        symbols.vars.intern(name).unwrap();
        symbols.chans.intern(name).unwrap();
        symbols.conds.intern(name).unwrap();
        symbols.barriers.intern(name).unwrap();
    }
    let mut forked_again = 0;
    for seed in 0..2_000 {
        let trace = random_trace(&mut Rng::new(seed), 8);
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
        maximal::search(&Rules::new(trace), actions, &first_one(), 100).answer
    };
    // Between its lock and its write it had no chance to.
    trace.push(Event::new(t1, Op::Unlock(lock)));
    actions.push(None);
    let first = MaximalAnswer::Violated(vec![2, 3]);
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
    assert_eq!(answer(&trace, &actions), MaximalAnswer::Safe);
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
