//! Random traces that could be runs.

use portent_monitor_core::{Details, Discipline, Event, LockId, Op, Symbols, ThreadId, VarId};

use crate::Rng;

/// Draws this many events and keeps those that can follow the earlier ones. No lock is taken that
/// another thread seems to hold: that thread could only continue by waking up from a wait.
///
/// ```
/// use portent_monitor_core::{Event, Op, Symbols};
/// use portent_testing::{Rng, admitted};
///
/// let mut rng = Rng::new(1);
/// let mut symbols = Symbols::default();
/// let (t, m) = (symbols.threads.intern("T")?, symbols.locks.intern("m")?);
/// let events = admitted(100, &mut symbols, |_| {
///     Event::new(t, rng.pick(&[Op::Lock, Op::Unlock])(m))
/// });
/// let taken = events.iter().filter(|event| event.op == Op::Lock(m)).count();
/// assert!(taken >= events.len() - taken, "nothing is released that was not taken");
/// # Ok::<(), portent_monitor_core::Error>(())
/// ```
pub fn admitted(
    draws: usize,
    symbols: &mut Symbols,
    mut draw: impl FnMut(&mut Symbols) -> Event,
) -> Vec<Event> {
    let mut discipline = Discipline::default();
    let mut events = Vec::new();
    for _ in 0..draws {
        let event = draw(symbols);
        if !discipline.takes_held_lock(&event) && discipline.admit(&event, symbols).is_ok() {
            events.push(event);
        }
    }
    events
}

/// A small random run of three threads that share variables and locks: accesses of two variables, two locks with both sides,
/// now and then a fork or join. Most locks are released.
///
/// ```
/// use portent_testing::{Rng, sharing};
///
/// let events = sharing(&mut Rng::new(3), 40);
/// assert!(!events.is_empty() && events.len() <= 40);
/// ```
pub fn sharing(rng: &mut Rng, draws: usize) -> Vec<Event> {
    let mut symbols = Symbols::default();
    let (locks, vars) = (rng.between(1, 3), rng.between(1, 2));
    let shared = rng.one_in(3);
    admitted(draws, &mut symbols, |_| {
        some_sharing(rng, locks, vars, shared)
    })
}

fn some_sharing(rng: &mut Rng, locks: usize, vars: usize, shared: bool) -> Event {
    let thread = ThreadId::from(rng.below(3) as u32);
    let lock = LockId::from(rng.below(locks) as u32);
    let var = VarId::from(rng.below(vars) as u32);
    let op = match rng.below(20) {
        0..3 => Op::Read(var),
        3..6 => Op::Write(var, None),
        6 => Op::Update(var, None),
        7..10 => Op::Lock(lock),
        10..15 => Op::Unlock(lock),
        15 if shared => Op::ReadLock(lock),
        16 | 17 if shared => Op::ReadUnlock(lock),
        18 if rng.one_in(2) => Op::Fork(ThreadId::from(rng.below(4) as u32)),
        19 if rng.one_in(8) => Op::Join(ThreadId::from(rng.below(3) as u32)),
        _ => Op::Lock(lock),
    };
    Event::new(thread, op)
}

/// Makes an event also one of another thread.
///
/// ```
/// use portent_monitor_core::{Event, Op, ThreadId, VarId};
/// use portent_testing::add_partner;
///
/// let [t1, t2] = [0, 1].map(ThreadId::from);
/// let mut event = Event::new(t1, Op::Read(VarId::from(0)));
/// add_partner(&mut event, t2);
/// assert_eq!(event.partners(), [t2]);
/// ```
pub fn add_partner(event: &mut Event, partner: ThreadId) {
    if partner != event.thread {
        let mut details = Details::default();
        details.partners.push(partner);
        event.details = Some(Box::new(details));
    }
}
