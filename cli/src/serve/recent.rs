//! The most recent events, so that a violation can be drawn as `check` draws it.
//!
//! A watch forgets what it no longer needs, and has no picture of a lattice. But most violations involve a few events that are close
//! together. If all steps of the binding are among the most recent events, these are checked again as a separate trace, with its
//! drawing; otherwise the page has the witness as the watch found it. Clocks mean the same in part of a run as in the whole;
//! operations and writes do not, so nothing is drawn any more once one of them has been forgotten.

use std::{collections::VecDeque, thread, time::Duration};

use portent_lattice::{Checker, Counting, Options, Stop, Watch, report::PropertyReport};
use portent_monitor_core::{Event, Op, Symbols, Value};
use portent_monitor_dsl::Monitor;

use portent_answer::{
    Answer,
    html::{self, Origin},
    text::Style,
};

/// The number of events kept.
const KEPT: usize = 4096;
/// A short limit, because other events wait during the check.
const TIME: Duration = Duration::from_millis(300);
const MEMORY: u64 = 64 << 20;

pub(super) struct Recent {
    /// The initial values of variables.
    initial: Vec<(String, Value)>,
    events: VecDeque<Event>,
    /// An event was forgotten that may have ordered others.
    is_blind: bool,
}

impl Recent {
    pub(super) fn new(initial: Vec<(String, Value)>) -> Recent {
        Recent {
            initial,
            events: VecDeque::new(),
            is_blind: false,
        }
    }

    pub(super) fn add(&mut self, event: &Event) {
        if self.events.len() >= KEPT
            && let Some(forgotten) = self.events.pop_front()
        {
            let has_clock = matches!(forgotten.op, Op::Stamped(_));
            self.is_blind |= !has_clock || forgotten.writes().next().is_some();
        }
        self.events.push_back(event.clone());
    }

    /// A page about a violation, with a drawing if one can be made.
    pub(super) fn page(
        &self,
        found: &PropertyReport,
        monitor: &Monitor,
        symbols: &Symbols,
        style: Style,
    ) -> Option<String> {
        let drawn = if self.is_blind {
            None
        } else {
            self.draw(found, monitor, symbols)
        };
        let nothing = Watch::new([], |_| None, Options::default());
        let mut report = nothing
            .and_then(|mut nothing| nothing.finish("serve"))
            .ok()?;
        report.warnings.clear();
        report.trace.events = self.events.len() as u64;
        report.trace.threads = symbols.threads.len() as u64;
        report
            .properties
            .push(drawn.unwrap_or_else(|| found.clone()));
        let answer = Answer {
            report: &report,
            execution: None,
            warnings: &[],
            known: &[],
        };
        let monitors = std::slice::from_ref(monitor);
        Some(html::render(
            &[answer],
            monitors,
            style,
            Origin::here().ok()?,
            None,
        ))
    }

    /// The same violation, as `check` reports it.
    fn draw(
        &self,
        found: &PropertyReport,
        monitor: &Monitor,
        symbols: &Symbols,
    ) -> Option<PropertyReport> {
        let stop = Stop::new();
        let raised = stop.clone();
        thread::spawn(move || {
            thread::sleep(TIME);
            raised.raise();
        });
        let options = Options::default()
            .admitted(true)
            .memory(MEMORY)
            .counting(Counting::Auto)
            .pictures(1000)
            .stop(stop);
        let initial = |name: &str| {
            let found = self.initial.iter().find(|(other, _)| other == name);
            found.map(|(_, value)| value.clone())
        };
        let mut checker = Checker::new([monitor.clone()], initial, options).ok()?;
        *checker.symbols_mut() = symbols.clone();
        for event in &self.events {
            checker.take(event).ok()?;
        }
        let report = checker.finish("serve").ok()?;
        let mut same = report
            .properties
            .into_iter()
            .filter(|other| other.binding == found.binding && other.relevant == found.relevant);
        same.find(|other| other.predicted.violated && other.picture.is_some())
    }
}
