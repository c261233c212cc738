//! Random programs over all primitives, which log what they see.

use std::{collections::HashMap, sync::Mutex as Plain};

use portent_hooks::{
    Shared, event,
    sync::{
        Barrier, Mutex, OnceLock, RwLock,
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
    thread,
};
use portent_testing::Rng;

use crate::order::Seen;

const MUTEXES: usize = 3;
const RWLOCKS: usize = 2;
const VARS: usize = 3;
const SHARED: usize = 2;

/// Numbers of the objects, for the log.
const RWLOCK: usize = 10;
const VAR: usize = 20;
const SHARE: usize = 30;
const ONCE: usize = 40;
const CHANNEL: usize = 50;
const BOUNDED: usize = 51;
const CAPACITY: u64 = 2;

/// What the threads of a program share.
struct World {
    mutexes: [Mutex<u64>; MUTEXES],
    rwlocks: [RwLock<u64>; RWLOCKS],
    vars: [AtomicU64; VARS],
    shared: [Shared<u64>; SHARED],
    once: [OnceLock<u64>; 2],
    barrier: Barrier,
}

/// A sender, and the messages that were sent, to be found when their place is known.
#[derive(Clone)]
struct Senders {
    open: mpsc::Sender<i64>,
    bounded: mpsc::SyncSender<i64>,
}

/// What came out of a run.
pub(crate) struct Run {
    pub(crate) logs: Vec<Vec<Seen>>,
    pub(crate) capacities: HashMap<usize, u64>,
}

/// One thread of a program; its log speaks of messages by their content until all are received.
struct Thread<'a> {
    world: &'a World,
    rng: Rng,
    /// The next event or message of this thread.
    next: i64,
    log: Vec<Seen>,
    relaxed: Ordering,
}

impl Thread<'_> {
    fn unique(&mut self) -> i64 {
        self.next += 1;
        self.next
    }

    fn event(&mut self) {
        let id = self.unique();
        event!(happens, id = id);
        self.log.push(Seen::Event(id));
    }

    /// Something that waits for nobody.
    fn small(&mut self) {
        let world = self.world;
        match self.rng.below(9) {
            0..=2 => self.event(),
            3 => {
                let at = self.rng.below(VARS);
                let seen = world.vars[at].load(self.relaxed);
                self.log.push(Seen::Read(VAR + at, seen));
            }
            4 => {
                let at = self.rng.below(VARS);
                let before = world.vars[at].fetch_add(1, self.relaxed);
                self.log.push(Seen::Update(VAR + at, before + 1));
            }
            5 => {
                let at = self.rng.below(VARS);
                let guess = world.vars[at].load(Ordering::SeqCst);
                self.log.push(Seen::Read(VAR + at, guess));
                let changed = world.vars[at].compare_exchange(
                    guess,
                    guess + 1,
                    Ordering::AcqRel,
                    Ordering::Acquire,
                );
                self.log.push(match changed {
                    Ok(before) => Seen::Update(VAR + at, before + 1),
                    Err(now) => Seen::Read(VAR + at, now),
                });
            }
            6 => {
                let at = self.rng.below(SHARED);
                let seen = world.shared[at].get();
                self.log.push(Seen::Read(SHARE + at, seen));
            }
            7 => {
                let at = self.rng.below(SHARED);
                let now = world.shared[at].update(|value| {
                    *value += 1;
                    *value
                });
                self.log.push(Seen::Update(SHARE + at, now));
            }
            _ => {
                let at = self.rng.below(2);
                let mine = self.unique();
                if self.rng.one_in(2) {
                    let seen = world.once[at].get().is_some();
                    self.log.push(Seen::Read(ONCE + at, u64::from(seen)));
                } else {
                    let mine = mine as u64;
                    let made = *world.once[at].get_or_init(|| mine) == mine;
                    self.log.push(if made {
                        Seen::Update(ONCE + at, 1)
                    } else {
                        Seen::Read(ONCE + at, 1)
                    });
                }
            }
        }
        if self.rng.one_in(8) {
            thread::yield_now();
        }
    }

    fn section(&mut self) {
        let world = self.world;
        let inside = self.rng.below(3);
        if self.rng.one_in(2) {
            let at = self.rng.below(MUTEXES);
            let mut guard = world.mutexes[at].lock().unwrap();
            *guard += 1;
            let number = *guard;
            self.log.push(Seen::Lock(at, number));
            (0..inside).for_each(|_| self.small());
            self.log.push(Seen::Unlock(at, number));
            drop(guard);
        } else if self.rng.one_in(2) {
            let at = self.rng.below(RWLOCKS);
            let mut guard = world.rwlocks[at].write().unwrap();
            *guard += 1;
            let number = *guard;
            self.log.push(Seen::Lock(RWLOCK + at, number));
            (0..inside).for_each(|_| self.small());
            self.log.push(Seen::Unlock(RWLOCK + at, number));
            drop(guard);
        } else {
            let at = self.rng.below(RWLOCKS);
            let guard = world.rwlocks[at].read().unwrap();
            let number = *guard;
            self.log.push(Seen::ReadLock(RWLOCK + at, number));
            (0..inside).for_each(|_| self.small());
            self.log.push(Seen::ReadUnlock(RWLOCK + at, number));
            drop(guard);
        }
    }

    /// The content of a message stands for its place until that is known.
    fn send(&mut self, senders: &Senders) {
        let id = self.unique();
        if self.rng.one_in(2) {
            senders.open.send(id).unwrap();
            self.log.push(Seen::Send(CHANNEL, id as u64));
        } else if senders.bounded.try_send(id).is_ok() {
            self.log.push(Seen::Send(BOUNDED, id as u64));
        }
    }

    fn receive(&mut self, channel: usize, from: &mpsc::Receiver<i64>, count: &mut u64) {
        match from.try_recv() {
            Ok(id) => {
                *count += 1;
                self.log.push(Seen::Recv(channel, id as u64));
            }
            Err(mpsc::TryRecvError::Empty) => self.log.push(Seen::Empty(channel, *count)),
            Err(mpsc::TryRecvError::Disconnected) => {}
        }
    }
}

/// Runs a random program. Thread 0 is the one that calls; it forks and joins the others.
pub(crate) fn run(seed: u64) -> Run {
    let mut rng = Rng::new(seed);
    let threads = 2 + rng.below(3);
    let steps = 6 + rng.below(40);
    let rounds = rng.below(3) as u64;
    let relaxed = rng.pick(&[Ordering::SeqCst, Ordering::Relaxed]).to_owned();
    let world = World {
        mutexes: Default::default(),
        rwlocks: Default::default(),
        vars: Default::default(),
        shared: Default::default(),
        once: Default::default(),
        barrier: Barrier::new(threads),
    };
    let (open, from_open) = mpsc::channel();
    let (bounded, from_bounded) = mpsc::sync_channel(CAPACITY as usize);
    let senders = Senders { open, bounded };
    let receivers = Plain::new(Some((from_open, from_bounded)));
    // So that they really run at once. It is not hooked, and nobody speaks of it.
    let gate = std::sync::Barrier::new(threads);
    let gate = &gate;
    let thread = |index: usize| Thread {
        world: &world,
        rng: Rng::new(seed.wrapping_mul(31).wrapping_add(index as u64)),
        next: (index as i64) << 32,
        log: Vec::new(),
        relaxed,
    };

    let mut main = thread(0);
    let mut logs = Vec::new();
    let mut counts = [0; 2];
    main.event();
    thread::scope(|s| {
        let mut children = Vec::new();
        for index in 1..=threads {
            main.log.push(Seen::Fork(index));
            let (mut child, senders) = (thread(index), senders.clone());
            // The first one receives.
            let receivers = (index == 1).then(|| receivers.lock().unwrap().take().unwrap());
            children.push(s.spawn(move || {
                gate.wait();
                let mut counts = [0; 2];
                let mut passed = 0;
                for step in 0..steps {
                    // All meet as often, but not at the same steps.
                    if passed < rounds && (child.rng.one_in(6) || steps - step <= rounds as usize) {
                        child.log.push(Seen::Arrive(passed));
                        child.world.barrier.wait();
                        child.log.push(Seen::GoOn(passed));
                        passed += 1;
                    }
                    match child.rng.below(10) {
                        0..=3 => child.section(),
                        4 => child.send(&senders),
                        5 => match &receivers {
                            Some((open, _)) if child.rng.one_in(2) => {
                                child.receive(CHANNEL, open, &mut counts[0]);
                            }
                            Some((_, bounded)) => {
                                child.receive(BOUNDED, bounded, &mut counts[1]);
                            }
                            None => child.send(&senders),
                        },
                        _ => child.small(),
                    }
                }
                (child.log, receivers, counts)
            }));
            if main.rng.one_in(3) {
                main.small();
            }
        }
        for (index, child) in children.into_iter().enumerate() {
            let (log, back, counted) = child.join().unwrap();
            main.log.push(Seen::Join(index + 1));
            logs.push(log);
            if let Some(back) = back {
                *receivers.lock().unwrap() = Some(back);
                counts = counted;
            }
            main.small();
        }
    });
    // The rest of the messages.
    let (open, bounded) = receivers.into_inner().unwrap().unwrap();
    for (at, channel, from) in [(0, CHANNEL, open), (1, BOUNDED, bounded)] {
        while let Ok(id) = from.try_recv() {
            counts[at] += 1;
            main.log.push(Seen::Recv(channel, id as u64));
        }
    }
    main.event();
    logs.insert(0, main.log);
    place_messages(&mut logs);
    Run {
        logs,
        capacities: HashMap::from([(BOUNDED, CAPACITY)]),
    }
}

/// Replaces the content of messages by their place: that in which they were received.
fn place_messages(logs: &mut [Vec<Seen>]) {
    let mut places = HashMap::new();
    let mut counts = HashMap::<usize, u64>::new();
    // The child that receives comes before the main thread, which takes the rest.
    for log in [1, 0] {
        for seen in &mut logs[log] {
            if let Seen::Recv(channel, id) = seen {
                let count = counts.entry(*channel).or_default();
                *count += 1;
                places.insert(*id, *count);
                *id = *count;
            }
        }
    }
    for seen in logs.iter_mut().flatten() {
        if let Seen::Send(_, id) = seen {
            *id = places[id];
        }
    }
}
