//! Which orders are feasible under the maximal model, by its definition and nothing else.

use portent_monitor_core::{Event, Op, ThreadId, VarId};

/// Whether an event must come before another in every feasible run, by their kinds alone.
fn is_before(trace: &[Event], earlier: usize, later: usize) -> bool {
    let (a, b) = (&trace[earlier], &trace[later]);
    let arrived = |thread: ThreadId| {
        let before = trace[..later].iter();
        matches!(a.op, Op::Barrier(..))
            && before
                .clone()
                .any(|event| event.thread == thread && event.op == a.op)
    };
    a.thread == b.thread
        || match (&a.op, &b.op) {
            (Op::Fork(child), Op::Join(other)) if child == other => true,
            (Op::Fork(child), _) if b.thread == *child => true,
            (Op::Send(..), Op::Recv(chan, msg)) => a.op == Op::Send(*chan, *msg),
            (Op::Notify(one), Op::Wait(other)) => one == other,
            _ => false,
        }
        || matches!(b.op, Op::Join(child) if a.thread == child || arrived(child))
        || arrived(b.thread)
}

/// The write that a read sees: the last one before it in an order of events.
fn writer(trace: &[Event], order: &[usize], variable: VarId) -> Option<usize> {
    let writes = |event: &&usize| trace[**event].writes().any(|(other, _)| other == variable);
    order.iter().rev().find(writes).copied()
}

/// Whether an event may come after a feasible order of others.
pub(crate) fn may_follow(trace: &[Event], order: &[usize], event: usize) -> bool {
    let before = (0..event).filter(|&earlier| is_before(trace, earlier, event));
    if !before.into_iter().all(|earlier| order.contains(&earlier)) {
        return false;
    }
    let this = &trace[event];
    match &this.op {
        Op::Read(variable) | Op::Update(variable, _) => {
            let observed: Vec<usize> = (0..event).collect();
            writer(trace, order, *variable) == writer(trace, &observed, *variable)
        }
        Op::Lock(lock) | Op::ReadLock(lock) => {
            let count = |wanted: Op| {
                let of_others = order.iter().map(|&other| &trace[other]);
                let of_others = of_others.filter(|other| other.thread != this.thread);
                of_others.filter(|other| other.op == wanted).count()
            };
            let exclusive = count(Op::Lock(*lock)) > count(Op::Unlock(*lock));
            let shared = count(Op::ReadLock(*lock)) > count(Op::ReadUnlock(*lock));
            !exclusive && (!shared || matches!(this.op, Op::ReadLock(_)))
        }
        _ => true,
    }
}
