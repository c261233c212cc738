//! Ids unknown to some symbols: a sign that an event was made with different ones.
//!
//! An id is a number, and a small enough number has a name here, whichever symbols gave it out. So not every event made with
//! other symbols is recognised; but no event passes that would be shown without a name, or make a table as long as its id is
//! large.

use std::fmt;

use crate::{Action, Event, Id, Interner, Msg, Op, Stamped, Symbols};

/// The kind of a name; [`Symbols`] has a table for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SymbolKind {
    /// A thread, process or host.
    Thread,
    /// A shared variable.
    Variable,
    /// A lock.
    Lock,
    /// A channel.
    Channel,
    /// A condition variable.
    Condition,
    /// A barrier.
    Barrier,
    /// An application event, or anything else that has a name.
    Name,
    /// A place in the source.
    Location,
}

impl fmt::Display for SymbolKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            SymbolKind::Thread => "thread",
            SymbolKind::Variable => "variable",
            SymbolKind::Lock => "lock",
            SymbolKind::Channel => "channel",
            SymbolKind::Condition => "condition",
            SymbolKind::Barrier => "barrier",
            SymbolKind::Name => "name",
            SymbolKind::Location => "location",
        })
    }
}

impl Symbols {
    /// The kind of the first id in an event that these symbols never gave, if there is one.
    ///
    /// ```
    /// use portent_monitor_core::{Event, Op, SymbolKind, Symbols};
    ///
    /// let (mut symbols, mut others) = (Symbols::default(), Symbols::default());
    /// let (thread, lock) = (symbols.threads.intern("T")?, others.locks.intern("m")?);
    /// let event = Event::new(thread, Op::Lock(lock));
    /// assert_eq!(symbols.find_unknown(&event), Some(SymbolKind::Lock));
    /// symbols.locks.intern("m")?;
    /// assert_eq!(symbols.find_unknown(&event), None);
    /// # Ok::<(), portent_monitor_core::Error>(())
    /// ```
    #[inline]
    pub fn find_unknown(&self, event: &Event) -> Option<SymbolKind> {
        self.look_at(event).err()
    }

    #[inline]
    fn look_at(&self, event: &Event) -> Looked {
        look(&self.threads, event.thread, SymbolKind::Thread)?;
        look_if(&self.locs, event.loc, SymbolKind::Location)?;
        if event.details.is_some() {
            self.look_at_partners(event)?;
        }
        self.look_at_op(&event.op)
    }

    // The lists of an event, usually empty, are handled separately, so that other events take only a few comparisons.
    #[inline(never)]
    fn look_at_partners(&self, event: &Event) -> Looked {
        let mut partners = event.partners().iter();
        partners.try_for_each(|&thread| look(&self.threads, thread, SymbolKind::Thread))
    }

    #[inline]
    fn look_at_op(&self, op: &Op) -> Looked {
        use SymbolKind::{Barrier, Channel, Condition, Lock, Name, Thread, Variable};
        match op {
            Op::Read(var) | Op::Write(var, _) | Op::Update(var, _) => {
                look(&self.vars, *var, Variable)
            }
            Op::Lock(lock)
            | Op::Unlock(lock)
            | Op::Request(lock)
            | Op::ReadLock(lock)
            | Op::ReadUnlock(lock)
            | Op::TryLock(lock) => look(&self.locks, *lock, Lock),
            Op::Fork(child) | Op::Join(child) => look(&self.threads, *child, Thread),
            Op::Send(chan, msg, _) | Op::Recv(chan, msg, _) => {
                look(&self.chans, *chan, Channel)?;
                match msg {
                    Msg::Number(_) => Ok(()),
                    Msg::Name(name) => look(&self.names, *name, Name),
                }
            }
            Op::TryRecv(chan) => look(&self.chans, *chan, Channel),
            Op::Waiting(cond, lock) | Op::Wait(cond, lock) => {
                look(&self.conds, *cond, Condition)?;
                look_if(&self.locks, *lock, Lock)
            }
            Op::Notify(cond) => look(&self.conds, *cond, Condition),
            Op::Barrier(barrier, _) => look(&self.barriers, *barrier, Barrier),
            Op::Marker(_, block) => look_if(&self.names, *block, Name),
            Op::Event(action) => self.look_at_action(action),
            Op::Stamped(stamped) => self.look_at_stamped(stamped),
        }
    }

    #[inline(never)]
    fn look_at_stamped(&self, stamped: &Stamped) -> Looked {
        self.look_at_action(&stamped.action)?;
        let mut clock = stamped.clock.iter();
        clock.try_for_each(|&(thread, _)| look(&self.threads, thread, SymbolKind::Thread))
    }

    #[inline(never)]
    fn look_at_action(&self, action: &Action) -> Looked {
        look_if(&self.names, action.name, SymbolKind::Name)?;
        let mut set = action.set.iter();
        set.try_for_each(|&(var, _)| look(&self.vars, var, SymbolKind::Variable))
    }
}

/// The error is the kind of the unknown id.
type Looked = Result<(), SymbolKind>;

#[inline]
fn look<I: Id>(names: &Interner<I>, id: I, kind: SymbolKind) -> Looked {
    if id.index() < names.len() {
        Ok(())
    } else {
        Err(kind)
    }
}

#[inline]
fn look_if<I: Id>(names: &Interner<I>, id: Option<I>, kind: SymbolKind) -> Looked {
    id.map_or(Ok(()), |id| look(names, id, kind))
}
