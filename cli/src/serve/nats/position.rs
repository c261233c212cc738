//! A durable consumer, which remembers how far the servers that share its name have come.

use std::time::Duration;

use async_nats::jetstream::{
    consumer::{
        AckPolicy, Consumer, DeliverPolicy,
        pull::{self, Config},
    },
    stream::Stream,
};

/// A message not acknowledged within this time is redelivered. That costs little, because its number is recognised.
const ACKNOWLEDGE: Duration = Duration::from_secs(5);
/// The largest number of unacknowledged messages.
const MOST_UNDER_WAY: i64 = 100_000;
/// An unused reader expires after this time.
const IDLE: Duration = Duration::from_secs(30);

/// How far the servers of one name are in a stream.
pub(super) struct Position {
    pub(super) consumer: Consumer<Config>,
    /// Earlier servers have checked the messages up to this number.
    pub(super) known: u64,
    /// The messages up to this number were sent to earlier servers.
    pub(super) sent: u64,
    /// Distinguishes the stream from an earlier one of the same name.
    pub(super) created: String,
}

impl Position {
    pub(super) async fn find(stream: &Stream, name: &str) -> Result<Position, String> {
        let consumer = stream.get_or_create_consumer(
            name,
            Config {
                durable_name: Some(name.to_owned()),
                ack_policy: AckPolicy::Explicit,
                ack_wait: ACKNOWLEDGE,
                max_ack_pending: MOST_UNDER_WAY,
                ..Config::default()
            },
        );
        let consumer = consumer
            .await
            .map_err(|error| format!("cannot take events from the stream as `{name}`: {error}"))?;
        let info = consumer.cached_info();
        if info.config.ack_policy != AckPolicy::Explicit {
            return Err(format!(
                "the consumer `{name}` of the stream does not ask for acknowledgements; --consumer names another"
            ));
        }
        Ok(Position {
            known: info.ack_floor.stream_sequence,
            sent: info.delivered.stream_sequence,
            created: format!("{:?}", stream.cached_info().created),
            consumer,
        })
    }
}

/// Reads a stream starting at a message, without consuming anything.
pub(super) async fn reader(stream: &Stream, first: u64) -> Result<Consumer<pull::Config>, String> {
    let reader = stream.create_consumer(Config {
        deliver_policy: DeliverPolicy::ByStartSequence {
            start_sequence: first,
        },
        ack_policy: AckPolicy::None,
        inactive_threshold: IDLE,
        memory_storage: true,
        ..Config::default()
    });
    reader
        .await
        .map_err(|error| format!("cannot read the stream: {error}"))
}
