//! Application events.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use portent_monitor_core::{LocId, NameId, Value};

use super::{actor, names, recording};

/// A place where an event happens. Its ids are looked up once.
#[derive(Debug)]
pub struct Callsite {
    name: &'static str,
    file: &'static str,
    line: u32,
    column: u32,
    /// The ids of the name and of the place, from 1; 0 as long as nobody asked.
    ids: AtomicU64,
}

impl Callsite {
    /// In the source.
    pub const fn new(name: &'static str, file: &'static str, line: u32, column: u32) -> Callsite {
        Callsite {
            name,
            file,
            line,
            column,
            ids: AtomicU64::new(0),
        }
    }

    /// Whether somebody records it.
    #[inline]
    pub fn is_wanted(&self) -> bool {
        recording::any_open()
            && self
                .ids()
                .is_some_and(|(name, _)| actor::with(|actor| actor.wants(name)).unwrap_or_default())
    }

    /// It happens.
    #[inline]
    pub fn happened<const N: usize>(&self, args: [Value; N]) {
        if !recording::any_open() {
            return;
        }
        if let Some((name, loc)) = self.ids() {
            actor::with(|actor| {
                if actor.wants(name) {
                    actor.event(name, loc, args);
                }
            });
        }
    }

    #[inline]
    fn ids(&self) -> Option<(NameId, LocId)> {
        match self.ids.load(Relaxed) {
            0 => self.look_up(),
            ids => unpack(ids),
        }
    }

    #[cold]
    fn look_up(&self) -> Option<(NameId, LocId)> {
        let place = format!("{}:{}:{}", self.file, self.line, self.column);
        let (name, loc): (NameId, LocId) = names::with_table(|table| {
            let symbols = &mut table.symbols;
            (
                names::known(&mut symbols.names, self.name),
                names::known(&mut symbols.locs, &place),
            )
        });
        let ids = ((name.index() as u64 + 1) << 32) | (loc.index() as u64 + 1);
        self.ids.store(ids, Relaxed);
        unpack(ids)
    }
}

#[inline]
fn unpack(ids: u64) -> Option<(NameId, LocId)> {
    let index = |number: u64| (number & 0xffff_ffff) as usize - 1;
    Some((
        NameId::from_index(index(ids >> 32))?,
        LocId::from_index(index(ids))?,
    ))
}
