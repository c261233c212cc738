//! Faults of a run, put into words: only here are threads and objects given names.

use std::fmt::Write;

use portent_hooks::control::given_name;

use crate::{
    engine::{Fault, State, Waiting},
    object::Body,
    operation::{ObjectIndex, Op},
    report::{Failure, FailureKind, TakenStep},
    run::{NONE, Place},
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
    let steps = steps(state);
    let token = Token {
        schedule: state.schedule.clone(),
        fingerprint: fingerprint(&steps),
    };
    Failure {
        kind,
        message,
        token: token.write(),
        steps,
        threads: (0..state.threads.len()).map(thread).collect(),
    }
}

/// The steps of the last run.
pub(crate) fn steps(state: &State) -> Vec<TakenStep> {
    let steps = state.run.events().iter().map(|event| TakenStep {
        thread: usize::from(event.thread),
        operation: event.op.kind.name(),
        object: object_name(state, event.op.object),
        place: event.place.map(ToString::to_string),
    });
    steps.collect()
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
