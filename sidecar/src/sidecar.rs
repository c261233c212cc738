//! The handle of a sidecar, and its builder.

use std::{
    hash::{BuildHasher, RandomState},
    mem,
    path::PathBuf,
    process,
    sync::Arc,
    thread::{self, JoinHandle},
    time::Duration,
};

use portent_findings::{Finder, report::Finding};
use portent_hooks::{Entered, Full, Global, Recording};
use portent_lattice::{Options, Report, Watch};
use portent_monitor_core::Value;
use portent_monitor_dsl::Property;

use crate::{
    Counts, Error, Recorder, Violation,
    counts::Board,
    interest::Interest,
    pause::Pause,
    recorder::{Lines, Writer},
    remote::{Remote, Sender},
    worker::{OnError, OnFinding, OnViolation, State, Worker},
};

/// Watches the program that it is part of, in a separate thread.
///
/// ```
/// use std::sync::mpsc;
///
/// use portent_hooks::{event, thread};
/// use portent_monitor_dsl::Property;
/// use portent_sidecar::Sidecar;
///
/// let property = Property::parse("property file(f) { event open(f), read(f)  ltl: always (read -> once open) }")?;
/// let (alerts, alerted) = mpsc::channel();
/// let sidecar = Sidecar::builder()
///     .property(property)
///     .on_violation(move |violation| alerts.send(violation.to_string()).unwrap())
///     .start()?;
///
/// // The program: nothing makes the reader wait until the file is open.
/// let entered = sidecar.enter();
/// let opener = thread::spawn(|| event!(open, file = "a"));
/// let reader = thread::spawn(|| event!(read, file = "a"));
/// // The violation is reported while the program runs.
/// assert!(alerted.recv()?.starts_with("property `file` with f = "));
/// opener.join().unwrap();
/// reader.join().unwrap();
/// drop(entered);
///
/// let summary = sidecar.stop()?;
/// assert!(summary.report.is_violated());
/// assert_eq!((summary.counts.events, summary.counts.violations), (2, 1));
/// assert!(summary.counts.lost.is_nothing());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Dropping a sidecar ends it as well: it still checks what was recorded before, but the drop does not wait for that.
///
/// # Forks
///
/// The child of a `fork` has a copy of this handle, but not the thread. In the child, nothing is watched, recorded or sent, [`stop`](Self::stop) is an error,
/// and dropping the handle does nothing. The parent's sidecar continues, and knows nothing of what the child does. To watch the child,
/// start another sidecar there, with another file and name. A server sees the parent's connection as open until the child has ended, too.
#[derive(Debug)]
pub struct Sidecar {
    recording: Recording,
    board: Arc<Board>,
    worker: Option<JoinHandle<Result<Summary, Error>>>,
    /// The process that the thread is in.
    process: u32,
}

/// The results of a sidecar.
#[derive(Debug)]
#[non_exhaustive]
pub struct Summary {
    /// The verdicts. If events were lost, no search is exhaustive, and a warning says so.
    pub report: Report,
    /// What was seen and what was not.
    pub counts: Counts,
    /// The first errors: events that could not be checked, files that could not be written.
    pub errors: Vec<Error>,
    /// Races, deadlocks and atomicity violations, if the sidecar [looked for them](Builder::find).
    pub findings: Option<portent_findings::Report>,
    /// The files of the recorder.
    pub files: Vec<PathBuf>,
}

impl Summary {
    /// Whether nothing was left out that could change a verdict.
    pub fn is_exhaustive(&self) -> bool {
        let mut properties = self.report.properties.iter();
        let Counts { lost, assumed, .. } = self.counts;
        lost.is_nothing() && assumed == 0 && properties.all(|found| found.lattice.exhaustive)
    }
}

/// Options of a sidecar; created by [`Sidecar::builder`].
#[must_use]
pub struct Builder {
    properties: Vec<Property>,
    initial: Vec<(String, Value)>,
    options: Options,
    full: Full,
    capacity: Option<usize>,
    look_every: Duration,
    everything: bool,
    names: Vec<String>,
    process: Option<String>,
    recorder: Option<Recorder>,
    remote: Option<Server>,
    find: Option<portent_findings::Options>,
    on_violation: Option<OnViolation>,
    on_finding: Option<OnFinding>,
    on_error: Option<OnError>,
}

/// The default number of events that are searched for findings.
const FOUND_IN: usize = 2_000_000;

/// A server that events are sent to.
struct Server {
    address: String,
    token: Option<String>,
    linger: Duration,
}

impl Sidecar {
    /// A sidecar that sends what it records to a server, `portent serve`, at `127.0.0.1:7107` or `unix:/run/portent.sock`; or, with the feature
    /// `nats`, to a stream from which such servers take events, `nats://127.0.0.1:4222/portent`. Also give the
    /// [names](Builder::names) to record, or properties, which are then watched here as well; without either, everything is recorded.
    ///
    /// The sidecar reconnects by itself, with pauses that grow up to five seconds. Without a connection it keeps four megabytes of lines; beyond
    /// that it stalls, and threads do what [`on_full`](Builder::on_full) says. Here they drop events by default, because a
    /// program should not wait for a server that is away. What is [dropped](crate::Lost::dropped) is left out before any clock counts
    /// it. [`Counts::sent`] and [`Counts::unsent`] show the progress, and `on_error` is called when something goes wrong.
    ///
    /// ```
    /// use std::time::Duration;
    /// use portent_sidecar::Sidecar;
    ///
    /// let sidecar = Sidecar::remote("127.0.0.1:1").names(["login"]).linger(Duration::ZERO).start()?;
    /// let entered = sidecar.enter();
    /// portent_hooks::event!(login, user = "ann");
    /// drop(entered);
    /// let summary = sidecar.stop()?;
    /// assert_eq!((summary.counts.sent, summary.counts.unsent), (0, 1)); // nobody was there
    /// # Ok::<(), portent_sidecar::Error>(())
    /// ```
    pub fn remote(address: &str) -> Builder {
        let mut builder = Sidecar::builder();
        builder.full = Full::Drop;
        builder.remote = Some(Server {
            address: address.to_owned(),
            token: None,
            linger: Duration::from_secs(5),
        });
        builder
    }

    /// Options for a sidecar, which needs something to watch, find or record.
    pub fn builder() -> Builder {
        Builder {
            properties: Vec::new(),
            initial: Vec::new(),
            options: Options::default(),
            full: Full::default(),
            capacity: None,
            look_every: Duration::from_millis(1),
            everything: false,
            names: Vec::new(),
            process: None,
            recorder: None,
            remote: None,
            find: None,
            on_violation: None,
            on_finding: None,
            on_error: None,
        }
    }

    /// Watches this thread, and the threads that it spawns, until the guard is dropped.
    #[must_use = "it ends with the guard"]
    pub fn enter(&self) -> Entered {
        self.recording.enter()
    }

    /// Watches all threads that take part in no other recording, until the guard is dropped. A thread that
    /// is already running notices at its next event, so call this before other threads are spawned.
    #[must_use = "it ends with the guard"]
    pub fn make_global(&self) -> Global {
        self.recording.make_global()
    }

    /// The current statistics, at most a few hundred events old. In the child of a fork nothing is counted.
    pub fn counts(&self) -> Counts {
        if self.is_forked() {
            // The thread that was left behind may have held the lock.
            return Counts::default();
        }
        self.board.counts()
    }

    /// Ends the recording, checks everything that happened before, and reports.
    ///
    /// # Errors
    ///
    /// [`Error::Check`] if there is no report, [`Error::Died`], [`Error::Forked`].
    pub fn stop(mut self) -> Result<Summary, Error> {
        if self.is_forked() {
            return Err(Error::Forked {
                parent: self.process,
            });
        }
        self.end();
        let ended = self.worker.take().map(JoinHandle::join);
        match ended {
            Some(Ok(summary)) => summary,
            Some(Err(panic)) => {
                let message = panic.downcast_ref::<String>().cloned();
                let text = panic.downcast_ref::<&str>().map(|&text| text.to_owned());
                Err(Error::Died(message.or(text).unwrap_or_default()))
            }
            None => Err(Error::Died(String::new())),
        }
    }

    fn end(&self) {
        self.board.end();
        if let Some(worker) = &self.worker {
            worker.thread().unpark();
        }
    }

    /// Whether this is a copy in a forked process, without the thread.
    fn is_forked(&self) -> bool {
        process::id() != self.process
    }
}

impl Drop for Sidecar {
    fn drop(&mut self) {
        if self.is_forked() {
            // Not even to be detached: there is no such thread.
            mem::forget(self.worker.take());
            return;
        }
        // Without waiting: a callback may wait for what is held here.
        self.end();
    }
}

impl Builder {
    /// Adds a property to watch. The events and variables that it names are recorded; if it reads operations (`on`) or texts
    /// (`matches`), everything is.
    pub fn property(mut self, property: Property) -> Builder {
        self.properties.push(property);
        self
    }

    /// The initial value of a variable.
    pub fn initial(mut self, name: &str, value: impl Into<Value>) -> Builder {
        self.initial.push((name.to_owned(), value.into()));
        self
    }

    /// How to search, and how much to keep.
    pub fn options(mut self, options: Options) -> Builder {
        self.options = options;
        self
    }

    /// How many steps of each binding a witness may show: [`Options::history`].
    pub fn history(mut self, steps: usize) -> Builder {
        self.options.history = steps;
        self
    }

    /// What a thread of the program does when the sidecar is too slow for it. If everything is recorded, it always waits.
    pub fn on_full(mut self, full: Full) -> Builder {
        self.full = full;
        self
    }

    /// How many records the queue of a thread holds: [`portent_hooks::Builder::capacity`].
    pub fn capacity(mut self, records: usize) -> Builder {
        self.capacity = Some(records);
        self
    }

    /// The longest pause between two polls of an idle program; a millisecond by default. While something
    /// happens, the sidecar polls more often.
    pub fn look_every(mut self, time: Duration) -> Builder {
        self.look_every = time;
        self
    }

    /// Records every operation, whatever the properties need.
    pub fn everything(mut self) -> Builder {
        self.everything = true;
        self
    }

    /// Also records the events and the writes of variables with these names.
    pub fn names<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Builder {
        self.names.extend(names.into_iter().map(Into::into));
        self
    }

    /// Names the process as one of several that are checked together: see
    /// [`portent_hooks::Builder::process`]. Its events are written and sent with clocks that also count those of other processes, as far as
    /// messages [carry](portent_hooks::Context) them. **No two processes may have the same name**, and a restarted process needs a new one.
    ///
    /// If events are [sent](Sidecar::remote), the default is the name of the program and a random number.
    pub fn process(mut self, name: &str) -> Builder {
        self.process = Some(name.to_owned());
        self
    }

    /// The token that the [server](Sidecar::remote) requires; for a stream of NATS, that of the NATS server.
    pub fn token(mut self, token: &str) -> Builder {
        if let Some(server) = &mut self.remote {
            server.token = Some(token.to_owned());
        }
        self
    }

    /// How long [`stop`](Sidecar::stop) waits until the [server](Sidecar::remote) has acknowledged everything; five seconds by
    /// default.
    pub fn linger(mut self, time: Duration) -> Builder {
        if let Some(server) = &mut self.remote {
            server.linger = time;
        }
        self
    }

    /// Also writes the events to files.
    pub fn record(mut self, recorder: Recorder) -> Builder {
        self.recorder = Some(recorder);
        self
    }

    /// A callback for violations, called once for each binding of a property. It runs in the thread of the sidecar, and events wait meanwhile. If it
    /// panics, that is counted, and the watch continues. It must not wait for a lock that the program holds while it records, unless
    /// `on_full` lets threads continue when a queue is full.
    pub fn on_violation(mut self, callback: impl FnMut(&Violation) + Send + 'static) -> Builder {
        self.on_violation = Some(Box::new(callback));
        self
    }

    /// Also looks for races, deadlocks and atomicity violations, which need no property. Everything is recorded then, and threads wait
    /// when the sidecar is too slow for them. Events are kept in memory, and only [so many](portent_findings::Options::max_events) are searched: two
    /// million by default.
    ///
    /// Races are reported as they are found, and lock orders when they first form a cycle; the rest is in the [summary](Summary::findings).
    ///
    /// ```
    /// use portent_findings::{Hunt, Options};
    /// use portent_hooks::{sync::Mutex, thread};
    /// use portent_sidecar::Sidecar;
    /// use std::sync::{Arc, Mutex as Plain};
    ///
    /// let told = Arc::new(Plain::new(Vec::new()));
    /// let heard = Arc::clone(&told);
    /// let sidecar = Sidecar::builder()
    ///     .find(Options::default().hunt("races, deadlocks".parse()?))
    ///     .on_finding(move |finding| heard.lock().unwrap().push(finding.to_string()))
    ///     .start()?;
    /// let entered = sidecar.enter();
    /// let (a, b) = (Mutex::with_name("a", ()), Mutex::with_name("b", ()));
    /// thread::scope(|s| {
    ///     s.spawn(|| { let _a = a.lock(); let _b = b.lock(); }).join().unwrap();
    ///     s.spawn(|| { let _b = b.lock(); let _a = a.lock(); }).join().unwrap();
    /// });
    /// drop(entered);
    /// let summary = sidecar.stop()?;
    /// let told = told.lock().unwrap();
    /// assert_eq!(told.len(), 1);
    /// assert!(told[0].starts_with("lock order that may deadlock"), "{}", told[0]);
    /// assert_eq!(summary.findings.unwrap().findings.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn find(mut self, options: portent_findings::Options) -> Builder {
        let most = match options.max_events {
            usize::MAX => FOUND_IN,
            events => events,
        };
        self.find = Some(options.max_events(most));
        self
    }

    /// A callback for [findings](Self::find) while the program runs, like that for violations.
    pub fn on_finding(mut self, callback: impl FnMut(&Finding) + Send + 'static) -> Builder {
        self.on_finding = Some(Box::new(callback));
        self
    }

    /// A callback for events that could not be checked or written. The first of these errors are also in the
    /// [summary](Summary::errors).
    pub fn on_error(mut self, callback: impl FnMut(&Error) + Send + 'static) -> Builder {
        self.on_error = Some(Box::new(callback));
        self
    }

    /// Starts the sidecar.
    ///
    /// # Errors
    ///
    /// [`Error::NothingToDo`]; [`Error::Property`] if a monitor is too large; [`Error::Check`], as of [`Watch::new`]; [`Error::File`],
    /// [`Error::NoThread`]; [`Error::ForkedInUse`].
    pub fn start(self) -> Result<Sidecar, Error> {
        let is_idle = self.properties.is_empty() && self.find.is_none();
        if is_idle && self.recorder.is_none() && self.remote.is_none() {
            return Err(Error::NothingToDo);
        }
        let is_open = self.properties.is_empty() && self.names.is_empty();
        let interest = if self.everything || is_open || self.find.is_some() {
            Interest::Everything
        } else {
            Interest::of(&self.properties).and(&self.names)
        };
        let is_everything = interest == Interest::Everything;
        if self.process.is_some() && is_everything {
            return Err(Error::NoClocks);
        }
        let process = match &self.process {
            None if self.remote.is_some() => Some(any_name()),
            process => process.clone(),
        };
        let monitors = self.properties.iter().map(Property::monitor);
        let monitors = monitors.collect::<Result<Vec<_>, _>>()?;
        let initial = |name: &str| {
            let mut given = self.initial.iter().rev();
            let found = given.find(|(other, _)| other == name);
            found.map(|(_, value)| value.clone())
        };
        let watch = Watch::new(monitors, initial, self.options)?;
        let initial = &self.initial;
        let recorder = self.recorder.map(|recorder| recorder.knowing(initial));
        let writer = recorder.map(Writer::create).transpose()?;
        let lines = Lines::new(is_everything, process.is_some());
        let sender = self.remote.map(|server| {
            Sender::start(Remote {
                address: server.address.parse().map_err(Error::Address)?,
                session: process.clone().unwrap_or_default(),
                token: server.token,
                initial: initial.clone(),
                linger: server.linger,
            })
        });
        let sender = sender.transpose()?;

        let mut recording = interest.recording().on_full(self.full);
        if let Some(process) = &process {
            recording = recording.process(process);
        }
        if let Some(capacity) = self.capacity {
            recording = recording.capacity(capacity);
        }
        let (recording, stream) = recording.start();
        if recording.is_over() {
            return Err(Error::ForkedInUse);
        }
        let board = Arc::new(Board::default());
        let worker = Worker {
            stream,
            watch,
            lines,
            writer,
            sender,
            finder: self.find.map(Finder::new),
            on_violation: self.on_violation,
            on_finding: self.on_finding,
            on_error: self.on_error,
            board: Arc::clone(&board),
            pause: Pause::new(self.look_every),
            state: State::new(),
        };
        let thread = thread::Builder::new().name("portent-sidecar".to_owned());
        let worker = thread.spawn(|| worker.run()).map_err(Error::NoThread)?;
        Ok(Sidecar {
            recording,
            board,
            worker: Some(worker),
            process: process::id(),
        })
    }
}

/// A name that no other process has.
fn any_name() -> String {
    let program = std::env::current_exe().ok();
    let program = program.as_deref().and_then(|path| path.file_stem());
    let program = program.map_or("process".into(), |name| name.to_string_lossy());
    // The keys are random, and differ from one to the next.
    let random = RandomState::new().hash_one(std::process::id());
    format!("{program}-{random:016x}")
}
