//! Lines over a socket.
//!
//! A client gives its name, and the server answers how many of its lines it has. Then the client sends some lines, waits until the server has them,
//! and sends more. After a lost connection both therefore know where to continue, no line arrives twice, and none is forgotten before the server
//! has it.

use std::{
    io::{self, BufRead, BufReader, Write},
    time::Duration,
};

use portent_trace::{Header, json_text, native_header};

use super::{
    Remote, Way,
    address::Connection,
    queue::{Queue, Work},
};

/// How long one system call may take before the end is checked for.
const PATIENCE: Duration = Duration::from_millis(200);
/// The number of bytes that are sent before waiting for an answer.
const BATCH: usize = 64 * 1024;
/// The maximal length of an answer.
const LONGEST_ANSWER: u64 = 4096;

/// A server that listens.
pub(super) struct Socket(pub(super) Remote);

impl Way for Socket {
    fn talk(&mut self, queue: &Queue) -> io::Result<()> {
        if let Work::Over = queue.work(0) {
            return Ok(());
        }
        let mut server = BufReader::new(self.0.address.connect(PATIENCE)?);
        let mut hello = Vec::new();
        write_hello(&self.0, queue.counts().0, &mut hello)?;
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
}

/// The header of a trace, with who we are, and how many lines are gone: a server that was started again will never have them.
fn write_hello(remote: &Remote, gone: u64, line: &mut Vec<u8>) -> io::Result<()> {
    let init = remote.initial.clone();
    let header = native_header(&Header {
        init,
        ..Header::default()
    });
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
