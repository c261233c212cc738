//! Newtype ids, which events contain instead of names.
//!
//! Each kind of object in a program (threads, variables, locks, ...) has its own id type, so
//! that a lock cannot be looked up among the variables. Ids are dense from 0, so
//! data per thread or per variable is kept in a vector. Other crates number their own objects with
//! the same macro.

use std::fmt;

/// A dense 32-bit id; see the types that implement it.
pub trait Id: Copy + Eq + fmt::Debug {
    /// The id with this index, or `None` beyond what 32 bits hold.
    fn from_index(index: usize) -> Option<Self>;
    /// The index, from 0.
    fn index(self) -> usize;

    /// The entry for this id, which is created if necessary.
    ///
    /// ```
    /// use portent_monitor_core::{Id, VarId};
    ///
    /// let mut writes: Vec<u32> = Vec::new();
    /// *VarId::from_index(2).unwrap().entry(&mut writes) += 1;
    /// assert_eq!(writes, [0, 0, 1]);
    /// ```
    #[inline]
    fn entry<T: Default>(self, all: &mut Vec<T>) -> &mut T {
        if self.index() >= all.len() {
            all.resize_with(self.index() + 1, T::default);
        }
        &mut all[self.index()]
    }
}

/// Declares newtypes of dense 32-bit ids.
///
/// Each has `from_index`, `index` and `first`, is made from a `u32`, compares and hashes as its number, and
/// implements [`Id`](crate::Id).
///
/// ```
/// portent_monitor_core::ids! {
///     /// A room of a house.
///     pub struct RoomId(u32);
/// }
///
/// let room = RoomId::from_index(3).expect("few rooms");
/// assert_eq!((room.index(), format!("{room:?}")), (3, "RoomId(3)".to_owned()));
/// assert_eq!(RoomId::from_index(usize::MAX), None);
/// assert_eq!(RoomId::first(4).last(), Some(room));
/// assert_eq!(RoomId::from(3), room);
/// ```
#[macro_export]
macro_rules! ids {
    ($($(#[$meta:meta])* $vis:vis struct $name:ident($inner:vis u32);)*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        $vis struct $name($inner u32);

        // Not every kind of id needs all of them.
        #[allow(dead_code)]
        impl $name {
            /// The id with this index, or `None` beyond what 32 bits hold.
            #[inline]
            $vis fn from_index(index: usize) -> Option<Self> {
                u32::try_from(index).ok().map(Self)
            }

            /// The index, from 0.
            #[inline]
            $vis fn index(self) -> usize {
                self.0 as usize
            }

            /// The ids of this many items, in order: those of a vector with one entry for each.
            #[inline]
            $vis fn first(
                count: usize,
            ) -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator + Clone {
                (0..u32::try_from(count).unwrap_or(u32::MAX)).map(Self)
            }
        }

        impl From<u32> for $name {
            #[inline]
            fn from(number: u32) -> Self {
                Self(number)
            }
        }

        impl $crate::Id for $name {
            #[inline]
            fn from_index(index: usize) -> Option<Self> {
                Self::from_index(index)
            }

            #[inline]
            fn index(self) -> usize {
                self.index()
            }
        }

        impl ::std::fmt::Debug for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }
    )*};
}

ids! {
    /// A thread, process or host of the observed program.
    pub struct ThreadId(u32);
    /// A shared variable.
    pub struct VarId(u32);
    /// A lock; a read-write lock is one lock with two sides.
    pub struct LockId(u32);
    /// A channel.
    pub struct ChanId(u32);
    /// A condition variable.
    pub struct CondId(u32);
    /// A barrier.
    pub struct BarrierId(u32);
    /// Any other name: an application event, a marker's operand, a message that is not a number.
    pub struct NameId(u32);
    /// A place in the source, as the trace spells it.
    pub struct LocId(u32);
    /// One component of a [`Clock`](crate::Clock): a thread, or several successive ones.
    pub struct ChainId(u32);
}
