//! The thread of a sidecar: it takes events in causal order, and reports what they make possible.

use std::{
    collections::HashSet,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::{Duration, Instant},
};

use portent_findings::{Finder, report::Finding};
use portent_hooks::{Origin, Recorded, Recording, Stream};
use portent_lattice::{
    Limit, Report, Watch,
    report::{PropertyReport, Warning, WarningKind},
};

use portent_monitor_core::Symbols;
use portent_trace::native_line;

use crate::{
    Counts, Error, Lost, Summary, Violation,
    counts::Board,
    pause::Pause,
    recorder::{Lines, Writer},
    remote::Sender,
    telemetry, violation,
};

/// After this many events it checks whether it is over, and whether something has to be written.
const BATCH: usize = 256;
/// Whether searches are exhaustive is asked of every binding, and so not often.
const LIMIT_EVERY: Duration = Duration::from_millis(200);
/// How long it has to be behind before it narrows its window,
const PATIENCE: Duration = Duration::from_millis(300);
/// with queues that are as full as this,
const FULL: f64 = 0.5;
/// if an event takes it longer than this on average: otherwise it is not the search that is slow.
const DEAR: Duration = Duration::from_micros(5);
/// With more chains than this, ended threads that were never joined are taken to come before everything still to happen.
const MOST_CHAINS: usize = 256;
/// The number of errors that are kept.
const ERRORS: usize = 16;

/// A callback for violations.
pub(crate) type OnViolation = Box<dyn FnMut(&Violation) + Send>;
/// A callback for findings.
pub(crate) type OnFinding = Box<dyn FnMut(&Finding) + Send>;
/// A callback for errors.
pub(crate) type OnError = Box<dyn FnMut(&Error) + Send>;

pub(crate) struct Worker {
    pub(crate) stream: Stream,
    pub(crate) watch: Watch,
    pub(crate) lines: Lines,
    pub(crate) writer: Option<Writer>,
    pub(crate) sender: Option<Sender>,
    pub(crate) finder: Option<Finder>,
    pub(crate) on_violation: Option<OnViolation>,
    pub(crate) on_finding: Option<OnFinding>,
    pub(crate) on_error: Option<OnError>,
    pub(crate) board: Arc<Board>,
    pub(crate) pause: Pause,
    pub(crate) state: State,
}

/// What it knows by itself.
pub(crate) struct State {
    counts: Counts,
    errors: Vec<Error>,
    /// The properties and bindings that were told, in case that more come at the end.
    told: HashSet<(String, String)>,
    limit_asked: Instant,
    /// Since when it is behind, and how many events it had taken then.
    behind: Option<(Instant, u64)>,
    /// How many chains there were when they were last settled.
    chains: usize,
    /// Whether it was said that not all lock orders are looked at.
    is_cut: bool,
}

impl State {
    pub(crate) fn new() -> State {
        State {
            counts: Counts::default(),
            errors: Vec::new(),
            told: HashSet::new(),
            limit_asked: Instant::now(),
            behind: None,
            chains: MOST_CHAINS,
            is_cut: false,
        }
    }
}

impl Worker {
    pub(crate) fn run(mut self) -> Result<Summary, Error> {
        // What callbacks do with hooked objects is not recorded, though their recording may be the global one: they would wait for
        // themselves.
        let (outside, _unread) = Recording::relevant::<&str>([]).start();
        let _entered = outside.enter();
        while !self.board.is_over() {
            if self.take_batch() {
                self.pause.reset();
            } else {
                self.pause.wait();
            }
        }
        if let Some(sender) = &self.sender {
            sender.hurry();
        }
        self.stream.close();
        while self.take_batch() {}
        self.finish()
    }

    /// Takes what is there. Whether anything was.
    fn take_batch(&mut self) -> bool {
        let mut taken = 0;
        // Before it takes: that empties the queues for a moment.
        let is_behind = self.stream.fullness() >= FULL;
        while taken < BATCH
            && let Some(recorded) = self.stream.try_next()
        {
            self.take(&recorded);
            taken += 1;
        }
        let now = Instant::now();
        if let Some(writer) = &mut self.writer {
            let ticked = writer.files.tick(now, self.watch.symbols());
            self.note(ticked);
        }
        if let Some(problem) = self.sender.as_ref().and_then(Sender::problem) {
            self.note(Err(problem));
        }
        if now.saturating_duration_since(self.state.limit_asked) >= LIMIT_EVERY {
            self.state.limit_asked = now;
            self.state.counts.limit = self.watch.limit();
            self.settle();
        }
        self.keep_up(now, is_behind);
        self.publish();
        taken > 0
    }

    /// Narrows what it keeps if it is behind for long, and that is because of the search.
    fn keep_up(&mut self, now: Instant, is_behind: bool) {
        let events = self.stream.counts().recorded;
        let Some((since, before)) = self.state.behind else {
            self.state.behind = is_behind.then_some((now, events));
            return;
        };
        let passed = now.saturating_duration_since(since);
        if passed < PATIENCE {
            return;
        }
        let taken = u32::try_from(events - before).unwrap_or(u32::MAX);
        if is_behind && passed / taken.max(1) > DEAR && self.watch.narrow() {
            self.state.counts.narrowed += 1;
        }
        self.state.behind = is_behind.then_some((now, events));
    }

    /// If there are very many chains, lets later threads reuse those of threads that ended without being joined.
    fn settle(&mut self) {
        let chains = self.stream.chains();
        if chains > self.state.chains {
            self.stream.settle();
            self.state.chains = chains;
            self.state.counts.settled += 1;
        }
    }

    fn take(&mut self, recorded: &Recorded) {
        let symbols = self.watch.symbols();
        let origin = recorded.origin.as_deref();
        if symbols.find_unknown(&recorded.event).is_some()
            || origin.is_some_and(|origin| !knows(symbols, origin))
        {
            let named = self.stream.names(self.watch.symbols_mut());
            self.note(named.map_err(|error| Error::Check(error.into())));
        }
        if self.writer.is_some() || self.sender.is_some() {
            self.write(recorded);
        }
        let found = self.find(recorded);
        self.note(found);
        match self.watch.take_stamped(&recorded.event, &recorded.stamp) {
            Ok(news) => news.into_iter().for_each(|report| self.tell(report)),
            Err(error) => {
                self.state.counts.lost.refused += 1;
                self.note(Err(error.into()));
            }
        }
    }

    /// Looks for what needs no property. In the order in which events come out they are a trace.
    fn find(&mut self, recorded: &Recorded) -> Result<(), Error> {
        let Some(finder) = &mut self.finder else {
            return Ok(());
        };
        let named = finder.symbols_mut().catch_up(self.watch.symbols());
        named.map_err(portent_findings::Error::from)?;
        finder.take(&recorded.event)?;
        let news = finder.news()?;
        let is_cut = finder.news_are_cut();
        for finding in news {
            self.state.counts.findings += 1;
            telemetry::finding(&finding);
            if let Some(callback) = &mut self.on_finding {
                self.state.counts.panics += guarded(|| callback(&finding));
            }
        }
        if is_cut && !std::mem::replace(&mut self.state.is_cut, true) {
            return Err(Error::LockOrders);
        }
        Ok(())
    }

    /// Writes and sends the line of an event.
    fn write(&mut self, recorded: &Recorded) {
        let symbols = self.watch.symbols();
        let mut written = Ok(());
        if let Some(writer) = &mut self.writer {
            written = writer.next_part(&mut self.lines, symbols);
        }
        let line = self.lines.line(recorded);
        if let Some(writer) = &mut self.writer {
            written = written.and(writer.take(line.as_ref(), symbols));
        }
        if let (Some(sender), Some(line)) = (&mut self.sender, &line) {
            sender.send(native_line(line, symbols));
        }
        self.note(written);
    }

    fn tell(&mut self, report: PropertyReport) {
        self.state.counts.violations += 1;
        self.state.told.insert(key(&report));
        self.count();
        let Counts { lost, assumed, .. } = self.state.counts;
        let violation = Violation {
            report,
            lost,
            assumed,
        };
        telemetry::violation(&violation);
        if let Some(callback) = &mut self.on_violation {
            self.state.counts.panics += guarded(|| callback(&violation));
        }
    }

    fn note(&mut self, result: Result<(), Error>) {
        let Err(error) = result else { return };
        if let Some(callback) = &mut self.on_error {
            self.state.counts.panics += guarded(|| callback(&error));
        }
        if self.state.errors.len() < ERRORS {
            self.state.errors.push(error);
        }
    }

    /// Brings the counts up to date.
    fn count(&mut self) {
        let (recorded, counts) = (self.stream.counts(), &mut self.state.counts);
        counts.events = recorded.recorded;
        counts.lost = Lost {
            dropped: recorded.dropped,
            refused: counts.lost.refused,
            late: recorded.late,
            blind: recorded.blind,
            foreign: recorded.foreign,
        };
        counts.assumed = recorded.assumed;
        if let Some(writer) = &self.writer {
            let files = &writer.files;
            (counts.written, counts.unwritten) = (files.written(), files.unwritten());
        }
        if let Some(sender) = &self.sender {
            (counts.sent, counts.unsent) = sender.counts();
        }
    }

    fn publish(&mut self) {
        self.count();
        let before = self.board.publish(self.state.counts);
        telemetry::counted(&before, &self.state.counts);
    }

    /// All events were taken.
    fn finish(mut self) -> Result<Summary, Error> {
        if let Some(writer) = &mut self.writer {
            let finished = writer.files.finish(self.watch.symbols());
            self.note(finished);
        }
        if let Some(sender) = &mut self.sender {
            sender.finish();
            let problem = sender.problem();
            if let Some(problem) = problem.filter(|_| sender.counts().1 > 0) {
                self.note(Err(problem));
            }
        }
        let findings = match self.finder.as_mut().map(Finder::finish) {
            Some(Ok(findings)) => Some(findings),
            Some(Err(error)) => {
                self.note(Err(error.into()));
                None
            }
            None => None,
        };
        let mut report = self.watch.finish("live")?;
        // Some questions are answered only now.
        let violated = report.properties.iter();
        for found in violated.filter(|found| found.predicted.violated) {
            if !self.state.told.contains(&key(found)) {
                self.tell(found.clone());
            }
        }
        let mut limits = report.properties.iter().map(|found| found.lattice.limit);
        self.state.counts.limit = limits.find_map(|limit| limit);
        self.publish();
        let State { counts, errors, .. } = self.state;
        tell_losses(&mut report, &counts.lost);
        tell_shortcuts(&mut report, &counts);
        if counts.assumed > 0 {
            report.warnings.push(Warning {
                property: None,
                kind: WarningKind::OrderAssumed,
                text: format!(
                    "{} events were seen through `tracing`, which does not tell what orders them: only their observed order was looked at, and nothing is predicted of any other",
                    counts.assumed
                ),
            });
        }
        let files = self.writer.as_ref();
        let files = files
            .map_or(&[][..], |writer| writer.files.paths())
            .to_vec();
        let findings = findings.map(|mut findings| {
            if !counts.lost.is_nothing() {
                findings
                    .warnings
                    .push(portent_findings::report::Warning::missing(&counts.lost));
            }
            findings
        });
        Ok(Summary {
            report,
            counts,
            errors,
            findings,
            files,
        })
    }
}

/// Whether it has the names of an origin.
fn knows(symbols: &Symbols, origin: &Origin) -> bool {
    let mut peers = origin.peers.iter().map(|(peer, _)| peer);
    let known = symbols.threads.len();
    origin.source.index() < known && peers.all(|peer| peer.index() < known)
}

/// A property and a binding.
fn key(found: &PropertyReport) -> (String, String) {
    (found.name.clone(), violation::spelled(&found.binding))
}

/// Calls a callback. Gives 1 if it panicked, which was told where panics are told.
fn guarded(call: impl FnOnce()) -> u64 {
    u64::from(catch_unwind(AssertUnwindSafe(call)).is_err())
}

/// What was done to keep up.
fn tell_shortcuts(report: &mut Report, counts: &Counts) {
    let warning = |text: String| Warning {
        property: None,
        kind: WarningKind::EventsMissing,
        text,
    };
    if counts.settled > 0 {
        for found in &mut report.properties {
            found.lattice.exhaustive = false;
            found.lattice.limit.get_or_insert(Limit::History);
        }
        let text = "there were very many threads that nobody waited for, and those that had ended were taken to come before all that followed";
        report.warnings.push(warning(text.to_owned()));
    }
    if counts.narrowed > 0 {
        let times = counts.narrowed;
        report.warnings.push(warning(format!(
            "the sidecar could not keep up, and halved what it keeps of the order, {times} times: fewer runs were looked at than is usual"
        )));
    }
}

/// A report knows nothing of what never came to it.
fn tell_losses(report: &mut Report, lost: &Lost) {
    if lost.events() > 0 {
        for found in &mut report.properties {
            found.lattice.exhaustive = false;
            found.lattice.limit.get_or_insert(Limit::Missing);
        }
    }
    if !lost.is_nothing() {
        report.warnings.push(Warning {
            property: None,
            kind: WarningKind::EventsMissing,
            text: format!(
                "not all that happened was seen ({lost}): what is predicted need not be real, and what is not may be possible"
            ),
        });
    }
}
