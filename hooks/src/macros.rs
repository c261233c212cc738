//! The macros `event!` and `thread_local!`.

/// Records an application event.
///
/// `event!(login)`, `event!(login, user = name, tries = 3)` or `event!(login, name, 3)`: first the name
/// by which properties refer to the event, then its arguments, in order. Arguments are values of any type that
/// implements [`ToValue`](crate::ToValue), and are evaluated only if the event is being recorded.
///
/// Without the feature `monitor` it compiles to nothing, but its arguments are still type-checked.
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

/// Records an application event; without the feature `monitor` it only type-checks its arguments.
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

/// As [`std::thread_local!`]. Threads under a controlled scheduler also have their own values, which are dropped when they end.
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
