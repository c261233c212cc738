//! Warnings to read before trusting an answer: where a property and the run that it was checked on do not
//! match.
//!
//! A property whose events are misspelt holds on every run. So every name of a property that the run
//! never uses is worth a warning, even if all is well: a good run has no `error` event at all.

use std::{fmt, num::NonZeroU64};

use portent_monitor_core::{Operation, Symbols, Value, suggest};
use portent_monitor_dsl::{Event, Object, On, StateVariable};
use serde::Serialize;

use super::PropertyReport;
use crate::intake::{EarlyWait, HeldAtEnd, Names, UnloggedWaits, Viewer};

/// If a program has more names than this, only the first ones are suggested: endless names come from a loop.
const CANDIDATES: usize = 20_000;

/// A warning to read before trusting an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// The property concerned; `None` if it concerns the run.
    pub property: Option<String>,
    /// The kind of warning.
    pub kind: WarningKind,
    /// A sentence without capital and full stop, in which the property is "it".
    pub text: String,
}

/// The kinds of warnings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum WarningKind {
    /// The run has no events.
    EmptyTrace,
    /// Waits on a condition seem to be logged at their start.
    EarlyWait,
    /// Locks were released by waits whose start was not logged, and a violation is predicted.
    UnloggedWaiting,
    /// Two threads held one lock when the run ended.
    HeldTwice,
    /// One thread is forked and never acts, while another acts and was never forked.
    Forks,
    /// The property saw no step.
    NoStep,
    /// The property saw steps, but has no instances.
    NoBinding,
    /// An event of the property never occurs.
    EventNeverOccurs,
    /// There are events of that name, but with another number of arguments.
    OtherArguments,
    /// A variable of the property is never written.
    VariableNeverWritten,
    /// No text matches the pattern of an event or variable.
    PatternNeverMatches,
    /// There are more bindings than may be checked.
    TooManyBindings,
    /// There are more bindings than the memory has room for.
    BindingsBeyondMemory,
    /// After some event, events are assumed to come in observed order, because the memory has no room for their clocks.
    OrderBeyondMemory,
    /// After some event, only the observed run is known, because the memory has no room for more steps.
    StepsBeyondMemory,
    /// The texts of the last lines of a witness are missing, because the memory has no room for them.
    TextsBeyondMemory,
    /// Events were not examined, because other events that their clocks count never arrived.
    EventsMissing,
    /// The observed order of some events was treated as the only one, because it is unknown what orders them.
    OrderAssumed,
}

impl WarningKind {
    /// Its name in the JSON.
    ///
    /// ```
    /// use portent_lattice::report::WarningKind;
    ///
    /// assert_eq!(WarningKind::EventNeverOccurs.as_str(), "event_never_occurs");
    /// ```
    pub fn as_str(self) -> &'static str {
        match self {
            WarningKind::EmptyTrace => "empty_trace",
            WarningKind::EarlyWait => "early_wait",
            WarningKind::UnloggedWaiting => "unlogged_waiting",
            WarningKind::HeldTwice => "held_twice",
            WarningKind::Forks => "forks",
            WarningKind::NoStep => "no_step",
            WarningKind::NoBinding => "no_binding",
            WarningKind::EventNeverOccurs => "event_never_occurs",
            WarningKind::OtherArguments => "other_arguments",
            WarningKind::VariableNeverWritten => "variable_never_written",
            WarningKind::PatternNeverMatches => "pattern_never_matches",
            WarningKind::TooManyBindings => "too_many_bindings",
            WarningKind::BindingsBeyondMemory => "bindings_beyond_memory",
            WarningKind::OrderBeyondMemory => "order_beyond_memory",
            WarningKind::StepsBeyondMemory => "steps_beyond_memory",
            WarningKind::TextsBeyondMemory => "texts_beyond_memory",
            WarningKind::EventsMissing => "events_missing",
            WarningKind::OrderAssumed => "order_assumed",
        }
    }
}

impl fmt::Display for WarningKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Warning {
    pub(super) fn empty_trace() -> Warning {
        Warning {
            property: None,
            kind: WarningKind::EmptyTrace,
            text: "the trace has no events".to_owned(),
        }
    }

    pub(super) fn missing(waiting: usize, example: Option<&str>) -> Warning {
        let (events, their) = match waiting {
            1 => ("1 event was".to_owned(), "its clock counts"),
            more => (format!("{more} events were"), "their clocks count"),
        };
        let example = example.map_or_else(String::new, |example| format!(": {example}"));
        Warning {
            property: None,
            kind: WarningKind::EventsMissing,
            text: format!("{events} not examined, since {their} others that never came{example}"),
        }
    }

    /// From a line on, only the observed order is known.
    pub(super) fn order_lost(line: Option<NonZeroU64>) -> Warning {
        let from = line.map_or_else(
            || "from some event on".to_owned(),
            |line| format!("from line {line} on"),
        );
        Warning {
            property: None,
            kind: WarningKind::OrderBeyondMemory,
            text: format!(
                "{from}, events were assumed to come in the observed order, since the order of all these \
                 threads does not fit into the memory"
            ),
        }
    }

    /// From a line on, steps were not kept.
    pub(super) fn unkept(kept: usize, line: Option<NonZeroU64>) -> Warning {
        let from = line.map_or_else(String::new, |line| format!(", from line {line} on,"));
        Warning {
            property: None,
            kind: WarningKind::StepsBeyondMemory,
            text: format!(
                "after {kept} relevant events{from} only the observed run was followed, to its end; other orders were \
                 examined only for the events before, since more do not fit into the memory"
            ),
        }
    }

    /// From a line on, line notes were not kept.
    pub(super) fn untold(line: NonZeroU64) -> Warning {
        Warning {
            property: None,
            kind: WarningKind::TextsBeyondMemory,
            text: format!(
                "from line {line} on, texts and other notes are not shown, since they do not fit into the \
                 memory"
            ),
        }
    }

    pub(super) fn early_wait(wait: &EarlyWait<'_>) -> Warning {
        let line = wait.first_line;
        let line = line.map_or_else(String::new, |line| format!(" (line {line})"));
        let condition = wait.condition;
        let text = match wait.waits {
            1 => format!(
                "a `wait` for the condition {condition}{line} seems to be logged where it begins, so it is \
                 not ordered after its `notify`"
            ),
            n => format!(
                "{n} `wait`s for the condition {condition}, the first{line}, seem to be logged where they \
                 begin, so they are not ordered after their `notify`"
            ),
        };
        Warning {
            property: None,
            kind: WarningKind::EarlyWait,
            text: format!(
                "{text}: log `wait` after the wake-up, and the beginning of the wait as `waiting`"
            ),
        }
    }

    pub(super) fn unlogged_waiting(waits: &UnloggedWaits<'_>) -> Warning {
        let UnloggedWaits {
            times,
            thread,
            lock,
            line,
        } = waits;
        let line = line.map_or_else(String::new, |line| format!(" on line {line}"));
        let often = match times {
            1 => String::new(),
            times => format!(" (the first of {times})"),
        };
        Warning {
            property: None,
            kind: WarningKind::UnloggedWaiting,
            text: format!(
                "thread {thread} woke up{line} from a wait that gave lock {lock} back{often}, but no `waiting` says when it began: \
                 what {thread} did before it waited may be predicted to come too late; log the beginning of a wait as `waiting`"
            ),
        }
    }

    pub(super) fn forks(silent: &str, stray: &str) -> Warning {
        Warning {
            property: None,
            kind: WarningKind::Forks,
            text: format!(
                "the recording seems incomplete: thread {silent} is forked and does nothing, thread {stray} acts and was never \
                 forked; predictions may be false"
            ),
        }
    }

    pub(super) fn held_twice(held: &HeldAtEnd<'_>) -> Warning {
        let HeldAtEnd {
            lock,
            thread,
            other,
            line,
        } = held;
        let line = line.map_or_else(String::new, |line| format!(" on line {line}"));
        Warning {
            property: None,
            kind: WarningKind::HeldTwice,
            text: format!(
                "thread {thread} holds lock {lock} to the end, though {other} took it{line}: unless {thread} \
                 was waiting for a condition, an `unlock` is missing, and what is ordered by that lock is wrong"
            ),
        }
    }
}

/// One property and the run that it was checked on.
pub(crate) struct Fit<'a> {
    pub(crate) viewer: &'a Viewer,
    pub(crate) names: &'a Names,
    pub(crate) symbols: &'a Symbols,
    /// The number of bindings checked, if not all were.
    pub(crate) unchecked: Option<usize>,
    /// The number of bindings that the memory had room for, if it did not suffice for all.
    pub(crate) refused: Option<usize>,
}

impl Fit<'_> {
    pub(super) fn name(&self) -> &str {
        self.viewer.name()
    }

    /// Whether there was no step, or no instance.
    pub(super) fn is_vacuous(&self, found: &[PropertyReport]) -> bool {
        self.viewer.steps() == 0 || found.is_empty()
    }

    /// The mismatches; `found` is the report on its instances.
    pub(super) fn warnings(&self, found: &[PropertyReport], is_empty_run: bool) -> Vec<Warning> {
        let mut texts: Vec<(WarningKind, String)> = Vec::new();
        if self.viewer.steps() == 0 {
            texts.push((WarningKind::NoStep, self.no_step(found)));
        } else if found.is_empty() {
            texts.push((WarningKind::NoBinding, self.no_binding()));
        }
        if let Some(limit) = self.unchecked {
            let text = format!(
                "its parameters have more than {limit} bindings; the others were not checked"
            );
            texts.push((WarningKind::TooManyBindings, text));
        }
        if let Some(room) = self.refused {
            let text = format!(
                "its parameters have more bindings than the {room} for which the memory has room; the others \
                 were not checked"
            );
            texts.push((WarningKind::BindingsBeyondMemory, text));
        }
        // The warning about an empty run suffices.
        if !is_empty_run {
            let alphabet = self.viewer.monitor().alphabet();
            let events = alphabet.events().iter().enumerate();
            texts.extend(events.filter_map(|(index, event)| self.event(index, event)));
            let variables = alphabet
                .variables()
                .iter()
                .zip(self.viewer.initial())
                .enumerate();
            let unwritten =
                variables.filter(|(index, _)| !self.viewer.occurrence().has_variable(*index));
            texts
                .extend(unwritten.map(|(_, (variable, initial))| self.variable(variable, initial)));
        }
        let warning = |(kind, text)| Warning {
            property: Some(self.name().to_owned()),
            kind,
            text,
        };
        texts.into_iter().map(warning).collect()
    }

    fn no_step(&self, found: &[PropertyReport]) -> String {
        let consequence = if !found.iter().any(|instance| instance.predicted.violated) {
            ", so nothing was checked"
        } else if self.viewer.monitor().alphabet().reads_variables() {
            "; its verdict is about the initial values alone"
        } else {
            "; its verdict is about a run without any step"
        };
        format!("it saw no step in this trace{consequence}")
    }

    fn no_binding(&self) -> String {
        let domains = self.viewer.bindings().domains();
        let parameters = self.viewer.monitor().property().parameters();
        let is_bound = |index: usize| domains.iter().any(|domain| domain[index]);
        let unbound = parameters.iter().enumerate();
        let unbound = unbound.filter(|(index, _)| !is_bound(*index));
        let mut names = quoted(unbound.map(|(_, name)| name));
        let why = if self.viewer.bindings().refused_beyond() == Some(0) {
            "the limit on bindings is 0".to_owned()
        } else if names.is_empty() {
            names = quoted(parameters.iter());
            format!(
                "its events never give values to {} that belong together",
                list(&names, "and")
            )
        } else {
            format!(
                "none of its events in this trace gives a value to {}",
                list(&names, "or")
            )
        };
        format!("{why}, so nothing was checked")
    }

    fn event(&self, index: usize, event: &Event) -> Option<(WarningKind, String)> {
        let name = &event.name;
        let occurs = self.viewer.occurrence().has_event(index);
        let arities = self.names.arities(name, self.symbols);
        if let Some(pattern) = &event.matches {
            let named = if arities.is_empty() {
                String::new()
            } else {
                format!("; events are named `{name}`, but only texts are matched")
            };
            let pattern = pattern.regex().as_str();
            let text = format!(
                "no text in this trace matches `{pattern}`, the pattern of event `{name}`{named}"
            );
            return (!occurs).then_some((WarningKind::PatternNeverMatches, text));
        }
        if let Some(on) = &event.on {
            let text = format!(
                "event `{name}` never occurs in this trace{}",
                self.operation(event, on)
            );
            return (!occurs).then_some((WarningKind::EventNeverOccurs, text));
        }
        let declared = event.parameters.as_ref().map(Vec::len);
        let others = arities
            .iter()
            .filter(|arity| declared.is_some_and(|n| n != arity.arguments));
        let ignored: u64 = others.clone().map(|arity| arity.events).sum();
        if let (Some(declared), 1..) = (declared, ignored) {
            let (events, were) = match ignored {
                1 => ("1 event".to_owned(), "was"),
                more => (format!("{more} events"), "were"),
            };
            let found: Vec<String> = others.map(|arity| arity.arguments.to_string()).collect();
            let plural = if found == ["1"] { "" } else { "s" };
            let found = list(&found, "or");
            let so = if occurs {
                ""
            } else {
                ", so that it never occurs"
            };
            let text = format!(
                "{events} `{name}` with {found} argument{plural} {were} ignored, as the property \
                 declares it with {declared}{so}"
            );
            return Some((WarningKind::OtherArguments, text));
        }
        let why = if occurs {
            return None;
        } else if !arities.is_empty() {
            " as the property declares it".to_owned()
        } else if self.names.is_written(name, self.symbols) {
            format!("; `{name}` is a variable there, to be compared with a value: `{name} == ...`")
        } else if let Some(operation) = Operation::from_name(name)
            && self.names.has_operation(operation)
        {
            format!("; `{name}` is an operation there: declare the event with `on {name}`")
        } else if self.names.are_texts_only() {
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            let spelled = if name.chars().all(is_word) {
                name.to_owned()
            } else {
                format!("{name:?}")
            };
            format!(
                "; its lines have texts but no names: declare it in a property, `event {spelled} matches \"...\"`"
            )
        } else {
            did_you_mean(name, self.names.events(self.symbols))
        };
        let text = format!("event `{name}` never occurs in this trace{why}");
        Some((WarningKind::EventNeverOccurs, text))
    }

    /// Why no operation of the run is the event.
    fn operation(&self, event: &Event, on: &On) -> String {
        let operation = on.operation;
        if !self.names.has_operation(operation) {
            return format!(", as no line has the operation `{operation}`");
        }
        let Some(Object::Name(object)) = &on.object else {
            return format!(
                " as the property declares it: `{}`",
                event.declaration(self.viewer.monitor().property().parameters())
            );
        };
        let others = objects(operation, self.symbols).filter(|known| known != object);
        let known = did_you_mean(object, others);
        format!(", as no `{operation}` there is of `{object}`{known}")
    }

    fn variable(&self, variable: &StateVariable, initial: &Value) -> (WarningKind, String) {
        let name = &variable.name;
        let stays = format!("so it is {initial} throughout");
        if let Some(pattern) = &variable.matches {
            let pattern = pattern.regex().as_str();
            let text = format!(
                "no text in this trace matches `{pattern}`, the pattern of variable `{name}`, {stays}"
            );
            return (WarningKind::PatternNeverMatches, text);
        }
        let suggestion = match self.names.arities(name, self.symbols) {
            [] => did_you_mean(name, self.names.written(self.symbols)),
            _ => format!("; `{name}` is an event there"),
        };
        let text = format!("variable `{name}` is never written in this trace, {stays}{suggestion}");
        (WarningKind::VariableNeverWritten, text)
    }
}

/// The names of the kinds of objects of an operation.
fn objects(operation: Operation, symbols: &Symbols) -> Box<dyn Iterator<Item = &str> + '_> {
    match operation.object() {
        Some("var") => Box::new(symbols.vars.iter()),
        Some("lock") => Box::new(symbols.locks.iter()),
        Some("child") => Box::new(symbols.threads.iter()),
        Some("chan") => Box::new(symbols.chans.iter()),
        Some("cond") => Box::new(symbols.conds.iter()),
        Some("barrier") => Box::new(symbols.barriers.iter()),
        Some("block") => Box::new(symbols.names.iter()),
        _ => Box::new(std::iter::empty()),
    }
}

fn did_you_mean<'s>(name: &str, candidates: impl Iterator<Item = &'s str>) -> String {
    match suggest::closest(name, candidates.take(CANDIDATES)) {
        Some(close) => format!("; did you mean `{close}`?"),
        None => String::new(),
    }
}

fn quoted<'s>(names: impl Iterator<Item = &'s String>) -> Vec<String> {
    names.map(|name| format!("`{name}`")).collect()
}

/// "a", "a or b", "a, b or c".
fn list(items: &[String], word: &str) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} {word} {last}", most.join(", ")),
    }
}
