//! The one thread that receives all batches: it orders the events, records them and watches the properties.

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError},
    },
    time::{Duration, Instant},
};

use portent_lattice::{
    Limit, Report, Watch,
    report::{self, PropertyReport, WarningKind},
};
use portent_monitor_core::{CausalRelease, Clocked, Discipline, Event};
use portent_monitor_dsl::Monitor;
use portent_sidecar::Files;
use portent_trace::{Format, Header, LineReader};

use super::{
    board::{Board, Figures},
    recent::Recent,
    source::{Arrived, Batch, Receipt},
};
use portent_answer::{Warning, text::Style};

use crate::{
    check::{SWITCHES, trace::Outcome},
    failure::Failure,
    terminal,
};

/// How often the page is updated, the files are checked and overdue events are given up.
const TICK: Duration = Duration::from_millis(100);
/// At most this many events are held back at once.
const MOST_HELD: usize = 100_000;

pub(super) struct Analysis {
    watch: Watch,
    monitors: Vec<Monitor>,
    files: Option<Files>,
    board: Arc<Board>,
    patience: Duration,
    style: Style,
    readers: HashMap<u64, LineReader>,
    /// Events that are waiting for earlier ones.
    release: CausalRelease<Arrived>,
    /// Checks that each event is possible after the previous ones.
    discipline: Discipline,
    recent: Recent,
    figures: Figures,
    /// The number of events handed to the recording.
    recorded: u64,
    /// Receipts to complete once the files contain this many events of the recording.
    owed: VecDeque<(u64, Arc<dyn Receipt>)>,
    /// All sources have ended.
    is_ending: bool,
    /// The first client that sent an event without a clock.
    unclocked: Option<String>,
    is_order_told: bool,
    /// When an event was last released, or when none was waiting.
    moved: Instant,
    ticked: Instant,
}

impl Analysis {
    pub(super) fn new(
        watch: Watch,
        monitors: Vec<Monitor>,
        files: Option<Files>,
        board: Arc<Board>,
        recent: Recent,
        patience: Duration,
        style: Style,
    ) -> Analysis {
        Analysis {
            watch,
            monitors,
            files,
            board,
            patience,
            style,
            readers: HashMap::new(),
            release: CausalRelease::default(),
            discipline: Discipline::default(),
            recent,
            figures: Figures::default(),
            recorded: 0,
            owed: VecDeque::new(),
            is_ending: false,
            unclocked: None,
            is_order_told: false,
            moved: Instant::now(),
            ticked: Instant::now(),
        }
    }

    /// Takes batches until all sources have ended.
    pub(super) fn run(mut self, batches: &Receiver<Batch>) -> Result<Outcome, Failure> {
        loop {
            match batches.recv_timeout(TICK) {
                Ok(batch) => self.take_batch(&batch),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if self.ticked.elapsed() >= TICK {
                self.tick();
            }
        }
        self.finish()
    }

    fn take_batch(&mut self, batch: &Batch) {
        if let Some(receipt) = &batch.receipt {
            receipt.hold();
        }
        let lines = batch.lines.split(|&byte| byte == b'\n');
        for (line, number) in lines.zip(batch.first..) {
            if !line.trim_ascii().is_empty() {
                self.take_line(batch, number, line);
            }
        }
        self.done(batch.receipt.clone());
    }

    /// The work that a receipt was held for is done, except for writing the files.
    fn done(&mut self, receipt: Option<Arc<dyn Receipt>>) {
        let Some(receipt) = receipt.filter(|_| !self.is_ending) else {
            return;
        };
        if self.files.is_some() {
            self.owed.push_back((self.recorded, receipt));
        } else {
            receipt.done();
        }
    }

    /// Completes the receipts of events that are in the files, or that will never be written.
    fn settle(&mut self) {
        let files = self.files.as_ref();
        let safe = files.map_or(u64::MAX, |files| files.written() + files.unwritten());
        while let Some((_, receipt)) = self.owed.front().filter(|(recorded, _)| *recorded <= safe) {
            receipt.done();
            self.owed.pop_front();
        }
    }

    fn take_line(&mut self, batch: &Batch, number: u64, line: &[u8]) {
        let client = batch.client;
        self.figures.lines += 1;
        let board = &self.board;
        let reader = self.readers.entry(client);
        let reader = reader.or_insert_with(|| LineReader::new(&board.client_name(client)));
        let read = match reader.header(line, number) {
            // Initial values were given at the start; a header adds nothing.
            Ok(Some(_)) => return,
            Ok(None) => reader.event(line, number, self.watch.symbols_mut()),
            Err(error) => Err(error),
        };
        match read {
            Ok(event) => {
                if event.source().is_none() {
                    self.came_without_clock(client);
                }
                self.arrive(event, batch);
            }
            Err(error) => self.refuse(error.to_string()),
        }
    }

    /// Without clocks, the order between the events of different clients is unknown.
    fn came_without_clock(&mut self, client: u64) {
        if self.is_order_told {
            return;
        }
        let name = self.board.client_name(client);
        let first = self.unclocked.get_or_insert_with(|| name.clone());
        if *first != name {
            self.is_order_told = true;
            self.board.tell(format!(
                "{first} and {name} both send events without clocks: they are taken in the order in which they arrive, and what has the same \
                 name is one and the same"
            ));
        }
    }

    fn refuse(&mut self, problem: String) {
        self.figures.refused += 1;
        self.board.tell(problem);
    }

    /// Takes an event that may have to wait for earlier ones.
    fn arrive(&mut self, mut event: Event, batch: &Batch) {
        // A line number means nothing when several clients send lines.
        event.line = None;
        if let Some(thread) = event.source() {
            let number = event.number();
            if number == 0 {
                let name = self.watch.symbols().threads.name(thread);
                let problem =
                    format!("the clock of an event of {name} does not count the event itself");
                return self.refuse(problem);
            }
            if self.release.has_passed(thread, number) || self.release.holds(thread, number) {
                self.figures.repeated += 1;
                return;
            }
        }
        if let Some(receipt) = &batch.receipt {
            receipt.hold();
        }
        self.release.push(Arrived {
            event,
            is_known: batch.is_known,
            receipt: batch.receipt.clone(),
        });
        self.give_out();
        if self.release.len() > MOST_HELD {
            self.give_up();
        }
    }

    fn give_out(&mut self) {
        while let Some(arrived) = self.release.pop() {
            self.moved = Instant::now();
            self.admit(&arrived.event, arrived.is_known);
            self.done(arrived.receipt);
        }
    }

    /// Gives up the events that are being waited for.
    fn give_up(&mut self) {
        let lost = self.release.give_up();
        self.figures.lost += lost;
        self.discipline.expect_missing_events();
        self.board.tell(format!(
            "{lost} events that others count have not come, and are taken as lost"
        ));
        self.give_out();
    }

    /// Takes an event whose predecessors have all been taken.
    fn admit(&mut self, event: &Event, is_known: bool) {
        if let Err(error) = self.discipline.admit(event, self.watch.symbols()) {
            return self.refuse(error.to_string());
        }
        if let Some(files) = self.files.as_mut().filter(|_| !is_known) {
            self.recorded += 1;
            if let Err(error) = files.take(event, self.watch.symbols()) {
                self.board.tell(format!("the recording has ended: {error}"));
            }
        }
        self.recent.add(event);
        match self.watch.take(event) {
            Ok(news) => {
                self.figures.events += 1;
                self.figures.known += u64::from(is_known);
                for found in &news {
                    self.tell(found, is_known);
                }
            }
            Err(error) => self.refuse(error.to_string()),
        }
    }

    fn tell(&mut self, found: &PropertyReport, is_known: bool) {
        let Some(monitor) = self
            .monitors
            .iter()
            .find(|one| one.property().name() == found.name)
        else {
            return;
        };
        let drawn = self.board.has_room().then(|| {
            let symbols = self.watch.symbols();
            self.recent.page(found, monitor, symbols, self.style)
        });
        let line = self
            .board
            .violation(found, self.figures.events, drawn.flatten());
        if !is_known {
            // A closed output pipe is no reason to stop.
            let _ = terminal::print(&line);
        }
    }

    fn tick(&mut self) {
        let now = Instant::now();
        self.ticked = now;
        if let Some(files) = &mut self.files
            && let Err(error) = files.tick(now, self.watch.symbols())
        {
            self.board.tell(format!("the recording has ended: {error}"));
        }
        self.settle();
        if self.release.is_empty() {
            self.moved = now;
        } else if now.duration_since(self.moved) >= self.patience {
            self.moved = now;
            self.give_up();
        }
        self.publish();
        let board = &self.board;
        self.readers.retain(|&client, _| board.is_here(client));
    }

    fn publish(&mut self) {
        let figures = &mut self.figures;
        figures.held = self.release.len() as u64;
        figures.kept = self.watch.kept() as u64;
        let has_lost = self.board.has_lost_events();
        figures.limit = { self.watch.limit() }.or(has_lost.then_some(Limit::Missing));
        figures.threads = self.watch.symbols().threads.len() as u64;
        if let Some(files) = &self.files {
            (figures.written, figures.unwritten) = (files.written(), files.unwritten());
            figures.file = Some(files.current().display().to_string());
        }
        self.board.publish(figures);
    }

    /// All sources have ended.
    fn finish(mut self) -> Result<Outcome, Failure> {
        self.write_all();
        self.settle();
        self.is_ending = true;
        // Events still waiting are checked without their predecessors, and not acknowledged: a later server may receive both.
        while !self.release.is_empty() {
            let before = self.release.len();
            self.give_up();
            if self.release.len() == before {
                // They wait for each other, which is impossible in a real run.
                self.figures.refused += before as u64;
                break;
            }
        }
        self.write_all();
        self.publish();
        let report = self.watch.finish("serve");
        let mut report = report.map_err(|error| Failure::Check {
            place: "serve".to_owned(),
            error: Box::new(error),
        })?;
        self.tell_losses(&mut report);
        Ok(Outcome {
            warnings: { report.warnings.iter() }
                .map(|one| Warning::new(one, &SWITCHES))
                .collect(),
            report,
            format: Format::Native,
            execution: None,
            skipped: self.figures.refused,
            unmatched: 0,
            header: Header::default(),
            known: Vec::new(),
            found: None,
        })
    }

    fn write_all(&mut self) {
        if let Some(files) = &mut self.files
            && let Err(error) = files.finish(self.watch.symbols())
        {
            self.board.tell(format!("the recording has ended: {error}"));
        }
    }

    /// Adds the losses, which the report itself cannot know about.
    fn tell_losses(&self, report: &mut Report) {
        let losses = self.board.losses();
        if losses.is_empty() {
            return;
        }
        if self.board.has_lost_events() {
            for found in &mut report.properties {
                found.lattice.exhaustive = false;
                found.lattice.limit.get_or_insert(Limit::Missing);
            }
        }
        report.warnings.push(report::Warning {
            property: None,
            kind: WarningKind::EventsMissing,
            text: losses.join("; "),
        });
    }
}
