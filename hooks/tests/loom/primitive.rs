//! What threads share, of the model checker, in the place of `src/primitive.rs`; and one step of the code that is done otherwise.
//!
//! The step is named by its line in the source, which is looked up, and known by the place of the call when it is done. So the code itself is
//! what is checked, and has no idea of it.

use std::{
    cell::Cell,
    panic::Location,
    sync::{LockResult, Mutex as Plain, OnceLock, atomic::Ordering},
};

pub(crate) use loom::{sync::MutexGuard, thread::yield_now};

/// How a step is done otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// With the weakest ordering.
    Relaxed,
    /// Not at all.
    LeftOut,
    /// It is not looked at again: it is as it was when this thread last looked.
    AsBefore,
    /// It takes another lock, so that it waits for nobody.
    OtherLock,
}

/// A step: the only one with this text in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Site {
    pub(crate) file: &'static str,
    pub(crate) line: u32,
    pub(crate) change: Change,
}

const SOURCES: [(&str, &str); 3] = [
    ("gate.rs", include_str!("../../src/gate.rs")),
    ("header.rs", include_str!("../../src/sync/header.rs")),
    (
        "outer_clock.rs",
        include_str!("../../src/sync/outer_clock.rs"),
    ),
];

impl Site {
    /// The step whose line has this text in the function of this name.
    pub(crate) fn find(file: &str, function: &str, text: &str, change: Change) -> Site {
        let (file, source) = SOURCES.into_iter().find(|(name, _)| *name == file).unwrap();
        let function = format!("fn {function}");
        let mut lines = (1..).zip(source.lines());
        lines
            .find(|(_, line)| line.contains(&function))
            .unwrap_or_else(|| panic!("{file} has no {function}"));
        let inside = lines.take_while(|(_, line)| *line != "    }");
        let found: Vec<u32> = inside
            .filter(|(_, line)| line.contains(text))
            .map(|(number, _)| number)
            .collect();
        assert_eq!(found.len(), 1, "`{text}` in {function} of {file}");
        Site {
            file,
            line: found[0],
            change,
        }
    }
}

thread_local! {
    /// All threads of a model run in one of the operating system.
    static CHANGED: Cell<Option<Site>> = const { Cell::new(None) };
    /// Whether it was done otherwise at all.
    static REACHED: Cell<bool> = const { Cell::new(false) };
}

/// From now on this step is done otherwise.
pub(crate) fn change(site: Option<Site>) {
    CHANGED.set(site);
    REACHED.set(false);
}

/// Whether the step that is done otherwise was ever done.
pub(crate) fn was_reached() -> bool {
    REACHED.get()
}

fn at(place: &Location<'_>) -> Option<Change> {
    let site = CHANGED.get()?;
    let here = site.line == place.line() && place.file().ends_with(site.file);
    if here {
        REACHED.set(true);
    }
    here.then_some(site.change)
}

/// The ordering of a step at this place; `None` if it is left out.
fn ordering(place: &Location<'_>, order: Ordering) -> Option<Ordering> {
    match at(place) {
        Some(Change::Relaxed) => Some(Ordering::Relaxed),
        Some(Change::LeftOut) => None,
        _ => Some(order),
    }
}

loom::thread_local! {
    static SEEN: Cell<u64> = Cell::new(0);
}

/// Objects of loom cannot be made by constants: they are made when they are first looked at, which is before they are shared (see
/// [`made`]).
macro_rules! atomics {
    ($($name:ident $value:ty;)*) => {$(
        pub(crate) struct $name {
            first: $value,
            inner: OnceLock<loom::sync::atomic::$name>,
        }

        #[allow(dead_code, reason = "not all have all of them")]
        impl $name {
            pub(crate) const fn new(first: $value) -> Self {
                let inner = OnceLock::new();
                Self { first, inner }
            }

            pub(crate) fn inner(&self) -> &loom::sync::atomic::$name {
                self.inner.get_or_init(|| loom::sync::atomic::$name::new(self.first))
            }

            #[track_caller]
            pub(crate) fn load(&self, order: Ordering) -> $value {
                let place = Location::caller();
                if at(place) == Some(Change::AsBefore) {
                    return SEEN.with(Cell::get) as $value;
                }
                let value = self.inner().load(ordering(place, order).unwrap_or(order));
                SEEN.with(|seen| seen.set(value as u64));
                value
            }

            #[track_caller]
            pub(crate) fn store(&self, value: $value, order: Ordering) {
                if let Some(order) = ordering(Location::caller(), order) {
                    self.inner().store(value, order);
                }
            }

            #[track_caller]
            pub(crate) fn fetch_or(&self, value: $value, order: Ordering) -> $value {
                match ordering(Location::caller(), order) {
                    Some(order) => self.inner().fetch_or(value, order),
                    None => 0,
                }
            }

            #[track_caller]
            pub(crate) fn fetch_and(&self, value: $value, order: Ordering) -> $value {
                match ordering(Location::caller(), order) {
                    Some(order) => self.inner().fetch_and(value, order),
                    None => 0,
                }
            }

            #[track_caller]
            pub(crate) fn fetch_update(
                &self,
                success: Ordering,
                failure: Ordering,
                f: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                let success = ordering(Location::caller(), success).unwrap_or(success);
                self.inner().fetch_update(success, failure, f)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.inner();
                f.write_str(stringify!($name))
            }
        }
    )*};
}

atomics! {
    AtomicU8 u8;
    AtomicU64 u64;
    AtomicUsize usize;
}

pub(crate) struct Mutex<T> {
    first: Plain<Option<T>>,
    inner: OnceLock<loom::sync::Mutex<T>>,
    other: OnceLock<loom::sync::Mutex<T>>,
}

impl<T> Mutex<T> {
    pub(crate) const fn new(first: T) -> Mutex<T> {
        Mutex {
            first: Plain::new(Some(first)),
            inner: OnceLock::new(),
            other: OnceLock::new(),
        }
    }
}

impl<T: Default> Mutex<T> {
    fn inner(&self) -> &loom::sync::Mutex<T> {
        self.inner.get_or_init(|| {
            let first = self.first.lock().unwrap().take();
            loom::sync::Mutex::new(first.unwrap())
        })
    }

    fn other(&self) -> &loom::sync::Mutex<T> {
        let make = || loom::sync::Mutex::new(T::default());
        self.other.get_or_init(make)
    }

    #[track_caller]
    pub(crate) fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        match at(Location::caller()) {
            Some(Change::OtherLock) => self.other().lock(),
            _ => self.inner().lock(),
        }
    }

    pub(crate) fn get_mut(&mut self) -> LockResult<&mut T> {
        self.inner();
        self.inner.get_mut().unwrap().get_mut()
    }
}

impl<T: Default> std::fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.inner();
        self.other();
        f.write_str("Mutex")
    }
}

pub(crate) struct Condvar(OnceLock<loom::sync::Condvar>);

impl Condvar {
    pub(crate) const fn new() -> Condvar {
        Condvar(OnceLock::new())
    }

    fn inner(&self) -> &loom::sync::Condvar {
        self.0.get_or_init(loom::sync::Condvar::new)
    }

    pub(crate) fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        self.inner().wait(guard)
    }

    pub(crate) fn notify_all(&self) {
        self.inner().notify_all();
    }
}

impl std::fmt::Debug for Condvar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.inner();
        f.write_str("Condvar")
    }
}

/// An object that is about to be shared: all that is inside is made now. To show an object is to look at all of it.
pub(crate) fn made<T: std::fmt::Debug>(object: T) -> T {
    let _ = format!("{object:?}");
    object
}
