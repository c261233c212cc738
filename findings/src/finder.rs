//! The entry point: one pass over the events, then everything that needs all of them.

use portent_monitor_core::{Event, Forks, Marker, Op, Reorderings, Sections, Symbols, ThreadId};
use rustc_hash::FxHashMap;

use crate::{
    Error, Model, Options, Report, Suppressions,
    deadlocks::AbstractAcquires,
    end::End,
    news::Reported,
    races::{Tally, happens_before, strong},
    record::{EventId, Record, accesses},
    report::{Material, Warning},
    turns::Turns,
};

/// Looks for findings in a trace.
///
/// It trusts that a [`Discipline`](portent_monitor_core::Discipline) admitted the events.
///
/// ```
/// use portent_findings::{Finder, Model, Options, report::Label};
/// use portent_monitor_core::{Event, Op};
///
/// // A race that is hidden behind a lock.
/// let mut finder = Finder::new(Options::default().model(Model::Strong));
/// let s = finder.symbols_mut();
/// let (t1, t2) = (s.threads.intern("T1")?, s.threads.intern("T2")?);
/// let (x, m) = (s.vars.intern("x")?, s.locks.intern("m")?);
/// for op in [Op::Write(x, None), Op::Lock(m), Op::Unlock(m)] {
///     finder.take(&Event::new(t1, op))?;
/// }
/// for op in [Op::Lock(m), Op::Unlock(m), Op::Write(x, None)] {
///     finder.take(&Event::new(t2, op))?;
/// }
/// let report = finder.finish()?;
/// assert_eq!(report.findings.len(), 1);
/// assert_eq!(report.findings[0].label, Label::Shown);
/// assert_eq!(report.findings[0].variables, ["x"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Finder {
    pub(crate) options: Options,
    pub(crate) symbols: Symbols,
    pub(crate) record: Record,
    pub(crate) races: Option<Races>,
    pub(crate) trace: Option<Reorderings>,
    /// The holders of locks, if the reorderings do not know them.
    sections: Sections,
    pub(crate) acquires: AbstractAcquires,
    pub(crate) material: Material,
    /// The fork of each thread that has one.
    pub(crate) forks: FxHashMap<ThreadId, EventId>,
    /// Whether the forked threads are the acting ones.
    acting: Forks,
    /// The number of events that were not examined because there were too many before them.
    pub(crate) beyond: u64,
    pub(crate) reported: Reported,
    turns: Turns,
    pub(crate) suppressions: Suppressions,
}

#[derive(Clone, Debug)]
pub(crate) enum Races {
    HappensBefore(Box<happens_before::HappensBeforeRaces>),
    Strong(Box<strong::StrongRaces>),
}

impl Races {
    pub(crate) fn tally(&self) -> &Tally {
        match self {
            Races::HappensBefore(races) => &races.tally,
            Races::Strong(races) => &races.tally,
        }
    }

    pub(crate) fn tally_mut(&mut self) -> &mut Tally {
        match self {
            Races::HappensBefore(races) => &mut races.tally,
            Races::Strong(races) => &mut races.tally,
        }
    }
}

impl Finder {
    /// A finder that has seen no events.
    pub fn new(options: Options) -> Finder {
        let races = options.hunt.races.then(|| match options.model {
            Model::HappensBefore => Races::HappensBefore(Box::default()),
            Model::Strong => Races::Strong(Box::default()),
        });
        let follows = options.model == Model::Strong || options.hunt.deadlocks;
        Finder {
            options,
            symbols: Symbols::default(),
            record: Record::default(),
            races,
            trace: follows.then(Reorderings::default),
            sections: Sections::default(),
            acquires: AbstractAcquires::default(),
            material: Material::default(),
            forks: FxHashMap::default(),
            acting: Forks::default(),
            beyond: 0,
            reported: Reported::default(),
            turns: Turns::default(),
            suppressions: Suppressions::default(),
        }
    }

    /// One whose [report](Self::finish) is without what is suppressed.
    pub fn without(mut self, suppressions: Suppressions) -> Finder {
        self.suppressions = suppressions;
        self
    }

    /// Its options.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The names of the run, for making its events.
    pub fn symbols_mut(&mut self) -> &mut Symbols {
        &mut self.symbols
    }

    /// The names of the run.
    pub fn symbols(&self) -> &Symbols {
        &self.symbols
    }

    /// The number of events so far.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Takes the next event of the observed run.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyEvents`]; [`Error::Causality`] if clocks are full.
    pub fn take(&mut self, event: &Event) -> Result<(), Error> {
        if self.record.len() >= self.options.max_events {
            self.beyond += 1;
            return Ok(());
        }
        let id = self.record.push(event).ok_or(Error::TooManyEvents)?;
        match event.op {
            Op::Fork(child) => {
                self.forks.insert(child, id);
            }
            Op::Marker(Marker::Begin, Some(_)) => self.material.begun += 1,
            Op::Lock(_) | Op::ReadLock(_) | Op::Request(_) => self.material.acquires += 1,
            _ => {}
        }
        self.acting.take(event);
        self.material.accesses += accesses(event).len() as u64;
        if let Some(trace) = &mut self.trace {
            if self.options.hunt.deadlocks {
                self.acquires.take(event, id, trace);
            }
            trace.step(event)?;
        } else {
            let last = |thread| self.record.of_thread(thread).len() as u32;
            let place = self.record.place(id);
            self.sections.step(place, &event.op, last, |_| {});
        }
        let next_since = self.turns.take(event, id);
        match (&mut self.races, &self.trace) {
            (Some(Races::HappensBefore(races)), _) => {
                races.take(event, id, next_since, &self.record)?;
            }
            (Some(Races::Strong(races)), Some(trace)) => {
                races.take(event, id, next_since, trace, &self.record);
            }
            _ => {}
        }
        Ok(())
    }

    /// The trace has ended.
    ///
    /// # Errors
    ///
    /// [`Error::Causality`] if clocks are full.
    pub fn finish(&mut self) -> Result<Report, Error> {
        let mut report = Report {
            events: self.record.len() as u64,
            threads: { ThreadId::first(self.record.threads()) }
                .filter(|&thread| !self.record.of_thread(thread).is_empty())
                .count() as u64,
            findings: Vec::new(),
            races: None,
            deadlocks: None,
            atomicity: None,
            suppressed: 0,
            warnings: self.warnings(),
        };
        if let Some(trace) = self.trace.as_ref().filter(|_| self.options.hunt.deadlocks) {
            self.acquires.finish(&self.record, trace);
        }
        let mut end = End {
            finder: self,
            checker: None,
            checked: 0,
            unchecked: 0,
        };
        end.add_races(&mut report)?;
        end.add_deadlocks(&mut report);
        end.add_atomicity(&mut report);
        let unchecked = end.unchecked;
        if unchecked > 0 {
            report.warnings.push(Warning {
                kind: "unchecked",
                text: format!(
                    "{unchecked} findings are only called possible because their witnesses are too long to check them all"
                ),
            });
        }
        report.findings.sort_by_key(|finding| finding.label);
        Ok(report)
    }

    /// The holders of locks.
    pub(crate) fn sections(&self) -> &Sections {
        let of_trace = self.trace.as_ref().map(Reorderings::critical_sections);
        of_trace.unwrap_or(&self.sections)
    }

    /// Whether there was anything to examine.
    fn has_material(&self) -> bool {
        let (hunt, material) = (self.options.hunt, self.material);
        hunt.races && material.accesses > 0
            || hunt.deadlocks && material.acquires > 0
            || hunt.atomicity && material.begun > 0
    }

    /// Reasons to doubt that everything was recorded.
    fn warnings(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        if self.record.is_empty() {
            warnings.push(Warning {
                kind: "empty_trace",
                text: "the trace has no events".to_owned(),
            });
        } else if !self.has_material() {
            warnings.push(Warning {
                kind: "nothing_to_look_at",
                text: format!("the trace has no {}", self.options.hunt.material()),
            });
        }
        let name = |thread: ThreadId| self.symbols.threads.name(thread);
        if let Some((silent, stray)) = self.acting.mismatch() {
            warnings.push(Warning {
                kind: "forks",
                text: format!(
                    "the recording seems incomplete: thread {} is forked and does nothing, thread {} does something and is never forked; findings may be false",
                    name(silent),
                    name(stray)
                ),
            });
        }
        if self.beyond > 0 {
            warnings.push(Warning {
                kind: "beyond",
                text: format!(
                    "only the first {} events were looked at; {} came after them",
                    self.record.len(),
                    self.beyond
                ),
            });
        }
        if self.news_are_cut() {
            warnings.push(Warning {
                kind: "news_cut",
                text: "there were too many lock orders to examine all of them while the program ran: some cycles are only in this report".to_owned(),
            });
        }
        if let (count, Some(first)) = self.sections().overlaps() {
            let line = self
                .record
                .at(first.taken)
                .and_then(|id| self.record.line(id));
            let line = line.map_or_else(String::new, |line| format!(" in line {line}"));
            warnings.push(Warning {
                kind: "sections",
                text: format!(
                    "the recording seems incomplete: thread {} takes lock {}{line} while thread {} holds it ({count} in all); a wait is missing, and findings may be false",
                    name(first.taken.thread),
                    self.symbols.locks.name(first.lock),
                    name(first.held.thread)
                ),
            });
        }
        warnings
    }
}
