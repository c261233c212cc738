//! Lines over NATS JetStream, for systems larger than one machine: a stream keeps them until a server takes them.
//!
//! Several lines make one message, which is forgotten here when the stream acknowledges it. A message whose acknowledgement was lost is sent
//! again unchanged, under the same id, so that the stream recognises it; the server recognises remaining repetitions by their clocks.

mod stream;

use std::{
    hash::{BuildHasher, RandomState},
    io,
    time::Duration,
};

use async_nats::{
    connection::State,
    jetstream::{context::PublishErrorKind, message::PublishMessage},
};
use portent_trace::json_text;
use tokio::{runtime, time};

pub use self::stream::{EventStream, OpenStream};
use super::{
    Remote, Way,
    queue::{Queue, Work},
};

/// About how many bytes become one message.
const BATCH: usize = 64 * 1024;
/// What a message has besides its lines.
const HEADERS: usize = 4096;
/// How often it is looked whether the connection still holds, and whether all is over.
const LOOK: Duration = Duration::from_millis(200);
/// The connection wants to be looked after when there is nothing to be sent, too.
const REST: Duration = Duration::from_millis(1);

/// Sends lines to a stream.
pub(super) struct Publisher {
    stream: EventStream,
    subject: String,
    /// What the ids of messages begin with. Nobody else has it, not even the same process when it is started again.
    sender: String,
    token: Option<String>,
    /// Lines, and how many there are up to them, which were sent and whose answer was lost.
    unanswered: Option<(Vec<u8>, u64)>,
}

impl Publisher {
    pub(super) fn new(stream: EventStream, remote: Remote) -> Publisher {
        // The keys are random, and differ from one to the next.
        let random = RandomState::new().hash_one(std::process::id());
        Publisher {
            subject: stream.subject_of(&remote.session),
            sender: format!("{} {random:016x}", json_text(&remote.session)),
            token: remote.token,
            stream,
            unanswered: None,
        }
    }

    /// Sends one message, and waits until the stream has it.
    async fn publish(
        &self,
        opened: &OpenStream,
        up_to: u64,
        lines: &[u8],
        queue: &Queue,
    ) -> io::Result<()> {
        let id = format!("{} {up_to}", self.sender);
        let message = PublishMessage::build()
            .payload(lines.to_vec().into())
            .message_id(id)
            .expected_stream(self.stream.name());
        let answer = async {
            opened
                .context
                .send_publish(self.subject.clone(), message)
                .await?
                .await
        };
        let mut answer = std::pin::pin!(answer);
        loop {
            match time::timeout(LOOK, &mut answer).await {
                Ok(Ok(_)) => return Ok(()),
                Ok(Err(error)) => {
                    let hint = match error.kind() {
                        PublishErrorKind::StreamNotFound => {
                            format!("; no stream takes the subject `{}`", self.subject)
                        }
                        _ => String::new(),
                    };
                    return Err(io::Error::other(format!("{error}{hint}")));
                }
                Err(_) if queue.is_late() => return Err(io::ErrorKind::TimedOut.into()),
                Err(_) if opened.client.connection_state() != State::Connected => {
                    return Err(io::Error::other("the connection broke"));
                }
                Err(_) => {}
            }
        }
    }
}

impl Way for Publisher {
    fn talk(&mut self, queue: &Queue) -> io::Result<()> {
        if let Work::Over = queue.work(0) {
            return Ok(());
        }
        let runtime = runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let opened = runtime.block_on(self.stream.open(self.token.as_deref()));
        let opened = opened.map_err(io::Error::other)?;
        let room = opened.client.max_payload().saturating_sub(HEADERS);
        let mut most = BATCH.min(room);
        loop {
            let (lines, up_to) = match self.unanswered.take() {
                Some(unanswered) => unanswered,
                None => match queue.work(most) {
                    Work::Over => return Ok(()),
                    Work::Rest => {
                        runtime.block_on(async { time::sleep(REST).await });
                        continue;
                    }
                    Work::Send(lines, up_to) => (lines, up_to),
                },
            };
            if lines.len() > room {
                if most > 1 {
                    // One line after the other, to see which it is.
                    most = 1;
                } else {
                    queue.refuse(format!(
                        "{}: a line of {} bytes is more than the server takes at once, and is left out",
                        self.stream,
                        lines.len()
                    ));
                }
                continue;
            }
            most = BATCH.min(room);
            let sent = runtime.block_on(self.publish(&opened, up_to, &lines, queue));
            if let Err(error) = sent {
                self.unanswered = Some((lines, up_to));
                return Err(error);
            }
            queue.acknowledge(up_to);
        }
    }
}
