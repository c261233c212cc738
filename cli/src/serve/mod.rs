//! `portent serve`: takes events from running programs, checks them as they arrive, and shows the current state.
//!
//! | file | |
//! |---|---|
//! | `source` | where events come from: sockets or a stream |
//! | `listen` | sockets, and the limit on connections |
//! | `client` | a connection that sends events: its lines, in batches of whole lines |
//! | `nats/` | a stream of NATS JetStream instead (feature `nats`) |
//! | `session` | how many lines of a client have arrived, across reconnections |
//! | `analysis` | the one thread that receives all batches: order, record, watch |
//! | `recent` | the most recent events, for drawings |
//! | `board` | the state that viewers see |
//! | `http`, `page/`, `metrics` | viewers, with a browser or with Prometheus |
//! | `token` | who may connect |
//!
//! **Threads and not futures**: each client is one socket that is read into one queue, and viewers are few. A full queue blocks
//! the client's thread, and so the client: nothing is dropped here. An asynchronous runtime with a web framework would double the
//! compiled code; HTTP is parsed by `httparse`, the parser of hyper, which is the only part that needs care. (The NATS client brings
//! a runtime, for the one thread of its source.)

mod analysis;
mod board;
mod client;
mod http;
mod listen;
mod metrics;
#[cfg(feature = "nats")]
mod nats;
mod page;
mod recent;
mod session;
mod source;
mod token;

use std::{
    io,
    path::PathBuf,
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
        mpsc,
    },
    thread,
    time::Duration,
};

use portent_answer::{Paint, text::Style};
use portent_lattice::{Counting, Options, Watch};
use portent_monitor_core::Value;
use portent_monitor_dsl::{Config, Monitor};
use portent_sidecar::{Address, Recorder};

use crate::{
    check, duration,
    failure::Failure,
    size,
    spec::Spec,
    synthesis::SynthesisLimits,
    terminal::{self, Colour},
};
use analysis::Analysis;
use board::Board;
use client::Sockets;
use listen::{Listener, Room};
use recent::Recent;
use session::Sessions;
use source::Source;
use token::Token;

const SEARCH: &str = "How to search";
const RECORD: &str = "What to record";
const DOOR: &str = "Who may come in";

/// The number of batches that may wait for the analysis; a client blocks when the queue is full.
const QUEUE: usize = 64;

/// Take events from running programs, check them online, and show a live page
///
/// Programs send lines of the native format, through `Sidecar::remote` or anything else that can write to a socket.
/// Ctrl-C ends the server with the report; the exit code is that of `check`.
#[derive(clap::Args)]
pub(crate) struct Serve {
    #[command(flatten)]
    spec: Spec,
    #[cfg_attr(
        not(feature = "nats"),
        doc = "Where events come in: HOST:PORT or unix:PATH (may be given several times)"
    )]
    #[cfg_attr(
        feature = "nats",
        doc = "Where events come in: HOST:PORT, unix:PATH or nats://HOST:PORT/STREAM (may be given several times)"
    )]
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7107")]
    listen: Vec<Address>,
    /// The address of the page and of /metrics
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:7108")]
    page: String,
    /// The name under which a NATS stream remembers how far this server is; a server with another name gets all events, too
    #[cfg(feature = "nats")]
    #[arg(long, value_name = "NAME", default_value = "portent", value_parser = nats::consumer_name)]
    consumer: String,
    /// The initial value of a variable, if the property does not give it (may be given several times)
    #[arg(long, value_name = "NAME=VALUE", value_parser = initial_value)]
    init: Vec<(String, Value)>,
    /// Write the events to this file, in the order of their clocks; the file's extension decides how it is compressed
    #[arg(long, value_name = "FILE", help_heading = RECORD)]
    record: Option<PathBuf>,
    /// Begin a new file when the current one has this many bytes
    #[arg(long, value_name = "SIZE", value_parser = size::bytes, requires = "record", help_heading = RECORD)]
    rotate_bytes: Option<u64>,
    /// Begin a new file after this time
    #[arg(long, value_name = "TIME", value_parser = duration::parse, requires = "record", help_heading = RECORD)]
    rotate_every: Option<Duration>,
    /// Require clients and viewers to present the token in this file, or, without this option, that in PORTENT_TOKEN if it is set
    #[arg(long, value_name = "FILE", help_heading = DOOR)]
    token_file: Option<PathBuf>,
    /// How many programs may be connected at once
    #[arg(long, value_name = "N", default_value_t = 256, help_heading = DOOR)]
    max_clients: usize,
    /// The longest line to accept
    #[arg(long, value_name = "SIZE", default_value = "1MiB", value_parser = size::bytes, help_heading = DOOR)]
    max_line: u64,
    /// A host name under which browsers may request the page, besides `localhost` and IP addresses (may be given several times)
    #[arg(long, value_name = "NAME", help_heading = DOOR)]
    host: Vec<String>,
    /// How long events wait for others that their clocks count, before those are considered lost
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration::parse, help_heading = SEARCH)]
    patience: Duration,
    /// Also answer what would wait for the end of the run, this many events later
    #[arg(long, value_name = "EVENTS", help_heading = SEARCH)]
    lookahead: Option<u32>,
    /// The memory of each search
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = size::bytes, help_heading = SEARCH)]
    memory: u64,
    /// How many bindings of each property to watch
    #[arg(long, value_name = "N", default_value_t = Options::default().max_bindings, help_heading = SEARCH)]
    max_bindings: usize,
    #[command(flatten)]
    limits: SynthesisLimits,
}

/// `x=3`: a name and a value as in JSON.
fn initial_value(text: &str) -> Result<(String, Value), String> {
    let expected = "expected NAME=VALUE, as in x=3 or name='\"ann\"'";
    let (name, value) = text.split_once('=').ok_or(expected)?;
    let value = serde_json::from_str(value).map_err(|error| format!("{expected}: {error}"))?;
    Ok((name.to_owned(), value))
}

/// The state that all threads of the server share.
struct Common {
    board: Arc<Board>,
    sessions: Sessions,
    token: Option<Token>,
    max_line: usize,
    max_clients: usize,
    hosts: Vec<String>,
    is_over: AtomicBool,
}

impl Serve {
    pub(crate) fn run(&self, colour: Colour) -> Result<ExitCode, Failure> {
        let token = Token::find(self.token_file.as_deref())?;
        let properties = self.spec.properties(colour)?;
        let monitors = self.limits.monitors(&properties, Config::new())?;
        let watch = self.watch(&monitors)?;
        let files = self.files()?;
        let common = Arc::new(Common {
            board: Arc::new(Board::new(&monitors)),
            sessions: Sessions::default(),
            token,
            max_line: usize::try_from(self.max_line).unwrap_or(usize::MAX),
            max_clients: self.max_clients,
            hosts: self.host.clone(),
            is_over: AtomicBool::new(false),
        });
        let (batches, taken) = mpsc::sync_channel(QUEUE);
        // Before anything else, so that a port already in use is reported at once.
        let room = Room::new(self.max_clients);
        let sources = self.listen.iter().map(|address| self.open(address, &room));
        let sources = sources.collect::<Result<Vec<_>, _>>()?;
        let page = Listener::bind(&self.page.parse().map_err(Failure::Usage)?)?;
        for source in &sources {
            eprintln!("events: {}", source.shown());
        }
        eprintln!("page: {}", page.shown(true));
        let doors = { sources.iter() }.map(|source| (source.shown(), source.is_local()));
        for (address, is_local) in doors.chain([(page.shown(false), page.is_local())]) {
            if !is_local && common.token.is_none() {
                eprintln!(
                    "warning: {address} can be reached from other machines, and no token is asked for; --token-file asks for one"
                );
            }
        }
        let ending = Arc::clone(&common);
        ctrlc::set_handler(move || ending.is_over.store(true, Relaxed))
            .map_err(|error| Failure::Usage(format!("cannot wait for Ctrl-C: {error}")))?;

        let style = self.style(false);
        let analysis = Analysis::new(
            watch,
            monitors.clone(),
            files,
            Arc::clone(&common.board),
            Recent::new(self.init.clone()),
            self.patience,
            style,
        );
        let analysis = thread::spawn(move || analysis.run(&taken));
        let viewers = thread::spawn({
            let common = Arc::clone(&common);
            move || {
                let room = Room::new(http::MAX_VIEWERS);
                page.accept(&common, &room, http::view, http::turn_away);
            }
        });
        let sources: Vec<_> = { sources.into_iter() }
            .map(|source| {
                let (common, batches) = (Arc::clone(&common), batches.clone());
                thread::spawn(move || source.run(&common, batches))
            })
            .collect();
        drop(batches);
        // The analysis ends when all sources have; the sources still learn afterwards what was done with their batches.
        let outcome = analysis
            .join()
            .map_err(|_| Failure::Usage("the analysis has panicked".to_owned()))??;
        for source in sources {
            let _ = source.join();
        }
        let _ = viewers.join();
        let violated = outcome.report.is_violated();
        let on = colour.on(&io::stdout());
        terminal::print(&check::report(&[outcome], &monitors, self.style(on)))
            .map_err(Failure::Print)?;
        Ok(ExitCode::from(u8::from(violated)))
    }

    fn open(&self, address: &Address, room: &Arc<Room>) -> Result<Box<dyn Source>, Failure> {
        #[cfg(feature = "nats")]
        if let Address::Nats(stream) = address {
            let source = nats::Messages::open(stream, &self.consumer)?;
            return Ok(Box::new(source));
        }
        Ok(Box::new(Sockets {
            listener: Listener::bind(address)?,
            room: Arc::clone(room),
        }))
    }

    fn watch(&self, monitors: &[Monitor]) -> Result<Watch, Failure> {
        let initial = |name: &str| {
            let mut given = self.init.iter().rev();
            given
                .find(|(other, _)| other == name)
                .map(|(_, value)| value.clone())
        };
        let options = Options::default()
            .admitted(true)
            .lookahead(self.lookahead)
            .memory(self.memory)
            .max_bindings(self.max_bindings);
        Watch::new(monitors.iter().cloned(), initial, options).map_err(|error| match error {
            portent_lattice::Error::NoInitialValue { .. } => {
                Failure::Usage(format!("{error}; --init NAME=VALUE gives one"))
            }
            error => Failure::Usage(error.to_string()),
        })
    }

    fn files(&self) -> Result<Option<portent_sidecar::Files>, Failure> {
        let Some(path) = &self.record else {
            return Ok(None);
        };
        let mut recorder = Recorder::to_file(path);
        if let Some(bytes) = self.rotate_bytes {
            recorder = recorder.rotate_bytes(bytes);
        }
        if let Some(time) = self.rotate_every {
            recorder = recorder.rotate_every(time);
        }
        for (name, value) in &self.init {
            recorder = recorder.initial(name, value.clone());
        }
        let first = recorder.first_file();
        // A restarted server must not overwrite what the previous one recorded.
        if std::fs::metadata(&first).is_ok_and(|file| file.len() > 0) {
            let path = first.display();
            return Err(Failure::Usage(format!(
                "{path}: there is a recording already, which would be written over; move it, or name another file"
            )));
        }
        let files = recorder.create();
        files
            .map(Some)
            .map_err(|error| Failure::Usage(error.to_string()))
    }

    fn style(&self, on: bool) -> Style {
        Style {
            paint: Paint { on },
            complete: false,
            stats: false,
            feasible: false,
            lookahead: self.lookahead,
            engine: None,
            counting: Counting::Never,
            all: false,
            switches: &check::SWITCHES,
        }
    }
}
