//! Events from a stream of NATS JetStream.
//!
//! | file | |
//! |---|---|
//! | here | the source: a connection that may break and be restored |
//! | `position` | a durable consumer, which remembers how far servers of its name are |
//! | `taking` | messages in the order of the stream, each once, acknowledged when they have been checked and recorded |
//!
//! **The stream is the memory.** A starting server rereads the messages that earlier ones acknowledged, so that its clocks and
//! properties take them into account; they are neither recorded nor reported again. Messages not yet acknowledged are new. So a
//! restarted server continues where the previous one stopped, as far as the stream still has the earlier messages; the rest is counted
//! as missed.

mod position;
mod taking;

use std::{
    sync::{Arc, atomic::Ordering::Relaxed, mpsc::SyncSender},
    time::Duration,
};

use async_nats::connection::State;
use portent_sidecar::{EventStream, OpenStream};
use tokio::{runtime, time};

use self::{position::Position, taking::Taking};
use super::{
    Common,
    source::{Batch, Source},
};
use crate::failure::Failure;

/// The pause after an error.
const PAUSE: Duration = Duration::from_millis(200);
/// How long the final acknowledgements may take.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// The name of the durable consumer, which remembers how far a server is in the stream.
pub(super) fn consumer_name(text: &str) -> Result<String, String> {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    if text.is_empty() || !text.chars().all(fits) {
        return Err("expected letters, digits, `-` and `_`".to_owned());
    }
    Ok(text.to_owned())
}

/// The messages of a stream.
pub(super) struct Messages {
    runtime: runtime::Runtime,
    link: Link,
}

/// A stream, and the position in it.
struct Link {
    address: EventStream,
    consumer: String,
    opened: OpenStream,
    position: Position,
}

impl Messages {
    pub(super) fn open(address: &EventStream, consumer: &str) -> Result<Messages, Failure> {
        let failure = |problem: String| Failure::Usage(format!("{address}: {problem}"));
        let runtime = runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| failure(error.to_string()))?;
        let opened = runtime.block_on(address.open(None));
        let opened = opened.map_err(|error| failure(error.to_string()))?;
        let position = runtime.block_on(Position::find(&opened.stream, consumer));
        let link = Link {
            position: position.map_err(failure)?,
            address: address.clone(),
            consumer: consumer.to_owned(),
            opened,
        };
        Ok(Messages { runtime, link })
    }
}

impl Link {
    /// Opens the stream again after an error; it may have been replaced by another one.
    async fn open_again(&mut self, taking: &mut Taking<'_>) -> Result<(), String> {
        let stream = self.address.find(&self.opened.context).await;
        let stream = stream.map_err(|error| error.to_string())?;
        let position = Position::find(&stream, &self.consumer).await?;
        if position.created != self.position.created {
            taking.begin_anew(position.known);
        }
        self.opened.stream = stream;
        self.position = position;
        Ok(())
    }

    async fn take_all(&mut self, common: &Common, batches: SyncSender<Batch>) {
        let mut taking = Taking::new(&self.address, common, batches, self.position.known);
        // The last problem reported, so that it is not repeated.
        let mut told = None;
        while !common.is_over.load(Relaxed) {
            let done = if self.opened.client.connection_state() == State::Connected {
                taking.take(&self.opened.stream, &self.position).await
            } else {
                Err("the NATS server is away; it is tried again and again".to_owned())
            };
            let Err(problem) = done else {
                told = None;
                continue;
            };
            if told.as_ref() != Some(&problem) {
                common.board.tell(format!("{}: {problem}", self.address));
                told = Some(problem);
            }
            time::sleep(PAUSE).await;
            // If this fails, the next attempt reports why.
            let _ = self.open_again(&mut taking).await;
        }
        taking.finish().await;
        let _ = time::timeout(LAST_WORDS, self.opened.client.flush()).await;
    }
}

impl Source for Messages {
    fn shown(&self) -> String {
        self.link.address.to_string()
    }

    fn is_local(&self) -> bool {
        // NATS authenticates the senders, and no client connects to this server.
        true
    }

    fn run(self: Box<Self>, common: &Arc<Common>, batches: SyncSender<Batch>) {
        let Messages { runtime, mut link } = *self;
        runtime.block_on(link.take_all(common, batches));
    }
}
