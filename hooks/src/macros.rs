//! The one macro: an application event.

/// Something happened that only the application has a name for.
///
/// `event!(login)`, `event!(login, user = name, tries = 3)` or `event!(login, name, 3)`: the name is
/// what properties call the event, the rest are its arguments, in order. They are anything that
/// implements [`ToValue`](crate::ToValue), and are evaluated only where somebody records the event.
///
/// Without the feature `monitor` it compiles to nothing, though its arguments must have types that fit.
///
/// ```
/// use portent_hooks::event;
///
/// let user = String::from("bob");
/// event!(login, user = user, tries = 3);
/// event!(logout, &user);
/// ```
#[cfg(feature = "monitor")]
#[macro_export]
macro_rules! event {
    ($name:ident $(,)?) => {{
        static CALLSITE: $crate::__event::Callsite =
            $crate::__event::Callsite::new(stringify!($name), file!(), line!(), column!());
        CALLSITE.happened([]);
    }};
    ($name:ident, $($key:ident = $value:expr),+ $(,)?) => {
        $crate::event!($name, $($value),+)
    };
    ($name:ident, $($value:expr),+ $(,)?) => {{
        static CALLSITE: $crate::__event::Callsite =
            $crate::__event::Callsite::new(stringify!($name), file!(), line!(), column!());
        if CALLSITE.is_wanted() {
            CALLSITE.happened([$($crate::ToValue::to_value(&$value)),+]);
        }
    }};
}

/// Something happened that only the application has a name for: nothing, without the feature
/// `monitor`.
#[cfg(not(feature = "monitor"))]
#[macro_export]
macro_rules! event {
    ($name:ident $(,)?) => {{}};
    ($name:ident, $($key:ident = $value:expr),+ $(,)?) => {
        $crate::event!($name, $($value),+)
    };
    ($name:ident, $($value:expr),+ $(,)?) => {{
        if false {
            $(let _ = $crate::ToValue::to_value(&$value);)+
        }
    }};
}

/// As [`std::thread_local!`]; threads under control have their own, too, which are dropped when they end.
///
/// ```
/// use std::cell::Cell;
/// use portent_hooks::{thread, thread_local};
///
/// thread_local! {
///     static COUNT: Cell<u32> = Cell::new(0);
/// }
/// COUNT.set(1);
/// assert_eq!(thread::spawn(|| COUNT.get()).join().unwrap(), 0);
/// ```
#[cfg(feature = "monitor")]
#[macro_export]
macro_rules! thread_local {
    () => {};
    ($(#[$attr:meta])* $vis:vis static $name:ident: $type:ty = const $init:block $(; $($rest:tt)*)?) => {
        $(#[$attr])*
        $vis static $name: $crate::thread::LocalKey<$type> = {
            fn make() -> $type {
                const $init
            }
            $crate::__native::thread_local! {
                static NATIVE: $type = const $init;
            }
            $crate::thread::LocalKey::new(&NATIVE, make)
        };
        $($crate::thread_local!($($rest)*);)?
    };
    ($(#[$attr:meta])* $vis:vis static $name:ident: $type:ty = $init:expr $(; $($rest:tt)*)?) => {
        $(#[$attr])*
        $vis static $name: $crate::thread::LocalKey<$type> = {
            fn make() -> $type {
                $init
            }
            $crate::__native::thread_local! {
                static NATIVE: $type = make();
            }
            $crate::thread::LocalKey::new(&NATIVE, make)
        };
        $($crate::thread_local!($($rest)*);)?
    };
}
