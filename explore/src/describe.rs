//! Describes the faults of a run in words; threads and objects are given names only here.

use std::fmt::Write;

use portent_hooks::control::given_name;
use portent_lattice::Report;
use portent_monitor_core::Operation;
use portent_monitor_dsl::Verdict;

use crate::{
    confirm::{Confirmation, Difference, Plan},
    engine::{Fault, State, Waiting},
    error::Error,
    object::Body,
    operation::{Kind, ObjectIndex, Op},
    recorded::RecordedRun,
    relevance::{Label, RelevantStep},
    report::{Failure, FailureKind, TakenStep},
    run::{DataRace, NONE, Place},
    strategy::{Deviation, Instead},
    token::{Token, hashed, shortened},
};

/// What the last run failed with.
pub(crate) fn failure(state: &State, fault: &Fault) -> Failure {
    let thread = |number| thread_name(state, number);
    let (kind, message) = match fault {
        Fault::Panicked(number, message) => {
            let mut text = format!("{} panicked", thread(*number));
            if let Some(place) = &message.place {
                let _ = write!(text, " at {place}");
            }
            let _ = write!(text, ": {}", message.text);
            (FailureKind::Panic, text)
        }
        Fault::Deadlock(waiting) => {
            let mut text = String::from("deadlock:");
            for (number, waiting) in waiting {
                let _ = write!(text, "\n  {} {}", thread(*number), wait(state, *waiting));
            }
            (FailureKind::Deadlock, text)
        }
        Fault::Obstructed(number, object, place) => {
            let text = format!(
                "{} found {} in use by something outside of the exploration{}: a guard that was leaked, or \
                 that an earlier run left in a static, or a thread that is not explored",
                thread(*number),
                object_name(state, *object),
                at(*place),
            );
            (FailureKind::Obstructed, text)
        }
        Fault::Diverged(number, place) => {
            let text = format!(
                "the program did not do the same again: {} did something else{}. What depends on time, addresses, random numbers, \
                 the order of a HashMap or on what an earlier run left behind cannot be explored",
                thread(*number),
                at(*place),
            );
            (FailureKind::Nondeterminism, text)
        }
        Fault::Spins(number, place) => {
            let text = format!(
                "{} does nothing but pause{}, and looks at nothing that could change",
                thread(*number),
                at(*place)
            );
            (FailureKind::Deadlock, text)
        }
        Fault::Refused(number, what, place) => {
            let text = format!(
                "{} {what}{}, which cannot be explored",
                thread(*number),
                at(*place)
            );
            (FailureKind::Limit, text)
        }
        Fault::TooManyThreads(place) => {
            let text = format!("a run may have at most 64 threads{}", at(*place));
            (FailureKind::Limit, text)
        }
    };
    in_run(state, kind, message)
}

/// What makes a data race the same as another one: what is done where, and with what.
pub(crate) type RaceKey = ([(Kind, Place); 2], String);

/// What a data race of the last run is, whoever comes first.
pub(crate) fn race_key(state: &State, race: DataRace) -> RaceKey {
    let access = |number: u32| {
        let event = &state.run.events()[number as usize];
        (event.op.kind, event.place)
    };
    let mut both = [access(race.first), access(race.second)];
    both.sort_by_key(|(kind, place)| {
        (
            *kind as u8,
            place.map(|at| (at.file(), at.line(), at.column())),
        )
    });
    (both, subject(state, race.first as usize))
}

/// Two accesses of the last run that nothing orders.
pub(crate) fn race(state: &State, race: DataRace) -> Failure {
    let access = |number: u32| {
        let event = &state.run.events()[number as usize];
        let thread = thread_name(state, usize::from(event.thread));
        format!("{thread} ({}{})", event.op.kind.name(), at(event.place))
    };
    let mut both = [access(race.first), access(race.second)];
    both.sort();
    let message = format!(
        "data race on {}: {}; nothing orders these two",
        subject(state, race.first as usize),
        both.join(" and "),
    );
    in_run(state, FailureKind::Race, message)
}

/// What the last run, or one that is equivalent to it, violates.
pub(crate) fn violation(state: &State, answer: Report) -> Failure {
    let mut message = String::new();
    for property in answer
        .properties
        .iter()
        .filter(|one| one.predicted.violated)
    {
        let is_observed = property.observed.verdict == Verdict::Violated;
        let by = if is_observed {
            "by this run"
        } else {
            "by a run that is equivalent to this one"
        };
        let _ = write!(message, "`{}` is violated {by}", property.text.trim());
        let why = &property.why;
        let why = if is_observed {
            &why.observed
        } else {
            &why.witness
        };
        if let Some(why) = why {
            let _ = write!(message, ": {why}");
        }
        message.push('\n');
    }
    let confirmation = is_observed(&answer).then_some(Confirmation::Observed);
    Failure {
        answer: Some(answer),
        confirmation,
        ..in_run(state, FailureKind::Property, message.trim_end().to_owned())
    }
}

/// Whether the run itself violates a property.
pub(crate) fn is_observed(answer: &Report) -> bool {
    { answer.properties.iter() }.any(|property| property.observed.verdict == Verdict::Violated)
}

/// A property has no answer for the last run.
pub(crate) fn unanswered(state: &State, error: &Error) -> Failure {
    in_run(state, FailureKind::Unchecked, error.to_string())
}

/// Where a run was first another than the one that was planned.
pub(crate) fn difference(state: &State, plan: &Plan) -> Difference {
    let steps = steps(state);
    let path = |step: &TakenStep| Some(state.threads.get(step.thread)?.path);
    let same = |wanted: &TakenStep, done: &TakenStep| {
        path(done) == plan.paths.get(wanted.thread).copied()
            && (wanted.operation, &wanted.place) == (done.operation, &done.place)
            && unnumbered(&wanted.object) == unnumbered(&done.object)
    };
    let pairs = plan.steps.iter().zip(&steps);
    let step = pairs
        .take_while(|(wanted, done)| same(wanted, done))
        .count();
    let Some(wanted) = plan.steps.get(step) else {
        return Difference {
            step,
            ..Difference::default()
        };
    };
    let thread = { state.threads.iter() }
        .position(|thread| Some(&thread.path) == plan.paths.get(wanted.thread));
    let later = { steps.iter() }
        .skip(step)
        .find(|done| Some(done.thread) == thread);
    let did = match (thread, later) {
        (None, _) => String::from("it was never spawned"),
        (_, Some(done)) if same(wanted, done) => String::from("it could not go on"),
        (_, Some(done)) => format!("it did {}", spelled(done)),
        (_, None) => String::from("it did nothing more"),
    };
    Difference {
        step,
        thread: thread.map(|thread| thread_name(state, thread)),
        expected: Some(spelled(wanted)),
        did: Some(did),
    }
}

/// Where a run left what was recorded.
pub(crate) fn deviation(state: &State, run: &RecordedRun, deviation: &Deviation) -> Difference {
    let symbols = run.symbols();
    let event = &run.events()[deviation.event];
    let operation = event.op.operation().map_or("event", Operation::name);
    let named = event.action().and_then(|action| action.name);
    let object = { event.op.object(symbols) }.or(named.map(|name| symbols.names.name(name)));
    let expected = TakenStep {
        thread: 0,
        operation,
        object: object.unwrap_or_default().to_owned(),
        place: event.loc.map(|place| symbols.locs.name(place).to_owned()),
    };
    let announced = |op: Op, place: Place| {
        spelled(&TakenStep {
            thread: 0,
            operation: op.kind.name(),
            object: match op.kind {
                Kind::Event => String::new(),
                _ => object_name(state, op.object),
            },
            place: place.map(|place| place.to_string()),
        })
    };
    let did = match (deviation.instead, deviation.thread) {
        (Instead::Nothing, None) => String::from("it is not there"),
        (Instead::Nothing, Some(_)) => String::from("it has ended or waits for others"),
        (Instead::Waits(op, place), _) => format!("it has to wait to do {}", announced(op, place)),
        (Instead::Other(op, place) | Instead::OppositeOutcome(op, place), _) => {
            format!("it did {}", announced(op, place))
        }
    };
    Difference {
        step: deviation.followed,
        thread: Some(symbols.threads.name(event.thread).to_owned()),
        expected: Some(spelled(&expected)),
        did: Some(did),
    }
}

/// A step in words.
fn spelled(step: &TakenStep) -> String {
    let mut text = format!("`{}`", step.operation);
    if !step.object.is_empty() {
        text = format!("`{} {}`", step.operation, step.object);
    }
    if let Some(place) = &step.place {
        let _ = write!(text, " at {place}");
    }
    text
}

/// A name of an object without the number among its like, which depends on who was met first.
fn unnumbered(name: &str) -> &str {
    match name.rsplit_once('#') {
        Some((base, number)) if number.parse::<u32>().is_ok() => base,
        _ => name,
    }
}

/// The schedule of the last run.
pub(crate) fn token(state: &State) -> String {
    token_of(state, &steps(state))
}

fn token_of(state: &State, steps: &[TakenStep]) -> String {
    let token = Token {
        schedule: state.schedule.clone(),
        chooses_events: state.chooses_events,
        fingerprint: fingerprint(steps),
    };
    token.write()
}

fn in_run(state: &State, kind: FailureKind, message: String) -> Failure {
    let steps = steps(state);
    Failure {
        kind,
        message,
        token: token_of(state, &steps),
        steps,
        threads: (0..state.threads.len())
            .map(|thread| thread_name(state, thread))
            .collect(),
        answer: None,
        confirmation: None,
        shrunk: None,
    }
}

/// The steps of the last run.
pub(crate) fn steps(state: &State) -> Vec<TakenStep> {
    let count = state.run.events().len();
    (0..count).map(|number| taken_step(state, number)).collect()
}

/// One of them.
pub(crate) fn taken_step(state: &State, number: usize) -> TakenStep {
    let event = &state.run.events()[number];
    TakenStep {
        thread: usize::from(event.thread),
        operation: event.op.kind.name(),
        object: subject(state, number),
        place: match event.place {
            Some(place) => Some(place.to_string()),
            None => { relevant(state, number) }.and_then(|step| step.spelled_place()),
        },
    }
}

/// What an event is about: an object, or what an application event says.
pub(crate) fn subject(state: &State, number: usize) -> String {
    let op = state.run.events()[number].op;
    match op.kind {
        Kind::Event => event_name(state, number),
        _ => object_name(state, op.object),
    }
}

/// The step that properties see of an event.
fn relevant(state: &State, number: usize) -> Option<&RelevantStep> {
    let steps = &state.relevance.as_ref()?.steps;
    let at = steps.binary_search_by_key(&number, |step| step.event as usize);
    at.ok().map(|at| &steps[at])
}

/// An application event with its arguments.
fn event_name(state: &State, number: usize) -> String {
    let step = relevant(state, number);
    let all = state.relevance.as_ref();
    let label = step.and_then(|step| all?.labels().get_index(step.label as usize));
    match (all, label) {
        (Some(all), Some(Label::Event(name, args))) => {
            let name = &all.events[*name as usize];
            let args: Vec<String> = args.iter().map(|arg| arg.0.to_string()).collect();
            match args.as_slice() {
                [] => name.clone(),
                args => format!("{name}({})", args.join(", ")),
            }
        }
        _ => String::from("something"),
    }
}

/// A number that depends on all that happened.
pub(crate) fn fingerprint(steps: &[TakenStep]) -> u64 {
    let mut fingerprint = 0;
    for step in steps {
        fingerprint = hashed(fingerprint ^ step.thread as u64, step.operation);
        fingerprint = hashed(fingerprint, &step.object);
        fingerprint = hashed(fingerprint, step.place.as_deref().unwrap_or_default());
    }
    shortened(fingerprint)
}

pub(crate) fn thread_name(state: &State, number: usize) -> String {
    match state.threads.get(number) {
        Some(thread) => match &thread.name {
            Some(name) => name.to_string(),
            None if thread.spawner.is_none() => String::from("main"),
            None => format!("thread {number}"),
        },
        None => format!("thread {number}"),
    }
}

/// The name that was given, or the type and the place, with a number from the second one on.
pub(crate) fn object_name(state: &State, index: ObjectIndex) -> String {
    let Some(object) = state.objects.get(index as usize) else {
        return String::from("something");
    };
    if let Some(thread) = object.thread {
        return thread_name(state, thread);
    }
    if matches!(object.body, Body::Side) {
        return object_name(state, index - 1);
    }
    if let Some(given) = object.given {
        return given_name(given);
    }
    let Some(made) = object.made else {
        return format!("{}#{}", object.kind, index + 1);
    };
    let alike = |other: &&crate::engine::Seen| {
        other.given.is_none()
            && other.kind == object.kind
            && other.made == object.made
            && !matches!(other.body, Body::Side)
    };
    let before = state.objects[..index as usize].iter().filter(alike).count();
    let mut name = format!("{}@{}:{}", object.kind, made.file(), made.line());
    if before > 0 {
        let _ = write!(name, "#{}", before + 1);
    }
    name
}

fn wait(state: &State, waiting: Waiting) -> String {
    match waiting {
        Waiting::For(Op { kind, object, .. }, place) if object == NONE => {
            format!("waits to {}{}", kind.name(), at(place))
        }
        Waiting::For(Op { kind, object, .. }, place) => format!(
            "waits to {} {}{}",
            kind.name(),
            object_name(state, object),
            at(place)
        ),
        Waiting::In(Op { kind, object, .. }, place) => format!(
            "waits for others, to {} {}{}",
            kind.name(),
            object_name(state, object),
            at(place)
        ),
        Waiting::EndOf(other, place) => format!(
            "waits for the end of {}{}",
            thread_name(state, other),
            at(place)
        ),
    }
}

fn at(place: Place) -> String {
    place.map_or_else(String::new, |place| format!(" at {place}"))
}
