//! Follows a trace along its edges: what threads know, and what they have left where.
//!
//! This is for those who see all events of a run one after the other, a trace or a scheduler. It
//! keeps a table of everything that [`edges`](super::edges) can name. A running program needs no such table, as its
//! threads and objects hold what is theirs.
//!
//! What is kept: something for each thread, variable, lock and condition; for each message, since any
//! number of threads may receive it; in a trace with clocks for each line that brought its thread
//! news, since any later line may refer to it. The rounds of barriers are forgotten when all have
//! left.

use rustc_hash::FxHashMap;

use super::{
    edges::{Access, Object, other_edges, sole_edge},
    knowledge::{Knowledge, ObjectClock},
};
use crate::{BarrierId, ChanId, Event, Id, Msg, ThreadId};

/// The threads and objects of one run.
///
/// [`Causality`](crate::Causality) is this with [`ThreadClock`](crate::ThreadClock)s.
#[derive(Clone, Debug)]
pub struct Flow<K: Knowledge> {
    threads: Vec<Thread<K>>,
    vars: Vec<ObjectClock<K::Left>>,
    locks: Vec<ObjectClock<K::Left>>,
    conditions: Vec<ObjectClock<K::Left>>,
    /// Only updates: a message, once sent, is not in the way of anybody; nor is an arrival.
    messages: FxHashMap<(ChanId, Msg), K::Left>,
    rounds: FxHashMap<(BarrierId, u64), Round<K>>,
}

#[derive(Clone, Debug)]
struct Thread<K: Knowledge> {
    knows: K,
    /// What its next event observes.
    awaits: Option<Object>,
    /// In a trace with clocks: what it knew after line n, where that changed.
    history: Vec<(u32, K::Left)>,
}

#[derive(Clone, Debug)]
struct Round<K: Knowledge> {
    arrivals: K::Left,
    /// Threads that arrived and did not go on yet.
    waiting: u32,
}

impl<K: Knowledge> Default for Round<K> {
    fn default() -> Self {
        Round {
            arrivals: K::Left::default(),
            waiting: 0,
        }
    }
}

impl<K: Knowledge> Default for Flow<K> {
    fn default() -> Self {
        Flow {
            threads: Vec::new(),
            vars: Vec::new(),
            locks: Vec::new(),
            conditions: Vec::new(),
            messages: FxHashMap::default(),
            rounds: FxHashMap::default(),
        }
    }
}

impl<K: Knowledge> Flow<K> {
    /// Takes the next event: its thread receives, `act` is called with what the thread then knows,
    /// and the thread publishes.
    #[inline]
    pub fn step<R>(&mut self, event: &Event, act: impl FnOnce(&mut K) -> R) -> R {
        let thread = event.thread;
        if self.threads.len() <= thread.index() || self.threads[thread.index()].awaits.is_some() {
            self.go_on(thread);
        }
        match sole_edge(&event.op) {
            Some((object, _)) if !K::travels(object) => {
                act(&mut self.threads[thread.index()].knows)
            }
            // One look for the object serves both directions.
            Some((Object::Var(var), access)) => {
                let there = entry(&mut self.vars, var);
                cross(&mut self.threads[thread.index()].knows, there, access, act)
            }
            Some((Object::Lock(lock), access)) => {
                let there = entry(&mut self.locks, lock);
                cross(&mut self.threads[thread.index()].knows, there, access, act)
            }
            _ => self.step_along(event, act),
        }
    }

    /// As [`step`](Self::step), of an event with any number of edges.
    #[inline(never)]
    fn step_along<R>(&mut self, event: &Event, act: impl FnOnce(&mut K) -> R) -> R {
        let thread = event.thread;
        other_edges(event, |object, access| {
            if K::travels(object) {
                self.receive(thread, object, access);
            }
        });
        let done = act(&mut self.threads[thread.index()].knows);
        other_edges(event, |object, access| {
            if K::travels(object) {
                self.publish(thread, object, access);
            }
        });
        done
    }

    /// What a thread knows when it does nothing more for now: what it awaited has come.
    pub fn thread(&mut self, thread: ThreadId) -> &mut K {
        self.go_on(thread);
        &mut self.threads[thread.index()].knows
    }

    /// What the thread awaited is picked up: it is about to do something, or has ended.
    #[inline(never)]
    fn go_on(&mut self, thread: ThreadId) {
        let state = thread_entry(&mut self.threads, thread);
        // Nothing else is awaited.
        let Some(Object::Round(barrier, number)) = state.awaits.take() else {
            return;
        };
        let key = (barrier, number);
        if let Some(round) = self.rounds.get_mut(&key) {
            state.knows.learn(&round.arrivals);
            round.waiting = round.waiting.saturating_sub(1);
            if round.waiting == 0 {
                self.rounds.remove(&key);
            }
        }
    }

    fn receive(&mut self, thread: ThreadId, object: Object, access: Access) {
        let knows = &mut self.threads[thread.index()].knows;
        match (object, access) {
            (Object::Var(var), _) => knows.receive(entry(&mut self.vars, var), access),
            (Object::Lock(lock), _) => knows.receive(entry(&mut self.locks, lock), access),
            (Object::Condition(cond), _) => {
                knows.receive(entry(&mut self.conditions, cond), access);
            }
            (Object::Message(chan, msg), Access::Observe) => {
                if let Some(sent) = self.messages.get(&(chan, msg)) {
                    knows.learn(sent);
                }
            }
            (Object::Thread(child), Access::Observe) => {
                let left = self.thread(child).left();
                self.threads[thread.index()].knows.learn(&left);
            }
            (Object::Lines(other, lines), Access::Observe) => {
                self.receive_lines(thread, other, lines);
            }
            _ => {}
        }
    }

    fn publish(&mut self, thread: ThreadId, object: Object, access: Access) {
        let Thread {
            knows,
            awaits,
            history,
        } = &mut self.threads[thread.index()];
        match (object, access) {
            (_, Access::Await) => *awaits = Some(object),
            (Object::Var(var), _) => knows.publish(entry(&mut self.vars, var), access),
            (Object::Lock(lock), _) => knows.publish(entry(&mut self.locks, lock), access),
            (Object::Condition(cond), _) => {
                knows.publish(entry(&mut self.conditions, cond), access);
            }
            (Object::Message(chan, msg), Access::Contribute) => {
                knows.add_to(self.messages.entry((chan, msg)).or_default());
            }
            (Object::Round(barrier, number), Access::Contribute) => {
                let round = self.rounds.entry((barrier, number)).or_default();
                round.waiting += 1;
                knows.add_to(&mut round.arrivals);
            }
            (Object::Thread(child), Access::Contribute) => {
                let left = knows.left();
                thread_entry(&mut self.threads, child).knows.learn(&left);
            }
            (Object::Lines(_, line), Access::Contribute)
                if !(history.last()).is_some_and(|(_, last)| knows.is_same(last)) =>
            {
                history.push((line, knows.left()));
            }
            _ => {}
        }
    }

    /// What `other` knew after its first `lines` lines.
    fn receive_lines(&mut self, thread: ThreadId, other: ThreadId, lines: u32) {
        let history = &thread_entry(&mut self.threads, other).history;
        let known = history.partition_point(|(line, _)| *line <= lines);
        if let Some((_, left)) = known.checked_sub(1).map(|last| &history[last]) {
            let left = left.clone();
            self.threads[thread.index()].knows.learn(&left);
        }
    }
}

/// Receives from an object, acts, and publishes there.
#[inline(always)]
fn cross<K: Knowledge, R>(
    knows: &mut K,
    there: &mut ObjectClock<K::Left>,
    access: Access,
    act: impl FnOnce(&mut K) -> R,
) -> R {
    knows.receive(there, access);
    let done = act(knows);
    knows.publish(there, access);
    done
}

/// The entry of `id`, which is made if there is none.
#[inline]
fn entry<I: Id, T: Default>(all: &mut Vec<T>, id: I) -> &mut T {
    if id.index() >= all.len() {
        all.resize_with(id.index() + 1, T::default);
    }
    &mut all[id.index()]
}

fn thread_entry<K: Knowledge>(all: &mut Vec<Thread<K>>, id: ThreadId) -> &mut Thread<K> {
    while let index = all.len()
        && index <= id.index()
        && let Some(thread) = ThreadId::from_index(index)
    {
        all.push(Thread {
            knows: K::new(thread),
            awaits: None,
            history: Vec::new(),
        });
    }
    &mut all[id.index()]
}
