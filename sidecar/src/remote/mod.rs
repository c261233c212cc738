//! Sends events to a server, `portent serve` in another process.
//!
//! The lines are those that a recorder would write, and each is kept until the other side, a socket or a NATS stream, has acknowledged it. While that is
//! unreachable, lines are kept up to a bound. Beyond it the sidecar stalls, and threads do what they do when a queue is full: events are then
//! dropped before any clock counts them.

mod address;
#[cfg(feature = "nats")]
mod nats;
mod queue;
mod socket;

use std::{
    io,
    sync::Arc,
    thread::{self, JoinHandle},
    time::Duration,
};

use portent_monitor_core::Value;

pub use self::address::Address;
#[cfg(feature = "nats")]
pub use self::nats::{EventStream, OpenStream};
use self::{queue::Queue, socket::Socket};
use crate::Error;

/// After a connection was lost, and at most.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// The server, and what it is told first.
#[derive(Clone, Debug)]
pub(crate) struct Remote {
    pub(crate) address: Address,
    pub(crate) session: String,
    pub(crate) token: Option<String>,
    pub(crate) initial: Vec<(String, Value)>,
    pub(crate) linger: Duration,
}

/// The thread that sends.
pub(crate) struct Sender {
    queue: Arc<Queue>,
    linger: Duration,
    thread: Option<JoinHandle<()>>,
    /// Lines that came when all was over.
    refused: u64,
}

impl Sender {
    pub(crate) fn start(remote: Remote) -> Result<Sender, Error> {
        let queue = Arc::new(Queue::default());
        let linger = remote.linger;
        let thread = thread::Builder::new().name("portent-remote".to_owned());
        let sending = Arc::clone(&queue);
        let thread = thread.spawn(move || send_all(remote, &sending));
        Ok(Sender {
            queue,
            linger,
            thread: Some(thread.map_err(Error::NoThread)?),
            refused: 0,
        })
    }

    /// Sends a line, sooner or later. Waits while too many wait already.
    pub(crate) fn send(&mut self, line: Vec<u8>) {
        if !self.queue.push(line) {
            self.refused += 1;
        }
    }

    /// How many lines the server has, and how many it has not.
    pub(crate) fn counts(&self) -> (u64, u64) {
        let (taken, waiting) = self.queue.counts();
        (taken, waiting + self.refused)
    }

    /// What went wrong since the last time.
    pub(crate) fn problem(&self) -> Option<Error> {
        self.queue.problem().map(Error::Remote)
    }

    /// Limits the wait for the server to the allowed time.
    pub(crate) fn hurry(&self) {
        self.queue.hurry(self.linger);
    }

    /// Waits until the server has everything, but not longer than was allowed.
    pub(crate) fn finish(&mut self) {
        self.queue.hurry(self.linger);
        self.queue.close();
        if let Some(thread) = self.thread.take() {
            // It has no reason to panic; what it sent is known either way.
            let _ = thread.join();
        }
    }
}

/// A way to deliver lines.
trait Way {
    /// One connection, until it breaks or everything was sent.
    fn talk(&mut self, queue: &Queue) -> io::Result<()>;
}

/// Connects again and again until everything was sent.
fn send_all(remote: Remote, queue: &Queue) {
    let address = remote.address.clone();
    let mut way: Box<dyn Way> = match &address {
        #[cfg(feature = "nats")]
        Address::Nats(stream) => Box::new(nats::Publisher::new(stream.clone(), remote)),
        _ => Box::new(Socket(remote)),
    };
    let mut pause = FIRST_PAUSE;
    loop {
        let before = queue.counts().0;
        match way.talk(queue) {
            Ok(()) => return,
            Err(error) => {
                queue.complain(format!("{address}: {error}"));
                if queue.counts().0 > before {
                    pause = FIRST_PAUSE;
                }
                queue.sleep(pause);
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
        }
        if queue.is_late() {
            return;
        }
    }
}
