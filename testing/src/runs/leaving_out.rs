//! The orders that the model `strong` allows, straight from its definition: feasible ones in which conflicting events are as
//! observed, and a channel is found empty or a lock taken because of the same events.

use portent_monitor_core::{Event, Op, VarId};

use super::feasible::{is_held, may_follow};

/// Whether an event may come after others. They are given in observed order, in which they can have happened.
pub fn may_follow_leaving_out(trace: &[Event], done: &[usize], event: usize) -> bool {
    let this = &trace[event];
    let is_shut_out = { done.iter() }.any(|&other| other > event && conflict(this, &trace[other]));
    if is_shut_out || !may_follow(trace, done, event) {
        return false;
    }
    (0..event).all(|other| done.contains(&other) || !explains(trace, other, event))
}

/// Whether an event is why a later one found a channel empty, or a lock taken.
pub(super) fn explains(trace: &[Event], earlier: usize, later: usize) -> bool {
    match (&trace[earlier].op, &trace[later].op) {
        (Op::Send(one, ..) | Op::Recv(one, ..), Op::TryRecv(other))
        | (Op::TryRecv(one), Op::Send(other, ..) | Op::Recv(other, ..)) => one == other,
        (Op::Lock(one) | Op::Wait(_, Some(one)), Op::TryLock(other)) if one == other => {
            let holder = trace[earlier].thread;
            // A thread holds the lock since it last took it.
            let of_holder: Vec<usize> = (earlier..later)
                .filter(|&event| trace[event].thread == holder)
                .collect();
            is_held(trace, &of_holder, *one, true, None)
        }
        _ => false,
    }
}

/// Whether two events, if both are kept, must stay in observed order for reasons other than hard order.
pub fn conflict(one: &Event, other: &Event) -> bool {
    let vars = |event: &Event| {
        let mut all: Vec<(VarId, bool)> = event.writes().map(|(var, _)| (var, true)).collect();
        if let Op::Read(var) = event.op {
            all.push((var, false));
        }
        all
    };
    let lock = |event: &Event| match event.op {
        Op::Lock(lock) | Op::Unlock(lock) => Some((lock, true)),
        Op::Wait(_, Some(lock)) | Op::Waiting(_, Some(lock)) => Some((lock, true)),
        Op::ReadLock(lock) | Op::ReadUnlock(lock) | Op::TryLock(lock) => Some((lock, false)),
        _ => None,
    };
    let theirs = vars(other);
    let accesses = { vars(one).into_iter() }
        .any(|(var, writes)| theirs.iter().any(|(v, w)| *v == var && (writes || *w)));
    let sections =
        matches!((lock(one), lock(other)), (Some((a, x)), Some((b, y))) if a == b && (x || y));
    accesses || sections
}
