//! Random programs of tasks over all that tasks synchronise with, which log what they see.

use std::{
    collections::HashMap,
    pin::Pin,
    sync::{
        Arc, Mutex as Plain,
        atomic::{
            AtomicU64 as PlainNumber,
            Ordering::{Acquire, Relaxed, Release},
        },
    },
    task::{Context, Poll, Waker},
};

use portent_hooks::{
    Shared, event,
    sync::{
        Mutex as ThreadMutex,
        atomic::{AtomicU64, Ordering},
    },
    task::{self, JoinHandle, JoinSet, Mutex, Notify, RwLock, Semaphore, mpsc, oneshot},
};
use portent_testing::Rng;
use tokio::runtime::Runtime;

use crate::order::{Run, Seen};

const MUTEXES: usize = 2;
const VARS: usize = 2;

/// Numbers of the objects, for the log.
const RWLOCK: usize = 10;
const THREAD_MUTEX: usize = 11;
const SEMAPHORE: usize = 12;
const VAR: usize = 20;
const SHARE: usize = 30;
const OPEN: usize = 50;
const BOUNDED: usize = 51;
/// The answer of the first helper; the others follow.
const ANSWER: usize = 100;
const CAPACITY: u64 = 2;
/// The end of all senders, among the meetings.
const END: u64 = 1_000;

struct World {
    mutexes: [Mutex<u64>; MUTEXES],
    rwlock: RwLock<u64>,
    thread_mutex: ThreadMutex<u64>,
    semaphore: Semaphore,
    /// How many have had the permit; read and written by who has it.
    sections: PlainNumber,
    vars: [AtomicU64; VARS],
    shared: Shared<u64>,
    /// In this order, for all who take part.
    meetings: Vec<Meeting>,
    tasks: usize,
}

/// The first waits for something, and the second signals it.
struct Meeting {
    kind: Kind,
    waits: usize,
    signals: usize,
    notify: Notify,
    /// How far they have come: that is no step.
    progress: PlainNumber,
    flag: Flag,
}

#[derive(Clone, Copy)]
enum Kind {
    /// A signal that is kept.
    One,
    /// A signal that is lost on those who do not wait yet.
    Waiters,
    /// A signal that is not hooked: nothing but a wake tells of it.
    Unhooked,
}

/// Something to wait for that is not hooked.
#[derive(Default)]
struct Flag(Plain<(bool, Option<Waker>)>);

impl Flag {
    fn set(&self) {
        let mut state = self.0.lock().unwrap();
        state.0 = true;
        if let Some(waker) = state.1.take() {
            waker.wake();
        }
    }

    fn wait(&self) -> IsSet<'_> {
        IsSet(self, false)
    }
}

/// Whether it had to wait.
struct IsSet<'a>(&'a Flag, bool);

impl Future for IsSet<'_> {
    type Output = bool;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<bool> {
        let mut state = self.0.0.lock().unwrap();
        if state.0 {
            return Poll::Ready(self.1);
        }
        state.1 = Some(cx.waker().clone());
        drop(state);
        self.1 = true;
        Poll::Pending
    }
}

#[derive(Clone)]
struct Senders {
    open: mpsc::UnboundedSender<i64>,
    bounded: mpsc::Sender<i64>,
}

type Receivers = (mpsc::UnboundedReceiver<i64>, mpsc::Receiver<i64>);
/// The log of a task, by its number.
type Logs = Vec<(usize, Vec<Seen>)>;

/// One task; its log speaks of messages by their content until all are received.
struct Task {
    world: Arc<World>,
    rng: Rng,
    next: i64,
    log: Vec<Seen>,
    index: usize,
    meeting: usize,
}

impl Task {
    fn new(world: &Arc<World>, seed: u64, index: usize) -> Task {
        Task {
            world: Arc::clone(world),
            rng: Rng::new(seed.wrapping_mul(31).wrapping_add(index as u64)),
            next: (index as i64) << 32,
            log: Vec::new(),
            index,
            meeting: 0,
        }
    }

    fn unique(&mut self) -> i64 {
        self.next += 1;
        self.next
    }

    fn event(&mut self) {
        let id = self.unique();
        event!(happens, id = id);
        self.log.push(Seen::Event(id));
    }

    /// Something that waits for no task.
    fn small(&mut self) {
        let world = Arc::clone(&self.world);
        match self.rng.below(8) {
            0..=2 => self.event(),
            3 => {
                let at = self.rng.below(VARS);
                let seen = world.vars[at].load(Ordering::SeqCst);
                self.log.push(Seen::Read(VAR + at, seen));
            }
            4 => {
                let at = self.rng.below(VARS);
                let before = world.vars[at].fetch_add(1, Ordering::SeqCst);
                self.log.push(Seen::Update(VAR + at, before + 1));
            }
            5 => {
                let seen = world.shared.get();
                self.log.push(Seen::Read(SHARE, seen));
            }
            6 => {
                let now = world.shared.update(|value| {
                    *value += 1;
                    *value
                });
                self.log.push(Seen::Update(SHARE, now));
            }
            _ => {
                let mut guard = world.thread_mutex.lock().unwrap();
                *guard += 1;
                self.log.push(Seen::Lock(THREAD_MUTEX, *guard));
                self.log.push(Seen::Unlock(THREAD_MUTEX, *guard));
            }
        }
    }

    /// Something small, and others may come in between.
    async fn small_steps(&mut self, count: usize) {
        for _ in 0..count {
            self.small();
            if self.rng.one_in(2) {
                task::yield_now().await;
            }
        }
    }

    async fn section(&mut self) {
        let world = Arc::clone(&self.world);
        let inside = self.rng.below(3);
        match self.rng.below(5) {
            0 => {
                let permit = world.semaphore.acquire().await.unwrap();
                let number = world.sections.load(Relaxed) + 1;
                world.sections.store(number, Relaxed);
                self.log.push(Seen::Lock(SEMAPHORE, number));
                self.small_steps(inside).await;
                self.log.push(Seen::Unlock(SEMAPHORE, number));
                drop(permit);
            }
            1 => {
                let guard = world.rwlock.read().await;
                let number = *guard;
                self.log.push(Seen::ReadLock(RWLOCK, number));
                self.small_steps(inside).await;
                self.log.push(Seen::ReadUnlock(RWLOCK, number));
                drop(guard);
            }
            2 => {
                let mut guard = world.rwlock.write().await;
                *guard += 1;
                let number = *guard;
                self.log.push(Seen::Lock(RWLOCK, number));
                self.small_steps(inside).await;
                self.log.push(Seen::Unlock(RWLOCK, number));
                if self.rng.one_in(2) {
                    let guard = guard.downgrade();
                    self.log.push(Seen::ReadLock(RWLOCK, number));
                    self.small_steps(inside).await;
                    self.log.push(Seen::ReadUnlock(RWLOCK, number));
                    drop(guard);
                }
            }
            _ => {
                let at = self.rng.below(MUTEXES);
                let mut guard = world.mutexes[at].lock().await;
                *guard += 1;
                let number = *guard;
                self.log.push(Seen::Lock(at, number));
                self.small_steps(inside).await;
                self.log.push(Seen::Unlock(at, number));
                drop(guard);
            }
        }
    }

    /// The content of a message stands for its place until that is known. Who receives must not wait for itself, nor at a meeting for
    /// one who waits for room.
    async fn send(&mut self, senders: &Senders) {
        let id = self.unique();
        match self.rng.below(3) {
            0 => {
                senders.open.send(id).unwrap();
                self.log.push(Seen::Send(OPEN, id as u64));
            }
            1 if self.index != 1 && self.meeting == self.world.meetings.len() => {
                senders.bounded.send(id).await.unwrap();
                self.log.push(Seen::Send(BOUNDED, id as u64));
            }
            _ => {
                if senders.bounded.try_send(id).is_ok() {
                    self.log.push(Seen::Send(BOUNDED, id as u64));
                }
            }
        }
    }

    fn try_receive(&mut self, (open, bounded): &mut Receivers, counts: &mut [u64; 2]) {
        let (channel, count, received) = if self.rng.one_in(2) {
            (OPEN, &mut counts[0], open.try_recv())
        } else {
            (BOUNDED, &mut counts[1], bounded.try_recv())
        };
        match received {
            Ok(id) => {
                *count += 1;
                self.log.push(Seen::Recv(channel, id as u64));
            }
            Err(mpsc::error::TryRecvError::Empty) => self.log.push(Seen::Empty(channel, *count)),
            Err(mpsc::error::TryRecvError::Disconnected) => {}
        }
    }

    /// Receives from both channels until all senders are gone; whoever sends wakes it.
    async fn drain(&mut self, (mut open, mut bounded): Receivers) {
        let mut is_open = [true; 2];
        while is_open != [false; 2] {
            let (channel, received) = std::future::poll_fn(|cx| {
                if is_open[0]
                    && let Poll::Ready(received) = open.poll_recv(cx)
                {
                    return Poll::Ready((OPEN, received));
                }
                if is_open[1]
                    && let Poll::Ready(received) = bounded.poll_recv(cx)
                {
                    return Poll::Ready((BOUNDED, received));
                }
                Poll::Pending
            })
            .await;
            match received {
                Some(id) => self.log.push(Seen::Recv(channel, id as u64)),
                None => {
                    is_open[channel - OPEN] = false;
                    self.log.push(Seen::Woken(END));
                }
            }
            self.small();
        }
    }

    async fn meet(&mut self) {
        let (world, number) = (Arc::clone(&self.world), self.meeting as u64);
        let meeting = &world.meetings[self.meeting];
        self.meeting += 1;
        if meeting.waits == self.index {
            match meeting.kind {
                Kind::One => {
                    meeting.notify.notified().await;
                    self.log.push(Seen::Woken(number));
                }
                Kind::Waiters => {
                    self.log.push(Seen::Waiting(number));
                    let notified = meeting.notify.notified();
                    meeting.progress.store(1, Release);
                    notified.await;
                    self.log.push(Seen::Woken(number));
                }
                Kind::Unhooked => {
                    if meeting.flag.wait().await {
                        self.log.push(Seen::Woken(number));
                    }
                }
            }
        } else if meeting.signals == self.index {
            match meeting.kind {
                Kind::One => meeting.notify.notify_one(),
                Kind::Waiters => {
                    while meeting.progress.load(Acquire) == 0 {
                        task::yield_now().await;
                    }
                    meeting.notify.notify_waiters();
                }
                Kind::Unhooked => {
                    // So that the other one more often has to wait.
                    task::yield_now().await;
                    meeting.flag.set();
                }
            }
            self.log.push(Seen::Notify(number));
        }
    }

    /// Spawns a helper that answers.
    async fn ask(&mut self, seed: u64, logs: &mut Logs) {
        let index = self.index + self.world.tasks;
        let mut helper = Task::new(&self.world, seed, index);
        let (answer, answered) = oneshot::channel();
        self.log.push(Seen::Fork(index));
        let handle: JoinHandle<Vec<Seen>> = if self.rng.one_in(3) {
            task::spawn_blocking(move || {
                helper.small();
                let mut guard = helper.world.mutexes[0].blocking_lock();
                *guard += 1;
                helper.log.push(Seen::Lock(0, *guard));
                helper.log.push(Seen::Unlock(0, *guard));
                drop(guard);
                answer.send(()).unwrap();
                helper.log.push(Seen::Send(ANSWER + index, 1));
                helper.small();
                helper.log
            })
        } else {
            task::spawn(async move {
                helper.small_steps(2).await;
                answer.send(()).unwrap();
                helper.log.push(Seen::Send(ANSWER + index, 1));
                helper.section().await;
                helper.small();
                helper.log
            })
        };
        self.small();
        answered.await.unwrap();
        self.log.push(Seen::Recv(ANSWER + index, 1));
        self.small_steps(2).await;
        logs.push((index, handle.await.unwrap()));
        self.log.push(Seen::Join(index));
    }
}

async fn child(
    mut child: Task,
    seed: u64,
    steps: usize,
    senders: Senders,
    receivers: Option<Receivers>,
) -> Logs {
    let meetings = child.world.meetings.len();
    let (mut logs, mut receivers, mut counts) = (Vec::new(), receivers, [0; 2]);
    let mut asks = child.rng.one_in(2);
    for step in 0..steps {
        // All go to the same meetings, but not at the same steps.
        while child.meeting < meetings
            && (child.rng.one_in(6) || steps - step <= meetings - child.meeting)
        {
            child.meet().await;
        }
        match child.rng.below(10) {
            0..=2 => child.section().await,
            3 => child.send(&senders).await,
            4 => match &mut receivers {
                Some(receivers) => child.try_receive(receivers, &mut counts),
                None => child.send(&senders).await,
            },
            5 if asks => {
                asks = false;
                child.ask(seed, &mut logs).await;
            }
            _ => child.small(),
        }
        if child.rng.one_in(4) {
            task::yield_now().await;
        }
    }
    drop(senders);
    child.log.push(Seen::Notify(END));
    if let Some(receivers) = receivers {
        child.drain(receivers).await;
    }
    logs.push((child.index, child.log));
    logs
}

/// Runs a random program, of which some events are recorded, or everything. Number 0 is the one that calls; it spawns the others and
/// waits for them.
pub(super) fn run(seed: u64, everything: bool, runtime: &Runtime) -> Run {
    let mut rng = Rng::new(seed);
    let tasks = 2 + rng.below(3);
    let steps = 6 + rng.below(20);
    let mut unhooked = 0;
    let meetings: Vec<Meeting> = (0..rng.below(6))
        .map(|_| {
            let one = 1 + rng.below(tasks);
            Meeting {
                kind: match rng.below(3) {
                    0 => Kind::One,
                    1 => Kind::Waiters,
                    // In a recording of everything a wake may be written down before the end of an earlier wait, which is in
                    // nobody's way; who only reads what was written then sees more order than there was.
                    _ if everything && unhooked > 0 => Kind::One,
                    _ => {
                        unhooked += 1;
                        Kind::Unhooked
                    }
                },
                waits: one,
                signals: 1 + (one + rng.below(tasks - 1)) % tasks,
                notify: Notify::new(),
                progress: PlainNumber::new(0),
                flag: Flag::default(),
            }
        })
        .collect();
    let world = Arc::new(World {
        mutexes: Default::default(),
        rwlock: RwLock::default(),
        thread_mutex: ThreadMutex::default(),
        semaphore: Semaphore::new(1),
        sections: PlainNumber::new(0),
        vars: Default::default(),
        shared: Shared::default(),
        meetings,
        tasks,
    });
    let mut main = Task::new(&world, seed, 0);
    let mut logs = runtime.block_on(async {
        let (open, from_open) = mpsc::unbounded_channel();
        let (bounded, from_bounded) = mpsc::channel(CAPACITY as usize);
        let senders = Senders { open, bounded };
        let mut receivers = Some((from_open, from_bounded));
        main.event();
        let (mut handles, mut set) = (Vec::new(), JoinSet::new());
        for index in 1..=tasks {
            main.log.push(Seen::Fork(index));
            let task = Task::new(&world, seed, index);
            // The first one receives.
            let body = child(task, seed, steps, senders.clone(), receivers.take());
            if rng.one_in(3) {
                set.spawn(async move { (index, body.await) });
            } else {
                handles.push((index, task::spawn(body)));
            }
            main.small();
        }
        drop(senders);
        main.log.push(Seen::Notify(END));
        main.section().await;
        let mut logs = Vec::new();
        for (index, handle) in handles {
            logs.extend(handle.await.unwrap());
            main.log.push(Seen::Join(index));
            main.small_steps(1).await;
        }
        while let Some(joined) = set.join_next().await {
            let (index, more) = joined.unwrap();
            logs.extend(more);
            main.log.push(Seen::Join(index));
            main.small();
        }
        main.event();
        logs
    });
    logs.push((0, main.log));
    let last = logs.iter().map(|(index, _)| *index).max();
    let mut by_number = vec![Vec::new(); last.unwrap_or(0) + 1];
    for (index, log) in logs {
        by_number[index] = log;
    }
    place_messages(&mut by_number);
    Run {
        logs: by_number,
        capacities: HashMap::from([(BOUNDED, CAPACITY)]),
        is_unclear: false,
    }
}

/// Replaces the content of messages by their place: that in which the first task received them.
fn place_messages(logs: &mut [Vec<Seen>]) {
    let mut places = HashMap::new();
    let mut counts = HashMap::<usize, u64>::new();
    for seen in &mut logs[1] {
        if let Seen::Recv(channel @ (OPEN | BOUNDED), id) = seen {
            let count = counts.entry(*channel).or_default();
            *count += 1;
            places.insert(*id, *count);
            *id = *count;
        }
    }
    for seen in logs.iter_mut().flatten() {
        if let Seen::Send(OPEN | BOUNDED, id) = seen {
            *id = places[id];
        }
    }
}
