//! The clocks of a channel: left by sending, receiving, finding it empty and closing it.

use std::collections::VecDeque;

use portent_monitor_core::{Access, Operation, Role, Version};

use crate::live::{Published, actor::Actor, operation::access, version};

const SEND_ROOM: Access = access(Operation::Send, Role::Room);

/// What was left at the channel.
#[derive(Default)]
pub(super) struct Clocks {
    /// By the sends, from the message of this number on, as long as that stays the same. The last is
    /// that of the last send; the first that of the oldest message.
    pub(super) sends: VecDeque<(u64, Published)>,
    pub(super) receives: Published,
    /// By receivers that found it empty.
    pub(super) empty: Published,
    /// By the end of the senders or of the receiver.
    pub(super) ends: Published,
    /// By the receives, with their numbers, that made room which nobody has found yet; but not where it
    /// is the same as that of the receive before.
    pub(super) room: VecDeque<(u64, Published)>,
    pub(super) last_room: Version,
    /// By the receives whose senders wait for them.
    pub(super) deliveries: VecDeque<(u64, Published)>,
    /// To be used again.
    unused: Vec<Published>,
}

impl Clocks {
    pub(super) fn fresh(&mut self) -> Published {
        self.unused.pop().unwrap_or_default()
    }

    /// What an access of something new leaves there.
    pub(super) fn copy(&mut self, actor: &mut Actor, access: Access) -> Published {
        let mut left = self.fresh();
        actor.publish_updates(&mut left, access);
        left
    }

    pub(super) fn sends_version(&self) -> Version {
        let last = self.sends.back();
        last.map_or(Version::EMPTY, |(_, left)| left.version())
    }

    /// Whether a sender has something to receive or to leave.
    pub(super) fn are_news_to_sender(&self) -> bool {
        let version = version::shown();
        self.sends_version() != version
            || self.empty.version() != Version::EMPTY
            || !self.room.is_empty()
    }

    /// Whether one who receives the message of this number has something to receive or to leave.
    pub(super) fn are_news_to_receiver(&mut self, number: u64, bounded: bool) -> bool {
        // Those of messages that were received before.
        while self.sends.get(1).is_some_and(|(first, _)| *first <= number)
            && let Some((_, left)) = self.sends.pop_front()
        {
            self.recycle(left);
        }
        let version = version::shown();
        let sent = self.sends.front().filter(|(first, _)| *first <= number);
        sent.map_or(Version::EMPTY, |(_, left)| left.version()) != version
            || self.receives.version() != version
            || self.empty.version() != Version::EMPTY
            || (bounded && self.last_room != version)
    }

    pub(super) fn recycle(&mut self, mut left: Published) {
        if self.unused.len() < 64 {
            left.clear();
            self.unused.push(left);
        }
    }

    /// Learns of the receives up to this number.
    pub(super) fn find_room(&mut self, needed: u64, actor: &mut Actor) {
        while self
            .room
            .front()
            .is_some_and(|(number, _)| *number <= needed)
            && let Some((_, left)) = self.room.pop_front()
        {
            actor.receive_updates(&left, SEND_ROOM);
            self.recycle(left);
        }
    }
}
