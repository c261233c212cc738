//! The NATS JetStream stream that events go through: where it is, and how to open it.

use std::{fmt, str::FromStr, time::Duration};

use async_nats::{
    Client, ConnectOptions, ServerAddr,
    jetstream::{
        self, Context, ErrorCode,
        context::CreateStreamErrorKind,
        stream::{Config, DiscardPolicy, Stream},
    },
};

use crate::Error;

/// What is taken if an address does not name a stream.
const STREAM: &str = "portent";
/// So long it may take to connect, and to answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// A stream of NATS JetStream that events go through: `nats://127.0.0.1:4222/portent`.
///
/// Without a name it is the stream `portent`, without a port that of NATS. Before the host there may be `user:password@` or `token@`. With
/// `tls://` nothing is said in plain text.
///
/// ```
/// use portent_sidecar::EventStream;
///
/// let stream: EventStream = "nats://ann:secret@10.0.0.7/orders".parse()?;
/// assert_eq!(stream.to_string(), "nats://10.0.0.7:4222/orders"); // for logs
/// assert_eq!((stream.name(), &*stream.subject_of("shop 1")), ("orders", "orders.shop_1"));
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct EventStream {
    server: ServerAddr,
    name: String,
}

/// A connection to a server, and the stream that was asked for.
#[derive(Debug)]
pub struct OpenStream {
    /// The connection. It is made again when it breaks.
    pub client: Client,
    /// How to talk to JetStream.
    pub context: Context,
    /// The stream.
    pub stream: Stream,
}

impl EventStream {
    /// What the stream is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Under which subject a process sends: the name of the stream, and its own as far as a subject has letters for it.
    pub fn subject_of(&self, process: &str) -> String {
        let fits = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
        let process = process.chars();
        let process: String = process
            .map(|one| if fits(one) { one } else { '_' })
            .collect();
        let process = if process.is_empty() { "_" } else { &process };
        format!("{}.{process}", self.name)
    }

    /// Connects, and opens the stream. If there is none, one is made that keeps everything on disk; an administrator may set bounds.
    ///
    /// # Errors
    ///
    /// [`Error::Remote`], if nobody is there, or without JetStream, or the stream is for other subjects.
    pub async fn open(&self, token: Option<&str>) -> Result<OpenStream, Error> {
        let mut options = ConnectOptions::new()
            .name("portent")
            .connection_timeout(PATIENCE)
            .request_timeout(Some(PATIENCE))
            .reconnect_delay_callback(|attempts| {
                Duration::from_millis(50 << attempts.min(6)).min(Duration::from_secs(2))
            });
        if let Some(token) = token {
            options = options.token(token.to_owned());
        }
        let client = options
            .connect(self.server.clone())
            .await
            .map_err(|error| Error::Remote(format!("cannot connect to a NATS server: {error}")))?;
        let context = jetstream::new(client.clone());
        let stream = self.find(&context).await?;
        Ok(OpenStream {
            client,
            context,
            stream,
        })
    }

    /// The stream, on a connection that there is.
    ///
    /// # Errors
    ///
    /// [`Error::Remote`], as [`open`](Self::open).
    pub async fn find(&self, context: &Context) -> Result<Stream, Error> {
        let subjects = format!("{}.>", self.name);
        let stream = context.get_or_create_stream(Config {
            name: self.name.clone(),
            subjects: vec![subjects.clone()],
            // A stream that is full refuses what is new: who sends that still has it.
            discard: DiscardPolicy::New,
            ..Config::default()
        });
        let stream = stream.await.map_err(|error| {
            let has_none = match error.kind() {
                CreateStreamErrorKind::JetStreamUnavailable => true,
                CreateStreamErrorKind::JetStream(error) => matches!(
                    error.error_code(),
                    ErrorCode::JETSTREAM_NOT_ENABLED | ErrorCode::JETSTREAM_NOT_ENABLED_FOR_ACCOUNT
                ),
                _ => false,
            };
            Error::Remote(if has_none {
                "the NATS server has no JetStream, which keeps events; start it with `nats-server --jetstream`".to_owned()
            } else {
                format!("cannot open the stream `{}`: {error}", self.name)
            })
        })?;
        let taken = &stream.cached_info().config.subjects;
        if !taken
            .iter()
            .any(|subject| *subject == subjects || subject == ">")
        {
            return Err(Error::Remote(format!(
                "the stream `{}` takes the subjects `{}` and not `{subjects}`, under which events are sent; name another stream",
                self.name,
                taken.join("`, `")
            )));
        }
        Ok(stream)
    }
}

impl FromStr for EventStream {
    type Err = String;

    fn from_str(text: &str) -> Result<EventStream, String> {
        let expected = "expected nats://HOST:PORT/STREAM, as in nats://127.0.0.1:4222/portent";
        let Some((scheme, rest)) = text.split_once("://") else {
            return Err(expected.to_owned());
        };
        let (server, name) = rest.split_once('/').unwrap_or((rest, ""));
        let name = if name.is_empty() { STREAM } else { name };
        let fits = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
        if !name.chars().all(fits) {
            return Err(format!(
                "{expected}; the name of a stream has letters, digits, `-` and `_`, unlike `{name}`"
            ));
        }
        if !matches!(scheme, "nats" | "tls") || server.is_empty() || server.ends_with('@') {
            return Err(expected.to_owned());
        }
        // What is wrong with it is not quoted: there may be a password in it.
        let server = format!("{scheme}://{server}").parse();
        Ok(EventStream {
            server: server.map_err(|error| format!("{expected}: {error}"))?,
            name: name.to_owned(),
        })
    }
}

/// Without what is secret.
impl fmt::Display for EventStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.server.tls_required() {
            "tls"
        } else {
            "nats"
        };
        let (host, port) = (self.server.host(), self.server.port());
        let (open, close) = if host.contains(':') {
            ("[", "]")
        } else {
            ("", "")
        };
        write!(f, "{scheme}://{open}{host}{close}:{port}/{}", self.name)
    }
}

impl fmt::Debug for EventStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EventStream({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_shown_without_secrets() {
        for (text, shown) in [
            ("nats://127.0.0.1", "nats://127.0.0.1:4222/portent"),
            ("nats://127.0.0.1:9/", "nats://127.0.0.1:9/portent"),
            (
                "tls://u:p@example.org:1/a_b-C1",
                "tls://example.org:1/a_b-C1",
            ),
            ("nats://token@[::1]:7/x", "nats://[::1]:7/x"),
        ] {
            let stream: EventStream = text.parse().unwrap();
            assert_eq!(stream.to_string(), shown);
            assert_eq!(format!("{stream:?}"), format!("EventStream({shown})"));
        }
    }

    #[test]
    fn what_is_no_address_is_told_and_passwords_are_not() {
        for text in [
            "nats://",
            "nats:///x",
            "nats://u:hush@",
            "http://h/x",
            "nats://h/a.b",
            "nats://h/a/b",
            "nats://h/*",
            "nats://u:hush@h:port/x",
        ] {
            let problem = text.parse::<EventStream>().unwrap_err();
            assert!(
                problem.starts_with("expected nats://HOST"),
                "{text}: {problem}"
            );
            assert!(!problem.contains("hush"), "{problem}");
        }
    }

    #[test]
    fn a_process_of_any_name_has_a_subject() {
        let stream: EventStream = "nats://h/s".parse().unwrap();
        for (process, subject) in [
            ("shop-1", "s.shop-1"),
            ("a.b > *", "s.a_b____"),
            ("", "s._"),
        ] {
            assert_eq!(stream.subject_of(process), subject);
        }
    }
}
