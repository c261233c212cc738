//! Random traces that could be runs, from a seed.

use portent_monitor_core::{
    Action, BarrierId, ChanId, CondId, Discipline, Event, LockId, Msg, Op, Stamped, Symbols,
    ThreadId, Value, VarId,
};
use portent_testing::{Rng, admitted};

macro_rules! id {
    ($kind:ident, $n:expr) => {
        $kind::from_index($n).expect("small")
    };
}

fn some_op(rng: &mut Rng) -> Op {
    let var = id!(VarId, rng.below(4));
    let lock = id!(LockId, rng.below(2));
    let child = id!(ThreadId, rng.below(5));
    let chan = id!(ChanId, rng.below(2));
    let msg = Msg::Number(rng.below(3) as i64);
    let cond = id!(CondId, rng.below(2));
    match rng.below(18) {
        0 | 1 => Op::Read(var),
        2 => Op::Write(var, Some(Value::from(rng.below(9) as i64))),
        3 => Op::Update(var, None),
        4 => Op::Lock(lock),
        5 | 6 => Op::Unlock(lock),
        7 => Op::ReadLock(lock),
        8 => Op::ReadUnlock(lock),
        9 => Op::Fork(child),
        10 => Op::Join(child),
        11 => Op::Send(chan, msg),
        12 => Op::Recv(chan, msg),
        13 => Op::Wait(cond),
        14 => Op::Notify(cond),
        15 | 16 => Op::Barrier(id!(BarrierId, rng.below(2)), rng.below(2) as u64),
        _ => Action::default().set(some_set(rng)).into(),
    }
}

fn some_set(rng: &mut Rng) -> Vec<(VarId, Value)> {
    (0..4)
        .filter(|_| rng.one_in(6))
        .map(|var| (id!(VarId, var), Value::from(true)))
        .collect()
}

/// A trace of up to `length` events with every operation, each admitted by the discipline.
pub(crate) fn ops(rng: &mut Rng, length: usize) -> Vec<Event> {
    admitted(length, &mut Symbols::default(), |_| {
        Event::new(id!(ThreadId, rng.below(5)), some_op(rng))
    })
}

/// A trace whose events bring their own clocks: those of processes that send messages at random.
pub(crate) fn stamped(rng: &mut Rng, length: usize) -> Vec<Event> {
    let symbols = Symbols::default();
    let mut discipline = Discipline::default();
    let mut clocks = [[0u32; 4]; 4];
    let mut events = Vec::new();
    for _ in 0..length {
        let me = rng.below(4);
        if rng.one_in(3) {
            let theirs = clocks[rng.below(4)];
            for (mine, theirs) in clocks[me].iter_mut().zip(theirs) {
                *mine = (*mine).max(theirs);
            }
        }
        // Now and then a line is lost.
        clocks[me][me] += if rng.one_in(10) { 2 } else { 1 };
        let clock = (0..4)
            .filter(|&t| clocks[me][t] > 0)
            .map(|t| (id!(ThreadId, t), clocks[me][t]))
            .collect();
        let action = Action::default().set(some_set(rng));
        let event = Event::new(id!(ThreadId, me), Stamped::new(action, clock));
        discipline.admit(&event, &symbols).expect("clocks of a run");
        events.push(event);
    }
    events
}
