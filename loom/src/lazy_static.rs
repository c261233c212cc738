//! The implementation of [`lazy_static!`](crate::lazy_static!).

use std::{any::Any, fmt, rc::Rc};

use crate::{raw, run};

/// A value for each run of a model, made when it is first used.
pub struct Lazy<T> {
    init: fn() -> T,
}

impl<T: 'static> Lazy<T> {
    #[doc(hidden)]
    #[must_use]
    pub const fn new(init: fn() -> T) -> Lazy<T> {
        Lazy { init }
    }

    /// The value.
    ///
    /// # Panics
    ///
    /// If called outside of a model.
    pub fn get(&'static self) -> &'static T {
        assert!(run::is_on(), "a lazy static is for inside of `loom::model`");
        let key = std::ptr::from_ref(self).addr();
        let value = run::lazy(key).unwrap_or_else(|| {
            // The initialiser may do anything, even let other threads run; then the first value stays.
            let value = Rc::new((self.init)()) as Rc<dyn Any>;
            run::make_lazy(key, value)
        });
        match raw::lazy(value) {
            Some(value) => value,
            None => unreachable!("a static has one type"),
        }
    }
}

impl<T: 'static> fmt::Debug for Lazy<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Lazy { .. }")
    }
}
