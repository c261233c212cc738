//! The files of several processes as one run: their events are ordered by their clocks.

use portent_answer::Warning;
use portent_findings::Finder;
use portent_lattice::{Checker, Options};
use portent_monitor_core::{CausalRelease, Clocked, Discipline, Event, Symbols, Value};
use portent_monitor_dsl::Monitor;
use portent_trace::{Format, Header, TraceReader, Warning as ReaderWarning};

use super::{
    progress::Progress,
    switches::SWITCHES,
    trace::{Outcome, add_new},
    warning::Unread,
};
use crate::{
    failure::Failure,
    find::{Found, Origin},
};

/// Several traces of a single run.
pub(super) struct Together<'r> {
    readers: Vec<TraceReader<'r>>,
    /// Events that wait for events of other files.
    release: CausalRelease<Event>,
    /// Checks each event against earlier ones, whichever file they are from.
    discipline: Discipline,
    /// If bad lines are skipped, the number of skipped lines.
    lenient: Option<u64>,
    /// Searches for findings without a property, if requested.
    finder: Option<Finder>,
}

impl<'r> Together<'r> {
    pub(super) fn new(
        readers: Vec<TraceReader<'r>>,
        lenient: bool,
        finder: Option<Finder>,
    ) -> Together<'r> {
        let mut discipline = Discipline::default();
        if lenient {
            discipline.expect_missing_events();
        }
        Together {
            readers,
            release: CausalRelease::default(),
            discipline,
            lenient: lenient.then_some(0),
            finder,
        }
    }

    pub(super) fn check(
        mut self,
        monitors: &[Monitor],
        options: &Options,
        progress: &Progress,
    ) -> Result<Outcome, Failure> {
        let header = self.header()?;
        let name = self.name();
        let options = options.clone().admitted(true);
        let checker = Checker::new(
            monitors.iter().cloned(),
            |name| header.initial(name),
            options,
        );
        let failed = |error| Failure::Check {
            place: name.clone(),
            error: Box::new(error),
        };
        let mut checker = checker.map_err(failed)?;
        let mut open = vec![true; self.readers.len()];
        // In turn, so that few events wait for those of other files.
        while open.contains(&true) {
            for (number, is_open) in open.iter_mut().enumerate().filter(|(_, is_open)| **is_open) {
                *is_open = self.read(number, &mut checker)?;
            }
            self.give_out(&mut checker, progress)?;
        }
        self.release.close();
        self.give_out(&mut checker, progress)?;
        if let Some((event, _)) = self.release.stuck() {
            let thread = checker.symbols().threads.name(event.thread);
            let problem = format!(
                "event {} of {thread} waits for itself: the clocks of these files are not of one run",
                event.number()
            );
            return Err(Failure::Usage(format!("{name}: {problem}")));
        }
        let report = checker.finish(&name).map_err(failed)?;
        let mut warnings = self.warnings(checker.symbols());
        warnings.extend(
            report
                .warnings
                .iter()
                .map(|one| Warning::new(one, &SWITCHES)),
        );
        let skipped = self.readers.iter().map(TraceReader::skipped).sum::<u64>();
        let skipped = skipped + self.lenient.unwrap_or(0);
        let found = self.found(name, checker.symbols(), skipped)?;
        add_new(
            &mut warnings,
            found.as_ref().map_or(&[], |found| &found.warnings),
        );
        Ok(Outcome {
            report,
            warnings,
            format: Format::Native,
            execution: None,
            skipped,
            unmatched: 0,
            header,
            known: Vec::new(),
            found,
        })
    }

    /// The findings without a property, if they were requested.
    fn found(
        &mut self,
        file: String,
        symbols: &Symbols,
        skipped: u64,
    ) -> Result<Option<Found>, Failure> {
        let Some(finder) = &mut self.finder else {
            return Ok(None);
        };
        let caught_up = finder.symbols_mut().catch_up(symbols);
        let report = { caught_up.map_err(portent_findings::Error::from) }
            .and_then(|()| finder.finish())
            .map_err(|error| Failure::find(file.clone(), error))?;
        let origin = Origin {
            file,
            format: Format::Native,
            execution: None,
            skipped,
        };
        let model = finder.options().model;
        Ok(Some(Found::new(report, model, origin, Vec::new())))
    }

    /// Reads the next event of a file. Returns whether there was one.
    fn read(&mut self, number: usize, checker: &mut Checker) -> Result<bool, Failure> {
        let reader = &mut self.readers[number];
        let Some(event) = reader.next_event(checker.symbols_mut())? else {
            return Ok(false);
        };
        if event.source().is_none() {
            let place = reader.last_place();
            let problem = "--together puts the events of several files in order by their clocks, and this one has none";
            return Err(Failure::Usage(format!("{place}: {problem}")));
        }
        self.release.push(event);
        Ok(true)
    }

    fn give_out(&mut self, checker: &mut Checker, progress: &Progress) -> Result<(), Failure> {
        while let Some(event) = self.release.pop() {
            let admitted = self.discipline.admit(&event, checker.symbols());
            let taken = match admitted {
                Ok(()) => checker.take(&event).map_err(|error| error.to_string()),
                Err(error) => Err(error.to_string()),
            };
            match (taken, &mut self.lenient) {
                (Ok(()), _) => {
                    progress.event();
                    if let Some(finder) = &mut self.finder {
                        let found = finder.take(&event);
                        found.map_err(|error| Failure::find(self.name(), error))?;
                    }
                }
                (Err(_), Some(skipped)) => *skipped += 1,
                (Err(problem), None) => {
                    let name = self.name();
                    return Err(Failure::Usage(format!("{name}: {problem}")));
                }
            }
        }
        Ok(())
    }

    fn name(&self) -> String {
        let files: Vec<&str> = self.readers.iter().map(TraceReader::file).collect();
        files.join(" + ")
    }

    /// The initial values in the files, which must agree.
    fn header(&self) -> Result<Header, Failure> {
        let mut init: Vec<(String, Value)> = Vec::new();
        for reader in &self.readers {
            for (name, value) in &reader.header().init {
                match init.iter().find(|(other, _)| other == name) {
                    Some((_, other)) if other != value => {
                        let file = reader.file();
                        return Err(Failure::Usage(format!(
                            "{file}: variable {name} begins with {value}, and in another file with {other}"
                        )));
                    }
                    Some(_) => {}
                    None => init.push((name.clone(), value.clone())),
                }
            }
        }
        Ok(Header {
            init,
            ..Header::default()
        })
    }

    /// The warnings of the readers, except for threads that are in another file.
    fn warnings(&self, symbols: &Symbols) -> Vec<Warning> {
        let absent = ReaderWarning::AbsentThreads { names: Vec::new() }.kind();
        let mut warnings = Vec::new();
        for reader in &self.readers {
            let of_file = Unread::so_far(reader).warnings(reader, symbols);
            warnings.extend(of_file.into_iter().filter(|warning| warning.kind != absent));
        }
        let names = self.discipline.absent_threads();
        let names: Vec<String> = names
            .map(|thread| symbols.threads.name(thread).to_owned())
            .collect();
        if !names.is_empty() {
            let text = ReaderWarning::AbsentThreads { names }.to_string();
            warnings.push(Warning {
                property: None,
                kind: absent,
                text,
            });
        }
        warnings
    }
}
