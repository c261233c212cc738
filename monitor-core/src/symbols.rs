//! Names, stored once.
//!
//! A trace repeats a few thousand names millions of times. Events carry ids; the texts live here
//! and are looked up only when an event is shown, or when a property is bound to a trace.

use std::{hash::Hasher, marker::PhantomData, ops::Range, str};

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use crate::{
    BarrierId, ChanId, CondId, Error, Event, Id, LocId, LockId, NameId, SymbolKind, ThreadId, VarId,
};

/// Gives each distinct text of one kind an id, densely from 0 in order of first appearance.
///
/// ```
/// use portent_monitor_core::{Interner, VarId};
///
/// let mut vars = Interner::<VarId>::default();
/// let x = vars.intern("x")?;
/// assert_eq!(vars.intern("x")?, x);
/// assert_eq!(vars.name(x), "x");
/// assert_eq!(vars.get("y"), None);
/// # Ok::<(), portent_monitor_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Interner<I> {
    /// All names end to end; name `i` is `text[ends[i - 1]..ends[i]]`.
    text: String,
    ends: Vec<usize>,
    table: HashTable<u32>,
    kind: PhantomData<I>,
}

impl<I> Default for Interner<I> {
    fn default() -> Self {
        Interner {
            text: String::new(),
            ends: Vec::new(),
            table: HashTable::new(),
            kind: PhantomData,
        }
    }
}

#[inline]
fn hash(name: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(name);
    hasher.finish()
}

/// The range of a name in the text.
#[inline]
fn span(ends: &[usize], index: usize) -> Range<usize> {
    let start = if index == 0 { 0 } else { ends[index - 1] };
    start..ends[index]
}

impl<I: Id> Interner<I> {
    /// The id of `name`, which is stored if it is new.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyNames`] when 32 bits do not suffice.
    #[inline]
    pub fn intern(&mut self, name: &str) -> Result<I, Error> {
        self.intern_bytes(name.as_bytes())
    }

    /// As [`intern`](Self::intern), from bytes that are checked to be UTF-8 only when they are new.
    ///
    /// # Errors
    ///
    /// [`Error::NotUtf8`], [`Error::TooManyNames`].
    pub fn intern_bytes(&mut self, name: &[u8]) -> Result<I, Error> {
        let hash_of_name = hash(name);
        // Bytes, because slicing a string would check for character boundaries.
        let (text, ends) = (self.text.as_bytes(), &self.ends);
        let found = self
            .table
            .find(hash_of_name, |&i| text[span(ends, i as usize)] == *name);
        match found.map(|&index| I::from_index(index as usize)) {
            Some(Some(id)) => Ok(id),
            Some(None) => Err(Error::TooManyNames),
            None => self.store(name, hash_of_name),
        }
    }

    #[cold]
    fn store(&mut self, name: &[u8], hash_of_name: u64) -> Result<I, Error> {
        let name = str::from_utf8(name).map_err(|_| Error::NotUtf8)?;
        let index = self.ends.len();
        let id = I::from_index(index).ok_or(Error::TooManyNames)?;
        let index = u32::try_from(index).map_err(|_| Error::TooManyNames)?;
        self.text.push_str(name);
        self.ends.push(self.text.len());
        let (text, ends) = (self.text.as_bytes(), &self.ends);
        self.table.insert_unique(hash_of_name, index, |&i| {
            hash(&text[span(ends, i as usize)])
        });
        Ok(id)
    }

    /// The id of `name`, if it was ever interned.
    pub fn get(&self, name: &str) -> Option<I> {
        self.table
            .find(hash(name.as_bytes()), |&i| {
                self.text[span(&self.ends, i as usize)] == *name
            })
            .and_then(|&i| I::from_index(i as usize))
    }

    /// The text of an id; `"?"` for an id that this interner did not give.
    pub fn name(&self, id: I) -> &str {
        if id.index() < self.ends.len() {
            &self.text[span(&self.ends, id.index())]
        } else {
            "?"
        }
    }

    /// The number of names.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no name yet.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All names in the order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.iter_from(0)
    }

    fn iter_from(&self, first: usize) -> impl Iterator<Item = &str> {
        (first..self.len()).map(|i| &self.text[span(&self.ends, i)])
    }

    /// See [`Symbols::catch_up`].
    #[inline]
    fn catch_up(&mut self, other: &Interner<I>, kind: SymbolKind) -> Result<(), Error> {
        if self.len() == other.len() {
            return Ok(());
        }
        self.append(other, kind)
    }

    #[cold]
    fn append(&mut self, other: &Interner<I>, kind: SymbolKind) -> Result<(), Error> {
        let known = self.len();
        // Comparing the last name detects nearly every mistake, at a cost independent of the number of names.
        let last = known.checked_sub(1);
        let is_same = |last| self.iter_from(last).next() == other.iter_from(last).next();
        if known > other.len() || !last.is_none_or(is_same) {
            return Err(Error::OtherNames { kind });
        }
        for (index, name) in (known..).zip(other.iter_from(known)) {
            if self.intern(name)?.index() != index {
                return Err(Error::OtherNames { kind });
            }
        }
        Ok(())
    }

    /// The approximate size of the names in bytes.
    fn bytes(&self) -> usize {
        let ends = self.ends.capacity() * size_of::<usize>();
        // An index and a byte of the hash, and an eighth of the slots is free.
        self.text.capacity() + ends + self.table.capacity() * 6
    }
}

/// The names of one run, by kind, or of several runs with common ids. A name is its spelling: the integer `7` and the text
/// `"7"` in a trace are the same thread.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    /// Threads, processes, hosts.
    pub threads: Interner<ThreadId>,
    /// Shared variables.
    pub vars: Interner<VarId>,
    /// Locks.
    pub locks: Interner<LockId>,
    /// Channels.
    pub chans: Interner<ChanId>,
    /// Condition variables.
    pub conds: Interner<CondId>,
    /// Barriers.
    pub barriers: Interner<BarrierId>,
    /// Application events and everything else that has a name.
    pub names: Interner<NameId>,
    /// Places in the source.
    pub locs: Interner<LocId>,
}

impl Symbols {
    /// The text that `matches` in a property reads: the event's own text or, if it has none, its spelling in
    /// the STD format (see [`Spelling`](crate::Spelling)).
    pub fn text_of<'a>(&self, event: &'a Event) -> std::borrow::Cow<'a, str> {
        match event.text() {
            Some(text) => text.into(),
            None => crate::Spelling::new(event, self).to_string().into(),
        }
    }

    /// Adds the names that only `other` has, with their ids, so that events made with `other` can be given to consumers
    /// with these symbols. If nothing is new, this compares eight lengths.
    ///
    /// # Errors
    ///
    /// [`Error::OtherNames`] if these symbols have also got names from elsewhere, as far as the new names and the last one
    /// of each kind show that.
    ///
    /// ```
    /// use portent_monitor_core::Symbols;
    ///
    /// let (mut program, mut watcher) = (Symbols::default(), Symbols::default());
    /// let m = program.locks.intern("m")?;
    /// watcher.catch_up(&program)?;
    /// assert_eq!(watcher.locks.get("m"), Some(m));
    /// program.locks.intern("n")?;
    /// watcher.catch_up(&program)?;
    /// assert_eq!(watcher.locks.len(), 2);
    /// # Ok::<(), portent_monitor_core::Error>(())
    /// ```
    pub fn catch_up(&mut self, other: &Symbols) -> Result<(), Error> {
        self.threads.catch_up(&other.threads, SymbolKind::Thread)?;
        self.vars.catch_up(&other.vars, SymbolKind::Variable)?;
        self.locks.catch_up(&other.locks, SymbolKind::Lock)?;
        self.chans.catch_up(&other.chans, SymbolKind::Channel)?;
        self.conds.catch_up(&other.conds, SymbolKind::Condition)?;
        self.barriers
            .catch_up(&other.barriers, SymbolKind::Barrier)?;
        self.names.catch_up(&other.names, SymbolKind::Name)?;
        self.locs.catch_up(&other.locs, SymbolKind::Location)
    }

    /// The approximate size of all names in bytes, with room to grow.
    pub fn bytes(&self) -> usize {
        self.threads.bytes()
            + self.vars.bytes()
            + self.locks.bytes()
            + self.chans.bytes()
            + self.conds.bytes()
            + self.barriers.bytes()
            + self.names.bytes()
            + self.locs.bytes()
    }
}
