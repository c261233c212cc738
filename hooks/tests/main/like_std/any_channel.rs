//! Channels of both kinds, as one: what is said of them holds for both.

use super::{
    run,
    sync::mpsc::{Receiver, SendError, Sender, SyncSender, channel, sync_channel},
};

/// How many messages may wait; `None` for as many as one likes.
pub(super) type Room = Option<usize>;

/// The sender of a channel.
#[derive(Debug)]
pub(super) enum AnySender<T> {
    Open(Sender<T>),
    Bounded(SyncSender<T>),
}

impl<T> AnySender<T> {
    pub(super) fn send(&self, message: T) -> Result<(), SendError<T>> {
        match self {
            AnySender::Open(sender) => sender.send(message),
            AnySender::Bounded(sender) => sender.send(message),
        }
    }
}

impl<T> Clone for AnySender<T> {
    fn clone(&self) -> Self {
        match self {
            AnySender::Open(sender) => AnySender::Open(sender.clone()),
            AnySender::Bounded(sender) => AnySender::Bounded(sender.clone()),
        }
    }
}

pub(super) fn make<T>(room: Room) -> (AnySender<T>, Receiver<T>) {
    match room {
        None => {
            let (sender, receiver) = channel();
            (AnySender::Open(sender), receiver)
        }
        Some(bound) => {
            let (sender, receiver) = sync_channel(bound);
            (AnySender::Bounded(sender), receiver)
        }
    }
}

/// The same with each room, one after the other.
pub(super) fn in_each(rooms: &[Room], case: fn(Room)) {
    for &room in rooms {
        run(|| case(room));
    }
}
