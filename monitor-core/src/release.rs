//! Takes items in any order and releases them in one that their vector clocks allow.
//!
//! A log often consists of the logs of several hosts one after the other; a running program has a queue for
//! each thread. The clocks give the order that the order of arrival does not: an item is released once
//! everything that its clock counts was. Ready items are released in order of arrival.
//!
//! Waiting items are held in memory; for a log sorted by host, that is nearly all of them. A lost item keeps its
//! successors waiting until nothing more comes; only then is it considered lost.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, BinaryHeap},
    fmt::Debug,
    hash::Hash,
};

use rustc_hash::FxHashMap;

use crate::{Event, Op, ThreadId};

/// An item that specifies its predecessors.
pub trait Clocked {
    /// What a component of the clock counts the events of: a thread, a chain.
    type Source: Copy + Eq + Hash + Debug;

    /// The source of the event; `None` for an item without a clock, which waits for nothing.
    fn source(&self) -> Option<Self::Source>;

    /// The number of components of its clock.
    fn components(&self) -> usize;

    /// The component with this index: how many events of its source are in the past, including the item
    /// itself.
    fn component(&self, index: usize) -> (Self::Source, u32);

    /// The item's own number: the component of its source.
    fn number(&self) -> u32;

    /// Other sources of an event shared by several threads, with its number there.
    fn partners(&self) -> impl Iterator<Item = (Self::Source, u32)> {
        std::iter::empty()
    }
}

/// An event that carries a clock comes after everything that the clock counts; others wait for nothing.
impl Clocked for Event {
    type Source = ThreadId;

    fn source(&self) -> Option<ThreadId> {
        matches!(self.op, Op::Stamped(_)).then_some(self.thread)
    }

    fn components(&self) -> usize {
        own_clock(self).len()
    }

    fn component(&self, index: usize) -> (ThreadId, u32) {
        own_clock(self)[index]
    }

    fn number(&self) -> u32 {
        count(self, self.thread)
    }

    fn partners(&self) -> impl Iterator<Item = (ThreadId, u32)> {
        let is_stamped = self.source().is_some();
        let threads = self.threads().skip(1).filter(move |_| is_stamped);
        threads.map(|thread| (thread, count(self, thread)))
    }
}

fn own_clock(event: &Event) -> &[(ThreadId, u32)] {
    match &event.op {
        Op::Stamped(stamped) => &stamped.clock,
        _ => &[],
    }
}

fn count(event: &Event, thread: ThreadId) -> u32 {
    let mut clock = own_clock(event).iter();
    clock
        .find(|(other, _)| *other == thread)
        .map_or(0, |&(_, count)| count)
}

/// Holds items back until their predecessors were released.
///
/// ```
/// use portent_monitor_core::{CausalRelease, Clocked};
///
/// /// A host, and how many events of each host are in the past.
/// struct Line(usize, [u32; 2]);
///
/// impl Clocked for Line {
///     type Source = usize;
///     fn source(&self) -> Option<usize> {
///         Some(self.0)
///     }
///     fn components(&self) -> usize {
///         2
///     }
///     fn component(&self, index: usize) -> (usize, u32) {
///         (index, self.1[index])
///     }
///     fn number(&self) -> u32 {
///         self.1[self.0]
///     }
/// }
///
/// let mut release = CausalRelease::default();
/// release.push(Line(1, [1, 1]));
/// assert!(release.pop().is_none(), "the first event of host 0 is not here yet");
/// release.push(Line(0, [1, 0]));
/// assert_eq!(release.pop().map(|line| line.0), Some(0));
/// assert_eq!(release.pop().map(|line| line.0), Some(1));
/// ```
#[derive(Clone, Debug)]
pub struct CausalRelease<T: Clocked> {
    /// All events of a source up to this number were released or are lost.
    done: FxHashMap<T::Source, u32>,
    /// Waiting items, by their arrival; with the number of clock components already known
    /// to be done, so that no component is examined twice.
    held: BTreeMap<u64, (T, usize)>,
    /// For each source, the awaited numbers of its events, and the items waiting for them.
    waiting: FxHashMap<T::Source, BTreeMap<u32, Vec<u64>>>,
    held_numbers: HeldNumbers<T::Source>,
    ready: BinaryHeap<Reverse<u64>>,
    pushed: u64,
    /// No more items will arrive, so gaps are lost events.
    closed: bool,
    /// Whether a cycle was searched for.
    told_cycle: bool,
}

/// For each source, the numbers of its held events, and how often each is held.
type HeldNumbers<S> = FxHashMap<S, BTreeMap<u32, u32>>;

impl<T: Clocked> Default for CausalRelease<T> {
    fn default() -> Self {
        CausalRelease {
            done: FxHashMap::default(),
            held: BTreeMap::new(),
            waiting: FxHashMap::default(),
            held_numbers: FxHashMap::default(),
            ready: BinaryHeap::new(),
            pushed: 0,
            closed: false,
            told_cycle: false,
        }
    }
}

impl<T: Clocked> CausalRelease<T> {
    /// Takes the next item to arrive.
    pub fn push(&mut self, item: T) {
        let key = self.pushed;
        self.pushed += 1;
        for (source, number) in own(&item) {
            let held = self.held_numbers.entry(source).or_default();
            *held.entry(number).or_default() += 1;
        }
        self.held.insert(key, (item, 0));
        self.sort(key);
    }

    /// No more items will arrive.
    pub fn close(&mut self) {
        if self.closed {
            return;
        }
        self.closed = true;
        let sources: Vec<T::Source> = self.waiting.keys().copied().collect();
        for source in sources {
            self.skip_lost(source);
        }
    }

    /// Considers awaited events that have not arrived as lost: items waiting for them wait no longer. Such an event may still
    /// be pushed when it does arrive, but [`has_passed`](Self::has_passed) shows that it is too late. Returns the number of
    /// lost events.
    ///
    /// ```
    /// # use portent_monitor_core::{CausalRelease, Clocked};
    /// # struct Line(usize, [u32; 2]);
    /// # impl Clocked for Line {
    /// #     type Source = usize;
    /// #     fn source(&self) -> Option<usize> { Some(self.0) }
    /// #     fn components(&self) -> usize { 2 }
    /// #     fn component(&self, index: usize) -> (usize, u32) { (index, self.1[index]) }
    /// #     fn number(&self) -> u32 { self.1[self.0] }
    /// # }
    /// let mut release = CausalRelease::default();
    /// release.push(Line(1, [2, 1]));
    /// assert!(release.pop().is_none());
    /// assert_eq!(release.give_up(), 2);
    /// assert!(release.pop().is_some() && release.has_passed(0, 2) && !release.has_passed(0, 3));
    /// ```
    pub fn give_up(&mut self) -> u64 {
        let waited = self.waiting.iter();
        let waited = waited.filter_map(|(&source, numbers)| {
            let last = *numbers.keys().next_back()?;
            Some((
                source,
                last.min(before_next_held(&self.held_numbers, source)),
            ))
        });
        let mut lost = 0;
        for (source, number) in waited.collect::<Vec<_>>() {
            let done = self.done.get(&source).copied().unwrap_or(0);
            lost += u64::from(number.saturating_sub(done));
            self.advance(source, number);
        }
        lost
    }

    /// Whether the event with this number was released or given up.
    pub fn has_passed(&self, source: T::Source, number: u32) -> bool {
        self.done.get(&source).is_some_and(|&done| number <= done)
    }

    /// Whether the event with this number is held.
    pub fn holds(&self, source: T::Source, number: u32) -> bool {
        let held = self.held_numbers.get(&source);
        held.is_some_and(|numbers| numbers.contains_key(&number))
    }

    /// An item whose predecessors were released.
    pub fn pop(&mut self) -> Option<T> {
        let Reverse(key) = self.ready.pop()?;
        let (item, _) = self.held.remove(&key)?;
        self.give_out(&item);
        Some(item)
    }

    /// After [`close`](Self::close), when nothing more can be released: an item of a cycle, and the
    /// first time also one that it waits for. Items waiting for it consider it lost.
    pub fn stuck(&mut self) -> Option<(T, Option<&T>)> {
        let first = *self.held.keys().next()?;
        // Only one is reported in full, as there may be a million.
        let cycle = if std::mem::replace(&mut self.told_cycle, true) {
            None
        } else {
            self.cycle(first)
        };
        let key = cycle.map_or(first, |(key, _)| key);
        let (item, _) = self.held.remove(&key)?;
        self.give_out(&item);
        let other = cycle.and_then(|(_, other)| self.held.get(&other));
        Some((item, other.map(|(other, _)| other)))
    }

    /// An item that waits for itself through others, reached from this one, and one that it waits
    /// for.
    fn cycle(&self, first: u64) -> Option<(u64, u64)> {
        let mut key = first;
        let mut passed = BTreeSet::new();
        while passed.insert(key) {
            key = self.waits_for(key)?;
        }
        Some((key, self.waits_for(key)?))
    }

    /// A held item that must come before a given held one.
    fn waits_for(&self, key: u64) -> Option<u64> {
        let (item, _) = self.held.get(&key)?;
        let counts = |(of, number): (T::Source, u32)| {
            let mut components = (0..item.components()).map(|index| item.component(index));
            components.any(|(other, count)| other == of && number <= needed(item, other, count))
        };
        let mut others = self.held.iter().filter(|(other, _)| **other != key);
        others
            .find(|(_, (other, _))| own(other).any(counts))
            .map(|(other, _)| *other)
    }

    /// The number of items held.
    pub fn len(&self) -> usize {
        self.held.len()
    }

    /// Whether no item is held.
    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// A held item that waits for an event which has not arrived, with the source and number of that event. `None` if no item
    /// waits, or if all wait for each other.
    ///
    /// ```
    /// # use portent_monitor_core::{CausalRelease, Clocked};
    /// # struct Line(usize, [u32; 2]);
    /// # impl Clocked for Line {
    /// #     type Source = usize;
    /// #     fn source(&self) -> Option<usize> { Some(self.0) }
    /// #     fn components(&self) -> usize { 2 }
    /// #     fn component(&self, index: usize) -> (usize, u32) { (index, self.1[index]) }
    /// #     fn number(&self) -> u32 { self.1[self.0] }
    /// # }
    /// let mut release = CausalRelease::default();
    /// release.push(Line(1, [2, 1]));
    /// let (line, source, number) = release.missing().unwrap();
    /// assert_eq!((line.0, source, number), (1, 0, 1));
    /// ```
    pub fn missing(&self) -> Option<(&T, T::Source, u32)> {
        self.held.values().find_map(|(item, checked)| {
            if *checked >= item.components() {
                return None;
            }
            let (source, _) = item.component(*checked);
            let next = self.done.get(&source).copied().unwrap_or(0) + 1;
            let held = self.held_numbers.get(&source);
            let is_held = held.is_some_and(|numbers| numbers.contains_key(&next));
            (!is_held).then_some((item, source, next))
        })
    }

    /// An item is no longer held, and no other item needs to wait for it.
    fn give_out(&mut self, item: &T) {
        for (source, number) in own(item) {
            if let Some(numbers) = self.held_numbers.get_mut(&source)
                && let Some(count) = numbers.get_mut(&number)
            {
                *count -= 1;
                if *count == 0 {
                    numbers.remove(&number);
                }
            }
            self.advance(source, number);
            if self.closed {
                self.skip_lost(source);
            }
        }
    }

    /// Adds a held item to the ready ones, or to the queue of an event that it needs.
    fn sort(&mut self, key: u64) {
        let Some((item, checked)) = self.held.get_mut(&key) else {
            return;
        };
        if item.source().is_none() {
            return self.ready.push(Reverse(key));
        }
        while *checked < item.components() {
            let (other, count) = item.component(*checked);
            let needed = needed(item, other, count);
            let mut done = self.done.get(&other).copied().unwrap_or(0);
            if self.closed {
                done = done.max(before_next_held(&self.held_numbers, other));
            }
            if needed > done {
                let waiting = self.waiting.entry(other).or_default();
                waiting.entry(needed).or_default().push(key);
                return;
            }
            *checked += 1;
        }
        self.ready.push(Reverse(key));
    }

    fn advance(&mut self, source: T::Source, number: u32) {
        let done = self.done.entry(source).or_default();
        *done = (*done).max(number);
        let done = *done;
        while let Some(mut first) = self
            .waiting
            .get_mut(&source)
            .and_then(BTreeMap::first_entry)
        {
            if *first.key() > done {
                break;
            }
            let woken = std::mem::take(first.get_mut());
            first.remove();
            for key in woken {
                self.sort(key);
            }
        }
    }

    /// Counts events that are neither released nor held as done.
    fn skip_lost(&mut self, source: T::Source) {
        self.advance(source, before_next_held(&self.held_numbers, source));
    }
}

/// No event of the source up to this number is held.
fn before_next_held<S: Eq + Hash>(held: &HeldNumbers<S>, source: S) -> u32 {
    let next = held
        .get(&source)
        .and_then(|numbers| numbers.keys().next().copied());
    next.map_or(u32::MAX, |next| next.saturating_sub(1))
}

/// The sources of an item, with its number at each.
fn own<T: Clocked>(item: &T) -> impl Iterator<Item = (T::Source, u32)> {
    let first = item.source().map(|source| (source, item.number()));
    let all = first.into_iter().chain(item.partners());
    all.filter(|&(_, number)| number > 0)
}

/// The number of events of a source that must come before an item whose clock counts the given number, which may include the
/// item.
fn needed<T: Clocked>(item: &T, source: T::Source, count: u32) -> u32 {
    let is_own = item.source() == Some(source) || item.partners().any(|(own, _)| own == source);
    count.saturating_sub(u32::from(is_own))
}
