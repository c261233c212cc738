//! Small programs on which some search once missed something, saw it twice or went astray: those of the literature on which algorithms
//! fail as they were printed, and what random programs found, made small.

use super::{
    Instruction::{
        self, Add, Call, FailIf, IsDone, Leave, Lock, Park, Read, ReadLock, Receive, Send, SkipIf,
        TryReceive, TrySend, TryWriteLock, Unlock, Unpark, Write, WriteLock,
    },
    MOST, Totals, enumerate,
    program::Program,
};

/// How many classes there are, how many of these end in a deadlock, and in how many somebody panics.
fn check<const N: usize>(bound: Option<usize>, threads: [&[Instruction]; N]) -> [u64; 3] {
    check_program(&program(bound, threads))
}

fn program<const N: usize>(bound: Option<usize>, threads: [&[Instruction]; N]) -> Program {
    Program {
        threads: threads.map(<[Instruction]>::to_vec).to_vec(),
        bound,
        keeps_sender: true,
        first_waiter: true,
        spurious: 0,
    }
}

fn check_program(program: &Program) -> [u64; 3] {
    let expected = enumerate(program, MOST).expect("a small program");
    let mut totals = Totals::default();
    // Every third program is searched by several, and every third in all interleavings.
    for _ in 0..3 {
        totals.add(program, &expected);
    }
    [
        totals.classes,
        totals.deadlocked as u64,
        totals.failed as u64,
    ]
    .map(|all| all / 3)
}

/// The latest conflict cannot be turned round, and hides an earlier one that can.
#[test]
fn an_earlier_conflict() {
    let threads: [&[Instruction]; 3] = [&[Read(0)], &[Read(0), Send], &[Receive, Write(0, 1)]];
    assert_eq!(check(None, threads), [2, 0, 0]);
}

/// Who waits for ever has to be turned round with who got what it waits for.
#[test]
fn a_permit_for_one_of_two() {
    let threads: [&[Instruction]; 3] = [&[Receive], &[Write(0, 1), Receive], &[Send]];
    assert_eq!(check(None, threads), [2, 2, 0]);
}

/// The thread that is to turn a race round may sleep: then another initial has to be taken, and all races have to be looked at.
#[test]
fn the_chosen_thread_sleeps() {
    let threads: [&[Instruction]; 3] = [
        &[Add(0), SkipIf(0, 1), Write(1, 1)],
        &[Read(1), FailIf(1)],
        &[Write(1, 2), Add(0)],
    ];
    let [_, _, failed] = check(None, threads);
    assert!(failed > 0);
}

/// Who stays blocked where a search was cut is looked at, too.
#[test]
fn a_blocked_thread_below_a_cut() {
    let threads: [&[Instruction]; 3] = [
        &[Write(0, 1), Receive],
        &[Send, Write(0, 2), Write(0, 2)],
        &[Write(1, 2), Read(2), Receive],
    ];
    let [_, deadlocked, _] = check(None, threads);
    assert!(deadlocked > 0);
}

/// Only if the locks are turned round is there a second access.
#[test]
fn an_access_behind_a_branch() {
    let threads: [&[Instruction]; 2] = [
        &[Write(0, 1), Lock(0), Write(1, 1), Unlock(0)],
        &[Lock(0), Read(1), Unlock(0), SkipIf(1, 1), Read(0)],
    ];
    assert_eq!(check(None, threads), [3, 0, 0]);
}

/// After the first write two threads are alike, but only before it their order matters.
#[test]
fn threads_that_are_alike_only_later() {
    let threads: [&[Instruction]; 2] = [
        &[Write(1, 1), Add(0), SkipIf(1, 2), Read(1), FailIf(0)],
        &[Add(0), SkipIf(1, 2), Read(1), FailIf(0)],
    ];
    let [_, _, failed] = check(None, threads);
    assert!(failed > 0);
}

/// A receiver that is blocked in the end could have had the message.
#[test]
fn a_receiver_that_waits_for_ever() {
    let threads: [&[Instruction]; 2] = [&[Send, Receive], &[Receive]];
    assert_eq!(check(None, threads), [2, 2, 0]);
}

/// What threads still want to do when all sleep who could go on races with what happened.
#[test]
fn what_is_wanted_where_a_run_is_cut() {
    let threads: [&[Instruction]; 3] = [
        &[Write(0, 1), Lock(0), Unlock(0)],
        &[Lock(1), Send, Receive],
        &[Read(0), Receive, Write(0, 2)],
    ];
    check(None, threads);
}

/// One who wants a lock alone may need a message that one who shares it sent while it did so.
#[test]
fn a_reader_that_the_writer_needs() {
    let threads: [&[Instruction]; 3] = [
        &[ReadLock, Send, Read(0), Leave],
        &[Receive, WriteLock],
        &[ReadLock, Leave],
    ];
    check(None, threads);
}

/// A receive that found a message because it tried would also look at the sends if it came before.
#[test]
fn a_try_that_would_have_been_in_vain() {
    let threads: [&[Instruction]; 3] = [&[Receive], &[TryReceive, Read(0)], &[Send]];
    check(Some(1), threads);
}

/// A message that a try found has to be sent before that, also if the try comes before the end of a sender.
#[test]
fn a_try_between_the_ends_of_senders() {
    let threads: [&[Instruction]; 3] = [
        &[TryReceive],
        &[SkipIf(0, 2), Receive, Send, Add(0)],
        &[Send, TryReceive, TrySend],
    ];
    let program = Program {
        keeps_sender: false,
        ..program(Some(2), threads)
    };
    assert_eq!(check_program(&program), [15, 0, 0]);
}

/// Who sends into room that was made could have come before one who found nothing there since then.
#[test]
fn a_look_between_the_room_and_the_send_into_it() {
    let threads: [&[Instruction]; 3] = [&[Send], &[Send], &[Receive, TryReceive]];
    assert_eq!(check(Some(1), threads), [24, 0, 0]);
}

/// Who shares a lock a second time waits for one who asked, not for one who tried in vain.
#[test]
fn a_lock_that_is_shared_twice_and_tried() {
    let threads: [&[Instruction]; 3] = [
        &[ReadLock, TryWriteLock],
        &[WriteLock],
        &[ReadLock, ReadLock],
    ];
    check(None, threads);
}

/// Who shares a lock a second time could have come before the first of several who want it alone, not only before the last.
#[test]
fn a_lock_that_is_shared_twice_before_two_who_want_it() {
    let threads: [&[Instruction]; 3] = [
        &[Read(0), ReadLock, ReadLock, WriteLock],
        &[Add(0), Read(2), WriteLock],
        &[ReadLock, WriteLock, Add(2), Lock(0)],
    ];
    let [classes, _, _] = check(Some(0), threads);
    assert_eq!(classes, 22);
}

/// Wake-up trees sent a thread on that shares a lock a second time, and could not go on in that run.
#[test]
fn a_lock_that_is_shared_twice_and_wanted_by_two() {
    let threads: [&[Instruction]; 3] = [
        &[WriteLock, Add(1)],
        &[Lock(1), Unlock(1), Add(1), WriteLock],
        &[ReadLock, ReadLock],
    ];
    let [_, deadlocked, _] = check(None, threads);
    assert!(deadlocked > 0);
}

/// Between the end of what is done once and the step that says so it is not done for those who look.
#[test]
fn what_is_done_once_is_done_in_one_step() {
    let threads: [&[Instruction]; 2] = [&[Call], &[IsDone, IsDone, SkipIf(1, 1), Add(1)]];
    check(None, threads);
}

/// Which of two threads is unparked first differs from run to run; a token must have the same number in all of them.
#[test]
fn tokens_that_are_first_used_in_either_order() {
    let threads: [&[Instruction]; 3] = [
        &[Read(1), Add(2), Add(0), Add(2)],
        &[Read(0), SkipIf(1, 2), Unpark(0), Park],
        &[Read(0), Read(0), Unpark(2), Read(2), Unpark(2)],
    ];
    check(Some(0), threads);
}
