//! Random runs with operations of every kind.

use portent_monitor_core::{
    Action, BarrierId, ChanId, CondId, Delivery, Event, LockId, Msg, Op, ThreadId, Value, VarId,
};

use crate::{Rng, run::add_partner};

/// A small random run of three threads with operations of every kind, feasible as it is. That requires more than the discipline
/// does: locks exclude each other, and no thread is joined while it holds one.
///
/// ```
/// use portent_testing::{Rng, synchronising};
///
/// assert_eq!(synchronising(&mut Rng::new(3), 12).len(), 12);
/// ```
pub fn synchronising(rng: &mut Rng, events: usize) -> Vec<Event> {
    let threads: Vec<ThreadId> = (0..3).map(|i| ThreadId::from_index(i).unwrap()).collect();
    let mut trace: Vec<Event> = Vec::new();
    let mut held: Vec<(ThreadId, LockId, bool)> = Vec::new();
    // The thread that waits for a condition, and the lock that it released.
    let mut waits: Vec<(ThreadId, LockId)> = Vec::new();
    let mut sent = 0;
    // A queue: how it delivers, the numbers of sends and receives, and the thread that waits for a message to be received.
    let queue = ChanId::from_index(1).unwrap();
    let delivery = rng.pick(&[
        Delivery::Fifo,
        Delivery::Bounded(0),
        Delivery::Bounded(1),
        Delivery::Bounded(2),
    ]);
    let (mut queued, mut taken) = (0, 0);
    let mut blocked = None;
    let mut rounds = 0;
    // The last thread may be started and joined by the first, repeatedly; or it runs from
    // the start.
    let mut runs = rng.below(2) == 0;
    let mut known = false;
    // Messages and the like impose much order; half of the traces do without.
    let kinds = [10, 17][rng.below(2)];
    let mut attempts = 0;
    while trace.len() < events {
        attempts += 1;
        if attempts > 1_000 {
            // Every thread is waiting; let another one continue.
            let var = VarId::from_index(0).unwrap();
            trace.push(Event::new(ThreadId::from_index(3).unwrap(), Op::Read(var)));
            continue;
        }
        let who = rng.below(if runs { 3 } else { 2 });
        let thread = threads[who];
        if blocked == Some(who) {
            continue;
        }
        // A waiting thread does nothing else.
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
            10 if rng.one_in(2) => {
                match delivery {
                    Delivery::Bounded(0) if queued > taken => continue,
                    Delivery::Bounded(0) => blocked = Some(who),
                    Delivery::Bounded(room) if queued - taken >= i64::from(room) => continue,
                    _ => {}
                }
                queued += 1;
                Op::Send(queue, Msg::Number(queued), delivery)
            }
            11 if queued > taken && rng.one_in(2) => {
                taken += 1;
                blocked = None;
                Op::Recv(queue, Msg::Number(taken), delivery)
            }
            10 => {
                sent += 1;
                Op::Send(chan, Msg::Number(sent), Delivery::Unordered)
            }
            11 if sent > 0 => {
                let msg = Msg::Number(1 + rng.below(sent as usize) as i64);
                Op::Recv(chan, msg, Delivery::Unordered)
            }
            12 => match if wakes { 4 } else { rng.below(5) } {
                0 => Op::Notify(cond),
                1 => Op::Waiting(cond, None),
                2 if queued == taken && rng.one_in(2) => Op::TryRecv(queue),
                2 => Op::TryRecv(chan),
                // A wait takes again what it released, if it released anything.
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
            // A try fails whether or not the reason was seen.
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
                    let waits = waits.iter().any(|&(waiter, _)| waiter == threads[2]);
                    let holds = held.iter().any(|&(holder, ..)| holder == threads[2]);
                    if waits || holds || blocked == Some(2) {
                        continue;
                    }
                    runs = false;
                    Op::Join(threads[2])
                }
                2 if blocked.is_none() && waits.is_empty() => {
                    // The first two threads arrive at a barrier, and leave only then.
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
        if is_joint && blocked.is_none() && waits.is_empty() && rng.one_in(10) {
            add_partner(&mut event, threads[usize::from(who == 0)]);
        }
        trace.push(event);
    }
    trace
}
