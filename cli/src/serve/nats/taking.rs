//! Messages in the order of the stream, each once, acknowledged when they have been processed and recorded.
//!
//! A gap before a message means that the messages before it were sent to a server that did not process them: one that was killed, or
//! this one while its connection broke. They would be redelivered, but late; so they are read from the stream at once, and
//! redeliveries are merely acknowledged.

use std::{
    collections::HashMap,
    pin::pin,
    sync::{
        Arc,
        atomic::{
            AtomicUsize,
            Ordering::{AcqRel, Relaxed},
        },
        mpsc::{SyncSender, TrySendError},
    },
    time::Duration,
};

use async_nats::jetstream::{AckKind, Message, message::Acker, stream::Stream};
use futures_util::StreamExt;
use portent_sidecar::EventStream;
use tokio::{sync::mpsc, time};

use super::{
    super::{
        Common,
        client::next_number,
        source::{Batch, Receipt},
    },
    LAST_WORDS,
    position::{Position, reader},
};

/// The number of messages to request at once.
const AT_ONCE: usize = 256;
/// How long to wait for them before checking for shutdown.
const WAIT: Duration = Duration::from_millis(300);
/// How much longer an answer may take.
const SILENCE: Duration = Duration::from_secs(1);
const SILENT: &str = "the NATS server does not answer";
/// The interval between attempts to queue a message when the queue is full.
const ROOM: Duration = Duration::from_millis(1);
/// At most this many subjects are counted separately.
const MOST_SUBJECTS: usize = 10_000;
const OTHERS: &str = "other subjects";

/// The number of a message, after the epoch of its stream.
type Number = (u32, u64);

/// Messages handed on but not done, with the means to acknowledge those that came from the consumer.
type Undone = HashMap<u64, Option<Acker>>;

/// Reports finished messages to the source's thread.
struct Slip {
    number: Number,
    undone: AtomicUsize,
    done: mpsc::UnboundedSender<Number>,
}

impl Receipt for Slip {
    fn hold(&self) {
        self.undone.fetch_add(1, Relaxed);
    }

    fn done(&self) {
        if self.undone.fetch_sub(1, AcqRel) == 1 {
            // If the receiver is gone, the message will be redelivered.
            let _ = self.done.send(self.number);
        }
    }
}

pub(super) struct Taking<'t> {
    /// The address as shown to users.
    address: String,
    common: &'t Common,
    batches: SyncSender<Batch>,
    /// How often the stream was lost and recreated.
    epoch: u32,
    /// Earlier servers have checked the messages up to this number.
    known: u64,
    /// The messages up to this number were handed on, or are missing.
    highest: u64,
    undone: Undone,
    tell_done: mpsc::UnboundedSender<Number>,
    done: mpsc::UnboundedReceiver<Number>,
    /// For each subject, the number of its client and how many lines it has sent.
    clients: HashMap<String, (u64, u64)>,
}

impl Taking<'_> {
    pub(super) fn new<'t>(
        address: &EventStream,
        common: &'t Common,
        batches: SyncSender<Batch>,
        known: u64,
    ) -> Taking<'t> {
        let (tell_done, done) = mpsc::unbounded_channel();
        Taking {
            address: address.to_string(),
            common,
            batches,
            epoch: 0,
            known,
            highest: 0,
            undone: HashMap::new(),
            tell_done,
            done,
            clients: HashMap::new(),
        }
    }

    /// The stream was lost, and replaced by another one.
    pub(super) fn begin_anew(&mut self, known: u64) {
        self.common.board.stream_lost(&self.address);
        self.epoch += 1;
        self.known = known;
        self.highest = 0;
        self.undone.clear();
    }

    /// Takes the next messages, if there are any.
    pub(super) async fn take(
        &mut self,
        stream: &Stream,
        position: &Position,
    ) -> Result<(), String> {
        if self.highest < position.sent {
            self.read_up_to(position.sent, stream).await?;
        }
        let messages = position
            .consumer
            .batch()
            .max_messages(AT_ONCE)
            .expires(WAIT)
            .messages();
        let mut messages = messages.await.map_err(|error| error.to_string())?;
        // Requests to a consumer that no longer exists get no answer at all.
        let mut silent = pin!(time::sleep(WAIT + SILENCE));
        while !self.common.is_over.load(Relaxed) {
            tokio::select! {
                message = messages.next() => match message {
                    Some(Ok(message)) => self.take_message(message, stream).await?,
                    Some(Err(error)) => return Err(error.to_string()),
                    None => break,
                },
                Some(number) = self.done.recv() => {
                    acknowledge(&mut self.undone, self.epoch, number).await;
                    continue;
                }
                () = &mut silent => return Err(SILENT.to_owned()),
            }
            silent.as_mut().reset(time::Instant::now() + WAIT + SILENCE);
        }
        Ok(())
    }

    /// Takes a message from the consumer.
    async fn take_message(&mut self, message: Message, stream: &Stream) -> Result<(), String> {
        let number = number(&message)?;
        if number > self.highest + 1 {
            self.read_up_to(number - 1, stream).await?;
        }
        let (message, acker) = message.split();
        if number > self.highest {
            self.highest = number;
            return self.hand_on(number, &message, Some(acker)).await;
        }
        self.common.board.message_redelivered();
        match self.undone.get_mut(&number) {
            // Only the last delivery can be acknowledged.
            Some(last) => *last = Some(acker),
            None => {
                answer(&acker, AckKind::Ack).await;
            }
        }
        Ok(())
    }

    /// Reads messages that the consumer has sent to an earlier server, or will redeliver later.
    async fn read_up_to(&mut self, last: u64, stream: &Stream) -> Result<(), String> {
        let reader = reader(stream, self.highest + 1).await?;
        let mut left = reader.cached_info().num_pending;
        while left > 0 && self.highest < last {
            let messages = reader.fetch().max_messages(AT_ONCE).messages().await;
            let mut messages = messages.map_err(|error| error.to_string())?;
            let mut came = false;
            loop {
                let next = time::timeout(SILENCE, messages.next()).await;
                let Some(message) = next.map_err(|_| SILENT)? else {
                    break;
                };
                let message = message.map_err(|error| error.to_string())?;
                came = true;
                let number = number(&message)?;
                left = message.info().map_err(|error| error.to_string())?.pending;
                if number > last || self.common.is_over.load(Relaxed) {
                    left = 0;
                    break;
                }
                self.miss_up_to(number - 1);
                self.highest = number;
                self.hand_on(number, &message, None).await?;
            }
            if !came {
                return Err("the stream cannot be read at the moment".to_owned());
            }
        }
        if !self.common.is_over.load(Relaxed) {
            self.miss_up_to(last);
        }
        Ok(())
    }

    /// Counts the messages up to this one that were not handed on as missing.
    fn miss_up_to(&mut self, last: u64) {
        if last > self.highest {
            let missed = last - self.highest;
            self.common.board.messages_missed(&self.address, missed);
            self.highest = last;
        }
    }

    /// Hands on the lines of a message, as soon as there is room for them.
    async fn hand_on(
        &mut self,
        number: u64,
        message: &async_nats::Message,
        acker: Option<Acker>,
    ) -> Result<(), String> {
        let is_known = number <= self.known;
        let receipt = (!is_known).then(|| {
            self.undone.insert(number, acker);
            let slip: Arc<dyn Receipt> = Arc::new(Slip {
                number: (self.epoch, number),
                undone: AtomicUsize::new(0),
                done: self.tell_done.clone(),
            });
            slip
        });
        let count = message.payload.split(|&byte| byte == b'\n').count() as u64;
        let (client, first) = self.count_lines(&message.subject, count);
        let lines = self.short_lines(client, &message.payload);
        let mut batch = Batch {
            client,
            first,
            lines,
            is_known,
            receipt,
        };
        loop {
            batch = match self.batches.try_send(batch) {
                Ok(()) => return Ok(()),
                Err(TrySendError::Full(batch)) => batch,
                Err(TrySendError::Disconnected(_)) => {
                    return Err("the analysis has ended".to_owned());
                }
            };
            time::sleep(ROOM).await;
        }
    }

    /// The client of a subject, and the number of the first of its next `count` lines.
    fn count_lines(&mut self, subject: &str, count: u64) -> (u64, u64) {
        let is_new = !self.clients.contains_key(subject);
        let subject = if is_new && self.clients.len() >= MOST_SUBJECTS {
            OTHERS
        } else {
            subject
        };
        let board = &self.common.board;
        let client = self.clients.entry(subject.to_owned()).or_insert_with(|| {
            let client = next_number();
            board.client_came(client);
            board.client_named(client, subject, 0);
            (client, 0)
        });
        let first = client.1 + 1;
        client.1 += count;
        (client.0, first)
    }

    /// The lines of a message, with overlong ones made empty.
    fn short_lines(&self, client: u64, lines: &[u8]) -> Vec<u8> {
        let most = self.common.max_line;
        if lines.len() <= most {
            return lines.to_vec();
        }
        let mut short = Vec::new();
        for line in lines.split_inclusive(|&byte| byte == b'\n') {
            if line.len() > most {
                self.common.board.line_too_long(client, most);
                // The other lines keep their numbers.
                short.push(b'\n');
            } else {
                short.extend_from_slice(line);
            }
        }
        short
    }

    /// Waits until everything handed on is done, or will never be.
    pub(super) async fn finish(self) {
        let Taking {
            epoch,
            mut undone,
            mut done,
            ..
        } = self;
        // The analysis sees that there are no more batches, and `done` ends when the last receipt is dropped.
        drop((self.batches, self.tell_done));
        let mut is_there = true;
        while let Some(number) = done.recv().await {
            is_there = is_there && acknowledge(&mut undone, epoch, number).await;
        }
        // Messages that were not processed are returned at once, instead of after their timeout.
        for acker in undone.into_values().flatten() {
            is_there = is_there && answer(&acker, AckKind::Nak(None)).await;
        }
    }
}

/// Acknowledges a finished message. Returns whether the stream could be reached.
async fn acknowledge(undone: &mut Undone, epoch: u32, (of, number): Number) -> bool {
    let is_ours = of == epoch;
    match is_ours.then(|| undone.remove(&number)).flatten() {
        Some(Some(acker)) => answer(&acker, AckKind::Ack).await,
        _ => true,
    }
}

/// The number of a message in its stream.
fn number(message: &Message) -> Result<u64, String> {
    let info = message.info().map_err(|error| error.to_string())?;
    Ok(info.stream_sequence)
}

/// Acknowledges or returns a message. Returns whether that succeeded; if not, the message is redelivered.
async fn answer(acker: &Acker, kind: AckKind) -> bool {
    let answered = time::timeout(LAST_WORDS, acker.ack_with(kind)).await;
    matches!(answered, Ok(Ok(())))
}
