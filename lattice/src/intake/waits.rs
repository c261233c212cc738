//! Wake-ups that nobody had caused yet: a sign that waits were logged where they begin.
//!
//! A `wait` is the wake-up. Logged at the call it comes before its `notify`, is not ordered after it, and what the
//! notifier did seems concurrent with what the waiter does: a false alarm. A condition of which some `wait` comes before
//! every `notify` is therefore worth a warning. Without any `notify` no order is lost, as when a wait times out.

use std::num::NonZeroU64;

use portent_monitor_core::{CondId, Event, Op, Symbols};

/// The conditions of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Waits {
    conditions: Vec<Condition>,
}

#[derive(Clone, Debug, Default)]
struct Condition {
    is_notified: bool,
    /// How many wake-ups came before the first notify.
    early: u64,
    first_line: Option<NonZeroU64>,
}

/// A condition with wake-ups before its first notify.
pub(crate) struct EarlyWait<'s> {
    pub(crate) condition: &'s str,
    pub(crate) waits: u64,
    pub(crate) first_line: Option<NonZeroU64>,
}

impl Waits {
    /// Takes the next event of the run.
    #[inline]
    pub(crate) fn note(&mut self, event: &Event) {
        match event.op {
            Op::Notify(cond) => self.condition(cond).is_notified = true,
            Op::Wait(cond, _) => {
                let condition = self.condition(cond);
                if !condition.is_notified {
                    condition.early += 1;
                    condition.first_line = condition.first_line.or(event.line);
                }
            }
            _ => {}
        }
    }

    fn condition(&mut self, cond: CondId) -> &mut Condition {
        if cond.index() >= self.conditions.len() {
            let count = cond.index() + 1;
            self.conditions.resize_with(count, Condition::default);
        }
        &mut self.conditions[cond.index()]
    }

    /// The conditions that look as if their waits were logged too early.
    pub(crate) fn early<'s>(&'s self, symbols: &'s Symbols) -> impl Iterator<Item = EarlyWait<'s>> {
        let named = symbols.conds.iter().zip(&self.conditions);
        named
            .filter(|(_, condition)| condition.is_notified && condition.early > 0)
            .map(|(name, condition)| EarlyWait {
                condition: name,
                waits: condition.early,
                first_line: condition.first_line,
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wake_up_before_the_first_notify_is_early() {
        let mut s = Symbols::default();
        let thread = s.threads.intern("T").expect("few");
        let [c, d, e] = ["c", "d", "e"].map(|name| s.conds.intern(name).expect("few"));
        let mut waits = Waits::default();
        for op in [
            Op::Wait(c, None),
            Op::Wait(c, None),
            Op::Notify(c),
            Op::Wait(c, None),
            Op::Notify(d),
            Op::Wait(d, None),
            Op::Wait(e, None),
        ] {
            waits.note(&Event::new(thread, op));
        }
        let early: Vec<_> = waits.early(&s).map(|w| (w.condition, w.waits)).collect();
        assert_eq!(early, [("c", 2)]);
    }
}
