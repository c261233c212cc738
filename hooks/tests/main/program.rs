//! Random programs over all primitives, which log what they see.

use std::{
    collections::HashMap,
    sync::{
        Mutex as Plain, OnceLock as PlainOnce,
        atomic::{
            AtomicU64 as PlainNumber,
            Ordering::{Acquire, Release},
        },
    },
    time::Duration,
};

use portent_hooks::{
    Shared, event,
    sync::{
        Barrier, Condvar, LazyLock, Mutex, MutexGuard, Once, OnceLock, RwLock,
        atomic::{AtomicU64, Ordering},
        lock_api::{RawMutex, RawRwLock},
        mpsc,
    },
    thread,
};
use portent_testing::Rng;

use crate::order::{Run, Seen, place_messages};

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
const TRIED: usize = 60;
const RAW: usize = 70;
const RAW_RWLOCK: usize = 71;
const CALLED: usize = 80;
const LAZY: usize = 90;
/// The mutex of the first meeting; the others follow.
const MEETING: usize = 100;
const CAPACITY: u64 = 2;

/// What the threads of a program share.
struct World {
    mutexes: [Mutex<u64>; MUTEXES],
    rwlocks: [RwLock<u64>; RWLOCKS],
    vars: [AtomicU64; VARS],
    shared: [Shared<u64>; SHARED],
    once: [OnceLock<u64>; 2],
    called: [Once; 2],
    /// Each is the thread that made it.
    lazy: [LazyLock<std::thread::ThreadId>; 2],
    raw: lock_api::Mutex<RawMutex, u64>,
    raw_rwlock: lock_api::RwLock<RawRwLock, u64>,
    tried: [Tried; 2],
    barrier: Barrier,
    /// In this order, for all who take part.
    meetings: Vec<Meeting>,
    handles: Vec<PlainOnce<thread::Thread>>,
}

/// A mutex that is tried, and what can be seen of it without a step: the number of the section that is going on, or 0.
struct Tried {
    mutex: Mutex<u64>,
    section: PlainNumber,
}

/// What threads wait for each other for, and how far they have come with it: that is no step, either.
struct Meeting {
    kind: Kind,
    progress: PlainNumber,
    mutex: Mutex<u64>,
    condition: Condvar,
    /// Without any room.
    channel: (mpsc::SyncSender<i64>, Plain<mpsc::Receiver<i64>>),
}

#[derive(Clone, Copy)]
enum Kind {
    /// All come.
    Barrier,
    /// The first waits for a condition, or parks, and the second notifies.
    Condition(usize, usize),
    Park(usize, usize),
    /// The first sends, and the second receives.
    Rendezvous(usize, usize),
}

impl Meeting {
    fn until(&self, progress: u64) {
        while self.progress.load(Acquire) < progress {
            std::thread::yield_now();
        }
    }
}

/// A sender, and the messages that were sent, to be found when their place is known.
#[derive(Clone)]
struct Senders {
    open: mpsc::Sender<i64>,
    bounded: mpsc::SyncSender<i64>,
}

/// One thread of a program; its log speaks of messages by their content until all are received.
struct Thread<'a> {
    world: &'a World,
    rng: Rng,
    /// The next event or message of this thread.
    next: i64,
    log: Vec<Seen>,
    relaxed: Ordering,
    index: usize,
    everything: bool,
    is_unclear: bool,
    /// The next meeting.
    meeting: usize,
    has_made: [bool; 2],
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
        match self.rng.below(12) {
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
            8 => self.try_lock(),
            9 => self.look_at_lazy(),
            10 => {
                let at = self.rng.below(2);
                let mut made = false;
                if self.rng.one_in(2) {
                    let seen = world.called[at].is_completed();
                    self.log.push(Seen::Read(CALLED + at, u64::from(seen)));
                } else {
                    world.called[at].call_once(|| made = true);
                    self.log.push(if made {
                        Seen::Update(CALLED + at, 1)
                    } else {
                        Seen::Read(CALLED + at, 1)
                    });
                }
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

    fn look_at_lazy(&mut self) {
        let at = self.rng.below(2);
        let lazy = &self.world.lazy[at];
        if self.rng.one_in(2) {
            let seen = LazyLock::get(lazy).is_some();
            self.log.push(Seen::Read(LAZY + at, u64::from(seen)));
        } else if **lazy == std::thread::current().id() && !self.has_made[at] {
            self.has_made[at] = true;
            self.log.push(Seen::Update(LAZY + at, 1));
        } else {
            self.log.push(Seen::Read(LAZY + at, 1));
        }
    }

    /// A try that may fail. Why it did is known if the same section was going on before and after.
    fn try_lock(&mut self) {
        let at = self.rng.below(2);
        let Tried { mutex, section } = &self.world.tried[at];
        let before = section.load(Acquire);
        match mutex.try_lock() {
            Ok(guard) => self.tried_section(at, guard, 0),
            Err(_) if before != 0 && section.load(Acquire) == before => {
                self.log.push(Seen::Tried(TRIED + at, before));
            }
            Err(_) => self.is_unclear = true,
        }
    }

    fn tried_section(&mut self, at: usize, mut guard: MutexGuard<'_, u64>, inside: usize) {
        *guard += 1;
        let number = *guard;
        self.log.push(Seen::Lock(TRIED + at, number));
        let section = &self.world.tried[at].section;
        section.store(number, Release);
        for _ in 0..inside {
            self.event();
            thread::yield_now();
        }
        section.store(0, Release);
        self.log.push(Seen::Unlock(TRIED + at, number));
        drop(guard);
    }

    fn raw_section(&mut self, inside: usize) {
        let world = self.world;
        match self.rng.below(4) {
            0 => {
                let mut guard = world.raw.lock();
                *guard += 1;
                let number = *guard;
                self.log.push(Seen::Lock(RAW, number));
                (0..inside).for_each(|_| self.small());
                self.log.push(Seen::Unlock(RAW, number));
            }
            1 => {
                let guard = world.raw_rwlock.read();
                let number = *guard;
                self.log.push(Seen::ReadLock(RAW_RWLOCK, number));
                (0..inside).for_each(|_| self.small());
                self.log.push(Seen::ReadUnlock(RAW_RWLOCK, number));
            }
            kind => {
                let mut guard = world.raw_rwlock.write();
                *guard += 1;
                let number = *guard;
                self.log.push(Seen::Lock(RAW_RWLOCK, number));
                (0..inside).for_each(|_| self.small());
                self.log.push(Seen::Unlock(RAW_RWLOCK, number));
                if kind == 3 {
                    let _guard = lock_api::RwLockWriteGuard::downgrade(guard);
                    self.log.push(Seen::ReadLock(RAW_RWLOCK, number));
                    (0..inside).for_each(|_| self.small());
                    self.log.push(Seen::ReadUnlock(RAW_RWLOCK, number));
                }
            }
        }
    }

    /// Goes to the next meeting; it holds nothing that others may want.
    fn meet(&mut self) {
        let (world, number) = (self.world, self.meeting as u64);
        let meeting = &world.meetings[self.meeting];
        self.meeting += 1;
        match meeting.kind {
            Kind::Barrier => {
                self.log.push(Seen::Arrive(number));
                world.barrier.wait();
                self.log.push(Seen::GoOn(number));
            }
            Kind::Condition(waits, _) if waits == self.index => self.wait(meeting, number),
            Kind::Condition(_, notifies) if notifies == self.index => self.notify(meeting, number),
            Kind::Park(parks, _) if parks == self.index => {
                // One begins before it is woken, and one after.
                self.log.push(Seen::Waiting(number));
                thread::park_timeout(Duration::ZERO);
                self.after_a_wait(meeting, number);
                meeting.progress.store(1, Release);
                self.small();
                meeting.until(2);
                thread::park();
                self.log.push(Seen::Woken(number));
            }
            Kind::Park(parks, unparks) if unparks == self.index => {
                meeting.until(1);
                self.after_a_wait(meeting, number);
                world.handles[parks].get().unwrap().unpark();
                self.log.push(Seen::Notify(number));
                meeting.progress.store(2, Release);
            }
            Kind::Rendezvous(sends, _) if sends == self.index => {
                self.log.push(Seen::Offer(number));
                meeting.channel.0.send(1).unwrap();
                self.log.push(Seen::Delivered(number));
            }
            Kind::Rendezvous(_, receives) if receives == self.index => {
                let receiver = meeting.channel.1.lock().unwrap();
                assert_eq!(receiver.recv(), Ok(1));
                self.log.push(Seen::Take(number));
            }
            _ => {}
        }
    }

    /// The end of a wait is in nobody's way, so that a notify after it may be written down before it, and who only reads what was written
    /// sees more order than there was. Where all is written down, that is prevented.
    fn after_a_wait(&mut self, meeting: &Meeting, number: u64) {
        if self.everything {
            let lock = MEETING + number as usize;
            let mut guard = meeting.mutex.lock().unwrap();
            *guard += 1;
            self.log.push(Seen::Lock(lock, *guard));
            self.log.push(Seen::Unlock(lock, *guard));
        }
    }

    fn wait(&mut self, meeting: &Meeting, number: u64) {
        let lock = MEETING + number as usize;
        let mut guard = meeting.mutex.lock().unwrap();
        *guard += 1;
        self.log.push(Seen::Lock(lock, *guard));
        self.event();
        self.log.push(Seen::Unlock(lock, *guard));
        self.log.push(Seen::Waiting(number));
        meeting.progress.store(1, Release);
        let mut guard = meeting.condition.wait(guard).unwrap();
        assert_eq!(meeting.progress.load(Acquire), 2, "somebody notified");
        self.log.push(Seen::Woken(number));
        *guard += 1;
        self.log.push(Seen::Lock(lock, *guard));
        self.small();
        self.log.push(Seen::Unlock(lock, *guard));
    }

    fn notify(&mut self, meeting: &Meeting, number: u64) {
        let lock = MEETING + number as usize;
        meeting.until(1);
        // Until it really waits, which can be seen without a step.
        while format!("{:?}", meeting.mutex).contains("<locked>") {
            std::thread::yield_now();
        }
        if self.rng.one_in(2) {
            let mut guard = meeting.mutex.lock().unwrap();
            *guard += 1;
            self.log.push(Seen::Lock(lock, *guard));
            self.log.push(Seen::Unlock(lock, *guard));
        }
        meeting.progress.store(2, Release);
        if self.rng.one_in(2) {
            meeting.condition.notify_one();
        } else {
            meeting.condition.notify_all();
        }
        self.log.push(Seen::Notify(number));
    }

    fn section(&mut self) {
        let world = self.world;
        let inside = self.rng.below(3);
        if self.rng.one_in(4) {
            self.raw_section(inside);
        } else if self.rng.one_in(5) {
            let at = self.rng.below(2);
            let guard = world.tried[at].mutex.lock().unwrap();
            self.tried_section(at, guard, inside);
        } else if self.rng.one_in(2) {
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

/// Runs a random program, of which some events are recorded, or everything. Thread 0 is the one that calls; it forks and joins the others.
pub(crate) fn run(seed: u64, everything: bool) -> Run {
    let mut rng = Rng::new(seed);
    let threads = 2 + rng.below(3);
    let steps = 6 + rng.below(40);
    let meetings: Vec<Meeting> = (0..rng.below(7))
        .map(|_| {
            let one = 1 + rng.below(threads);
            let other = 1 + (one + rng.below(threads - 1)) % threads;
            Meeting {
                kind: match rng.below(4) {
                    0 => Kind::Barrier,
                    1 => Kind::Condition(one, other),
                    2 => Kind::Rendezvous(one, other),
                    _ => Kind::Park(one, other),
                },
                progress: PlainNumber::new(0),
                mutex: Mutex::new(0),
                condition: Condvar::new(),
                channel: {
                    let (sender, receiver) = mpsc::sync_channel(0);
                    (sender, Plain::new(receiver))
                },
            }
        })
        .collect();
    let relaxed = rng.pick(&[Ordering::SeqCst, Ordering::Relaxed]).to_owned();
    let world = World {
        mutexes: Default::default(),
        rwlocks: Default::default(),
        vars: Default::default(),
        shared: Default::default(),
        once: Default::default(),
        called: [Once::new(), Once::new()],
        lazy: [const { LazyLock::new(|| std::thread::current().id()) }; 2],
        raw: Default::default(),
        raw_rwlock: Default::default(),
        tried: [(); 2].map(|()| Tried {
            mutex: Mutex::new(0),
            section: PlainNumber::new(0),
        }),
        barrier: Barrier::new(threads),
        meetings,
        handles: (0..=threads).map(|_| PlainOnce::new()).collect(),
    };
    // Only from the first try on do others learn who holds a lock.
    for tried in &world.tried {
        drop(tried.mutex.try_lock().unwrap());
    }
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
        index,
        everything,
        is_unclear: false,
        meeting: 0,
        has_made: [false; 2],
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
                let meetings = child.world.meetings.len();
                child.world.handles[index].get_or_init(thread::current);
                gate.wait();
                let mut counts = [0; 2];
                for step in 0..steps {
                    // All go to the same meetings, but not at the same steps.
                    while child.meeting < meetings
                        && (child.rng.one_in(6) || steps - step <= meetings - child.meeting)
                    {
                        child.meet();
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
                (child.log, receivers, counts, child.is_unclear)
            }));
            if main.rng.one_in(3) {
                main.small();
            }
        }
        for (index, child) in children.into_iter().enumerate() {
            let (log, back, counted, is_unclear) = child.join().unwrap();
            main.is_unclear |= is_unclear;
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
    let is_unclear = main.is_unclear;
    logs.insert(0, main.log);
    place_messages(&mut logs);
    Run {
        logs,
        capacities: HashMap::from([(BOUNDED, CAPACITY)]),
        is_unclear,
    }
}
