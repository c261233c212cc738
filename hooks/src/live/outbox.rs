//! The queue through which an actor sends what it does to the reader of its recording.
//!
//! Room is reserved before anything happens: a thread then waits before it takes a lock rather than while it
//! holds one, and an event that is dropped is dropped before it ticks. Releases (an unlock, a closed channel)
//! never wait: if there is no room for one, it is kept here until there is.

use std::{collections::VecDeque, sync::Arc};

use portent_monitor_core::{Clock, NameId};
use rtrb::Producer;

#[cfg(feature = "tokio")]
use super::carrier::{self, Turn};
use super::{
    ActorClock,
    identity::Identity,
    record::{self, Texts, Words},
    recording::{Full, Subscriber},
};

/// An actor's part in a recording.
#[derive(Debug)]
pub(super) struct Outbox {
    pub(super) subscriber: Arc<Subscriber>,
    pub(super) everything: bool,
    /// Which recording it is: looked up once.
    pub(super) id: u32,
    /// How many records are kept free for changes of the clock. If it samples, more than there can ever be, so that it looks
    /// at every event.
    reserve: usize,
    /// An event that is wanted: most often the next one is the same.
    wanted: Option<NameId>,
    queue: Option<Producer<Words>>,
    /// There is room for at least this many records; for none as long as something is kept.
    room: usize,
    /// Records that did not fit.
    kept: VecDeque<Words>,
    texts: Texts,
    /// What the reader knows of our clock.
    told: Clock,
    /// Whether the reader knows whose events follow.
    begun: bool,
    /// For sampling.
    seen: u32,
    /// Of a task: which turn at a queue that was, after which it gave the queue back.
    #[cfg(feature = "tokio")]
    turn: Turn,
}

impl Outbox {
    pub(super) fn new(subscriber: Arc<Subscriber>) -> Outbox {
        Outbox {
            everything: subscriber.wants_everything(),
            id: subscriber.id(),
            reserve: match subscriber.full() {
                Full::Sample(_) => usize::MAX / 2,
                _ => RESERVE,
            },
            wanted: None,
            subscriber,
            queue: None,
            room: 0,
            kept: VecDeque::new(),
            texts: Texts::default(),
            told: Clock::default(),
            begun: false,
            seen: 0,
            #[cfg(feature = "tokio")]
            turn: Turn::NONE,
        }
    }

    /// Whether an event of this many records may be recorded now.
    #[inline]
    pub(super) fn make_room(&mut self, records: usize) -> bool {
        // Changes of the clock that have to be recorded come out of the reserve.
        self.room >= records + self.reserve || self.look_for_room(records + RESERVE)
    }

    /// Whether an event of this name is recorded.
    #[inline]
    pub(super) fn wants(&mut self, name: NameId) -> bool {
        self.wanted == Some(name) || self.looks_up(name)
    }

    #[inline(never)]
    fn looks_up(&mut self, name: NameId) -> bool {
        let wants = self.subscriber.wants_name(name);
        if wants {
            self.wanted = Some(name);
        }
        wants
    }

    #[cold]
    #[inline(never)]
    fn look_for_room(&mut self, enough: usize) -> bool {
        let subscriber = Arc::clone(&self.subscriber);
        let capacity = subscriber.capacity();
        let enough = enough.min(capacity);
        if subscriber.is_closed() {
            return false;
        }
        let found = match subscriber.full() {
            Full::Block => {
                self.has_room(enough) || subscriber.wait_for_room(|| self.has_room(enough))
            }
            Full::Drop => self.has_room(enough),
            Full::Sample(of) => {
                self.seen = self.seen.wrapping_add(1);
                self.has_room(enough)
                    && (self.room * 2 >= capacity || self.seen.is_multiple_of(of.max(1)))
            }
        };
        if !found {
            subscriber.count_dropped();
        }
        found
    }

    fn has_room(&mut self, enough: usize) -> bool {
        self.need_queue();
        self.flush();
        self.room >= enough && self.kept.is_empty()
    }

    /// Called before something is written: if room was reserved in an earlier poll of a task, there may be no queue now.
    #[inline]
    pub(super) fn need_queue(&mut self) {
        if self.queue.is_none() {
            self.open_queue();
        }
    }

    #[cold]
    #[inline(never)]
    fn open_queue(&mut self) {
        #[cfg(feature = "tokio")]
        let unused = {
            let (unused, turn) = carrier::borrow(&self.subscriber);
            // What the reader knows of us is true as long as nobody else wrote there, nor we elsewhere.
            self.begun &= turn != Turn::NONE && turn == self.turn;
            unused
        };
        #[cfg(not(feature = "tokio"))]
        let unused = self.subscriber.open_queue();
        let Unused {
            producer,
            texts,
            kept,
        } = unused;
        (self.queue, self.texts, self.kept) = (Some(producer), texts, kept);
    }

    /// The task is no longer polled: the queue stays with the thread.
    #[cfg(feature = "tokio")]
    #[inline]
    pub(super) fn rest(&mut self) {
        if self.queue.is_some() {
            self.give_queue_back();
        }
    }

    #[cfg(feature = "tokio")]
    #[inline(never)]
    fn give_queue_back(&mut self) {
        self.flush();
        self.room = 0;
        if let Some(producer) = self.queue.take() {
            let unused = Unused {
                producer,
                // A copy, as an empty list would have to be made.
                texts: Texts::clone(&self.texts),
                kept: std::mem::take(&mut self.kept),
            };
            self.turn = carrier::give_back(&self.subscriber, unused);
        }
    }

    fn flush(&mut self) {
        if let Some(queue) = &mut self.queue {
            self.room = flush(queue, &mut self.kept);
        }
    }

    /// Writes what is new in the clock of the following event.
    #[inline]
    pub(super) fn tell(&mut self, clock: &mut ActorClock, identity: &Identity) {
        if clock.take_news() || !self.begun {
            self.tell_clock(clock, identity);
        }
    }

    #[cold]
    #[inline(never)]
    fn tell_clock(&mut self, clock: &ActorClock, identity: &Identity) {
        if !self.begun
            && let Some(chain) = clock.chain()
        {
            self.begun = true;
            self.told = Clock::default();
            // Where only some events are recorded, short threads that nobody named are one after the
            // other called the same.
            let thread = if self.everything || identity.is_named() || identity.is_known() {
                identity.thread()
            } else {
                self.subscriber.thread_of(chain.id(), || identity.thread())
            };
            self.subscriber.name_source(chain.id(), thread);
            self.put(record::begin(thread, chain.id(), chain.count() - 1));
        }
        let mut told = std::mem::take(&mut self.told);
        clock.tell_news(&mut told, |chain, count| {
            self.put(record::knows(chain, count))
        });
        self.told = told;
    }

    /// Writes the position of the following event in the observed run, if everything is recorded. Its object is held, so events that
    /// come after it get later positions.
    #[inline]
    pub(super) fn tell_place(&mut self) {
        if self.everything {
            self.put(record::place(self.subscriber.next_place()));
        }
    }

    // Always inline: a record that is passed through memory is written in two parts and read as a whole, and the processor
    // stalls.
    #[inline(always)]
    pub(super) fn put(&mut self, record: Words) {
        if self.room > 0
            && let Some(queue) = &mut self.queue
            && queue.push(record).is_ok()
        {
            self.room -= 1;
        } else {
            self.keep(record);
        }
    }

    #[cold]
    #[inline(never)]
    fn keep(&mut self, record: Words) {
        self.room = 0;
        self.kept.push_back(record);
    }

    /// The texts that go with the records.
    #[inline]
    pub(super) fn texts(&self) -> &Texts {
        &self.texts
    }

    /// The chain changes: what follows must be announced.
    pub(super) fn begin_again(&mut self) {
        self.begun = false;
    }

    /// The actor leaves. Records that did not fit stay with the queue.
    pub(super) fn close(mut self) {
        self.flush();
        if let Some(producer) = self.queue {
            let (texts, kept) = (self.texts, self.kept);
            self.subscriber.close_queue(Unused {
                producer,
                texts,
                kept,
            });
        }
    }
}

/// A queue without a writer, and the records that did not fit into it.
#[derive(Debug)]
pub(super) struct Unused {
    pub(super) producer: Producer<Words>,
    pub(super) texts: Texts,
    pub(super) kept: VecDeque<Words>,
}

impl Unused {
    /// Whether some kept record now found room.
    pub(super) fn flush(&mut self) -> bool {
        let before = self.kept.len();
        flush(&mut self.producer, &mut self.kept);
        self.kept.len() < before
    }
}

/// Puts what was kept into the queue, and returns how much room is left.
fn flush(queue: &mut Producer<Words>, kept: &mut VecDeque<Words>) -> usize {
    let mut room = queue.slots();
    while room > 0
        && let Some(record) = kept.pop_front()
    {
        room -= 1;
        // There is room.
        let _ = queue.push(record);
    }
    room
}

/// This many records are kept free for changes of clocks. There may be more of these; what does
/// not fit is then held back for a while.
const RESERVE: usize = 16;
