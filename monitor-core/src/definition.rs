//! The definition of the causality relation, for checking answers.
//!
//! This is the specification written down pair by pair, without clocks or optimisations, and it shares
//! no code with [`Causality`](crate::Causality): tests compare the two, and a witness that the
//! analyzer found is validated against it. It is quadratic in the trace.
//!
//! `e ≼ e'` is the transitive closure of these pairs, e before e' in observed order:
//! - both are of one thread; an event of several threads is of each of them;
//! - a fork and an event of its child; an event of the child and its join; the fork and the join
//!   of one child, even if it logged nothing (a thread begins and ends, logged or not);
//! - a send and a `recv` of that message on that channel. If a message is sent twice, both;
//! - two sends, or two receives, of one channel that delivers in order. If it has room for n > 0
//!   messages, the k-th receive and each send from the (k+n)-th on; if it has room for none, a
//!   receive and what the sender of the message does, or is joined, next;
//! - a failed try to receive and a send or receive on that channel, either first;
//! - a notify and a later wake-up on that condition; a notify and a begin of a wait, either first;
//! - a barrier line and an event that follows, on its own thread, another barrier line of that
//!   round; that a thread ends is such an event, seen by its join;
//! - two accesses of one variable, at least one a write or update (`set` is a write);
//! - two operations on one lock, at least one of them exclusive: a lock or unlock, or the begin or end
//!   of a wait with that lock. A failed try is not;
//! - in a trace with clocks: a line and one whose clock counts it.

use crate::{Delivery, Error, Event, Op, Stamped, ThreadId, VarId};

/// Which events of a trace come before which.
#[derive(Clone, Debug)]
pub struct Relation {
    /// For each event, the set of its strict predecessors as a bit set.
    pasts: Vec<Vec<u64>>,
}

impl Relation {
    /// The relation of a whole trace, given in observed order.
    pub fn new(events: &[Event]) -> Relation {
        let words = events.len().div_ceil(64);
        let mut pasts: Vec<Vec<u64>> = Vec::with_capacity(events.len());
        for later in 0..events.len() {
            let mut past = vec![0; words];
            for earlier in 0..later {
                if is_edge(events, earlier, later) {
                    past[earlier / 64] |= 1 << (earlier % 64);
                    for (mine, theirs) in past.iter_mut().zip(&pasts[earlier]) {
                        *mine |= theirs;
                    }
                }
            }
            pasts.push(past);
        }
        Relation { pasts }
    }

    /// Whether `earlier` ≼ `later`, for indices of events; every event precedes itself.
    pub fn precedes(&self, earlier: usize, later: usize) -> bool {
        earlier == later
            || self
                .pasts
                .get(later)
                .and_then(|past| past.get(earlier / 64))
                .is_some_and(|word| word >> (earlier % 64) & 1 == 1)
    }

    /// Checks that `run` is an equivalent run of the events `relevant`: all of them, each once, in
    /// an order that the relation allows. A `prefix` may leave out events at its end.
    ///
    /// # Errors
    ///
    /// [`Error::NotPermutation`], [`Error::NotEquivalent`].
    ///
    /// ```
    /// use portent_monitor_core::{Event, Op, Symbols, definition::Relation};
    ///
    /// let mut s = Symbols::default();
    /// let (t1, t2) = (s.threads.intern("T1")?, s.threads.intern("T2")?);
    /// let (x, y) = (s.vars.intern("x")?, s.vars.intern("y")?);
    /// let relation = Relation::new(&[
    ///     Event::new(t1, Op::Write(x, None)),
    ///     Event::new(t2, Op::Write(y, None)),
    ///     Event::new(t1, Op::Read(y)),
    /// ]);
    /// assert!(relation.check_run(&[0, 1, 2], &[1, 0, 2], false).is_ok());
    /// assert!(relation.check_run(&[0, 1, 2], &[0, 2, 1], false).is_err());
    /// assert!(relation.check_run(&[0, 1, 2], &[1], true).is_ok());
    /// # Ok::<(), portent_monitor_core::Error>(())
    /// ```
    pub fn check_run(&self, relevant: &[usize], run: &[usize], prefix: bool) -> Result<(), Error> {
        let mut done = vec![false; self.pasts.len()];
        for &event in run {
            if !relevant.contains(&event) || done.get(event).copied().unwrap_or(true) {
                return Err(Error::NotPermutation { index: event });
            }
            for &other in relevant {
                if other != event && self.precedes(other, event) && !done[other] {
                    return Err(Error::NotEquivalent {
                        earlier: other,
                        later: event,
                    });
                }
            }
            done[event] = true;
        }
        match relevant
            .iter()
            .find(|&&event| !done.get(event).copied().unwrap_or(false))
        {
            Some(&index) if !prefix => Err(Error::NotPermutation { index }),
            _ => Ok(()),
        }
    }
}

fn is_edge(events: &[Event], earlier: usize, later: usize) -> bool {
    let (a, b) = (&events[earlier], &events[later]);
    a.threads().any(|thread| is_of(b, thread))
        || begins_or_ends(a, b)
        || signals(a, b)
        || queues(events, earlier, later)
        || delivers(events, earlier, later)
        || crosses_barrier(events, earlier, later)
        || conflict(a, b)
        || matches!(&b.op, Op::Stamped(stamp) if counted(a, stamp))
}

/// Whether an event is one of this thread.
fn is_of(event: &Event, thread: ThreadId) -> bool {
    event.threads().any(|own| own == thread)
}

fn begins_or_ends(a: &Event, b: &Event) -> bool {
    match (&a.op, &b.op) {
        (Op::Fork(child), Op::Join(joined)) if child == joined => true,
        (Op::Fork(child), _) if is_of(b, *child) => true,
        (_, Op::Join(child)) => is_of(a, *child),
        _ => false,
    }
}

fn signals(a: &Event, b: &Event) -> bool {
    match (&a.op, &b.op) {
        (Op::Send(c1, m1, _), Op::Recv(c2, m2, _)) => c1 == c2 && m1 == m2,
        (Op::Send(c1, ..) | Op::Recv(c1, ..), Op::TryRecv(c2))
        | (Op::TryRecv(c1), Op::Send(c2, ..) | Op::Recv(c2, ..)) => c1 == c2,
        (Op::Notify(c1), Op::Wait(c2, _) | Op::Waiting(c2, _))
        | (Op::Waiting(c1, _), Op::Notify(c2)) => c1 == c2,
        _ => false,
    }
}

/// The order of a channel that delivers in order, and of a full one.
fn queues(events: &[Event], earlier: usize, later: usize) -> bool {
    let bounded = |delivery: &Delivery| matches!(delivery, Delivery::Bounded(1..));
    match (&events[earlier].op, &events[later].op) {
        (Op::Send(c1, _, d1), Op::Send(c2, _, d2)) | (Op::Recv(c1, _, d1), Op::Recv(c2, _, d2)) => {
            c1 == c2 && d1.is_ordered() && d2.is_ordered()
        }
        (Op::Recv(c1, _, d1), Op::Send(c2, _, Delivery::Bounded(n))) => {
            let received = events[..=earlier].iter();
            let received =
                received.filter(|e| matches!(&e.op, Op::Recv(c, _, d) if c == c1 && bounded(d)));
            let sent = events[..=later].iter();
            let sent = sent.filter(|e| matches!(&e.op, Op::Send(c, _, d) if c == c1 && bounded(d)));
            *n > 0 && c1 == c2 && bounded(d1) && received.count() + *n as usize <= sent.count()
        }
        _ => false,
    }
}

/// A receive lets the sender continue, if the channel has no room.
fn delivers(events: &[Event], earlier: usize, later: usize) -> bool {
    let Op::Recv(chan, msg, Delivery::Bounded(0)) = events[earlier].op else {
        return false;
    };
    let sent_last = |thread: ThreadId| {
        let mut before = events[..later].iter().rev();
        let last = before.find(|e| is_of(e, thread) || e.op == Op::Join(thread));
        last.is_some_and(|e| e.op == Op::Send(chan, msg, Delivery::Bounded(0)))
    };
    events[later].threads().any(sent_last)
        || matches!(events[later].op, Op::Join(child) if sent_last(child))
}

fn crosses_barrier(events: &[Event], earlier: usize, later: usize) -> bool {
    let Op::Barrier(barrier, round) = events[earlier].op else {
        return false;
    };
    let went_on = |thread: ThreadId| {
        events[..later]
            .iter()
            .any(|e| e.thread == thread && e.op == Op::Barrier(barrier, round))
    };
    events[later].threads().any(went_on)
        || matches!(events[later].op, Op::Join(child) if went_on(child))
}

/// The variables that an event accesses, and whether it writes them.
fn accesses(event: &Event) -> Vec<(VarId, bool)> {
    match &event.op {
        Op::Read(var) => vec![(*var, false)],
        _ => event.writes().map(|(var, _)| (var, true)).collect(),
    }
}

fn conflict(a: &Event, b: &Event) -> bool {
    let locks = |e: &Event| match e.op {
        Op::Lock(lock)
        | Op::Unlock(lock)
        | Op::Waiting(_, Some(lock))
        | Op::Wait(_, Some(lock)) => Some((lock, true)),
        Op::ReadLock(lock) | Op::ReadUnlock(lock) | Op::TryLock(lock) => Some((lock, false)),
        _ => None,
    };
    let on_lock = match (locks(a), locks(b)) {
        (Some((l1, exclusive1)), Some((l2, exclusive2))) => l1 == l2 && (exclusive1 || exclusive2),
        _ => false,
    };
    on_lock
        || accesses(a).iter().any(|(v1, write1)| {
            accesses(b)
                .iter()
                .any(|(v2, write2)| v1 == v2 && (*write1 || *write2))
        })
}

/// Whether a clock counts a line, for any of the line's threads.
fn counted(a: &Event, later: &Stamped) -> bool {
    let Op::Stamped(stamp) = &a.op else {
        return false;
    };
    a.threads().any(|thread| {
        let number = stamp.component(thread);
        number > 0 && number <= later.component(thread)
    })
}
