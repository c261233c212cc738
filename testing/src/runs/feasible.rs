//! The orders that are feasible under the maximal model, straight from its definition.

use portent_monitor_core::{ChanId, Delivery, Event, LockId, Msg, Op, ThreadId, VarId};

/// Whether an event must come before another in every feasible run, by their kinds alone.
pub(super) fn is_before(trace: &[Event], earlier: usize, later: usize) -> bool {
    let (a, b) = (&trace[earlier], &trace[later]);
    let arrived = |thread: ThreadId| {
        let before = trace[..later].iter();
        matches!(a.op, Op::Barrier(..))
            && before
                .clone()
                .any(|event| event.thread == thread && event.op == a.op)
    };
    a.threads().any(|thread| is_of(b, thread))
        || is_unexplained(trace, earlier, later)
        || is_queued(trace, earlier, later)
        || match (&a.op, &b.op) {
            (Op::Fork(child), Op::Join(other)) if child == other => true,
            (Op::Fork(child), _) if is_of(b, *child) => true,
            (Op::Send(c1, m1, _), Op::Recv(c2, m2, _)) => c1 == c2 && m1 == m2,
            (Op::Send(c1, ..) | Op::Recv(c1, ..), Op::TryRecv(c2)) => {
                c1 == c2 && !was_seen_empty(trace, later, *c2)
            }
            (Op::TryRecv(c1), Op::Send(c2, ..) | Op::Recv(c2, ..)) => {
                c1 == c2 && !was_seen_empty(trace, earlier, *c1)
            }
            (Op::Notify(one), Op::Wait(other, _) | Op::Waiting(other, _))
            | (Op::Waiting(one, _), Op::Notify(other)) => one == other,
            (Op::Stamped(one), Op::Stamped(other)) => {
                { a.threads() }.any(|own| (1..=other.component(own)).contains(&one.component(own)))
            }
            _ => false,
        }
        || matches!(b.op, Op::Join(child) if is_of(a, child) || arrived(child))
        || b.threads().any(arrived)
}

/// Whether two events keep their order because a channel is a queue.
fn is_queued(trace: &[Event], earlier: usize, later: usize) -> bool {
    let sends =
        |event: usize, chan: ChanId| matches!(trace[event].op, Op::Send(c, ..) if c == chan);
    let receives =
        |event: usize, chan: ChanId| matches!(trace[event].op, Op::Recv(c, ..) if c == chan);
    let (chan, msg, delivery, is_send) = match &trace[earlier].op {
        Op::Send(chan, msg, delivery) => (*chan, msg, *delivery, true),
        Op::Recv(chan, msg, delivery) => (*chan, msg, *delivery, false),
        _ => return false,
    };
    let is_ordered = delivery != Delivery::Unordered;
    match (delivery, is_send) {
        (_, true) => is_ordered && sends(later, chan),
        _ if is_ordered && receives(later, chan) => true,
        // The sender does not continue before the message is received.
        (Delivery::Bounded(0), false) => trace[..earlier].iter().any(|send| {
            matches!(&send.op, Op::Send(c, m, _) if *c == chan && m == msg)
                && is_of(&trace[later], send.thread)
        }),
        (Delivery::Bounded(room), false) => {
            let received = (0..=earlier).filter(|&event| receives(event, chan)).count();
            let sent = (0..=later).filter(|&event| sends(event, chan)).count();
            sends(later, chan) && received + room as usize == sent
        }
        _ => false,
    }
}

fn is_of(event: &Event, thread: ThreadId) -> bool {
    event.threads().any(|own| own == thread)
}

/// The write that a read sees: the last one before it in an order of events.
fn writer(trace: &[Event], order: &[usize], variable: VarId) -> Option<usize> {
    let writes = |event: &&usize| trace[**event].writes().any(|(other, _)| other == variable);
    order.iter().rev().find(writes).copied()
}

/// Whether an event may come after a feasible order of others.
pub fn may_follow(trace: &[Event], order: &[usize], event: usize) -> bool {
    let mut before = (0..event).filter(|&earlier| is_before(trace, earlier, event));
    before.all(|earlier| order.contains(&earlier)) && is_as_observed(trace, order, event)
}

/// Whether an event after an order of others reads what it read, gets the locks that it got, and fails where it failed.
pub(super) fn is_as_observed(trace: &[Event], order: &[usize], event: usize) -> bool {
    let this = &trace[event];
    match &this.op {
        Op::Read(variable) | Op::Update(variable, _) => {
            let observed: Vec<usize> = (0..event).collect();
            writer(trace, order, *variable) == writer(trace, &observed, *variable)
        }
        Op::Lock(lock) | Op::Wait(_, Some(lock)) => {
            !is_held(trace, order, *lock, true, Some(this.thread))
                && !is_held(trace, order, *lock, false, Some(this.thread))
        }
        Op::ReadLock(lock) => !is_held(trace, order, *lock, true, Some(this.thread)),
        Op::TryLock(lock) => {
            let observed: Vec<usize> = (0..event).collect();
            !is_held(trace, &observed, *lock, true, None)
                || is_held(trace, order, *lock, true, None)
                || is_held(trace, order, *lock, false, None)
        }
        Op::TryRecv(chan) => !was_seen_empty(trace, event, *chan) || is_empty(trace, order, *chan),
        _ => true,
    }
}

/// Whether a channel is empty after some events in any order.
fn is_empty(trace: &[Event], order: &[usize], chan: ChanId) -> bool {
    let mut inside: Vec<Msg> = Vec::new();
    for &event in order {
        match trace[event].op {
            Op::Send(c, msg, _) if c == chan => inside.push(msg),
            Op::Recv(c, msg, _) if c == chan => {
                let taken = inside.iter().position(|&other| other == msg);
                inside.remove(taken.expect("a receive comes after its send"));
            }
            _ => {}
        }
    }
    inside.is_empty()
}

/// Whether a receive failed because its channel was empty. Unknown for a channel that gives one message to several threads;
/// nor was it empty if something sent before was received later, or never.
fn was_seen_empty(trace: &[Event], tried: usize, chan: ChanId) -> bool {
    let gives_twice = (0..trace.len()).any(|event| {
        let Op::Recv(c, msg, _) = trace[event].op else {
            return false;
        };
        let until = || trace[..=event].iter();
        let sent = until().filter(|e| matches!(e.op, Op::Send(c, m, _) if (c, m) == (chan, msg)));
        let taken = until().filter(|e| matches!(e.op, Op::Recv(c, m, _) if (c, m) == (chan, msg)));
        c == chan && taken.count() > sent.count()
    });
    let observed: Vec<usize> = (0..tried).collect();
    !gives_twice && is_empty(trace, &observed, chan)
}

/// Whether one side of a lock is held by any thread, or any but one.
pub fn is_held(
    trace: &[Event],
    order: &[usize],
    lock: LockId,
    exclusive: bool,
    but: Option<ThreadId>,
) -> bool {
    let mut depth = 0;
    for &event in order
        .iter()
        .filter(|&&event| Some(trace[event].thread) != but)
    {
        depth += match trace[event].op {
            Op::Lock(l) | Op::Wait(_, Some(l)) if exclusive && l == lock => 1,
            Op::Unlock(l) | Op::Waiting(_, Some(l)) if exclusive && l == lock => -1,
            Op::ReadLock(l) if !exclusive && l == lock => 1,
            Op::ReadUnlock(l) if !exclusive && l == lock => -1,
            _ => 0,
        };
    }
    depth > 0
}

/// Whether two operations on a lock keep their order because one is a failed try for which no holder,
/// or only readers, were seen, and the other is exclusive.
fn is_unexplained(trace: &[Event], earlier: usize, later: usize) -> bool {
    let on = |event: usize| match trace[event].op {
        Op::Lock(lock) | Op::Unlock(lock) => Some((lock, false)),
        Op::Waiting(_, Some(lock)) | Op::Wait(_, Some(lock)) => Some((lock, false)),
        Op::TryLock(lock) => {
            let before: Vec<usize> = (0..event).collect();
            (!is_held(trace, &before, lock, true, None)).then_some((lock, true))
        }
        _ => None,
    };
    match (on(earlier), on(later)) {
        (Some((one, is_try)), Some((other, is_other))) => one == other && is_try != is_other,
        _ => false,
    }
}
