//! A recorded run as a script: the steps that threads under control must take, in the required order.

use std::collections::HashMap;

use portent_monitor_core::{Mark, Op as RecordedOp, Operation};

use crate::{
    operation::Kind,
    recorded::{Order, RecordedRun},
};

/// What is to be followed.
pub(crate) struct Script {
    pub(super) steps: Vec<Scripted>,
    /// How many steps belong to the witness.
    pub(super) until: usize,
    /// Of each thread, as it was recorded: who forked it, and as which of its children.
    pub(super) origins: Vec<Origin>,
}

/// Where a recorded thread comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// The first one.
    Main,
    Child(usize, usize),
    /// Nobody was seen to fork it; it has this name.
    Named(String),
}

/// A recorded step.
pub(super) struct Scripted {
    pub(super) thread: usize,
    pub(super) operation: Operation,
    /// Whether it was a try that succeeded.
    pub(super) is_try: bool,
    /// A number of its own for each object.
    pub(super) object: Option<usize>,
    pub(super) name: String,
    pub(super) place: Option<String>,
    /// Its index in the recording.
    pub(super) event: usize,
}

impl Script {
    /// What threads do in a recorded run, in this order.
    pub(crate) fn new(run: &RecordedRun, order: &Order, wants: impl Fn(&str) -> bool) -> Script {
        let symbols = run.symbols();
        let mut objects: HashMap<(std::mem::Discriminant<Class>, String), usize> = HashMap::new();
        let mut script = Script {
            steps: Vec::with_capacity(order.events.len()),
            until: 0,
            origins: origins(run),
        };
        for (number, &index) in order.events.iter().enumerate() {
            if number == order.until {
                script.until = script.steps.len();
            }
            let event = &run.events()[index as usize];
            let operation = match (&event.op, event.op.operation()) {
                (_, None) => Operation::Event,
                (
                    _,
                    Some(
                        Operation::Fork
                        | Operation::Join
                        | Operation::Begin
                        | Operation::End
                        | Operation::Request,
                    ),
                ) => continue,
                (_, Some(operation)) => operation,
            };
            let action = event.action().and_then(|action| action.name);
            let called = action.map(|name| symbols.names.name(name));
            if operation == Operation::Event && !called.is_some_and(&wants) {
                continue;
            }
            let name = { event.op.object(symbols) }.or(called).unwrap_or_default();
            let object = event.op.object(symbols).map(|name| {
                let next = objects.len();
                let key = (
                    std::mem::discriminant(&Class::of(&event.op)),
                    name.to_owned(),
                );
                *objects.entry(key).or_insert(next)
            });
            script.steps.push(Scripted {
                thread: event.thread.index(),
                operation,
                is_try: event.mark == Some(Mark::Try),
                object,
                name: name.to_owned(),
                place: event.loc.map(|place| symbols.locs.name(place).to_owned()),
                event: index as usize,
            });
        }
        if order.until == order.events.len() {
            script.until = script.steps.len();
        }
        script
    }
}

/// What kind of thing an operation is about: each has names of its own.
enum Class {
    Variable,
    Lock,
    Channel,
    Condition,
    Barrier,
    Nothing,
}

impl Class {
    fn of(op: &RecordedOp) -> Class {
        match op {
            RecordedOp::Read(_) | RecordedOp::Write(..) | RecordedOp::Update(..) => Class::Variable,
            RecordedOp::Lock(_)
            | RecordedOp::Unlock(_)
            | RecordedOp::ReadLock(_)
            | RecordedOp::ReadUnlock(_)
            | RecordedOp::TryLock(_) => Class::Lock,
            RecordedOp::Send(..) | RecordedOp::Recv(..) | RecordedOp::TryRecv(_) => Class::Channel,
            RecordedOp::Waiting(..) | RecordedOp::Wait(..) | RecordedOp::Notify(_) => {
                Class::Condition
            }
            RecordedOp::Barrier(..) => Class::Barrier,
            _ => Class::Nothing,
        }
    }
}

/// Where each recorded thread comes from.
fn origins(run: &RecordedRun) -> Vec<Origin> {
    let symbols = run.symbols();
    let mut origins: Vec<Option<Origin>> = vec![None; symbols.threads.len()];
    let mut children = vec![0; origins.len()];
    for event in run.events() {
        if let RecordedOp::Fork(child) = event.op {
            let parent = event.thread.index();
            origins[child.index()] = Some(Origin::Child(parent, children[parent]));
            children[parent] += 1;
        }
    }
    let main = { run.events().iter() }
        .map(|event| event.thread.index())
        .find(|&thread| origins[thread].is_none());
    if let Some(main) = main {
        origins[main] = Some(Origin::Main);
    }
    let named = |(origin, name): (Option<Origin>, &str)| {
        origin.unwrap_or_else(|| Origin::Named(name.to_owned()))
    };
    let all = origins.into_iter().zip(symbols.threads.iter());
    all.map(named).collect()
}

/// Whether an operation that was recorded so may be announced as this.
pub(super) fn is_recorded_as(kind: Kind, operation: Operation) -> bool {
    match operation {
        Operation::Read => matches!(kind, Kind::Read | Kind::Update | Kind::FindDone),
        Operation::Write => matches!(kind, Kind::Write | Kind::Update),
        Operation::Update => matches!(kind, Kind::Update | Kind::Write | Kind::Done),
        Operation::Lock => matches!(kind, Kind::Lock | Kind::TryLock),
        Operation::Unlock => kind == Kind::Unlock,
        Operation::ReadLock => {
            matches!(kind, Kind::ReadLock | Kind::TryReadLock | Kind::Downgrade)
        }
        Operation::ReadUnlock => kind == Kind::ReadUnlock,
        Operation::TryLock => matches!(kind, Kind::TryLock | Kind::TryReadLock),
        Operation::Send => matches!(kind, Kind::Send | Kind::TrySend),
        Operation::Recv | Operation::TryRecv => matches!(kind, Kind::Receive | Kind::TryReceive),
        Operation::Waiting => kind == Kind::Wait,
        Operation::Wait => matches!(
            kind,
            Kind::Lock | Kind::Park | Kind::Receive | Kind::TryReceive
        ),
        Operation::Notify => matches!(
            kind,
            Kind::NotifyOne | Kind::NotifyAll | Kind::Unpark | Kind::CloseSender
        ),
        Operation::Barrier => kind == Kind::Arrive,
        Operation::Event => kind == Kind::Event,
        _ => false,
    }
}

/// Whether a step may be one of which nothing is recorded.
pub(super) fn is_silent(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Wake
            | Kind::Request
            | Kind::CloseSender
            | Kind::CloseReceiver
            | Kind::Unlock
            | Kind::ReadUnlock
            | Kind::Downgrade
            | Kind::Initialise
            | Kind::FindDone
            | Kind::Done
            | Kind::Await
            | Kind::FailedSend
            | Kind::Send
            | Kind::TrySend
            | Kind::Receive
            | Kind::TryReceive
            | Kind::Park
            | Kind::Unpark
    )
}

/// Whether a recorded step may be none of a thread under control.
pub(super) fn is_passed_over(operation: Operation) -> bool {
    matches!(
        operation,
        Operation::Unlock
            | Operation::ReadUnlock
            | Operation::Waiting
            | Operation::Wait
            | Operation::Notify
    )
}
