//! The clocks of channels between tasks.
//!
//! As in a channel between threads, sends are ordered among themselves, and so are receives; a message carries what its sender knew; a send that
//! uses the room of an earlier message comes after the receive that freed it; and a receiver that finds the channel empty has seen everything
//! that was sent. The end of the senders, or of the receiver, is a condition that the other side may learn of.
//!
//! An operation and its effect on the clocks are one step: the operation is performed while the clocks are locked.

use std::collections::VecDeque;

use portent_monitor_core::{Access, ChanId, CondId, Delivery, Msg, Op, Operation, Role, Version};

use super::ticket;
use crate::live::{
    Published,
    actor::{self, Place, Ticket},
    line::OperationRecord,
    names::Name,
    operation::access,
    version,
};

const SEND: Access = access(Operation::Send, Role::Channel);
const SEND_MESSAGE: Access = access(Operation::Send, Role::Message);
const SEND_ORDER: Access = access(Operation::Send, Role::Sends);
const SEND_ROOM: Access = access(Operation::Send, Role::Room);
const RECV: Access = access(Operation::Recv, Role::Channel);
const RECV_MESSAGE: Access = access(Operation::Recv, Role::Message);
const RECV_ORDER: Access = access(Operation::Recv, Role::Receives);
const RECV_ROOM: Access = access(Operation::Recv, Role::Room);
const TRY_RECV: Access = access(Operation::TryRecv, Role::Channel);
const NOTIFY: Access = access(Operation::Notify, Role::Condition);
const WAIT: Access = access(Operation::Wait, Role::Condition);

// A message carries what all sends up to its own left, and the channel has no clock besides these.
const _: () = assert!(matches!(
    (SEND_ORDER, RECV_ORDER, SEND, RECV),
    (
        Access::Update,
        Access::Update,
        Access::Contribute,
        Access::Contribute
    )
));

/// What is known of a channel besides its messages.
pub(super) struct Clocks {
    kind: &'static str,
    name: Name,
    end: Name,
    bound: Option<u32>,
    sent: u64,
    received: u64,
    /// By the last send.
    sends: Published,
    receives: Published,
    /// By receivers that found it empty.
    empty: Published,
    /// By the end of the senders or of the receiver.
    ends: Published,
    /// By the receives, with their numbers, whose room nobody has used yet; but not where it is the same as that before.
    room: VecDeque<(u64, Published)>,
    last_room: Version,
    /// To be used again.
    unused: Vec<Published>,
}

/// A message, and what its sender knew.
pub(super) struct Envelope<T> {
    left: Published,
    content: T,
}

impl Clocks {
    pub(super) fn new(kind: &'static str, name: Name, bound: Option<usize>) -> Clocks {
        Clocks {
            kind,
            end: name.another(),
            name,
            bound: bound.map(|bound| u32::try_from(bound).unwrap_or(u32::MAX)),
            sent: 0,
            received: 0,
            sends: Published::EMPTY,
            receives: Published::EMPTY,
            empty: Published::EMPTY,
            ends: Published::EMPTY,
            room: VecDeque::new(),
            last_room: Version::EMPTY,
            unused: Vec::new(),
        }
    }

    fn id(&self) -> ChanId {
        self.name.id(self.kind, |symbols| &mut symbols.chans)
    }

    fn end_id(&self) -> CondId {
        self.end.id(&format!("end of {}", self.kind), |symbols| {
            &mut symbols.conds
        })
    }

    fn delivery(&self) -> Delivery {
        self.bound.map_or(Delivery::Fifo, Delivery::Bounded)
    }

    /// A message is sent, now.
    pub(super) fn send<T>(&mut self, content: T, place: Place, ticket: Ticket) -> Envelope<T> {
        self.sent += 1;
        let number = self.sent;
        let version = version::shown();
        if version != self.sends.version()
            || self.empty.version() != Version::EMPTY
            || !self.room.is_empty()
        {
            self.note_send(number, place, ticket);
        }
        let mut left = self.unused.pop().unwrap_or_default();
        if self.sends.version() != Version::EMPTY {
            actor::publish_updates(&mut left, SEND_MESSAGE);
        }
        Envelope { left, content }
    }

    fn note_send(&mut self, number: u64, place: Place, ticket: Ticket) {
        actor::with(|actor| {
            actor.receive_reads(&self.empty, SEND);
            actor.receive_updates(&self.sends, SEND_ORDER);
            if let Some(bound) = self.bound {
                let needed = number.saturating_sub(u64::from(bound));
                while self.room.front().is_some_and(|(of, _)| *of <= needed)
                    && let Some((_, left)) = self.room.pop_front()
                {
                    actor.receive_updates(&left, SEND_ROOM);
                    recycle(&mut self.unused, left);
                }
            }
            actor.did(ticket, || {
                let message = Msg::Number(number.cast_signed());
                OperationRecord::new(Op::Send(self.id(), message, self.delivery()), place)
            });
            actor.publish_updates(&mut self.sends, SEND_ORDER);
        });
    }

    /// A message is received, now.
    pub(super) fn receive<T>(&mut self, message: Envelope<T>, place: Place, ticket: Ticket) -> T {
        self.received += 1;
        let number = self.received;
        let Envelope { left, content } = message;
        let version = version::shown();
        if left.version() != version
            || self.receives.version() != version
            || self.empty.version() != Version::EMPTY
            || (self.bound.is_some() && self.last_room != version)
        {
            self.note_receive(&left, number, place, ticket);
        }
        recycle(&mut self.unused, left);
        content
    }

    fn note_receive(&mut self, sent: &Published, number: u64, place: Place, ticket: Ticket) {
        actor::with(|actor| {
            actor.receive_reads(&self.empty, RECV);
            actor.receive_updates(&self.receives, RECV_ORDER);
            actor.receive_updates(sent, RECV_MESSAGE);
            actor.did(ticket, || {
                let message = Msg::Number(number.cast_signed());
                OperationRecord::new(Op::Recv(self.id(), message, self.delivery()), place)
            });
            actor.publish_updates(&mut self.receives, RECV_ORDER);
            if self.bound.is_some() && self.last_room != actor.real_version() {
                let mut left = self.unused.pop().unwrap_or_default();
                actor.publish_updates(&mut left, RECV_ROOM);
                self.last_room = left.version();
                self.room.push_back((number, left));
            }
        });
    }

    /// A receiver found no message.
    pub(super) fn was_empty(&mut self, place: Place, ticket: Ticket) {
        actor::with(|actor| {
            // All that was sent was received.
            actor.receive_updates(&self.receives, TRY_RECV);
            actor.did(ticket, || {
                OperationRecord::new(Op::TryRecv(self.id()), place)
            });
            actor.publish_reads(&mut self.empty, TRY_RECV);
        });
    }

    /// The other end is known to be gone.
    pub(super) fn saw_end(&mut self, place: Place, ticket: Ticket) {
        actor::with(|actor| {
            actor.receive_updates(&self.ends, WAIT);
            actor.did(ticket, || {
                OperationRecord::new(Op::Wait(self.end_id(), None), place)
            });
        });
    }

    /// An end is given up.
    pub(super) fn end(&mut self) {
        let ticket = ticket();
        actor::with(|actor| {
            actor.did(ticket, || {
                OperationRecord::new(Op::Notify(self.end_id()), None)
            });
            actor.publish_updates(&mut self.ends, NOTIFY);
        });
    }
}

impl<T> Envelope<T> {
    /// Of a message that was never sent.
    pub(super) fn into_content(self) -> T {
        self.content
    }
}

fn recycle(unused: &mut Vec<Published>, mut left: Published) {
    if unused.len() < 64 {
        left.clear();
        unused.push(left);
    }
}
