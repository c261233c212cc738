//! The checker refuses what is not a run, or does not end as claimed.

use portent_findings::{
    EventId, Finder, Options,
    check::{Checker, Claim, Flaw},
};
use portent_monitor_core::{Event, Op};

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
