//! Random traces that could be runs, from a seed.

use portent_monitor_core::{
    Action, BarrierId, ChanId, CondId, Delivery, Discipline, Event, LockId, Msg, Op, Symbols,
    ThreadId, Value, VarId,
};
use portent_testing::{Rng, add_partner};

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
    let delivery = rng.pick(&[
        Delivery::Unordered,
        Delivery::Fifo,
        Delivery::Bounded(0),
        Delivery::Bounded(1),
        Delivery::Bounded(2),
    ]);
    let with = rng.one_in(2).then_some(lock);
    match rng.below(24) {
        18 => Op::TryLock(lock),
        19 => Op::TryRecv(chan),
        20 | 21 => Op::Waiting(cond, with),
        22 => Op::Wait(cond, with),
        0 | 1 => Op::Read(var),
        2 => Op::Write(var, Some(Value::from(rng.below(9) as i64))),
        3 => Op::Update(var, None),
        4 => Op::Lock(lock),
        5 | 6 => Op::Unlock(lock),
        7 => Op::ReadLock(lock),
        8 => Op::ReadUnlock(lock),
        9 => Op::Fork(child),
        10 => Op::Join(child),
        11 => Op::Send(chan, msg, delivery),
        12 => Op::Recv(chan, msg, delivery),
        13 => Op::Wait(cond, None),
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
    let (mut discipline, symbols) = (Discipline::default(), Symbols::default());
    let mut events = Vec::new();
    for _ in 0..length {
        let mut event = Event::new(id!(ThreadId, rng.below(5)), some_op(rng));
        if rng.one_in(8) {
            add_partner(&mut event, id!(ThreadId, rng.below(5)));
        }
        // Whose lock another takes can do nothing but wake up, so that is not done often.
        let spared = discipline.takes_held_lock(&event) && !rng.one_in(4);
        if !spared && discipline.admit(&event, &symbols).is_ok() {
            events.push(event);
        }
    }
    events
}
