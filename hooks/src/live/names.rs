//! Ids of everything that has a name: one table for the process.
//!
//! An object without a given name is named after its type and the place where it was created, with a number
//! from the second one on: `Mutex@src/queue.rs:10`, `Mutex@src/queue.rs:10#2`. A name is looked up only
//! when it is first needed; the object then keeps the id.

use std::{
    fmt::Write,
    panic::Location,
    sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed},
};

use portent_monitor_core::{Id, Interner, LocId, NameId, Symbols, ThreadId};
use rustc_hash::FxHashMap;

use super::{actor::Place, fork_aware::ForkAware};

pub(super) static TABLE: ForkAware<Table> = ForkAware::new();

#[derive(Default)]
pub(crate) struct Table {
    pub(crate) symbols: Symbols,
    /// How often a name that was not given has been used.
    used: FxHashMap<String, u32>,
}

/// The names of all threads and objects that were ever recorded in this process.
///
/// ```
/// assert!(portent_hooks::symbols().threads.get("nobody").is_none());
/// ```
pub fn symbols() -> Symbols {
    with_table(|table| table.symbols.clone())
}

pub(crate) fn with_table<R>(f: impl FnOnce(&mut Table) -> R) -> R {
    TABLE.with(f)
}

impl Table {
    /// An id for a separate object with this name.
    pub(super) fn distinct<I: Id>(
        &mut self,
        mut name: String,
        interner: impl FnOnce(&mut Symbols) -> &mut Interner<I>,
    ) -> I {
        let interner = interner(&mut self.symbols);
        let used = self.used.entry(name.clone()).or_default();
        let base = name.len();
        loop {
            *used += 1;
            if *used > 1 {
                name.truncate(base);
                let _ = write!(name, "#{used}");
            }
            if interner.get(&name).is_none() {
                return known(interner, &name);
            }
        }
    }
}

/// The id of a name.
///
/// After four thousand million names the process is at its end; the last id then stands for all.
pub(super) fn known<I: Id>(interner: &mut Interner<I>, name: &str) -> I {
    match interner.intern(name) {
        Ok(id) => id,
        Err(_) => I::from_index(u32::MAX as usize - 1).expect("fits in 32 bits"),
    }
}

/// What an object is called. It has the size of a pointer and two numbers.
#[derive(Debug)]
pub(crate) struct Name {
    made: Place,
    /// Its id, from 1; 0 until it is first needed.
    id: AtomicU32,
    /// Whatever a controller wrote on it.
    tag: AtomicU64,
}

impl Name {
    #[track_caller]
    pub(crate) const fn here() -> Name {
        Name {
            made: Some(Location::caller()),
            id: AtomicU32::new(0),
            tag: AtomicU64::new(0),
        }
    }

    /// For an object whose place is unknown.
    #[cfg(feature = "lock_api")]
    pub(crate) const fn nowhere() -> Name {
        Name {
            made: None,
            id: AtomicU32::new(0),
            tag: AtomicU64::new(0),
        }
    }

    /// A given name. Objects with the same name count as the same object.
    #[track_caller]
    pub(crate) fn given<I: Id>(
        name: &str,
        interner: impl FnOnce(&mut Symbols) -> &mut Interner<I>,
    ) -> Name {
        let id: I = with_table(|table| known(interner(&mut table.symbols), name));
        Name {
            made: Some(Location::caller()),
            id: AtomicU32::new(number(id)),
            tag: AtomicU64::new(0),
        }
    }

    /// For something else that was made at the same place.
    pub(crate) const fn another(&self) -> Name {
        Name {
            made: self.made,
            id: AtomicU32::new(0),
            tag: AtomicU64::new(0),
        }
    }

    #[inline]
    pub(crate) fn tag(&self) -> &AtomicU64 {
        &self.tag
    }

    pub(crate) fn made(&self) -> Place {
        self.made
    }

    /// The number of the id, if it has one.
    pub(crate) fn number(&self) -> Option<u32> {
        self.id.load(Relaxed).checked_sub(1)
    }

    /// The id, if it has one.
    #[inline]
    pub(crate) fn get<I: Id>(&self) -> Option<I> {
        let number = self.id.load(Relaxed);
        I::from_index((number as usize).checked_sub(1)?)
    }

    #[inline]
    pub(crate) fn is_known(&self) -> bool {
        self.id.load(Relaxed) != 0
    }

    /// The id; `kind` and the place are the name of an object that has none.
    pub(crate) fn id<I: Id>(
        &self,
        kind: &str,
        interner: impl FnOnce(&mut Symbols) -> &mut Interner<I>,
    ) -> I {
        self.id_at(kind, self.made, interner)
    }

    /// As [`id`](Self::id), of something that is at this place.
    pub(crate) fn id_at<I: Id>(
        &self,
        kind: &str,
        place: Place,
        interner: impl FnOnce(&mut Symbols) -> &mut Interner<I>,
    ) -> I {
        if let Some(id) = self.get() {
            return id;
        }
        let name = match place {
            Some(place) => format!("{kind}@{}:{}", place.file(), place.line()),
            None => kind.to_owned(),
        };
        with_table(|table| {
            // Another thread may have been faster.
            self.get().unwrap_or_else(|| {
                let id = table.distinct(name, interner);
                self.id.store(number(id), Relaxed);
                id
            })
        })
    }
}

fn number<I: Id>(id: I) -> u32 {
    u32::try_from(id.index() + 1).unwrap_or(u32::MAX)
}

/// The id of a block.
pub(crate) fn block(name: &str) -> NameId {
    with_table(|table| known(&mut table.symbols.names, name))
}

/// The name behind the number of an id.
pub(crate) fn text<I: Id>(interner: &Interner<I>, number: u32) -> String {
    I::from_index(number as usize).map_or_else(String::new, |id| interner.name(id).to_owned())
}

/// The id of a thread, or of what stands for some, that is called so.
pub(super) fn thread(name: &str) -> ThreadId {
    with_table(|table| known(&mut table.symbols.threads, name))
}

/// The id of a place in the source.
pub(super) fn place(location: &Location<'_>) -> LocId {
    let spelled = location.to_string();
    with_table(|table| known(&mut table.symbols.locs, &spelled))
}
