//! Channels of `std::sync::mpsc`, with clocks.
//!
//! | file | |
//! |---|---|
//! | `channel` | the queue; sending, receiving and waiting |
//! | `clocks` | its clocks |
//! | this one | the two ends |

mod channel;
mod clocks;

use std::{
    cell::Cell,
    fmt,
    marker::PhantomData,
    panic::{Location, RefUnwindSafe},
    sync::Arc,
    time::{Duration, Instant},
};

use self::channel::{Channel, Taken};
use crate::live::names::Name;

pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};

/// As [`std::sync::mpsc::channel`].
///
/// ```
/// use portent_hooks::{sync::mpsc, thread};
///
/// let (sender, receiver) = mpsc::channel();
/// thread::spawn(move || sender.send(7).unwrap());
/// assert_eq!(receiver.iter().collect::<Vec<i32>>(), [7]);
/// ```
#[must_use]
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let channel = Arc::new(Channel::new(Name::here(), None));
    (Sender(Arc::clone(&channel)), Receiver::of(channel))
}

/// As [`std::sync::mpsc::sync_channel`].
#[must_use]
#[track_caller]
pub fn sync_channel<T>(bound: usize) -> (SyncSender<T>, Receiver<T>) {
    let channel = Arc::new(Channel::new(Name::here(), Some(bound)));
    (SyncSender(Arc::clone(&channel)), Receiver::of(channel))
}

/// [`std::sync::mpsc::Sender`], with clocks.
pub struct Sender<T>(Arc<Channel<T>>);

/// [`std::sync::mpsc::SyncSender`], with clocks.
pub struct SyncSender<T>(Arc<Channel<T>>);

/// [`std::sync::mpsc::Receiver`], with clocks.
pub struct Receiver<T> {
    channel: Arc<Channel<T>>,
    /// One thread at a time has it.
    alone: PhantomData<Cell<()>>,
}

// Nobody can find it half changed, as in the standard library.
impl<T> RefUnwindSafe for Receiver<T> {}

impl<T> Sender<T> {
    /// As [`std::sync::mpsc::Sender::send`].
    ///
    /// # Errors
    ///
    /// The message, if the receiver is gone.
    #[inline]
    #[track_caller]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        self.0
            .send(message, Location::caller(), true)
            .map_err(|error| SendError(error.into_message()))
    }
}

impl<T> SyncSender<T> {
    /// As [`std::sync::mpsc::SyncSender::send`].
    ///
    /// # Errors
    ///
    /// The message, if the receiver is gone.
    #[track_caller]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        self.0
            .send(message, Location::caller(), true)
            .map_err(|error| SendError(error.into_message()))
    }

    /// As [`std::sync::mpsc::SyncSender::try_send`].
    ///
    /// # Errors
    ///
    /// The message, if the receiver is gone or there is no room.
    #[track_caller]
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        self.0
            .send(message, Location::caller(), false)
            .map_err(Into::into)
    }
}

impl<T> Receiver<T> {
    fn of(channel: Arc<Channel<T>>) -> Receiver<T> {
        Receiver {
            channel,
            alone: PhantomData,
        }
    }

    /// As [`std::sync::mpsc::Receiver::recv`].
    ///
    /// # Errors
    ///
    /// If there is no message and never will be.
    #[inline]
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        match self.channel.receive(Location::caller(), || None) {
            Taken::Message(message) => Ok(message),
            Taken::Nothing | Taken::Closed => Err(RecvError),
        }
    }

    /// As [`std::sync::mpsc::Receiver::try_recv`].
    ///
    /// # Errors
    ///
    /// If there is no message.
    #[inline]
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        match self.channel.try_receive(Location::caller()) {
            Taken::Message(message) => Ok(message),
            Taken::Nothing => Err(TryRecvError::Empty),
            Taken::Closed => Err(TryRecvError::Disconnected),
        }
    }

    /// As [`std::sync::mpsc::Receiver::recv_timeout`].
    ///
    /// # Errors
    ///
    /// If there is no message in that time.
    #[track_caller]
    pub fn recv_timeout(&self, time: Duration) -> Result<T, RecvTimeoutError> {
        let end = Instant::now().checked_add(time);
        let left = || Some(end?.saturating_duration_since(Instant::now()));
        match self.channel.receive(Location::caller(), left) {
            Taken::Message(message) => Ok(message),
            Taken::Nothing => Err(RecvTimeoutError::Timeout),
            Taken::Closed => Err(RecvTimeoutError::Disconnected),
        }
    }

    /// As [`std::sync::mpsc::Receiver::iter`].
    pub fn iter(&self) -> Iter<'_, T> {
        Iter(self)
    }

    /// As [`std::sync::mpsc::Receiver::try_iter`].
    pub fn try_iter(&self) -> TryIter<'_, T> {
        TryIter(self)
    }
}

/// Messages until all senders are gone.
#[derive(Debug)]
pub struct Iter<'a, T: 'a>(&'a Receiver<T>);

/// Messages that are there.
#[derive(Debug)]
pub struct TryIter<'a, T: 'a>(&'a Receiver<T>);

/// Messages until all senders are gone, by one who owns the receiver.
#[derive(Debug)]
pub struct IntoIter<T>(Receiver<T>);

impl<T> Iterator for Iter<'_, T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.0.recv().ok()
    }
}

impl<T> Iterator for TryIter<'_, T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.0.try_recv().ok()
    }
}

impl<T> Iterator for IntoIter<T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.0.recv().ok()
    }
}

impl<'a, T> IntoIterator for &'a Receiver<T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<T> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter(self)
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.0.add_sender();
        Sender(Arc::clone(&self.0))
    }
}

impl<T> Clone for SyncSender<T> {
    fn clone(&self) -> Self {
        self.0.add_sender();
        SyncSender(Arc::clone(&self.0))
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.0.drop_sender();
    }
}

impl<T> Drop for SyncSender<T> {
    fn drop(&mut self) {
        self.0.drop_sender();
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.channel.drop_receiver();
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for SyncSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SyncSender").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}
