//! The checker refuses what is not a run, or does not end as claimed.

use portent_findings::{
    EventId, Finder, Options,
    check::{Checker, Claim, Flaw},
};
use portent_monitor_core::{Event, LockId, Mark, Marker, NameId, Op, ThreadId, VarId};
use portent_testing::{Rng, RunModel, Runs, sharing, synchronising};

use crate::{
    brute::AllRuns,
    hunt::{cases, dress},
};

fn taken(events: &[Event]) -> Finder {
    let mut finder = Finder::new(Options::default());
    for event in events {
        finder.take(event).unwrap();
    }
    finder
}

fn ids(events: &[usize]) -> Vec<EventId> {
    let id = |&event: &usize| EventId::from(event as u32);
    events.iter().map(id).collect()
}

fn of(thread: u32, op: Op) -> Event {
    Event::new(ThreadId::from(thread), op)
}

/// T1: write x, lock m, write y, unlock m. T2: lock m, read y, unlock m, write x. T1 forks T3, which writes x.
fn finder() -> Finder {
    let mut finder = Finder::new(Options::default());
    let s = finder.symbols_mut();
    let [t1, t2, t3] = ["T1", "T2", "T3"].map(|name| s.threads.intern(name).unwrap());
    let [x, y] = ["x", "y"].map(|name| s.vars.intern(name).unwrap());
    let m = s.locks.intern("m").unwrap();
    for (thread, op) in [
        (t1, Op::Write(x, None)),
        (t1, Op::Lock(m)),
        (t1, Op::Write(y, None)),
        (t1, Op::Unlock(m)),
        (t2, Op::Lock(m)),
        (t2, Op::Read(y)),
        (t2, Op::Unlock(m)),
        (t2, Op::Write(x, None)),
        (t1, Op::Fork(t3)),
        (t3, Op::Write(x, None)),
    ] {
        finder.take(&Event::new(thread, op)).unwrap();
    }
    finder
}

#[track_caller]
fn check(run: &[u32], claim: [u32; 2], expected: Result<(), Flaw>) {
    let finder = finder();
    let run: Vec<EventId> = run.iter().copied().map(EventId::from).collect();
    let claim = Claim::Race(claim.map(EventId::from));
    assert_eq!(Checker::new(finder.record()).check(&run, &claim), expected);
}

#[test]
fn a_run_is_carried_out() {
    let id = EventId::from;
    check(&[0, 1, 2, 3, 4, 5, 6, 8], [7, 9], Ok(()));
    check(&[0, 1, 2, 3, 8, 4, 5, 6], [7, 9], Ok(()));
    check(&[0, 2], [7, 9], Err(Flaw::OutOfTurn(id(2))));
    check(&[0, 1, 4], [7, 9], Err(Flaw::LockHeld(id(4))));
    check(&[4, 5], [7, 9], Err(Flaw::OtherWrite(id(5))));
    check(&[9], [7, 9], Err(Flaw::TooEarly(id(9), id(8))));
    check(&[0, 1, 2, 3, 4, 5, 6], [7, 9], Err(Flaw::NotAsClaimed));
    check(&[0, 1, 2, 3, 4], [5, 2], Err(Flaw::NotAsClaimed));
    check(&[], [0, 4], Err(Flaw::NotAsClaimed));
}

#[track_caller]
fn check_deadlock(events: &[Event], run: &[usize], claim: &[usize], expected: Result<(), Flaw>) {
    let finder = taken(events);
    let checker = Checker::new(finder.record());
    let claim = Claim::Deadlock(ids(claim));
    assert_eq!(checker.check(&ids(run), &claim), expected);
}

#[test]
fn each_of_a_deadlock_waits_for_the_next() {
    let [a, b] = [0, 1].map(|lock: u32| LockId::from(lock));
    let mut events = vec![
        of(0, Op::Lock(a)),
        of(0, Op::Lock(b)),
        of(0, Op::Unlock(b)),
        of(0, Op::Unlock(a)),
        of(1, Op::Lock(b)),
        of(1, Op::Lock(a)),
        of(2, Op::Lock(a)),
    ];
    let no = || Err(Flaw::NotAsClaimed);
    check_deadlock(&events, &[0, 4], &[1, 5], Ok(()));
    check_deadlock(&events, &[4, 0], &[5, 1], Ok(()));
    // Somebody holds nothing, is not there, or is alone.
    check_deadlock(&events, &[0], &[1, 5], no());
    check_deadlock(&events, &[0, 1, 2, 3, 4], &[1, 5], no());
    check_deadlock(&events, &[0, 4], &[1], no());
    check_deadlock(&events, &[0, 4], &[], no());
    // The third waits, and nobody for it.
    check_deadlock(&events, &[0, 4], &[1, 6], no());
    check_deadlock(&events, &[0, 4], &[6, 1, 5], no());
    check_deadlock(
        &events,
        &[0, 1, 4],
        &[1, 5],
        Err(Flaw::LockHeld(EventId::from(4))),
    );
    // A try does not wait, and who shares a lock waits for those who do not.
    events[5].mark = Some(Mark::Try);
    check_deadlock(&events, &[0, 4], &[1, 5], no());
    events[5] = of(1, Op::ReadLock(a));
    check_deadlock(&events, &[0, 4], &[1, 5], Ok(()));
    (events[0], events[3]) = (of(0, Op::ReadLock(a)), of(0, Op::ReadUnlock(a)));
    check_deadlock(&events, &[0, 4], &[1, 5], no());
    // A request may be that of a reader, who does not wait for readers; it waits if its thread does nothing more.
    events[5] = of(1, Op::Request(a));
    check_deadlock(&events, &[0, 4], &[1, 5], no());
    (events[0], events[3]) = (of(0, Op::Lock(a)), of(0, Op::Unlock(a)));
    check_deadlock(&events, &[0, 4], &[1, 5], Ok(()));
    events.push(of(1, Op::Lock(a)));
    check_deadlock(&events, &[0, 4], &[1, 5], no());
}

#[test]
fn a_try_that_failed_fails_again() {
    let m = LockId::from(0);
    let x = VarId::from(0);
    let finder = taken(&[
        of(0, Op::Lock(m)),
        of(1, Op::TryLock(m)),
        of(1, Op::Write(x, None)),
        of(0, Op::Unlock(m)),
        of(0, Op::Write(x, None)),
    ]);
    let checker = Checker::new(finder.record());
    let check = |run: &[usize]| checker.check(&ids(run), &Claim::Race([2, 4].map(EventId::from)));
    let flaw = Err(Flaw::LockFree(EventId::from(1)));
    assert_eq!(check(&[0, 1, 3]), Ok(()));
    assert_eq!(check(&[1]), flaw);
    assert_eq!(check(&[0, 3, 1]), flaw);

    // Nobody is seen to hold it alone: then it stays where it was.
    let finder = taken(&[
        of(0, Op::ReadLock(m)),
        of(1, Op::TryLock(m)),
        of(1, Op::Write(x, None)),
        of(0, Op::ReadUnlock(m)),
        of(0, Op::Lock(m)),
        of(0, Op::Write(x, None)),
    ]);
    let checker = Checker::new(finder.record());
    let check = |run: &[usize]| checker.check(&ids(run), &Claim::Race([2, 5].map(EventId::from)));
    assert_eq!(check(&[0, 1, 3, 4]), Ok(()));
    let early = Flaw::TooEarly(EventId::from(4), EventId::from(1));
    assert_eq!(check(&[0, 3, 4, 1]), Err(early));
}

#[test]
fn a_cycle_goes_from_one_transaction_to_another_and_back() {
    let (x, y) = (VarId::from(0), VarId::from(1));
    let block = |marker| Op::Marker(marker, Some(NameId::from(0)));
    let finder = taken(&[
        of(0, block(Marker::Begin)),
        of(0, Op::Read(x)),
        of(1, Op::Write(x, None)),
        of(1, Op::Write(y, None)),
        of(0, Op::Write(x, None)),
        of(0, block(Marker::End)),
        of(0, Op::Write(y, None)),
    ]);
    let checker = Checker::new(finder.record());
    let check = |begin: u32, cycle: &[[u32; 2]]| {
        let cycle: Vec<_> = cycle.iter().map(|pair| pair.map(EventId::from)).collect();
        checker.check_cycle(EventId::from(begin), &cycle)
    };
    let no = Err(Flaw::NotAsClaimed);
    assert_eq!(check(0, &[[1, 2], [2, 4]]), Ok(()));
    assert_eq!(check(0, &[[2, 4], [1, 2]]), Ok(()));
    assert_eq!(check(2, &[[1, 2], [2, 4]]), Ok(()));
    // Of another block; not back; through the end of the block; with nothing in between.
    assert_eq!(check(6, &[[1, 2], [2, 4]]), no);
    assert_eq!(check(0, &[[1, 2]]), no);
    assert_eq!(check(0, &[[1, 2], [3, 6]]), no);
    assert_eq!(check(0, &[[1, 4]]), no);
    assert_eq!(check(0, &[]), no);
    // The second thread's writes are transactions of their own, and what it writes last the block does not touch.
    let unordered = |later: u32, earlier: u32| {
        Err(Flaw::TooEarly(EventId::from(later), EventId::from(earlier)))
    };
    assert_eq!(check(0, &[[1, 2], [2, 3], [3, 4]]), unordered(4, 3));
    assert_eq!(check(0, &[[4, 2], [2, 4]]), unordered(2, 4));
}

/// A random walk: mostly events that may follow, now and then another.
fn walk(rng: &mut Rng, runs: &Runs) -> Vec<usize> {
    let count = runs.events().len();
    let mut order: Vec<usize> = Vec::new();
    while !rng.one_in(count) {
        let may = |event: &usize| runs.may_follow(&order, *event);
        let can: Vec<usize> = (0..count).filter(may).collect();
        let next = if rng.one_in(20) {
            rng.below(count)
        } else if can.is_empty() {
            break;
        } else {
            rng.pick(&can)
        };
        if order.contains(&next) {
            break;
        }
        order.push(next);
    }
    order
}

/// Whether each event of a run may follow those before it.
fn is_run(runs: &Runs, run: &[usize]) -> bool {
    (0..run.len()).all(|done| runs.may_follow(&run[..done], run[done]))
}

#[test]
fn what_the_checker_accepts_are_the_runs_of_the_definition() {
    let (mut accepted, mut refused, mut races, mut deadlocks) = (0, 0, 0, 0);
    for seed in 0..cases() {
        let mut rng = Rng::new(seed);
        let of_everything = rng.one_in(2);
        let events = if of_everything {
            synchronising(&mut rng, 12)
        } else {
            sharing(&mut rng, 24)
        };
        let events = dress(&mut rng, events, 0);
        if events.len() < 2 {
            continue;
        }
        let finder = taken(&events);
        let checker = Checker::new(finder.record());
        let [all, strong] = [RunModel::Maximal, RunModel::Strong].map(|m| Runs::new(&events, m));
        let ends = AllRuns::of(&all);
        for _ in 0..8 {
            let run = walk(&mut rng, &all);
            let pair = [0; 2].map(|_| rng.below(events.len()));
            let result = checker.check(
                &ids(&run),
                &Claim::Race(pair.map(|e| EventId::from(e as u32))),
            );
            let note = || format!("seed {seed}: {run:?}, {result:?}: {events:#?}");
            let is_accepted = matches!(result, Ok(()) | Err(Flaw::NotAsClaimed));
            let is_run = is_run(&all, &run);
            // Failed tries are kept more as they were than the maximal model asks for.
            assert!(!is_accepted || is_run, "{}", note());
            let mut sorted = run.clone();
            sorted.sort_unstable();
            let is_strong = self::is_run(&strong, &sorted) && is_run;
            assert!(
                is_accepted || !is_strong && (of_everything || !is_run),
                "{}",
                note()
            );
            *if is_accepted {
                &mut accepted
            } else {
                &mut refused
            } += 1;
            if !is_accepted {
                continue;
            }
            let done = run.iter().fold(0u64, |done, event| done | 1 << event);
            assert_eq!(
                result.is_ok(),
                ends.is_race_at(done, pair),
                "{pair:?} {}",
                note()
            );
            races += usize::from(result.is_ok());
            let there = ends.deadlocks_at(done);
            for one in 0..events.len() {
                for other in 0..one {
                    let claim = Claim::Deadlock(ids(&[one, other]));
                    let is_one = checker.check(&ids(&run), &claim).is_ok();
                    let expected = there.contains(&vec![other, one]);
                    assert_eq!(is_one, expected, "{one} and {other}, {}", note());
                    deadlocks += usize::from(is_one);
                }
            }
        }
    }
    let counts = [accepted, refused, races];
    let are_many = counts.iter().all(|&count| count > 20);
    assert!(are_many && deadlocks > 0, "{counts:?}, {deadlocks}");
}
