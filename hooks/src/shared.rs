//! A monitored variable.

use std::{fmt, panic::Location, sync};

use portent_monitor_core::{Op, VarId};

use crate::{
    ToValue,
    control::{self, Class, Controller, Step},
    live::{
        EncodedValue, FirstValue, ObjectClock,
        actor::{self, Place, Ticket, Written},
        line::{OperationRecord, WriteRecord},
        lock,
        names::Name,
        operation::{READ, UPDATE, VarOperation, WRITE},
        version,
    },
};

/// A variable whose reads and writes are events.
///
/// Threads can share it like a [`Mutex`](crate::sync::Mutex): each operation is one step.
/// Properties refer to it by the name given to [`with_name`](Self::with_name).
///
/// ```
/// use portent_hooks::Shared;
///
/// let level = Shared::with_name("level", 20);
/// level.set(27);
/// level.update(|level| *level += 1);
/// assert_eq!(level.get(), 28);
/// ```
pub struct Shared<T: ?Sized> {
    name: Name,
    inner: sync::Mutex<Inner<T>>,
}

struct Inner<T: ?Sized> {
    object: ObjectClock,
    first: FirstValue,
    value: T,
}

impl<T> Shared<T> {
    /// Creates a variable named after the place in the source where it is created.
    #[inline]
    #[track_caller]
    pub const fn new(value: T) -> Shared<T> {
        Shared::called(Name::here(), value)
    }

    /// Creates a variable with this name.
    #[track_caller]
    pub fn with_name(name: &str, value: T) -> Shared<T> {
        Shared::called(Name::given(name, |symbols| &mut symbols.vars), value)
    }

    const fn called(name: Name, value: T) -> Shared<T> {
        Shared {
            name,
            inner: sync::Mutex::new(Inner {
                object: ObjectClock::EMPTY,
                first: FirstValue::untold(),
                value,
            }),
        }
    }

    /// Consumes the variable and returns its value.
    pub fn into_inner(self) -> T {
        let inner = self.inner.into_inner();
        let inner = inner.unwrap_or_else(sync::PoisonError::into_inner);
        actor::with(|actor| actor.receive(&inner.object, UPDATE.access));
        inner.value
    }
}

impl<T: ?Sized> Shared<T> {
    /// As the controller of this thread sees it.
    fn object(&self) -> control::Object<'_> {
        control::Object::new(&self.name, "Shared", Class::Plain)
    }

    /// The value, for the thread whose turn it is.
    fn alone(&self, controller: &dyn Controller, place: Place) -> sync::MutexGuard<'_, Inner<T>> {
        match self.inner.try_lock() {
            Ok(inner) => inner,
            Err(sync::TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(sync::TryLockError::WouldBlock) => controller.obstructed(self.object(), place),
        }
    }

    fn id(&self) -> VarId {
        self.name.id("Shared", |symbols| &mut symbols.vars)
    }

    /// Reads the value and returns a copy.
    #[inline]
    #[track_caller]
    pub fn get(&self) -> T
    where
        T: Clone,
    {
        self.read(Some(Location::caller()), |value| value.clone())
    }

    /// Reads the value through a closure; other threads wait meanwhile.
    #[inline]
    #[track_caller]
    pub fn with<R>(&self, f: impl FnOnce(&T) -> R) -> R {
        self.read(Some(Location::caller()), |value| f(value))
    }

    #[inline]
    fn read<R>(&self, place: Place, f: impl FnOnce(&T) -> R) -> R {
        if let Some(controller) = control::current() {
            controller.step(Step::Read, self.object(), place);
            return f(&self.alone(&*controller, place).value);
        }
        let ticket = if version::is_hidden() {
            actor::prepare()
        } else {
            Ticket::NONE
        };
        let mut inner = lock(&self.inner);
        if inner.object.version() != version::shown() {
            let line = || OperationRecord::new(Op::Read(self.id()), place);
            actor::with(|actor| actor.exchange(&mut inner.object, READ, ticket, line));
        }
        f(&inner.value)
    }

    /// The value, accessed through an exclusive reference.
    pub fn get_mut(&mut self) -> &mut T {
        let inner = self.inner.get_mut();
        let inner = inner.unwrap_or_else(sync::PoisonError::into_inner);
        actor::with(|actor| actor.receive(&inner.object, UPDATE.access));
        &mut inner.value
    }
}

impl<T: ToValue> Shared<T> {
    /// Writes the value.
    #[inline]
    #[track_caller]
    pub fn set(&self, value: T) {
        drop(self.write(Some(Location::caller()), WRITE, |there| {
            std::mem::replace(there, value)
        }));
    }

    /// Writes the value and returns the previous one.
    #[inline]
    #[track_caller]
    pub fn replace(&self, value: T) -> T {
        self.write(Some(Location::caller()), UPDATE, |there| {
            std::mem::replace(there, value)
        })
    }

    /// Changes the value through a closure; other threads wait meanwhile.
    #[inline]
    #[track_caller]
    pub fn update<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        self.write(Some(Location::caller()), UPDATE, f)
    }

    #[inline]
    fn write<R>(&self, place: Place, operation: VarOperation, f: impl FnOnce(&mut T) -> R) -> R {
        if let Some(controller) = control::current() {
            return self.write_controlled(&*controller, place, operation, f);
        }
        let VarOperation { operation, access } = operation;
        let ticket = if version::is_hidden() || self.name.is_known() {
            actor::prepare_write(self.name.get())
        } else {
            Ticket::NONE
        };
        let mut guard = lock(&self.inner);
        let inner = &mut *guard;
        let value = || Some(inner.value.to_value());
        inner.first.tell(ticket, || self.id(), value);
        let done = f(&mut inner.value);
        let object = &mut inner.object;
        if ticket.is_some() || object.version() != version::shown() || object.has_reads() {
            // `to_value` may be the program's own code, and must not find the actor in use.
            let line = ticket.is_some().then(|| WriteRecord {
                operation,
                var: self.id(),
                told: Some(EncodedValue::from(inner.value.to_value())),
                mark: None,
                place,
            });
            actor::wrote(Written {
                object,
                access,
                ticket,
                line,
            });
        }
        done
    }
}

impl<T: ToValue> Shared<T> {
    fn write_controlled<R>(
        &self,
        controller: &dyn Controller,
        place: Place,
        operation: VarOperation,
        f: impl FnOnce(&mut T) -> R,
    ) -> R {
        let turn = controller.step(operation.step(), self.object(), place);
        let mut inner = self.alone(controller, place);
        let before = turn.tell.then(|| inner.value.to_value());
        let done = f(&mut inner.value);
        if turn.tell {
            controller.wrote(before, Some(inner.value.to_value()));
        }
        done
    }
}

impl<T: Default> Default for Shared<T> {
    #[track_caller]
    fn default() -> Shared<T> {
        Shared::new(T::default())
    }
}

impl<T> From<T> for Shared<T> {
    #[track_caller]
    fn from(value: T) -> Shared<T> {
        Shared::new(value)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Debug output is not a step of the program.
        let mut shown = f.debug_tuple("Shared");
        match self.inner.try_lock() {
            Ok(inner) => shown.field(&&inner.value),
            Err(_) => shown.field(&format_args!("<in use>")),
        };
        shown.finish()
    }
}
