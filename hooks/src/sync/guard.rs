//! What all guards of threads and of tasks, shared and exclusive, have in common: they give access to the value that is stored beside the clock.

/// A guard whose `inner` is that of the real lock, until it is given back. `mut` is one whose holder is alone.
macro_rules! shows_its_value {
    (mut $guard:ident) => {
        $crate::sync::guard::shows_its_value!($guard);

        impl<T: ?Sized> std::ops::DerefMut for $guard<'_, T> {
            #[inline]
            fn deref_mut(&mut self) -> &mut T {
                match &mut self.inner {
                    Some(inner) => &mut inner.value,
                    None => unreachable!("a guard has something inside until it is given back"),
                }
            }
        }
    };
    ($guard:ident) => {
        impl<T: ?Sized> std::ops::Deref for $guard<'_, T> {
            type Target = T;

            #[inline]
            fn deref(&self) -> &T {
                match &self.inner {
                    Some(inner) => &inner.value,
                    None => unreachable!("a guard has something inside until it is given back"),
                }
            }
        }

        impl<T: ?Sized + fmt::Debug> fmt::Debug for $guard<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }

        impl<T: ?Sized + fmt::Display> fmt::Display for $guard<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }
    };
}

pub(crate) use shows_its_value;
