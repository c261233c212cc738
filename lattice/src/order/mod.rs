//! The partial order of events that one instance of a property is checked on.

mod covering;
mod locks;
mod observed;
mod of_slice;
mod packed;
mod poset;
mod requirements;
mod restriction;

pub use covering::covered;
pub(crate) use locks::Unlocked;
pub(crate) use observed::ObservedCuts;
pub(crate) use packed::{Packed, Packing, Unpacking};
pub use poset::{EventIndex, Poset};
pub(crate) use requirements::{Required, Requirements};
pub(crate) use restriction::{Past, Restriction, UnrestrictedEvent};

/// Up to this many chains, a count or an index for each is stored without allocation.
pub(crate) const FEW_CHAINS: usize = 32;

/// A number for each chain, such as the counts of a cut.
pub(crate) type Counts = smallvec::SmallVec<[u32; FEW_CHAINS]>;
