//! Random runs whose events carry clocks.

use portent_monitor_core::{Action, Discipline, Event, Stamped, Symbols, ThreadId, Value, VarId};

use crate::{Rng, run::add_partner};

/// A trace whose events carry clocks: those of four processes that send random messages, which are not in the trace. The
/// processes write up to four variables.
///
/// ```
/// use portent_testing::{Rng, stamped};
///
/// assert_eq!(stamped(&mut Rng::new(3), 12).len(), 12);
/// ```
pub fn stamped(rng: &mut Rng, length: usize) -> Vec<Event> {
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
        // Now and then a line is lost, or two processes share one.
        clocks[me][me] += if rng.one_in(10) { 2 } else { 1 };
        let partner = (me + 1) % 4;
        let together = rng.one_in(10);
        if together {
            clocks[partner][partner] += 1;
            let theirs = clocks[partner];
            for (mine, theirs) in clocks[me].iter_mut().zip(theirs) {
                *mine = (*mine).max(theirs);
            }
            clocks[partner] = clocks[me];
        }
        let clock = (0..4)
            .filter(|&t| clocks[me][t] > 0)
            .map(|t| (ThreadId::from(t as u32), clocks[me][t]))
            .collect();
        let set = (0..4)
            .filter(|_| rng.one_in(6))
            .map(|var| (VarId::from(var), Value::from(true)));
        let action = Action::default().set(set);
        let mut event = Event::new(ThreadId::from(me as u32), Stamped::new(action, clock));
        if together {
            add_partner(&mut event, ThreadId::from(partner as u32));
        }
        discipline.admit(&event, &symbols).expect("clocks of a run");
        events.push(event);
    }
    events
}
