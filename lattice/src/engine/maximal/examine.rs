//! Checks a feasible order of events against the rules of its trace, independently of the search
//! that found it.

use rustc_hash::FxHashMap;

use super::{channel::Traffic, rules::Rules};

/// Returns what is wrong with an order of some events of a trace, if anything.
pub(crate) fn examine(rules: &Rules, order: &[usize]) -> Result<(), String> {
    let mut done = vec![0; rules.threads.len()];
    let mut last_write: FxHashMap<u32, u32> = FxHashMap::default();
    // The holders of each lock, one entry for every time it was taken.
    let mut holding: FxHashMap<u32, Vec<(usize, bool)>> = FxHashMap::default();
    // The number of messages in transit.
    let mut on_the_way: FxHashMap<u32, i64> = FxHashMap::default();
    for &event in order {
        let Some(demands) = rules.events.get(event) else {
            return Err(format!("there is no event {event}"));
        };
        let thread = demands.thread as usize;
        let next = rules.threads[thread].get(done[thread] as usize);
        if next != Some(&(event as u32)) {
            return Err(format!("event {event} is out of order on its thread"));
        }
        if !demands.after.iter().all(|place| place.is_in(&done)) {
            return Err(format!("event {event} comes before one that it waits for"));
        }
        for read in &demands.reads {
            if last_write.get(&read.variable).copied().unwrap_or(0) != read.write {
                return Err(format!("event {event} reads what it did not read"));
            }
        }
        for taken in &demands.takes {
            let holders = holding.entry(taken.lock).or_default();
            let excludes = |&(other, exclusive): &(usize, bool)| {
                other != thread && (exclusive || taken.exclusive)
            };
            if holders.iter().any(excludes) {
                return Err(format!("event {event} takes a lock that is held"));
            }
            holders.push((thread, taken.exclusive));
        }
        if let Some(lock) = demands.tries
            && holding.get(&lock).is_none_or(Vec::is_empty)
        {
            return Err(format!("event {event} fails to take a lock that is free"));
        }
        if let Some(traffic) = demands.traffic {
            let messages = on_the_way.entry(traffic.channel()).or_default();
            match traffic {
                Traffic::Send(_) => *messages += 1,
                Traffic::Receive(_) => *messages -= 1,
                Traffic::Try(_) if *messages == 0 => {}
                Traffic::Try(_) => {
                    return Err(format!("event {event} finds nothing where something is"));
                }
            }
        }
        for released in demands.freed() {
            let holders = holding.entry(released.lock).or_default();
            let this = (thread, released.exclusive);
            if let Some(index) = holders.iter().position(|&holder| holder == this) {
                holders.swap_remove(index);
            }
        }
        done[thread] += 1;
        for write in &demands.writes {
            last_write.insert(write.variable, write.number);
        }
    }
    Ok(())
}

/// Returns an event of an order that comes after a conflicting event that was observed later, if there is one. Conflicting are
/// accesses to a variable that are not both reads, and operations on a lock that are not both shared.
pub(crate) fn examine_conflicts(rules: &Rules, order: &[usize]) -> Result<(), String> {
    /// The last events, in observed order, that used and changed an object so far.
    #[derive(Default)]
    struct Last {
        used: Option<usize>,
        changed: Option<usize>,
    }
    let mut objects: FxHashMap<(bool, u32), Last> = FxHashMap::default();
    for &event in order {
        let demands = &rules.events[event];
        let reads = { demands.reads.iter() }.map(|read| ((false, read.variable), false));
        let writes = { demands.writes.iter() }.map(|write| ((false, write.variable), true));
        let held = demands.takes.iter().chain(demands.freed());
        let locks = held.map(|held| ((true, held.lock), held.exclusive));
        let tries = { demands.tries.iter() }.map(|&lock| ((true, lock), false));
        for (object, changes) in reads.chain(writes).chain(locks).chain(tries) {
            let last = objects.entry(object).or_default();
            let conflicting = if changes { last.used } else { last.changed };
            if conflicting > Some(event) {
                return Err(format!(
                    "event {event} comes after one that it was observed before"
                ));
            }
            last.used = last.used.max(Some(event));
            if changes {
                last.changed = last.changed.max(Some(event));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use portent_monitor_core::{Event, LockId, Op, ThreadId, VarId};

    #[test]
    fn wrong_orders_are_refused() {
        let [t1, t2] = [0, 1].map(|index| ThreadId::from_index(index).unwrap());
        let (m, x) = (
            LockId::from_index(0).unwrap(),
            VarId::from_index(0).unwrap(),
        );
        let rules = Rules::new(&[
            Event::new(t1, Op::Lock(m)),
            Event::new(t1, Op::Write(x, None)),
            Event::new(t1, Op::Unlock(m)),
            Event::new(t2, Op::Lock(m)),
            Event::new(t2, Op::Unlock(m)),
            Event::new(t2, Op::Read(x)),
        ]);
        assert_eq!(examine(&rules, &[3, 4, 0, 1, 5, 2]), Ok(()));
        for (order, why) in [
            (&[1][..], "on its thread"),
            (&[0, 3], "held"),
            (&[3, 4, 5], "did not read"),
            (&[9], "no event"),
        ] {
            let error = examine(&rules, order).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
        // Leaving out is allowed, swapping is not.
        assert_eq!(examine_conflicts(&rules, &[3, 4]), Ok(()));
        let error = examine_conflicts(&rules, &[3, 4, 0, 1, 5, 2]).unwrap_err();
        assert!(error.contains("event 0 comes after"), "{error}");
    }
}
