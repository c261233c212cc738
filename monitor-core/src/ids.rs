//! Newtype ids: what an event says instead of a name.
//!
//! Each kind of thing that a program has (threads, variables, locks, ...) has its own id type, so
//! that a lock cannot be looked up among the variables. Ids are dense from 0: whoever keeps
//! something per thread or per variable keeps it in a vector.

use std::fmt;

/// A dense 32-bit id; see the types that implement it.
pub trait Id: Copy + Eq + fmt::Debug {
    /// The id with this index, or `None` beyond what 32 bits hold.
    fn from_index(index: usize) -> Option<Self>;
    /// The index, from 0.
    fn index(self) -> usize;
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(u32);

        impl $name {
            /// The id with this index, or `None` beyond what 32 bits hold.
            pub fn from_index(index: usize) -> Option<Self> {
                u32::try_from(index).ok().map(Self)
            }

            /// The index, from 0.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl Id for $name {
            fn from_index(index: usize) -> Option<Self> {
                Self::from_index(index)
            }

            fn index(self) -> usize {
                self.index()
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }
    )*};
}

ids! {
    /// A thread, process or host of the observed program.
    ThreadId;
    /// A shared variable.
    VarId;
    /// A lock; a read-write lock is one lock with two sides.
    LockId;
    /// A channel.
    ChanId;
    /// A condition variable.
    CondId;
    /// A barrier.
    BarrierId;
    /// Any other name: an application event, a marker's operand, a message that is not a number.
    NameId;
    /// A place in the source, as the trace spells it.
    LocId;
    /// One component of a [`Clock`](crate::Clock): a thread, or several that followed each other.
    ChainId;
}
