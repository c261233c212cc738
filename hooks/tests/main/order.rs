//! The order that really was, from what threads saw: independent of any clock.

use std::collections::HashMap;

/// What a thread saw of an object when it did something. The numbers come from the object's own
/// content: a counter inside the lock, the result of a `fetch_add`, the place of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Seen {
    /// A relevant event.
    Event(i64),
    /// An update of an object, which made it have this number.
    Update(usize, u64),
    /// A read of an object that had this number.
    Read(usize, u64),
    /// The begin of an exclusive section, and its end; the number is that of the section, from 1.
    Lock(usize, u64),
    Unlock(usize, u64),
    /// The begin of a shared section, and its end, after this many exclusive sections.
    ReadLock(usize, u64),
    ReadUnlock(usize, u64),
    /// A message, by its place among all, from 1.
    Send(usize, u64),
    Recv(usize, u64),
    /// Empty, after this many messages.
    Empty(usize, u64),
    /// Arrived at a round, and went on.
    Arrive(u64),
    GoOn(u64),
    /// A try of a lock that failed because of the section of this number.
    Tried(usize, u64),
    /// The begin of a wait for a condition, or of a park, and its end; and who notified in between. The number is that of the
    /// meeting.
    Waiting(u64),
    Notify(u64),
    Woken(u64),
    /// A message for which there is no room, by its meeting: before it is sent, when it was received, and when its sender goes on.
    Offer(u64),
    Take(u64),
    Delivered(u64),
    /// A child began (first of its log), was forked, or was joined.
    Fork(usize),
    Join(usize),
}

/// What came out of a run.
pub(crate) struct Run {
    pub(crate) logs: Vec<Vec<Seen>>,
    pub(crate) capacities: HashMap<usize, u64>,
    /// Somebody could not tell what it saw: a try failed, and the section because of which it did ended or began meanwhile.
    pub(crate) is_unclear: bool,
}

/// The logs of all threads.
pub(crate) struct Order {
    events: Vec<(i64, usize)>,
    /// For each step, the steps before it as a bit set.
    before: Vec<Vec<u64>>,
}

impl Order {
    /// The closure of what the threads saw. `capacities` of channels with little room.
    pub(crate) fn new(logs: &[Vec<Seen>], capacities: &HashMap<usize, u64>) -> Order {
        let mut steps = Vec::new();
        let mut first = Vec::new();
        let mut last = Vec::new();
        let mut edges: Vec<(usize, usize)> = Vec::new();
        for log in logs {
            first.push(steps.len());
            for (at, seen) in log.iter().enumerate() {
                if at > 0 {
                    edges.push((steps.len() - 1, steps.len()));
                }
                steps.push(*seen);
            }
            last.push(steps.len().wrapping_sub(1));
        }
        let mut at: HashMap<Seen, Vec<usize>> = HashMap::new();
        for (index, seen) in steps.iter().enumerate() {
            at.entry(*seen).or_default().push(index);
        }
        let all = |seen: Seen| at.get(&seen).cloned().unwrap_or_default();
        for (to, seen) in steps.iter().enumerate() {
            let mut after = |seen: Seen| edges.extend(all(seen).into_iter().map(|from| (from, to)));
            match *seen {
                Seen::Update(object, number) => {
                    after(Seen::Update(object, number - 1));
                    after(Seen::Read(object, number - 1));
                }
                Seen::Read(object, number) => after(Seen::Update(object, number)),
                Seen::Lock(object, number) => {
                    after(Seen::Unlock(object, number - 1));
                    after(Seen::ReadUnlock(object, number - 1));
                }
                Seen::Tried(object, number) => after(Seen::Lock(object, number)),
                Seen::Unlock(object, number) => after(Seen::Tried(object, number)),
                Seen::Notify(meeting) => after(Seen::Waiting(meeting)),
                Seen::Woken(meeting) => after(Seen::Notify(meeting)),
                Seen::Take(meeting) => after(Seen::Offer(meeting)),
                Seen::Delivered(meeting) => after(Seen::Take(meeting)),
                Seen::ReadLock(object, number) => after(Seen::Unlock(object, number)),
                Seen::Send(object, number) => {
                    after(Seen::Send(object, number - 1));
                    after(Seen::Empty(object, number - 1));
                    if let Some(capacity) = capacities.get(&object)
                        && number > *capacity
                    {
                        after(Seen::Recv(object, number - capacity));
                    }
                }
                Seen::Recv(object, number) => {
                    after(Seen::Send(object, number));
                    after(Seen::Recv(object, number - 1));
                }
                Seen::Empty(object, number) => {
                    after(Seen::Send(object, number));
                    after(Seen::Recv(object, number));
                }
                Seen::GoOn(round) => after(Seen::Arrive(round)),
                Seen::Join(child) if !logs[child].is_empty() => edges.push((last[child], to)),
                Seen::Fork(child) if !logs[child].is_empty() => edges.push((to, first[child])),
                _ => {}
            }
        }
        Order {
            events: steps
                .iter()
                .enumerate()
                .filter_map(|(index, seen)| match seen {
                    Seen::Event(id) => Some((*id, index)),
                    _ => None,
                })
                .collect(),
            before: closure(steps.len(), &edges),
        }
    }

    /// The relevant events, by their argument and their step.
    pub(crate) fn events(&self) -> &[(i64, usize)] {
        &self.events
    }

    /// Whether a step is another, or was before it.
    pub(crate) fn precedes(&self, from: usize, to: usize) -> bool {
        from == to || self.before[to][from / 64] & (1 << (from % 64)) != 0
    }
}

fn closure(steps: usize, edges: &[(usize, usize)]) -> Vec<Vec<u64>> {
    let mut incoming = vec![Vec::new(); steps];
    let mut outgoing = vec![Vec::new(); steps];
    for &(from, to) in edges {
        incoming[to].push(from);
        outgoing[from].push(to);
    }
    let mut missing: Vec<usize> = incoming.iter().map(Vec::len).collect();
    let mut ready: Vec<usize> = (0..steps).filter(|&step| missing[step] == 0).collect();
    let mut before = vec![vec![0; steps.div_ceil(64)]; steps];
    let mut done = 0;
    while let Some(step) = ready.pop() {
        done += 1;
        for &from in &incoming[step] {
            let earlier = before[from].clone();
            for (word, earlier) in before[step].iter_mut().zip(earlier) {
                *word |= earlier;
            }
            before[step][from / 64] |= 1 << (from % 64);
        }
        for &to in &outgoing[step] {
            missing[to] -= 1;
            if missing[to] == 0 {
                ready.push(to);
            }
        }
    }
    assert_eq!(done, steps, "what really happened has no cycles");
    before
}

/// Replaces the content of messages by their place: that in which they were received.
pub(crate) fn place_messages(logs: &mut [Vec<Seen>]) {
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
