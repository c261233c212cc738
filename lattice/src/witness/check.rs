//! Checks a witness, independently of the search that found it.
//!
//! Knows no lattice: it takes the partial order, an order of all events and the step after which the
//! property is said to be violated, and follows the run with the monitor itself. It is run on every
//! witness in debug builds. (Under the maximal model the order is examined by the rules of the
//! trace instead, in `maximal::examine`.)

use portent_monitor_core::Value;
use portent_monitor_dsl::{Monitor, Verdict};

use crate::{
    goal::Goal,
    intake::Step,
    order::{EventIndex, Poset},
};

/// Returns why a run is not violated after exactly this many events, if so.
pub(crate) fn examine_verdict<'s>(
    run: &[EventIndex],
    monitor: &Monitor,
    initial: &[Value],
    step_of: impl Fn(EventIndex) -> &'s Step,
    goal: Goal,
    violated_at: usize,
) -> Result<(), String> {
    let mut stepper = monitor
        .start_with(|name| Some(initial[monitor.alphabet().variable(name)?.index()].clone()))
        .map_err(|error| error.to_string())?;
    for (step, &event) in run.iter().enumerate() {
        if step == violated_at {
            break;
        }
        if stepper.verdict() == Verdict::Violated {
            return Err(format!("violated already after {step} events"));
        }
        let taken = step_of(event);
        stepper
            .step(taken.event, taken.writes.iter().cloned())
            .map_err(|error| error.to_string())?;
    }
    if goal.is_bad(stepper.verdict(), violated_at == run.len()) {
        Ok(())
    } else {
        Err(format!(
            "{} and not violated after {violated_at} events",
            stepper.verdict()
        ))
    }
}

/// Checks that the run contains every event once that is not in the cut `from`, and none before an event that precedes it: its
/// clock counts how many of each chain it needs.
pub(crate) fn examine_order(poset: &Poset, from: &[u32], run: &[EventIndex]) -> Result<(), String> {
    let events = run.len() + from.iter().map(|&n| n as usize).sum::<usize>();
    if events != poset.len() {
        return Err(format!("{events} of {} events", poset.len()));
    }
    let mut done = from.to_vec();
    for &event in run {
        if event.index() >= poset.len() {
            return Err(format!("there is no event {}", event.0));
        }
        let chain = poset.chain_of(event).index();
        let clock = poset.clock(event);
        if done[chain] + 1 != clock[chain] {
            return Err(format!("event {} is out of order on its thread", event.0));
        }
        done[chain] += 1;
        if done.iter().zip(clock).any(|(done, needed)| done < needed) {
            return Err(format!("event {} comes before one that it needs", event.0));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use portent_monitor_core::ChainId;

    use super::*;

    #[test]
    fn wrong_orders_are_refused() {
        let mut poset = Poset::new(2);
        let a = poset.push(ChainId::from(0), &[1, 0]);
        let b = poset.push(ChainId::from(1), &[0, 1]);
        let c = poset.push(ChainId::from(1), &[1, 2]);
        assert!(examine_order(&poset, &[0, 0], &[b, a, c]).is_ok());
        assert!(examine_order(&poset, &[0, 0], &[b, c, a]).is_err());
        assert!(examine_order(&poset, &[0, 0], &[a, c, b]).is_err());
        assert!(examine_order(&poset, &[0, 0], &[a, b]).is_err());
        assert!(examine_order(&poset, &[0, 0], &[a, b, b]).is_err());
        assert!(examine_order(&poset, &[0, 1], &[a, c]).is_ok());
        assert!(examine_order(&poset, &[0, 1], &[a, b, c]).is_err());
    }
}
