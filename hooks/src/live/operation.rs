//! Operations of hooks, and how each accesses its object.
//!
//! Hooks never state the access themselves: it is looked up in the table of edges at compile time.

use portent_monitor_core::{Access, LockId, Op, Operation, Role, access_of};

use crate::control::Step;

/// What an operation does with its object of this role. It is asked by constants only: a hook of something that is not in
/// the table does not compile.
pub(crate) const fn access(operation: Operation, role: Role) -> Access {
    match access_of(operation, role) {
        Some(access) => access,
        None => panic!("the operation is about no such object"),
    }
}

/// An operation on a lock: what is recorded of it, and what it does with the clocks there.
#[derive(Clone, Copy)]
pub(crate) struct LockOperation {
    pub(crate) op: fn(LockId) -> Op,
    pub(crate) access: Access,
}

pub(crate) const LOCK: LockOperation = LockOperation {
    op: Op::Lock,
    access: access(Operation::Lock, Role::Lock),
};
pub(crate) const UNLOCK: LockOperation = LockOperation {
    op: Op::Unlock,
    access: access(Operation::Unlock, Role::Lock),
};
pub(crate) const READ_LOCK: LockOperation = LockOperation {
    op: Op::ReadLock,
    access: access(Operation::ReadLock, Role::Lock),
};
pub(crate) const READ_UNLOCK: LockOperation = LockOperation {
    op: Op::ReadUnlock,
    access: access(Operation::ReadUnlock, Role::Lock),
};
pub(crate) const TRY_LOCK: LockOperation = LockOperation {
    op: Op::TryLock,
    access: access(Operation::TryLock, Role::Lock),
};

/// What a read does with the clocks of a variable.
pub(crate) const READ: Access = access(Operation::Read, Role::Var);

/// How a variable is changed: by which operation, and what that does with the clocks there.
#[derive(Clone, Copy)]
pub(crate) struct VarOperation {
    pub(crate) operation: Operation,
    pub(crate) access: Access,
}

impl VarOperation {
    const fn new(operation: Operation) -> VarOperation {
        VarOperation {
            operation,
            access: access(operation, Role::Var),
        }
    }
}

impl VarOperation {
    /// As the controller of this thread sees it.
    pub(crate) fn step(self) -> Step {
        match self.operation {
            Operation::Write => Step::Write,
            _ => Step::Update,
        }
    }
}

pub(crate) const WRITE: VarOperation = VarOperation::new(Operation::Write);
pub(crate) const UPDATE: VarOperation = VarOperation::new(Operation::Update);
