//! Rules with fewer demands, because most demands are not needed to see that a property holds.
//!
//! For most locks, variables and channels it suffices to know what they make events [need](super::prerequisites): that is kept.
//! Beyond that, sections exclude each other, reads see what they saw and channels are found empty only for those objects that
//! an infeasible violation was found to break. Every feasible prefix satisfies the relaxed rules, so if they allow no violation
//! there is none.

use super::rules::{Demands, HeldLock, Place, Read, Rules};

/// The objects that are enforced.
#[derive(Clone, Debug)]
pub(super) struct Enforced {
    locks: Vec<bool>,
    variables: Vec<bool>,
    channels: Vec<bool>,
}

/// A rule that an order breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BrokenRule {
    Lock(u32),
    Variable(u32),
    Channel(u32),
}

impl Enforced {
    pub(super) fn nothing(rules: &Rules) -> Enforced {
        Enforced {
            locks: vec![false; rules.locks.len()],
            variables: vec![false; rules.variables.len()],
            channels: vec![false; rules.channels.len()],
        }
    }

    /// Whether every rule is enforced.
    pub(super) fn is_everything(&self) -> bool {
        let objects = self.locks.iter().chain(&self.variables);
        objects.chain(&self.channels).all(|&on| on)
    }

    /// Enforces the rules that an order of events breaks; returns whether there were any.
    pub(super) fn enforce(&mut self, rules: &Rules, order: &[usize]) -> bool {
        let mut found = false;
        broken(rules, order, |object| {
            found = true;
            match object {
                BrokenRule::Lock(lock) => self.locks[lock as usize] = true,
                BrokenRule::Variable(variable) => self.variables[variable as usize] = true,
                BrokenRule::Channel(channel) => self.channels[channel as usize] = true,
            }
        });
        found
    }

    /// The rules as far as they are enforced; `None` if the needs of events are not known.
    pub(super) fn rules(&self, rules: &Rules) -> Option<Rules> {
        let needs = rules.prerequisites.as_ref()?;
        let mut relaxed = rules.clone();
        for (lock, _) in self.locks.iter().enumerate().filter(|(_, on)| !**on) {
            relaxed.locks[lock] = Default::default();
        }
        for (variable, _) in self.variables.iter().enumerate().filter(|(_, on)| !**on) {
            relaxed.variables[variable] = Default::default();
        }
        for (channel, _) in self.channels.iter().enumerate().filter(|(_, on)| !**on) {
            relaxed.channels[channel] = Default::default();
        }
        for (event, demands) in relaxed.events.iter_mut().enumerate() {
            let before = demands.position.checked_sub(2);
            let before = before.and_then(|count| rules.next(demands.thread as usize, count));
            let before = before.map(|event| needs.of(event));
            let needed = needs.of(event as u32).iter().enumerate();
            let after = needed.filter(|&(thread, &position)| {
                thread != demands.thread as usize
                    && position > before.map_or(0, |before| before[thread])
            });
            demands.after = after
                .map(|(thread, &position)| Place {
                    thread: thread as u32,
                    position,
                })
                .collect();
            self.relax(demands);
        }
        relaxed.count_contended();
        Some(relaxed)
    }

    fn relax(&self, demands: &mut Demands) {
        let lock = |held: &HeldLock| self.locks[held.lock as usize];
        let variable = |variable: u32| self.variables[variable as usize];
        let kept = |held: &[HeldLock]| held.iter().copied().filter(lock).collect::<Vec<_>>();
        demands.takes = kept(&demands.takes).into();
        demands.yields = kept(&demands.yields);
        demands.releases = demands.releases.filter(lock);
        demands.tries = demands.tries.filter(|&lock| self.locks[lock as usize]);
        let traffic = demands.traffic;
        demands.traffic = traffic.filter(|traffic| self.channels[traffic.channel() as usize]);
        let reads = demands.reads.iter().copied();
        demands.reads = reads
            .filter(|read: &Read| variable(read.variable))
            .collect();
        let writes = demands.writes.iter().copied();
        demands.writes = writes.filter(|write| variable(write.variable)).collect();
    }
}

/// Reports each rule that an order of events violates; it already respects program order.
fn broken(rules: &Rules, order: &[usize], mut tell: impl FnMut(BrokenRule)) {
    let mut cut = vec![0; rules.threads.len()];
    let mut last_write = vec![0; rules.variables.len()];
    for &event in order {
        let demands = &rules.events[event];
        for read in &demands.reads {
            if last_write[read.variable as usize] != read.write {
                tell(BrokenRule::Variable(read.variable));
            }
        }
        for &taken in &demands.takes {
            if rules.holder(taken, demands.thread, &cut).is_some() {
                tell(BrokenRule::Lock(taken.lock));
            }
        }
        if let Some(lock) = demands.tries
            && !rules.is_locked(lock, &cut)
        {
            tell(BrokenRule::Lock(lock));
        }
        if let Some(channel) = demands.finds_empty()
            && !rules.channels[channel as usize].is_empty(&cut)
        {
            tell(BrokenRule::Channel(channel));
        }
        cut[demands.thread as usize] += 1;
        for write in &demands.writes {
            last_write[write.variable as usize] = write.number;
        }
    }
}
