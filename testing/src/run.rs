//! Random traces that could be runs.

use portent_monitor_core::{Discipline, Event, Symbols};

/// Draws this many events and keeps those that can follow the ones before them. No lock is taken that
/// another thread seems to hold: that thread could only go on by waking up from a wait.
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
