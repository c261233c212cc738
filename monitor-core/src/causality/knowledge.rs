//! What a thread carries along and leaves at objects, independent of its representation.
//!
//! A thread receives from the objects of its event, and leaves its knowledge at them, as the
//! [`Access`] says. For vector clocks ([`ThreadClock`](crate::ThreadClock)) the knowledge is how many
//! events of each chain are in the past; another analysis may carry something else along the same
//! edges.

use std::fmt::Debug;

use super::{
    edges::{Access, Object},
    thread_clock::{Snapshot, Version},
};
use crate::ThreadId;

/// A thread's knowledge of the past.
pub trait Knowledge: Debug + Clone {
    /// What it leaves at an object: empty by default, and growing with what is added.
    type Published: Debug + Clone + Default;

    /// A thread that has done nothing.
    fn new(thread: ThreadId) -> Self;

    /// Whether it travels through this object at all.
    fn travels(_: Object) -> bool {
        true
    }

    /// Whether nothing was left.
    fn is_empty(left: &Self::Published) -> bool;

    /// Learns what other threads left.
    fn learn(&mut self, left: &Self::Published);

    /// Adds its knowledge to what is there.
    fn add_to(&mut self, left: &mut Self::Published);

    /// Adds what another thread left, without learning it.
    fn merge(&mut self, left: &Self::Published, into: &mut Self::Published);

    /// Its current knowledge.
    fn left(&mut self) -> Self::Published;

    /// Replaces what is there by its current knowledge.
    #[inline]
    fn leave(&mut self, at: &mut Self::Published) {
        *at = self.left();
    }

    /// Empties what is there.
    #[inline]
    fn clear(left: &mut Self::Published) {
        *left = Self::Published::default();
    }

    /// Whether its knowledge is known to equal what was left.
    fn is_same(&self, left: &Self::Published) -> bool;

    /// The approximate number of bytes that what was left points to; shared memory is divided among its owners.
    fn bytes_left(_: &Self::Published) -> usize {
        0
    }

    /// The approximate number of bytes that its knowledge points to, likewise.
    fn bytes(&self) -> usize {
        0
    }

    /// Receives what an access receives of an object's updates, for callers that store these separately from its reads.
    #[inline]
    fn receive_updates(&mut self, updates: &Self::Published, access: Access) {
        if matches!(access, Access::Read | Access::Update | Access::Observe) {
            self.learn(updates);
        }
    }

    /// Receives what an access receives of an object's reads.
    #[inline]
    fn receive_reads(&mut self, reads: &Self::Published, access: Access) {
        if matches!(access, Access::Update | Access::Contribute) {
            self.learn(reads);
        }
    }

    /// Receives what an access receives of an object's updates when it is over.
    #[inline]
    fn receive_awaited(&mut self, updates: &Self::Published, access: Access) {
        if access == Access::Await {
            self.learn(updates);
        }
    }

    /// Leaves what an access adds to an object's updates.
    #[inline]
    fn publish_updates(&mut self, updates: &mut Self::Published, access: Access) {
        match access {
            Access::Update if !self.is_same(updates) => self.leave(updates),
            Access::Contribute => self.add_to(updates),
            _ => {}
        }
    }

    /// Leaves what an access adds to an object's reads.
    #[inline]
    fn publish_reads(&mut self, reads: &mut Self::Published, access: Access) {
        match access {
            Access::Update if !Self::is_empty(reads) => Self::clear(reads),
            Access::Read => self.add_to(reads),
            _ => {}
        }
    }

    /// Receives what an access receives of an object.
    #[inline]
    fn receive(&mut self, object: &ObjectClock<Self::Published>, access: Access) {
        // Readers have received the updates: an object with exclusive updates has no contributions.
        if access != Access::Update || Self::is_empty(&object.reads) {
            self.receive_updates(&object.updates, access);
        }
        self.receive_reads(&object.reads, access);
    }

    /// Whether it knows more than the updates of an object. If not, a read need not be recorded if the object
    /// has only exclusive updates: every access that comes after reads comes after updates too.
    #[inline]
    fn is_news(&self, object: &ObjectClock<Self::Published>) -> bool {
        !self.is_same(&object.updates)
    }

    /// Leaves what an access adds to an object.
    #[inline]
    fn publish(&mut self, object: &mut ObjectClock<Self::Published>, access: Access) {
        self.publish_updates(&mut object.updates, access);
        self.publish_reads(&mut object.reads, access);
    }
}

/// What threads have left at an object. It can be stored inside the object itself.
///
/// ```
/// use portent_monitor_core::{Access, Chains, Clock, Knowledge, ObjectClock, ThreadClock, ThreadId};
///
/// let [t1, t2] = [0, 1].map(|index| ThreadId::from_index(index).unwrap());
/// let [mut writer, mut reader]: [ThreadClock; 2] = [t1, t2].map(ThreadClock::new);
/// let (mut chains, mut variable) = (Chains::default(), ObjectClock::default());
/// writer.tick(|past| chains.acquire(past))?;
/// writer.publish(&mut variable, Access::Update);
/// reader.receive(&variable, Access::Read);
/// assert_eq!(reader.clock().counts(), [1]);
/// # Ok::<(), portent_monitor_core::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ObjectClock<L = Snapshot> {
    /// Left by accesses that conflict with readers.
    updates: L,
    /// Left by readers since the last exclusive update.
    reads: L,
}

impl<H> ObjectClock<Snapshot<H>> {
    /// The state of an object before its first access.
    pub const EMPTY: Self = ObjectClock {
        updates: Snapshot::EMPTY,
        reads: Snapshot::EMPTY,
    };

    /// The version of the clock of its updates.
    #[inline]
    pub const fn version(&self) -> Version {
        self.updates.version()
    }

    /// Whether there are reads since the last exclusive update.
    #[inline]
    pub fn has_reads(&self) -> bool {
        self.reads.version() != Version::EMPTY
    }
}

impl<L> ObjectClock<L> {
    /// The approximate number of bytes that it points to.
    pub(super) fn bytes<K: Knowledge<Published = L>>(&self) -> usize {
        K::bytes_left(&self.updates) + K::bytes_left(&self.reads)
    }

    /// Adds to the updates what a thread has left elsewhere.
    pub(super) fn contribute<K: Knowledge<Published = L>>(&mut self, left: &L, by: &mut K) {
        by.merge(left, &mut self.updates);
    }
}
