//! A cell that is written once.
//!
//! A thread that sees the value comes after its initialisation; a thread that found the cell empty comes
//! before. In a trace, the cell is a variable that one thread updates and others read.

use std::{fmt, panic::Location, sync};

use super::header::Header;
use crate::{
    control::{self, Calling, Step},
    live::{actor, names::Name, operation::UPDATE, version},
};

/// [`std::sync::OnceLock`], with clocks.
///
/// ```
/// use portent_hooks::sync::OnceLock;
///
/// static CELL: OnceLock<u32> = OnceLock::new();
/// assert_eq!(CELL.get(), None);
/// assert_eq!(*CELL.get_or_init(|| 7), 7);
/// assert_eq!(CELL.set(8), Err(8));
/// ```
pub struct OnceLock<T> {
    header: Header,
    inner: sync::OnceLock<T>,
}

impl<T> OnceLock<T> {
    /// As [`std::sync::OnceLock::new`].
    #[inline]
    #[track_caller]
    pub const fn new() -> OnceLock<T> {
        OnceLock::called("OnceLock", Name::here())
    }

    /// Creates a cell with this name in recordings.
    #[track_caller]
    pub fn with_name(name: &str) -> OnceLock<T> {
        OnceLock::called("OnceLock", Name::given(name, |symbols| &mut symbols.vars))
    }

    pub(super) const fn called(kind: &'static str, name: Name) -> OnceLock<T> {
        OnceLock {
            header: Header::new(kind, name),
            inner: sync::OnceLock::new(),
        }
    }

    /// As [`std::sync::OnceLock::get`].
    #[inline]
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        if let Some(controller) = control::current() {
            let place = Some(Location::caller());
            let turn = controller.step(Step::IsDone, self.object(), place);
            // The value may be there already, where nobody can see it yet.
            return self.inner.get().filter(|_| turn.succeeds);
        }
        self.header
            .read(Some(Location::caller()), || self.inner.get())
    }

    /// As [`std::sync::OnceLock::get_mut`].
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.header.taken_apart();
        self.inner.get_mut()
    }

    /// As [`std::sync::OnceLock::wait`].
    #[track_caller]
    pub fn wait(&self) -> &T {
        let place = Some(Location::caller());
        if let Some(controller) = control::current() {
            controller.step(Step::AwaitDone, self.object(), place);
            return match self.inner.get() {
                Some(value) => value,
                None => controller.obstructed(self.object(), place),
            };
        }
        let value = self.inner.wait();
        self.header.read(place, || ());
        value
    }

    /// As [`std::sync::OnceLock::set`].
    ///
    /// # Errors
    ///
    /// The value, if there is one already.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), T> {
        let mut value = Some(value);
        self.initialise(|| value.take());
        value.map_or(Ok(()), Err)
    }

    /// As [`std::sync::OnceLock::get_or_init`].
    #[inline]
    #[track_caller]
    pub fn get_or_init<F>(&self, f: F) -> &T
    where
        F: FnOnce() -> T,
    {
        match self.inner.get() {
            Some(value) if control::current().is_none() => {
                self.header.read(Some(Location::caller()), || ());
                value
            }
            _ => {
                let mut f = Some(f);
                self.initialise(|| f.take().map(|f| f()))
            }
        }
    }

    /// Sees the value, which `value` gives if there is none.
    #[track_caller]
    fn initialise(&self, value: impl FnOnce() -> Option<T>) -> &T {
        let place = Some(Location::caller());
        if let Some(controller) = control::current() {
            let calling = Calling::begin(&*controller, || self.object(), place);
            let value = self.inner.get_or_init(|| {
                let Some(value) = value() else {
                    unreachable!("it is asked for once");
                };
                // Whoever looks before that step does not see it done.
                calling.done();
                value
            });
            return value;
        }
        let ticket = if version::is_hidden() {
            actor::prepare()
        } else {
            self.header.prepare()
        };
        let mut writing = None;
        let value = self.inner.get_or_init(|| {
            let Some(value) = value() else {
                unreachable!("it is asked for once");
            };
            // Whoever looks from now on waits until the clock is there too.
            writing = Some(self.header.begin());
            value
        });
        match writing {
            Some(writing) => writing.end(place, ticket, UPDATE, || None),
            None => self.header.read(place, || ()),
        }
        value
    }

    /// As [`std::sync::OnceLock::into_inner`].
    pub fn into_inner(mut self) -> Option<T> {
        self.header.taken_apart();
        self.inner.into_inner()
    }

    /// As [`std::sync::OnceLock::take`].
    pub fn take(&mut self) -> Option<T> {
        self.header.taken_apart();
        self.inner.take()
    }

    /// As the controller of this thread sees it.
    fn object(&self) -> control::Object<'_> {
        self.header.as_once(self.inner.get().is_some())
    }

    /// The value, for one who only looks.
    pub(super) fn peek(&self) -> Option<&T> {
        self.inner.get()
    }
}

impl<T> Default for OnceLock<T> {
    #[track_caller]
    fn default() -> OnceLock<T> {
        OnceLock::new()
    }
}

impl<T: fmt::Debug> fmt::Debug for OnceLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl<T: Clone> Clone for OnceLock<T> {
    #[track_caller]
    fn clone(&self) -> OnceLock<T> {
        match self.get() {
            Some(value) => OnceLock::from(value.clone()),
            None => OnceLock::new(),
        }
    }
}

impl<T> From<T> for OnceLock<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        OnceLock {
            header: Header::new("OnceLock", Name::here()),
            inner: sync::OnceLock::from(value),
        }
    }
}

impl<T: PartialEq> PartialEq for OnceLock<T> {
    #[track_caller]
    fn eq(&self, other: &OnceLock<T>) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq> Eq for OnceLock<T> {}
