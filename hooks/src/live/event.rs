//! Application events.

use std::{
    cell::Cell,
    sync::{
        Arc,
        atomic::{
            AtomicU32,
            Ordering::{Acquire, Relaxed, Release},
        },
    },
};

#[cfg(feature = "tracing-layer")]
use portent_monitor_core::VarId;
use portent_monitor_core::{LocId, NameId, Value};

use crate::control;

use super::{
    actor, names,
    record::{self, Words},
    recording,
};

thread_local! {
    /// The callsite that this thread was last told is wanted, and in which generation of recordings: most often the next one
    /// is the same. Without a destructor, so that it is one load.
    static WANTED: Cell<(usize, u64)> = const { Cell::new((0, 0)) };
}

/// The thread takes part in another recording.
pub(super) fn forget_wanted() {
    WANTED.set((0, 0));
}

/// A place where an event happens. Its ids are looked up once.
#[derive(Debug)]
pub struct Callsite {
    name: &'static str,
    file: &'static str,
    line: u32,
    column: u32,
    /// The ids of the name and of the place, from 1; 0 until they are first needed.
    id: AtomicU32,
    loc: AtomicU32,
}

impl Callsite {
    /// In the source.
    pub const fn new(name: &'static str, file: &'static str, line: u32, column: u32) -> Callsite {
        Callsite {
            name,
            file,
            line,
            column,
            id: AtomicU32::new(0),
            loc: AtomicU32::new(0),
        }
    }

    /// The name of the event.
    #[must_use]
    pub fn called(&self) -> &'static str {
        self.name
    }

    /// Where it is: file, line and column.
    #[must_use]
    pub fn place(&self) -> (&'static str, u32, u32) {
        (self.file, self.line, self.column)
    }

    /// Whether it is being recorded.
    #[inline]
    pub fn is_wanted(&'static self) -> bool {
        recording::any_open() && (self.was_wanted() || self.asks())
    }

    /// Records it.
    #[inline]
    pub fn happened<const N: usize>(&'static self, args: [Value; N]) {
        if recording::any_open() {
            if let Some(controller) = control::current() {
                if N > 0 || controller.wants(self.name) {
                    controller.event(self, &args);
                }
                return;
            }
            if N == 0 {
                return self.tell_alone();
            }
            // Values become words here, where the compiler knows what they are.
            let mut texts = Vec::new();
            let args = args.map(|arg| record::value(arg, |text| texts.push(text)));
            self.tell(&args, &mut texts);
            if texts.capacity() == 0 {
                // Nothing to be freed, which the compiler does not see.
                std::mem::forget(texts);
            }
        }
    }

    #[inline(never)]
    fn asks(&self) -> bool {
        if let Some(controller) = control::current() {
            return controller.wants(self.name);
        }
        let (name, generation) = (self.name(), recording::generation());
        let wants = actor::with(|actor| name.is_some_and(|name| actor.wants(name)));
        let wants = wants.unwrap_or_default();
        if wants {
            WANTED.set((self.address(), generation));
        }
        wants
    }

    /// Whether it was wanted the last time this thread asked, and nothing has changed.
    #[inline]
    fn was_wanted(&self) -> bool {
        WANTED.get() == (self.address(), recording::generation())
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    #[inline(never)]
    fn tell(&self, args: &[Words], texts: &mut Vec<Arc<str>>) {
        if let Some((name, loc)) = self.ids() {
            actor::with(|actor| actor.event(name, loc, args, texts));
        }
    }

    /// Without arguments, which most events are: it is the cheaper for that.
    #[inline(never)]
    fn tell_alone(&self) {
        if let Some((name, loc)) = self.ids() {
            actor::with(|actor| actor.event(name, loc, &[], &mut Vec::new()));
        }
    }

    #[inline(always)]
    fn ids(&self) -> Option<(NameId, LocId)> {
        let name = self.name()?;
        let loc = LocId::from_index(self.loc.load(Relaxed) as usize - 1)?;
        Some((name, loc))
    }

    #[inline]
    fn name(&self) -> Option<NameId> {
        match self.id.load(Acquire) {
            0 => Some(self.look_up()),
            id => NameId::from_index(id as usize - 1),
        }
    }

    #[cold]
    fn look_up(&self) -> NameId {
        let place = format!("{}:{}:{}", self.file, self.line, self.column);
        let (name, loc): (NameId, LocId) = names::with_table(|table| {
            let symbols = &mut table.symbols;
            (
                names::known(&mut symbols.names, self.name),
                names::known(&mut symbols.locs, &place),
            )
        });
        self.loc.store(loc.index() as u32 + 1, Relaxed);
        // With it goes the place.
        self.id.store(name.index() as u32 + 1, Release);
        name
    }
}

/// An event whose name is not known to the compiler.
#[cfg(feature = "tracing-layer")]
#[derive(Debug)]
pub(crate) struct NamedEvent(NameId);

#[cfg(feature = "tracing-layer")]
impl NamedEvent {
    pub(crate) fn new(name: &str) -> NamedEvent {
        NamedEvent(names::with_table(|table| {
            names::known(&mut table.symbols.names, name)
        }))
    }

    /// Whether this thread records it.
    pub(crate) fn is_wanted(&self) -> bool {
        recording::any_open() && actor::with(|actor| actor.wants(self.0)).unwrap_or_default()
    }

    /// It happens, at a place in the source.
    pub(crate) fn happened(&self, loc: LocId, args: impl IntoIterator<Item = Value>) {
        let mut texts = Vec::new();
        let args = args.into_iter();
        let args: Vec<Words> =
            { args.map(|arg| record::value(arg, |text| texts.push(text))) }.collect();
        actor::with(|actor| actor.event(self.0, loc, &args, &mut texts));
    }
}

/// A variable whose name is not known to the compiler.
#[cfg(feature = "tracing-layer")]
#[derive(Debug)]
pub(crate) struct NamedVariable(VarId);

#[cfg(feature = "tracing-layer")]
impl NamedVariable {
    pub(crate) fn new(name: &str) -> NamedVariable {
        NamedVariable(names::with_table(|table| {
            names::known(&mut table.symbols.vars, name)
        }))
    }

    /// Whether this thread records its writes.
    pub(crate) fn is_wanted(&self) -> bool {
        recording::any_open() && actor::with(|actor| actor.wants_var(self.0)).unwrap_or_default()
    }
}

/// The id of a place in the source.
#[cfg(feature = "tracing-layer")]
pub(crate) fn place(spelled: &str) -> LocId {
    names::with_table(|table| names::known(&mut table.symbols.locs, spelled))
}
