//! The clock of something that is signalled and waited for: a signal leaves what the signaller knows, and a finished wait comes after all signals so far.

use std::sync::Mutex;

use portent_monitor_core::{Access, CondId, Op, Operation, Role, Version};

use super::ticket;
use crate::live::{
    ObjectClock,
    actor::{self, Place},
    line::OperationRecord,
    lock,
    names::Name,
    operation::access,
    version,
};

const NOTIFY: Access = access(Operation::Notify, Role::Condition);
const WAITING: Access = access(Operation::Waiting, Role::Condition);
const WAIT: Access = access(Operation::Wait, Role::Condition);

/// A condition of some kind.
#[derive(Debug)]
pub(super) struct Condition {
    kind: &'static str,
    name: Name,
    object: Mutex<ObjectClock>,
}

impl Condition {
    pub(super) const fn new(kind: &'static str, name: Name) -> Condition {
        Condition {
            kind,
            name,
            object: Mutex::new(ObjectClock::EMPTY),
        }
    }

    fn id(&self) -> CondId {
        self.name.id(self.kind, |symbols| &mut symbols.conds)
    }

    /// Called before a signal.
    pub(super) fn signal(&self, place: Place) {
        self.visit(Op::Notify, NOTIFY, place);
    }

    /// Called before a wait, if a signal does not reach those that begin to wait later.
    pub(super) fn begin_to_wait(&self, place: Place) {
        self.visit(|id| Op::Waiting(id, None), WAITING, place);
    }

    /// Called after a wait, or if there was no need to wait.
    pub(super) fn waited(&self, place: Place) {
        // Most often nobody has ever signalled, or what it knew is known.
        let signalled = lock(&self.object).version();
        if signalled != Version::EMPTY && signalled != version::shown() {
            self.visit(|id| Op::Wait(id, None), WAIT, place);
        }
    }

    fn visit(&self, op: impl FnOnce(CondId) -> Op, access: Access, place: Place) {
        let ticket = ticket();
        let mut object = lock(&self.object);
        let line = || OperationRecord::new(op(self.id()), place);
        actor::with(|actor| actor.visit(&mut object, access, ticket, line));
    }
}
