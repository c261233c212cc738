//! Channels: the messages in transit, and what is left of both ends.
//!
//! A channel has two sides that do not depend on each other: sends are ordered among themselves, and so are receives. A receive comes after
//! the send of its message, and a send into a bounded channel after the receive that made room for it.

use std::collections::VecDeque;

use portent_hooks::control::ChannelState;

use super::Body;
use crate::{
    engine::{Performed, State},
    operation::{Kind, ObjectIndex, Op},
    run::NONE,
};

/// What is in a channel. The object itself is its sends; the one after it its receives.
#[derive(Clone, Debug)]
pub(crate) struct Channel {
    /// The rows of the sends of messages that were not received.
    messages: VecDeque<u32>,
    /// The rows of the last receives, which made room: as many as there is room.
    room: VecDeque<u32>,
    bound: Option<usize>,
    sent: u64,
    received: u64,
    /// No sender is left, and the rows of those that went.
    closed: bool,
    ends: Vec<u32>,
    has_receiver: bool,
    /// The send after which there was no room when the receiver went.
    filled_by: Option<u32>,
    /// Threads that wait for their message to be received, with its number.
    waiting: Vec<(usize, u64)>,
}

impl Channel {
    /// Of one that a run meets.
    pub(crate) fn new(state: ChannelState) -> Channel {
        Channel {
            messages: std::iter::repeat_n(NONE, state.messages).collect(),
            room: VecDeque::new(),
            bound: state.bound,
            sent: state.messages as u64,
            received: 0,
            closed: state.closed,
            ends: Vec::new(),
            has_receiver: state.has_receiver,
            filled_by: None,
            waiting: Vec::new(),
        }
    }

    fn has_room(&self) -> bool {
        match self.bound {
            // It waits for its message to be received afterwards.
            None | Some(0) => true,
            Some(bound) => self.messages.len() < bound,
        }
    }
}

impl State {
    fn channel(&mut self, object: ObjectIndex) -> &mut Channel {
        match &mut self.objects[object as usize].body {
            Body::Channel(channel) => channel,
            _ => unreachable!("only channels have messages"),
        }
    }

    fn channel_of(&self, op: Op) -> &Channel {
        let object = sends(op);
        match &self.objects[object as usize].body {
            Body::Channel(channel) => channel,
            _ => unreachable!("only channels have messages"),
        }
    }

    pub(crate) fn has_receiver(&self, object: ObjectIndex) -> bool {
        matches!(&self.objects[object as usize].body, Body::Channel(channel) if channel.has_receiver)
    }

    /// The send that a send races with that failed: before that there was room, and since then only the end of the receiver let it
    /// go on.
    pub(crate) fn filled_by(&self, op: Op) -> Option<u32> {
        self.channel_of(op).filled_by
    }

    /// Whether there is no room or no message but for what others did meanwhile, or at all. Before those who had what there was this
    /// could have come, but not before anything else that happened to that side of the channel.
    pub(crate) fn had_to_wait(&self, op: Op) -> bool {
        let channel = self.channel_of(op);
        match op.kind {
            Kind::Receive => channel.messages.is_empty(),
            _ => {
                let bound = channel.bound.filter(|&bound| bound > 0);
                channel.has_receiver && bound.is_some_and(|bound| channel.sent >= bound as u64)
            }
        }
    }

    pub(crate) fn can_use_channel(&self, thread: usize, op: Op) -> bool {
        let channel = self.channel_of(op);
        match op.kind {
            Kind::Send => channel.has_room() || !channel.has_receiver,
            Kind::Receive => !channel.messages.is_empty() || channel.closed,
            Kind::TryReceive => {
                !channel.messages.is_empty()
                    || channel.closed
                    || !self.threads[thread].timed
                    || self.is_free(thread)
            }
            _ => true,
        }
    }

    /// What an operation comes after irrevocably, and whether it could have happened before that.
    pub(crate) fn channel_rows(&self, op: Op, rows: &mut Vec<u32>) -> bool {
        let channel = self.channel_of(op);
        match op.kind {
            Kind::Receive | Kind::TryReceive => match channel.messages.front() {
                Some(&row) => rows.push(row),
                None if channel.closed => rows.extend(&channel.ends),
                None => {}
            },
            Kind::Send | Kind::TrySend => {
                if let Some(bound) = channel.bound.filter(|&bound| bound > 0)
                    && channel.sent >= bound as u64
                    && channel.messages.len() < bound
                {
                    // With this message and the others it is the oldest place that is taken.
                    let place = bound - channel.messages.len() - 1;
                    let at = channel.room.len().checked_sub(place + 1);
                    rows.extend(at.and_then(|at| channel.room.get(at)));
                }
            }
            _ => {}
        }
        rows.retain(|&row| row != NONE);
        matches!(op.kind, Kind::TryReceive | Kind::TrySend)
    }

    /// What a try comes down to. A message that is there is received like any other.
    pub(crate) fn perform_channel(&mut self, thread: usize, mut op: Op) -> Performed {
        let timed = self.threads[thread].timed;
        let channel = self.channel(sends(op));
        let mut succeeds = true;
        match op.kind {
            Kind::Receive | Kind::TryReceive if channel.messages.is_empty() && !channel.closed => {
                op.second = op.object - 1;
                op.kind = Kind::EmptyReceive;
                succeeds = false;
                if timed {
                    self.repeats(thread);
                }
            }
            Kind::TryReceive if !channel.messages.is_empty() => {
                op = Op::new(Kind::Receive, op.object)
            }
            Kind::TryReceive => {
                op.second = op.object - 1;
                op.kind = Kind::EmptyReceive;
            }
            Kind::TrySend if channel.has_room() => op = Op::new(Kind::Send, op.object),
            Kind::TrySend => {
                op.second = op.object + 1;
                op.kind = Kind::FullSend;
                succeeds = false;
            }
            Kind::Send if !channel.has_receiver => op.kind = Kind::FailedSend,
            _ => {}
        }
        Performed { op, succeeds }
    }

    /// A thread waits for the message that it has just sent to be received.
    pub(crate) fn waits_for_delivery(&mut self, thread: usize, object: ObjectIndex) {
        let channel = self.channel(object);
        let number = channel.sent;
        channel.waiting.push((thread, number));
    }

    /// To receive a message if there is one. Where there is, no send changes that.
    pub(crate) fn try_receive(&mut self, object: ObjectIndex) -> Op {
        let is_empty = self.channel(object).messages.is_empty();
        Op {
            second: if is_empty { object } else { NONE },
            ..Op::new(Kind::TryReceive, object + 1)
        }
    }

    /// To send a message if there is room. Where there is, no receive changes that.
    pub(crate) fn try_send(&mut self, object: ObjectIndex) -> Op {
        let channel = self.channel(object);
        if !channel.has_receiver {
            return Op::new(Kind::FailedTrySend, object);
        }
        let has_room = channel.has_room();
        Op {
            second: if has_room { NONE } else { object + 1 },
            ..Op::new(Kind::TrySend, object)
        }
    }

    /// What those who try look at, after something was sent or received. Whoever was let in by that very event depends on it.
    fn refine_tries(&mut self, object: ObjectIndex, was_empty: bool, had_room: bool) {
        let channel = self.channel(object);
        let (is_empty, has_room) = (channel.messages.is_empty(), channel.has_room());
        for thread in self.parked() {
            let mut op = self.pending_of(thread);
            match op.kind {
                Kind::TryReceive if op.object == object + 1 && (is_empty || !was_empty) => {
                    op.second = if is_empty { object } else { NONE };
                }
                Kind::TrySend if op.object == object && (had_room || !has_room) => {
                    op.second = if has_room { NONE } else { object + 1 };
                }
                _ => continue,
            }
            self.set_pending(thread, op);
        }
    }

    /// The event has happened.
    pub(crate) fn performed_channel(&mut self, op: Op, event: u32) {
        let tries = self.tries.channels;
        let channel = self.channel(sends(op));
        let (was_empty, had_room) = (channel.messages.is_empty(), channel.has_room());
        match op.kind {
            Kind::Send => {
                channel.sent += 1;
                channel.messages.push_back(event);
            }
            Kind::Receive if channel.messages.pop_front().is_some() => {
                channel.received += 1;
                match channel.bound {
                    Some(0) => {
                        let number = channel.received;
                        let served = |&(_, waits_for): &(usize, u64)| waits_for == number;
                        if let Some(at) = channel.waiting.iter().position(served) {
                            let (sender, _) = channel.waiting.swap_remove(at);
                            self.goes_on(sender, event);
                        }
                    }
                    Some(bound) => {
                        channel.room.push_back(event);
                        if channel.room.len() > bound {
                            channel.room.pop_front();
                        }
                    }
                    None => {}
                }
            }
            Kind::CloseReceiver => {
                channel.has_receiver = false;
                if !channel.has_room() {
                    channel.filled_by = channel.messages.back().copied();
                }
                channel.messages.clear();
                let waiting = std::mem::take(&mut channel.waiting);
                for (sender, _) in waiting {
                    self.goes_on(sender, event);
                }
                self.refine_pending(op.object, |kind| match kind {
                    Kind::Send => Kind::FailedSend,
                    Kind::TrySend => Kind::FailedTrySend,
                    kind => kind,
                });
            }
            Kind::CloseSender => channel.ends.push(event),
            _ => {}
        }
        if tries && matches!(op.kind, Kind::Send | Kind::Receive) {
            self.refine_tries(sends(op), was_empty, had_room);
        }
    }

    /// A sender is gone, where that is no event.
    pub(crate) fn close_sender(&mut self, thread: usize, object: ObjectIndex) {
        let row = if self.is_recording() {
            self.run.row(thread)
        } else {
            NONE
        };
        self.channel(object).ends.push(row);
    }

    /// It was the last one.
    pub(crate) fn closed(&mut self, object: ObjectIndex) {
        self.channel(object).closed = true;
    }
}

/// The number of the channel: receives have that after it.
fn sends(op: Op) -> ObjectIndex {
    match op.kind {
        Kind::Receive | Kind::TryReceive | Kind::EmptyReceive | Kind::CloseSender => op.object - 1,
        _ => op.object,
    }
}
