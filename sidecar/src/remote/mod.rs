//! Events to a server: `portent serve`, in another process.
//!
//! The lines are those that a recorder would write. A client says who it is and is told how many of its lines the server has; then it sends
//! some, waits until the server has them, and sends more. So after a lost connection both know where to go on, no line comes twice, and
//! none is forgotten before the server has it. While the server is away lines are kept, up to a bound; beyond that the sidecar
//! stands still, and threads do what they do when a queue is full: what is left out then is left out before it is counted in any clock.

mod address;
mod queue;

use std::{
    io::{self, BufRead, BufReader, Write},
    sync::Arc,
    thread::{self, JoinHandle},
    time::Duration,
};

use portent_monitor_core::Value;
use portent_trace::{Header, json_text, native_header};

pub use self::address::Address;
use self::{
    address::Connection,
    queue::{Queue, Work},
};
use crate::Error;

/// After a connection was lost, and at most.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// How long one call of the system may take before it is looked whether all is over.
const PATIENCE: Duration = Duration::from_millis(200);
/// So many bytes are sent before an answer is waited for.
const BATCH: usize = 64 * 1024;
/// No answer of a server is longer.
const LONGEST_ANSWER: u64 = 4096;

/// Which server, and what it is told first.
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
        let thread = thread.spawn(move || send_all(&remote, &sending));
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

    /// Nobody waits longer for the server than the time that was allowed for that.
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

/// Connects again and again until everything was sent.
fn send_all(remote: &Remote, queue: &Queue) {
    let mut pause = FIRST_PAUSE;
    loop {
        let before = queue.counts().0;
        match talk(remote, queue) {
            Ok(()) => return,
            Err(error) => {
                queue.complain(format!("{}: {error}", remote.address));
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

/// One connection, until it breaks or everything was sent.
fn talk(remote: &Remote, queue: &Queue) -> io::Result<()> {
    if let Work::Over = queue.work(0) {
        return Ok(());
    }
    let mut server = BufReader::new(remote.address.connect(PATIENCE)?);
    let mut hello = Vec::new();
    write_hello(remote, queue.counts().0, &mut hello)?;
    write_all(&mut server, &hello, queue)?;
    queue.acknowledge(answer(&mut server, queue)?);
    loop {
        match queue.work(BATCH) {
            Work::Over => return Ok(()),
            Work::Rest => {}
            Work::Send(bytes, up_to) => {
                write_all(&mut server, &bytes, queue)?;
                while queue.counts().0 < up_to {
                    queue.acknowledge(answer(&mut server, queue)?);
                }
            }
        }
    }
}

/// The header of a trace, with who we are, and how many lines are gone: a server that was started again will never have them.
fn write_hello(remote: &Remote, gone: u64, line: &mut Vec<u8>) -> io::Result<()> {
    let init = remote.initial.clone();
    let header = native_header(&Header { init });
    let open = header.trim_ascii_end().strip_suffix(b"}");
    line.extend_from_slice(open.unwrap_or_default());
    let session = json_text(&remote.session);
    write!(line, ", \"session\": {session}, \"gone\": {gone}")?;
    if let Some(token) = &remote.token {
        write!(line, ", \"token\": {}", json_text(token))?;
    }
    line.extend_from_slice(b"}\n");
    Ok(())
}

/// Writes all, however often the time is up meanwhile.
fn write_all(
    server: &mut BufReader<Box<dyn Connection>>,
    mut bytes: &[u8],
    queue: &Queue,
) -> io::Result<()> {
    while !bytes.is_empty() {
        match server.get_mut().write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => bytes = &bytes[written..],
            Err(error) if is_time_out(&error) && !queue.is_late() => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// How many lines the server has.
fn answer(server: &mut BufReader<Box<dyn Connection>>, queue: &Queue) -> io::Result<u64> {
    let mut line = Vec::new();
    loop {
        let room = LONGEST_ANSWER.saturating_sub(line.len() as u64);
        let mut limited = io::Read::take(&mut *server, room);
        match limited.read_until(b'\n', &mut line) {
            Ok(_) if line.ends_with(b"\n") => break,
            Ok(_) => return Err(io::Error::other("the server has closed the connection")),
            Err(error) if is_time_out(&error) && !queue.is_late() => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let line = String::from_utf8_lossy(&line);
    let line = line.trim();
    let taken = line.strip_prefix("{\"taken\":");
    let taken = taken.and_then(|rest| rest.strip_suffix('}'));
    let taken = taken.and_then(|count| count.trim().parse().ok());
    taken.ok_or_else(|| io::Error::other(format!("the server says {line}")))
}

fn is_time_out(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
    )
}
