//! The state that the engine keeps of each primitive: which threads can proceed, and the effect of their operations.
//!
//! | file | |
//! |---|---|
//! | `lock` | mutexes and read-write locks, and their holders |
//! | `condition` | condition variables, and the threads that wait |
//! | `channel` | the messages in transit, and both ends |
//! | `barrier` | the threads that have arrived |
//! | `once` | one-time initialisation |
//! | `token` | parking, timeouts and yielding |

mod barrier;
mod channel;
mod condition;
mod lock;
mod once;
mod token;

use portent_hooks::control::{Class, Object};

pub(crate) use self::{
    barrier::Barrier, channel::Channel, condition::Condition, lock::Lock, once::Once, token::Token,
};

/// The state of an object.
#[derive(Debug)]
pub(crate) enum Body {
    /// Its value is the program's own.
    Variable,
    Lock(Lock),
    Condition(Condition),
    Channel(Box<Channel>),
    Barrier(Barrier),
    Once(Once),
    Token(Token),
    /// The second one of an object that has two sides.
    Side,
}

impl Body {
    /// Of something that a run meets.
    pub(crate) fn new(object: Object<'_>) -> Body {
        match object.class() {
            Class::Mutex | Class::ReadWrite => Body::Lock(Lock::default()),
            Class::Condition => Body::Condition(Condition::default()),
            Class::Channel(channel) => Body::Channel(Box::new(Channel::new(channel))),
            Class::Barrier => Body::Barrier(Barrier::default()),
            Class::Once { done } => Body::Once(Once::new(done)),
            _ => Body::Variable,
        }
    }

    /// Whether it has two sides, which do not depend on each other.
    pub(crate) fn has_sides(object: Object<'_>) -> bool {
        matches!(
            object.class(),
            Class::ReadWrite | Class::Channel(_) | Class::Once { .. }
        )
    }
}
