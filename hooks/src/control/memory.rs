//! Reports accesses to memory that is not behind a hooked type, such as the cells of other libraries.

use std::panic::Location;

use super::{Class, Object, Step, current};
use crate::live::names::Name;

/// Stands for a piece of memory that threads may share only if something orders their accesses, and reports these. Outside of
/// controlled runs a report costs one look, and has no effect.
///
/// ```
/// use portent_hooks::control::Memory;
///
/// struct Counter { memory: Memory, count: std::cell::Cell<u32> }
///
/// let counter = Counter { memory: Memory::new("Counter"), count: std::cell::Cell::new(0) };
/// let access = counter.memory.write();
/// assert!(access.is_ordered());
/// counter.count.set(1);
/// assert!(counter.memory.end(access));
/// ```
#[derive(Debug)]
pub struct Memory {
    name: Name,
    kind: &'static str,
}

/// An access of a thread to a piece of memory. It is not atomic if the thread performs other steps meanwhile.
#[must_use = "whether it is in order is to be asked"]
#[derive(Clone, Copy, Debug)]
pub struct Access {
    step: Step,
    place: &'static Location<'static>,
    is_ordered: bool,
    /// The number of steps when it began.
    began: u64,
}

impl Access {
    /// Whether all conflicting accesses of other threads so far come before this one. Always true if the controller does
    /// not look for data races.
    #[must_use]
    pub fn is_ordered(&self) -> bool {
        self.is_ordered
    }
}

impl Memory {
    /// For an object of this type, named after the place where it is created.
    #[track_caller]
    #[must_use]
    pub const fn new(kind: &'static str) -> Memory {
        Memory {
            name: Name::here(),
            kind,
        }
    }

    /// The thread begins to read it.
    #[track_caller]
    pub fn read(&self) -> Access {
        self.access(Step::Read, Location::caller())
    }

    /// The thread begins to write it.
    #[track_caller]
    pub fn write(&self) -> Access {
        self.access(Step::Write, Location::caller())
    }

    /// Ends an access. Returns whether it is still ordered with the accesses of other threads.
    #[must_use]
    pub fn end(&self, access: Access) -> bool {
        let goes_on = current().is_none_or(|controller| controller.steps() == access.began);
        (goes_on || self.access(access.step, access.place).is_ordered) && access.is_ordered
    }

    fn access(&self, step: Step, place: &'static Location<'static>) -> Access {
        let (is_ordered, began) = match current() {
            Some(controller) => {
                let object = Object::new(&self.name, self.kind, Class::Plain);
                let turn = controller.step(step, object, Some(place));
                (turn.succeeds, controller.steps())
            }
            None => (true, 0),
        };
        Access {
            step,
            place,
            is_ordered,
            began,
        }
    }
}
