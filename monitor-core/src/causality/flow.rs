//! Follows a trace along its edges: what threads know, and what they have left at objects.
//!
//! This is for consumers that see all events of a run one after the other: a trace or a scheduler. It
//! keeps a table of everything that [`edges`] can name. A running program needs no such table, as its
//! threads and objects hold their own data.
//!
//! It keeps an entry for each thread, variable, lock and condition; for each message, since any
//! number of threads may receive it; in a trace with clocks for each line that brought its thread
//! new knowledge, since any later line may refer to it. The rounds of barriers are forgotten when all threads have
//! left.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::{
    edges::{Access, Object, edges, network_edge, sole_edge},
    knowledge::{Knowledge, ObjectClock},
};
use crate::{BarrierId, ChanId, Event, Id, Msg, Op, ThreadId};

/// The threads and objects of one run.
///
/// [`Causality`](crate::Causality) is this with [`ThreadClock`](crate::ThreadClock)s.
#[derive(Clone, Debug)]
pub struct Flow<K: Knowledge> {
    threads: Vec<Thread<K>>,
    vars: Vec<ObjectClock<K::Published>>,
    locks: Vec<ObjectClock<K::Published>>,
    conditions: Vec<ObjectClock<K::Published>>,
    /// Only updates: neither a sent message nor an arrival conflicts with anything.
    messages: FxHashMap<(ChanId, Msg), K::Published>,
    deliveries: FxHashMap<(ChanId, Msg), K::Published>,
    channels: Vec<Channel<K>>,
    rounds: FxHashMap<(BarrierId, u64), Round<K>>,
}

#[derive(Clone, Debug)]
struct Thread<K: Knowledge> {
    knows: K,
    /// What its next event observes.
    awaits: Option<Object>,
    /// In a trace with clocks: the knowledge after line n, where it changed.
    history: Vec<(u32, K::Published)>,
}

#[derive(Clone, Debug)]
struct Channel<K: Knowledge> {
    /// Sends and receives, as seen by a receive that finds the channel empty.
    traffic: ObjectClock<K::Published>,
    /// The last events of a few threads, not yet merged in, because channels are rarely found empty.
    recent: Vec<(ThreadId, K::Published)>,
    /// Only for channels that deliver in order: there may be a million others.
    queue: Option<Box<Queue<K>>>,
}

#[derive(Clone, Debug)]
struct Queue<K: Knowledge> {
    sends: ObjectClock<K::Published>,
    receives: ObjectClock<K::Published>,
    /// The contributions of receives that no send has observed yet. As the sends are ordered, an observed
    /// contribution is in the past of all later sends.
    room: VecDeque<K::Published>,
    /// The number of receives that have been observed.
    observed: u64,
    /// The number of sends on a channel with room for at least one message.
    sent: u64,
}

impl<K: Knowledge> Default for Channel<K> {
    fn default() -> Self {
        Channel {
            traffic: ObjectClock::default(),
            recent: Vec::new(),
            queue: None,
        }
    }
}

impl<K: Knowledge> Default for Queue<K> {
    fn default() -> Self {
        Queue {
            sends: ObjectClock::default(),
            receives: ObjectClock::default(),
            room: VecDeque::new(),
            observed: 0,
            sent: 0,
        }
    }
}

impl<K: Knowledge> Channel<K> {
    /// A thread sends or receives.
    #[inline]
    fn note(&mut self, thread: ThreadId, knows: &mut K) {
        const FEW: usize = 8;
        match self.recent.iter_mut().find(|(other, _)| *other == thread) {
            Some((_, last)) if knows.is_same(last) => {}
            // Its earlier contribution is in the past of this one.
            Some((_, last)) => knows.leave(last),
            None => {
                let left = knows.left();
                if K::is_empty(&left) {
                    return;
                }
                if self.recent.len() == FEW {
                    self.gather(knows);
                }
                self.recent.push((thread, left));
            }
        }
    }

    /// Merges all sends and receives, on behalf of some thread.
    fn gather(&mut self, by: &mut K) {
        for (_, mut left) in self.recent.drain(..) {
            self.traffic.contribute(&left, by);
            K::clear(&mut left);
        }
    }

    fn queue(&mut self) -> &mut Queue<K> {
        self.queue.get_or_insert_default()
    }
}

impl<K: Knowledge> Queue<K> {
    /// A send waits until there is room for its message.
    fn make_room(&mut self, capacity: u32, knows: &mut K) {
        self.sent += 1;
        let needed = self.sent.saturating_sub(u64::from(capacity));
        while self.observed < needed
            && let Some(mut left) = self.room.pop_front()
        {
            self.observed += 1;
            knows.learn(&left);
            K::clear(&mut left);
        }
    }
}

#[derive(Clone, Debug)]
struct Round<K: Knowledge> {
    arrivals: K::Published,
    /// Threads that have arrived and not yet left.
    waiting: u32,
}

impl<K: Knowledge> Default for Round<K> {
    fn default() -> Self {
        Round {
            arrivals: K::Published::default(),
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
            deliveries: FxHashMap::default(),
            channels: Vec::new(),
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
        if !event.partners().is_empty() {
            return self.step_together(event, act);
        }
        if self.threads.len() <= thread.index() || self.threads[thread.index()].awaits.is_some() {
            self.go_on(thread);
        }
        match sole_edge(&event.op) {
            Some((object, _)) if !K::travels(object) => {
                act(&mut self.threads[thread.index()].knows)
            }
            // A single lookup serves both directions.
            Some((Object::Var(var), access)) => {
                let there = var.entry(&mut self.vars);
                exchange(&mut self.threads[thread.index()].knows, there, access, act)
            }
            Some((Object::Lock(lock), access)) => {
                let there = lock.entry(&mut self.locks);
                exchange(&mut self.threads[thread.index()].knows, there, access, act)
            }
            _ => match network_edge(&event.op) {
                Some((chan, msg, access))
                    if K::travels(Object::Message(chan, msg))
                        && K::travels(Object::Channel(chan)) =>
                {
                    self.step_network(thread, (chan, msg), access, act)
                }
                _ => self.step_along(event, act),
            },
        }
    }

    /// As [`step`](Self::step), for a send or receive on a network.
    #[inline]
    fn step_network<R>(
        &mut self,
        thread: ThreadId,
        message: (ChanId, Msg),
        access: Access,
        act: impl FnOnce(&mut K) -> R,
    ) -> R {
        let knows = &mut self.threads[thread.index()].knows;
        let channel = message.0.entry(&mut self.channels);
        knows.receive(&channel.traffic, Access::Contribute);
        if access == Access::Observe
            && let Some(sent) = self.messages.get(&message)
        {
            knows.learn(sent);
        }
        let done = act(knows);
        if access == Access::Contribute {
            knows.add_to(self.messages.entry(message).or_default());
        }
        channel.note(thread, knows);
        done
    }

    /// As [`step`](Self::step), for an event of several threads.
    #[cold]
    fn step_together<R>(&mut self, event: &Event, act: impl FnOnce(&mut K) -> R) -> R {
        let thread = event.thread;
        self.go_on(thread);
        for &partner in event.partners() {
            let left = self.thread(partner).left();
            self.threads[thread.index()].knows.learn(&left);
        }
        let done = self.step_along(event, act);
        let left = self.threads[thread.index()].knows.left();
        for &partner in event.partners() {
            self.threads[partner.index()].knows.learn(&left);
        }
        done
    }

    /// As [`step`](Self::step), for an event with any number of edges.
    #[inline(never)]
    fn step_along<R>(&mut self, event: &Event, act: impl FnOnce(&mut K) -> R) -> R {
        let thread = event.thread;
        edges(event, |object, access| {
            if K::travels(object) {
                self.receive(thread, object, access);
            }
        });
        let done = act(&mut self.threads[thread.index()].knows);
        edges(event, |object, access| {
            if K::travels(object) {
                self.publish(thread, object, access);
            }
        });
        done
    }

    /// The number of entries: threads, objects, messages.
    pub fn places(&self) -> usize {
        let objects = self.vars.len() + self.locks.len() + self.conditions.len();
        let channels = self.channels.len();
        let messages = self.messages.len() + self.deliveries.len() + self.rounds.len();
        self.threads.len() + 2 * objects + 4 * channels + messages
    }

    /// The approximate size in bytes of everything that threads know and have left. Visits every entry.
    pub fn bytes(&self) -> usize {
        let left = K::bytes_left;
        let threads = self.threads.iter().map(|thread| {
            let history = thread.history.iter().map(|(_, known)| left(known));
            thread.knows.bytes() + history.sum::<usize>()
        });
        let objects = self.vars.iter().chain(&self.locks).chain(&self.conditions);
        let messages = self.messages.values().chain(self.deliveries.values());
        let rounds = self.rounds.values().map(|round| left(&round.arrivals));
        let channels = self.channels.iter().map(|channel| {
            let recent = channel.recent.iter().map(|(_, last)| left(last));
            let queue = channel.queue.as_deref().map_or(0, |queue| {
                queue.sends.bytes::<K>()
                    + queue.receives.bytes::<K>()
                    + queue.room.iter().map(left).sum::<usize>()
            });
            channel.traffic.bytes::<K>() + recent.sum::<usize>() + queue
        });
        threads.sum::<usize>()
            + objects.map(ObjectClock::bytes::<K>).sum::<usize>()
            + messages.map(left).sum::<usize>()
            + rounds.sum::<usize>()
            + channels.sum::<usize>()
    }

    /// The final knowledge of a thread that does nothing more for now: everything that it awaited has come.
    pub fn thread(&mut self, thread: ThreadId) -> &mut K {
        self.go_on(thread);
        &mut self.threads[thread.index()].knows
    }

    /// A thread picks up the lines that the clock of an event counts before the event happens: only then is the event next.
    pub fn receive_clock(&mut self, event: &Event) {
        let Op::Stamped(_) = event.op else { return };
        self.go_on(event.thread);
        edges(event, |object, access| {
            if matches!(object, Object::Lines(..)) {
                self.receive(event.thread, object, access);
            }
        });
    }

    /// The thread picks up what it awaited: it is about to act, or has ended.
    #[inline(never)]
    fn go_on(&mut self, thread: ThreadId) {
        let state = thread_entry(&mut self.threads, thread);
        match state.awaits.take() {
            Some(Object::Round(barrier, number)) => {
                let key = (barrier, number);
                let Some(round) = self.rounds.get_mut(&key) else {
                    return;
                };
                state.knows.learn(&round.arrivals);
                round.waiting = round.waiting.saturating_sub(1);
                if round.waiting == 0
                    && let Some(mut round) = self.rounds.remove(&key)
                {
                    K::clear(&mut round.arrivals);
                }
            }
            Some(Object::Delivery(chan, msg)) => {
                if let Some(delivered) = self.deliveries.get(&(chan, msg)) {
                    state.knows.learn(delivered);
                }
            }
            _ => {}
        }
    }

    fn receive(&mut self, thread: ThreadId, object: Object, access: Access) {
        let knows = &mut self.threads[thread.index()].knows;
        match (object, access) {
            (Object::Var(var), _) => knows.receive(var.entry(&mut self.vars), access),
            (Object::Lock(lock), _) => knows.receive(lock.entry(&mut self.locks), access),
            (Object::Condition(cond), _) => {
                knows.receive(cond.entry(&mut self.conditions), access);
            }
            (Object::Message(chan, msg), Access::Observe) => {
                if let Some(sent) = self.messages.get(&(chan, msg)) {
                    knows.learn(sent);
                }
            }
            (Object::Channel(chan), _) => {
                let channel = chan.entry(&mut self.channels);
                if access == Access::Read {
                    channel.gather(knows);
                }
                knows.receive(&channel.traffic, access);
            }
            (Object::Sends(chan), _) => {
                knows.receive(&chan.entry(&mut self.channels).queue().sends, access);
            }
            (Object::Receives(chan), _) => {
                knows.receive(&chan.entry(&mut self.channels).queue().receives, access);
            }
            (Object::Room(chan, capacity), Access::Observe) => {
                chan.entry(&mut self.channels)
                    .queue()
                    .make_room(capacity, knows);
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
        let Thread { knows, awaits, .. } = &mut self.threads[thread.index()];
        match (object, access) {
            (_, Access::Await) => *awaits = Some(object),
            (Object::Var(var), _) => knows.publish(var.entry(&mut self.vars), access),
            (Object::Lock(lock), _) => knows.publish(lock.entry(&mut self.locks), access),
            (Object::Condition(cond), _) => {
                knows.publish(cond.entry(&mut self.conditions), access);
            }
            (Object::Message(chan, msg), Access::Contribute) => {
                knows.add_to(self.messages.entry((chan, msg)).or_default());
            }
            (Object::Delivery(chan, msg), Access::Contribute) => {
                knows.add_to(self.deliveries.entry((chan, msg)).or_default());
            }
            (Object::Channel(chan), Access::Contribute) => {
                chan.entry(&mut self.channels).note(thread, knows);
            }
            (Object::Channel(chan), _) => {
                knows.publish(&mut chan.entry(&mut self.channels).traffic, access);
            }
            (Object::Sends(chan), _) => {
                knows.publish(&mut chan.entry(&mut self.channels).queue().sends, access);
            }
            (Object::Receives(chan), _) => {
                knows.publish(&mut chan.entry(&mut self.channels).queue().receives, access);
            }
            (Object::Room(chan, _), Access::Contribute) => {
                let queue = chan.entry(&mut self.channels).queue();
                queue.room.push_back(knows.left());
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
            (Object::Lines(owner, line), Access::Contribute) => {
                let left = knows.left();
                thread_entry(&mut self.threads, owner);
                let knows = &self.threads[thread.index()].knows;
                let last = self.threads[owner.index()].history.last();
                if !last.is_some_and(|(_, last)| knows.is_same(last)) {
                    self.threads[owner.index()].history.push((line, left));
                }
            }
            _ => {}
        }
    }

    /// The knowledge of `other` after its first `lines` lines.
    fn receive_lines(&mut self, thread: ThreadId, other: ThreadId, lines: u32) {
        let history = &thread_entry(&mut self.threads, other).history;
        let known = history.partition_point(|(line, _)| *line <= lines);
        if let Some((_, left)) = known.checked_sub(1).map(|last| &history[last]) {
            let left = left.clone();
            self.threads[thread.index()].knows.learn(&left);
        }
    }
}

/// Receives from a variable or lock, acts, and publishes there.
#[inline(always)]
fn exchange<K: Knowledge, R>(
    knows: &mut K,
    there: &mut ObjectClock<K::Published>,
    access: Access,
    act: impl FnOnce(&mut K) -> R,
) -> R {
    knows.receive(there, access);
    let done = act(knows);
    if access != Access::Read || knows.is_news(there) {
        knows.publish(there, access);
    }
    done
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
