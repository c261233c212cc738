//! Something that is done once.

use std::{fmt, panic::Location, sync};

use super::{OnceState, header::Header};
use crate::{
    control::{self, Calling, Step},
    live::{
        actor::{self, Place},
        names::Name,
        operation::UPDATE,
        version,
    },
};

/// [`std::sync::Once`], with clocks.
///
/// ```
/// use portent_hooks::sync::Once;
///
/// static START: Once = Once::new();
/// START.call_once(|| {});
/// assert!(START.is_completed());
/// ```
pub struct Once {
    header: Header,
    inner: sync::Once,
}

/// As [`std::sync::ONCE_INIT`].
#[deprecated(note = "replaced by `Once::new()`, as in the standard library")]
#[expect(
    clippy::declare_interior_mutable_const,
    reason = "as in the standard library"
)]
pub const ONCE_INIT: Once = Once::new();

// That of the standard library has no default either.
#[expect(clippy::new_without_default)]
impl Once {
    /// As [`std::sync::Once::new`].
    #[inline]
    #[track_caller]
    pub const fn new() -> Once {
        Once {
            header: Header::new("Once", Name::here()),
            inner: sync::Once::new(),
        }
    }

    /// As [`std::sync::Once::call_once`].
    #[inline]
    #[track_caller]
    pub fn call_once<F: FnOnce()>(&self, f: F) {
        let place = Some(Location::caller());
        if let Some(controller) = control::current() {
            let calling = Calling::begin(&*controller, || self.object(), place);
            self.inner.call_once(|| {
                f();
                // Whoever looks before that step does not see it done.
                calling.done();
            });
        } else if self.inner.is_completed() {
            self.sees_it_done(place)
        } else {
            self.call(place, |done| {
                self.inner.call_once(|| {
                    f();
                    done();
                });
            })
        }
    }

    /// As [`std::sync::Once::call_once_force`].
    #[inline]
    #[track_caller]
    pub fn call_once_force<F: FnOnce(&OnceState)>(&self, f: F) {
        let place = Some(Location::caller());
        if let Some(controller) = control::current() {
            let calling = Calling::begin(&*controller, || self.object(), place);
            self.inner.call_once_force(|state| {
                f(state);
                calling.done();
            });
        } else if self.inner.is_completed() {
            self.sees_it_done(place)
        } else {
            self.call(place, |done| {
                self.inner.call_once_force(|state| {
                    f(state);
                    done();
                });
            })
        }
    }

    /// As [`std::sync::Once::is_completed`].
    #[inline]
    #[track_caller]
    pub fn is_completed(&self) -> bool {
        if let Some(controller) = control::current() {
            let place = Some(Location::caller());
            let turn = controller.step(Step::IsDone, self.object(), place);
            // The real one may be done already, where nobody can see it yet.
            return turn.succeeds && self.inner.is_completed();
        }
        self.header
            .read(Some(Location::caller()), || self.inner.is_completed())
    }

    /// As [`std::sync::Once::wait`].
    #[track_caller]
    pub fn wait(&self) {
        if let Some(controller) = control::current() {
            let place = Some(Location::caller());
            controller.step(Step::AwaitDone, self.object(), place);
            if !self.inner.is_completed() {
                controller.obstructed(self.object(), place);
            }
            return;
        }
        self.inner.wait();
        self.sees_it_done(Some(Location::caller()));
    }

    /// As [`std::sync::Once::wait_force`].
    #[track_caller]
    pub fn wait_force(&self) {
        if control::current().is_some() {
            return self.wait();
        }
        self.inner.wait_force();
        self.sees_it_done(Some(Location::caller()));
    }

    /// As the controller of this thread sees it.
    fn object(&self) -> control::Object<'_> {
        self.header.as_once(self.inner.is_completed())
    }

    #[inline]
    fn sees_it_done(&self, place: Place) {
        self.header.read(place, || ());
    }

    /// `call` calls what it is given when it has done what is to be done, if it does so.
    fn call(&self, place: Place, call: impl FnOnce(&mut dyn FnMut())) {
        let ticket = if version::is_hidden() {
            actor::prepare()
        } else {
            self.header.prepare()
        };
        let mut writing = None;
        call(&mut || writing = Some(self.header.begin()));
        match writing {
            Some(writing) => writing.end(place, ticket, UPDATE, || None),
            None => self.sees_it_done(place),
        }
    }
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Once").finish_non_exhaustive()
    }
}
