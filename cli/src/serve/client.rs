//! A client that sends events: its lines are passed on in batches.
//!
//! Only complete lines are passed on. So a client that dies in the middle of a line leaves no fragment, a slow client does not
//! delay the others, and only the beginning of an overlong line is ever buffered.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
        mpsc::SyncSender,
    },
    time::{Duration, Instant},
};

use serde::Deserialize;

use super::{
    Common,
    listen::{Connection, Listener, Room},
    session::Session,
    source::{Batch, Source},
};

/// The size of one read.
const CHUNK: usize = 64 * 1024;
/// At shutdown, how long a client may take to finish what it is sending.
const GRACE: Duration = Duration::from_secs(2);

/// A number that no other client has.
pub(super) fn next_number() -> u64 {
    static NUMBER: AtomicU64 = AtomicU64::new(1);
    NUMBER.fetch_add(1, Relaxed)
}

/// How a client introduces itself.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Hello {
    session: Option<String>,
    token: Option<String>,
    /// The number of its lines that it no longer has.
    gone: u64,
}

/// A socket to which clients connect.
pub(super) struct Sockets {
    pub(super) listener: Listener,
    pub(super) room: Arc<Room>,
}

impl Source for Sockets {
    fn shown(&self) -> String {
        self.listener.shown(false)
    }

    fn is_local(&self) -> bool {
        self.listener.is_local()
    }

    fn run(self: Box<Self>, common: &Arc<Common>, batches: SyncSender<Batch>) {
        let serve = move |connection: Box<dyn Connection>, common: &Common| {
            let mut client = Client {
                number: next_number(),
                connection,
                common,
                batches: &batches,
                session: None,
                is_known: common.token.is_none(),
                begun: false,
                lines: 0,
            };
            common.board.client_came(client.number);
            let problem = client.read();
            common.board.client_went(client.number, problem);
        };
        let turn_away = |mut connection: Box<dyn Connection>, common: &Common| {
            let problem = format!(
                "there are {} clients already; --max-clients allows more",
                common.max_clients
            );
            refuse(&mut *connection, &problem);
            common.board.client_turned_away();
        };
        self.listener.accept(common, &self.room, serve, turn_away);
    }
}

fn refuse(connection: &mut dyn Connection, problem: &str) {
    let line = serde_json::json!({ "error": problem });
    // The client may already have disconnected.
    let _ = writeln!(connection, "{line}");
}

struct Client<'c> {
    number: u64,
    connection: Box<dyn Connection>,
    common: &'c Common,
    batches: &'c SyncSender<Batch>,
    session: Option<(Arc<Session>, u64)>,
    /// The client may send events.
    is_known: bool,
    /// The first line was read.
    begun: bool,
    lines: u64,
}

impl Client<'_> {
    /// Reads until the client ends or the server shuts down. Returns what went wrong.
    fn read(&mut self) -> Option<String> {
        let mut buffer = vec![0; CHUNK];
        let mut line_start = Vec::new();
        // Inside the rest of an overlong line.
        let mut is_skipping = false;
        let mut over_since = None;
        loop {
            if self.common.is_over.load(Relaxed) {
                let since = *over_since.get_or_insert_with(Instant::now);
                if since.elapsed() > GRACE {
                    break;
                }
            }
            let read = match self.connection.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if is_time_out(&error) => {
                    if over_since.is_some() {
                        break;
                    }
                    continue;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Some(format!("the connection broke: {error}")),
            };
            let Some(last) = buffer[..read].iter().rposition(|&byte| byte == b'\n') else {
                if !is_skipping {
                    line_start.extend_from_slice(&buffer[..read]);
                }
                if line_start.len() > self.common.max_line {
                    self.common
                        .board
                        .line_too_long(self.number, self.common.max_line);
                    line_start = Vec::new();
                    is_skipping = true;
                }
                continue;
            };
            let (whole, rest) = buffer[..read].split_at(last + 1);
            let mut batch = std::mem::take(&mut line_start);
            let skipped = std::mem::take(&mut is_skipping);
            let whole = if skipped {
                let end = whole.iter().position(|&byte| byte == b'\n').unwrap_or(0);
                &whole[end + 1..]
            } else {
                whole
            };
            batch.extend_from_slice(whole);
            line_start.extend_from_slice(rest);
            if let Err(problem) = self.take(batch, u64::from(skipped)) {
                refuse(&mut *self.connection, &problem);
                return Some(problem);
            }
        }
        (!line_start.is_empty() || is_skipping).then(|| {
            self.common.board.line_cut();
            "the client has ended inside a line, which is left out".to_owned()
        })
    }

    /// Takes whole lines, after `skipped` overlong ones.
    fn take(&mut self, mut batch: Vec<u8>, skipped: u64) -> Result<(), String> {
        if !self.begun && !batch.is_empty() {
            self.begun = true;
            let end = batch.iter().position(|&byte| byte == b'\n').unwrap_or(0);
            if let Some(hello) = hello(&batch[..end]) {
                self.meet(&hello)?;
                batch.drain(..=end);
                self.answer()?;
            }
        }
        if !self.is_known {
            self.common.board.token_refused();
            return Err("a token is asked for, and this is not it".to_owned());
        }
        let lines = batch.iter().filter(|&&byte| byte == b'\n').count() as u64;
        if lines + skipped == 0 {
            return Ok(());
        }
        let first = self.lines + skipped + 1;
        self.lines += skipped + lines;
        let gone = || "the server has ended".to_owned();
        let batch = Batch {
            client: self.number,
            first,
            lines: batch,
            is_known: false,
            receipt: None,
        };
        match &self.session {
            Some((session, connection)) => {
                let newer = || "the client is connected once more".to_owned();
                let mut progress = session.of(*connection).ok_or_else(newer)?;
                self.batches.send(batch).map_err(|_| gone())?;
                progress.taken += skipped + lines;
                drop(progress);
                self.answer()
            }
            None => self.batches.send(batch).map_err(|_| gone()),
        }
    }

    /// Handles the introduction of a client.
    fn meet(&mut self, hello: &Hello) -> Result<(), String> {
        if let Some(token) = &self.common.token {
            self.is_known = token.is(hello.token.as_deref());
        }
        if let Some(name) = hello.session.as_deref().filter(|_| self.is_known) {
            let joined = self.common.sessions.join(name, hello.gone);
            let (session, connection, missed) = joined.ok_or("there were too many clients")?;
            self.session = Some((session, connection));
            self.common.board.client_named(self.number, name, missed);
        }
        Ok(())
    }

    /// Tells a client how many of its lines have been taken.
    fn answer(&mut self) -> Result<(), String> {
        let Some((session, connection)) = &self.session else {
            return Ok(());
        };
        let taken = session.of(*connection).map_or(0, |progress| progress.taken);
        let line = format!("{{\"taken\": {taken}}}\n");
        self.connection
            .write_all(line.as_bytes())
            .map_err(|error| format!("the client takes no answer: {error}"))
    }
}

/// The introduction, if the first line of a client is one.
fn hello(line: &[u8]) -> Option<Hello> {
    let object: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(line).ok()?;
    if !object.contains_key("portent") || object.contains_key("t") {
        return None;
    }
    serde_json::from_value(object.into()).ok()
}

fn is_time_out(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
    )
}
