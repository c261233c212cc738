//! The state of the server, as shown to viewers.

use std::{
    collections::{BTreeMap, VecDeque},
    process,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Instant, SystemTime, UNIX_EPOCH},
};

use portent_lattice::{Limit, report::PropertyReport};
use portent_monitor_dsl::{Monitor, Verdict};
use serde::Serialize;

use portent_answer::text::{Status, formula, printable};

/// Only this many of the latest problems are kept.
const PROBLEMS: usize = 20;
/// At most this many violations are listed, and at most `PAGES` of them have a page.
const LISTED: usize = 1000;
const PAGES: usize = 100;
/// The event rate is averaged over about this many seconds.
const OVER: f64 = 2.0;

/// The counters of the analysis.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Figures {
    /// Lines received, and events checked.
    pub(super) lines: u64,
    pub(super) events: u64,
    /// Of these, the events that an earlier server had already checked.
    pub(super) known: u64,
    pub(super) threads: u64,
    /// Lines that are not events, or that contradict earlier ones.
    pub(super) refused: u64,
    /// Events that arrived more than once.
    pub(super) repeated: u64,
    /// Events that never arrived although other clocks count them.
    pub(super) lost: u64,
    /// Events that are waiting for earlier ones.
    pub(super) held: u64,
    /// Steps kept by the searches: the window.
    pub(super) kept: u64,
    /// Why a search is no longer exhaustive, if so.
    pub(super) limit: Option<Limit>,
    pub(super) file: Option<String>,
    pub(super) written: u64,
    pub(super) unwritten: u64,
}

/// The data that the page polls.
#[derive(Debug, Default, Serialize)]
pub(super) struct State {
    /// Distinguishes this server from earlier ones at the same address.
    run: String,
    #[serde(flatten)]
    pub(super) figures: Figures,
    pub(super) events_per_second: f64,
    pub(super) clients: BTreeMap<u64, Client>,
    /// Clients that ever connected, that were turned away, and that had a wrong token.
    pub(super) came: u64,
    pub(super) turned_away: u64,
    pub(super) wrong_tokens: u64,
    /// Lines cut off by the end of their client, lines that were too long, and lines that clients no longer had.
    pub(super) cut_lines: u64,
    pub(super) long_lines: u64,
    pub(super) missed_lines: u64,
    /// Messages that a stream redelivered, and those that it no longer had.
    pub(super) redelivered: u64,
    pub(super) missed_messages: u64,
    /// Streams that were lost and recreated; how many unread messages were lost with them is unknown.
    pub(super) lost_streams: u64,
    pub(super) properties: Vec<Property>,
    pub(super) violations: Vec<Violation>,
    /// The number of violations, listed or not.
    pub(super) violation_count: u64,
    pub(super) problems: VecDeque<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct Client {
    name: String,
}

#[derive(Debug, Serialize)]
pub(super) struct Property {
    pub(super) name: String,
    formula: String,
    /// Bindings violated by the observed run, and bindings violated only by another run.
    pub(super) observed: u64,
    pub(super) predicted: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct Violation {
    property: String,
    binding: String,
    status: &'static str,
    /// The number of events checked when it was found.
    event: u64,
    /// Whether it has a page.
    page: bool,
}

#[derive(Default)]
struct Inside {
    state: State,
    pages: Vec<String>,
    published: Option<(Instant, u64)>,
}

pub(super) struct Board(Mutex<Inside>);

impl Board {
    pub(super) fn new(monitors: &[Monitor]) -> Board {
        let property = |monitor: &Monitor| Property {
            name: monitor.property().name().to_owned(),
            formula: formula(monitor.property()),
            observed: 0,
            predicted: 0,
        };
        let mut inside = Inside::default();
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let since = since.unwrap_or_default().as_millis();
        inside.state.run = format!("{}-{since}", process::id());
        inside.state.properties = monitors.iter().map(property).collect();
        Board(Mutex::new(inside))
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock().state);
    }

    /// As JSON.
    pub(super) fn json(&self) -> String {
        serde_json::to_string(&self.lock().state).expect("plain data")
    }

    pub(super) fn look<R>(&self, look: impl FnOnce(&State) -> R) -> R {
        look(&self.lock().state)
    }

    pub(super) fn page(&self, number: usize) -> Option<String> {
        self.lock().pages.get(number).cloned()
    }

    pub(super) fn client_came(&self, client: u64) {
        self.change(|state| {
            state.came += 1;
            let name = format!("client {client}");
            state.clients.insert(client, Client { name });
        });
    }

    pub(super) fn client_named(&self, client: u64, name: &str, missed: u64) {
        let name: String = printable(name).chars().take(200).collect();
        self.change(|state| {
            state.missed_lines += missed;
            if let Some(client) = state.clients.get_mut(&client) {
                client.name = name.clone();
            }
        });
        if missed > 0 {
            self.tell(format!(
                "{name} has sent {missed} lines before this server was there"
            ));
        }
    }

    pub(super) fn client_name(&self, client: u64) -> String {
        let inside = self.lock();
        let named = inside
            .state
            .clients
            .get(&client)
            .map(|client| client.name.clone());
        named.unwrap_or_else(|| format!("client {client}"))
    }

    pub(super) fn is_here(&self, client: u64) -> bool {
        self.lock().state.clients.contains_key(&client)
    }

    pub(super) fn client_went(&self, client: u64, problem: Option<String>) {
        let name = self.client_name(client);
        self.change(|state| drop(state.clients.remove(&client)));
        if let Some(problem) = problem {
            self.tell(format!("{name}: {problem}"));
        }
    }

    pub(super) fn client_turned_away(&self) {
        self.change(|state| state.turned_away += 1);
    }

    pub(super) fn token_refused(&self) {
        self.change(|state| state.wrong_tokens += 1);
    }

    pub(super) fn line_cut(&self) {
        self.change(|state| state.cut_lines += 1);
    }

    pub(super) fn line_too_long(&self, client: u64, limit: usize) {
        self.change(|state| state.long_lines += 1);
        let name = self.client_name(client);
        self.tell(format!(
            "{name}: a line of more than {limit} bytes is left out; --max-line allows longer ones"
        ));
    }

    #[cfg(feature = "nats")]
    pub(super) fn message_redelivered(&self) {
        self.change(|state| state.redelivered += 1);
    }

    #[cfg(feature = "nats")]
    pub(super) fn messages_missed(&self, stream: &str, count: u64) {
        self.change(|state| state.missed_messages += count);
        self.tell(format!(
            "{stream}: {count} messages are not in the stream any more, or went to another server that takes events under the same name"
        ));
    }

    #[cfg(feature = "nats")]
    pub(super) fn stream_lost(&self, stream: &str) {
        self.change(|state| state.lost_streams += 1);
        self.tell(format!(
            "{stream}: the stream is another one than before; what was in that and not taken yet is lost"
        ));
    }

    /// Shows a problem to viewers.
    pub(super) fn tell(&self, problem: String) {
        let problem: String = printable(&problem).chars().take(500).collect();
        self.change(|state| {
            if state.problems.len() >= PROBLEMS {
                state.problems.pop_front();
            }
            state.problems.push_back(problem);
        });
    }

    /// Whether there is room for the page of another violation.
    pub(super) fn has_room(&self) -> bool {
        self.lock().pages.len() < PAGES
    }

    /// Adds a violation, and returns the line that reports it.
    pub(super) fn violation(
        &self,
        found: &PropertyReport,
        event: u64,
        page: Option<String>,
    ) -> String {
        let is_observed = found.observed.verdict == Verdict::Violated;
        let status = if is_observed {
            Status::Observed
        } else {
            Status::Predicted
        };
        let binding = found
            .binding
            .iter()
            .map(|(name, value)| format!("{name} = {value}"));
        let binding = binding.collect::<Vec<_>>().join(", ");
        let mut inside = self.lock();
        let state = &mut inside.state;
        state.violation_count += 1;
        if let Some(property) = state
            .properties
            .iter_mut()
            .find(|one| one.name == found.name)
        {
            if is_observed {
                property.observed += 1;
            } else {
                property.predicted += 1;
            }
        }
        let separator = if binding.is_empty() { "" } else { ", " };
        let line = format!(
            "event {event}: {} {}{separator}{binding}\n",
            status.word(),
            found.name
        );
        if state.violations.len() < LISTED {
            state.violations.push(Violation {
                property: found.name.clone(),
                binding,
                status: status.word(),
                event,
                page: page.is_some(),
            });
            // Violations with a page come first, because pages are made until there is no room for more.
            inside.pages.extend(page);
        }
        line
    }

    pub(super) fn publish(&self, figures: &Figures) {
        let mut inside = self.lock();
        let now = Instant::now();
        match inside.published {
            Some((then, events)) => {
                let seconds = now.duration_since(then).as_secs_f64();
                if seconds > 0.05 {
                    let rate = (figures.events - events) as f64 / seconds;
                    let weight = (seconds / OVER).min(1.0);
                    let before = inside.state.events_per_second;
                    inside.state.events_per_second = before + weight * (rate - before);
                    inside.published = Some((now, figures.events));
                }
            }
            None => inside.published = Some((now, figures.events)),
        }
        inside.state.figures = figures.clone();
    }

    /// Whether events are missing that may have been steps.
    pub(super) fn has_lost_events(&self) -> bool {
        self.look(|state| {
            let figures = &state.figures;
            let lines = state.cut_lines + state.long_lines + state.missed_lines;
            let messages = state.missed_messages + state.lost_streams;
            figures.refused + figures.lost + lines + messages > 0
        })
    }

    /// Describes what was lost.
    pub(super) fn losses(&self) -> Vec<String> {
        self.look(|state| {
            let figures = &state.figures;
            let counts = [
                (figures.refused, ["line was refused", "lines were refused"]),
                (
                    figures.lost,
                    [
                        "event has not come though others count it",
                        "events have not come though others count them",
                    ],
                ),
                (
                    state.cut_lines,
                    [
                        "line was cut when its client ended",
                        "lines were cut when their clients ended",
                    ],
                ),
                (
                    state.long_lines,
                    ["line was too long", "lines were too long"],
                ),
                (
                    state.missed_lines,
                    [
                        "line was sent before the server was there",
                        "lines were sent before the server was there",
                    ],
                ),
                (
                    state.missed_messages,
                    [
                        "message was not in the stream any more",
                        "messages were not in the stream any more",
                    ],
                ),
                (
                    state.lost_streams,
                    [
                        "time a stream was lost, with all that was in it and not taken yet",
                        "times a stream was lost, with all that was in it and not taken yet",
                    ],
                ),
                (
                    figures.unwritten,
                    [
                        "event is not in the recording",
                        "events are not in the recording",
                    ],
                ),
            ];
            let counts = counts.into_iter().filter(|(count, _)| *count > 0);
            counts
                .map(|(count, [one, more])| match count {
                    1 => format!("1 {one}"),
                    _ => format!("{count} {more}"),
                })
                .collect()
        })
    }
}
