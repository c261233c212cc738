//! What a thread takes along and what it leaves at objects, whatever that is made of.
//!
//! A thread receives from the objects that its event is about, and leaves what it knows at them: the
//! [`Access`] says what. For vector clocks ([`ThreadClock`](crate::ThreadClock)) that is how many
//! events of each chain are in the past; another analysis may carry something else along the same
//! edges.

use std::fmt::Debug;

use super::{
    edges::{Access, Object},
    thread_clock::{Snapshot, Version},
};
use crate::ThreadId;

/// What a thread knows of the past.
pub trait Knowledge: Debug + Clone {
    /// What it leaves at an object: empty by default, and growing with what is added.
    type Published: Debug + Clone + Default;

    /// A thread that has done nothing.
    fn new(thread: ThreadId) -> Self;

    /// Whether it travels through this object at all.
    fn travels(_: Object) -> bool {
        true
    }

    /// Whether nobody has left anything.
    fn is_empty(left: &Self::Published) -> bool;

    /// Learns what others left.
    fn learn(&mut self, left: &Self::Published);

    /// Adds what it knows to what is there.
    fn add_to(&mut self, left: &mut Self::Published);

    /// Adds what somebody left to what others left, without learning it.
    fn merge(&mut self, left: &Self::Published, into: &mut Self::Published);

    /// What it knows now.
    fn left(&mut self) -> Self::Published;

    /// Replaces what is there by what it knows now.
    #[inline]
    fn leave(&mut self, at: &mut Self::Published) {
        *at = self.left();
    }

    /// Empties what is there.
    #[inline]
    fn clear(left: &mut Self::Published) {
        *left = Self::Published::default();
    }

    /// Whether that is known to be the same as what was left.
    fn is_same(&self, left: &Self::Published) -> bool;

    /// About how many bytes what was left points to; what several share, each has a part of.
    fn bytes_left(_: &Self::Published) -> usize {
        0
    }

    /// About how many bytes what it knows points to, likewise.
    fn bytes(&self) -> usize {
        0
    }

    /// Receives what an access receives of the updates of an object. For those who keep these elsewhere than its reads.
    #[inline]
    fn receive_updates(&mut self, updates: &Self::Published, access: Access) {
        if matches!(access, Access::Read | Access::Update | Access::Observe) {
            self.learn(updates);
        }
    }

    /// Receives what an access receives of the reads of an object.
    #[inline]
    fn receive_reads(&mut self, reads: &Self::Published, access: Access) {
        if matches!(access, Access::Update | Access::Contribute) {
            self.learn(reads);
        }
    }

    /// Receives what an access receives of the updates of an object when it is over.
    #[inline]
    fn receive_awaited(&mut self, updates: &Self::Published, access: Access) {
        if access == Access::Await {
            self.learn(updates);
        }
    }

    /// Leaves what an access leaves at the updates of an object.
    #[inline]
    fn publish_updates(&mut self, updates: &mut Self::Published, access: Access) {
        match access {
            Access::Update if !self.is_same(updates) => self.leave(updates),
            Access::Contribute => self.add_to(updates),
            _ => {}
        }
    }

    /// Leaves what an access leaves at the reads of an object.
    #[inline]
    fn publish_reads(&mut self, reads: &mut Self::Published, access: Access) {
        match access {
            Access::Update if !Self::is_empty(reads) => Self::clear(reads),
            Access::Read => self.add_to(reads),
            _ => {}
        }
    }

    /// Receives what an access of an object receives.
    #[inline]
    fn receive(&mut self, object: &ObjectClock<Self::Published>, access: Access) {
        // Who reads has received the updates: there are no contributions where there are exclusive updates.
        if access != Access::Update || Self::is_empty(&object.reads) {
            self.receive_updates(&object.updates, access);
        }
        self.receive_reads(&object.reads, access);
    }

    /// Whether it knows more than the updates of an object. If not, a read need not be noted where
    /// exclusive updates are the only ones: whoever comes after reads comes after updates too.
    #[inline]
    fn is_news(&self, object: &ObjectClock<Self::Published>) -> bool {
        !self.is_same(&object.updates)
    }

    /// Leaves what an access of an object leaves.
    #[inline]
    fn publish(&mut self, object: &mut ObjectClock<Self::Published>, access: Access) {
        self.publish_updates(&mut object.updates, access);
        self.publish_reads(&mut object.reads, access);
    }
}

/// What threads have left at an object. It can be kept inside the object itself.
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
    /// By those who conflict with readers.
    updates: L,
    /// By readers since the last exclusive update.
    reads: L,
}

impl<H> ObjectClock<Snapshot<H>> {
    /// Of an object that nobody was at.
    pub const EMPTY: Self = ObjectClock {
        updates: Snapshot::EMPTY,
        reads: Snapshot::EMPTY,
    };

    /// Which clock its updates have.
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
    /// About how many bytes it points to.
    pub(super) fn bytes<K: Knowledge<Published = L>>(&self) -> usize {
        K::bytes_left(&self.updates) + K::bytes_left(&self.reads)
    }

    /// Adds to the updates what somebody has left elsewhere.
    pub(super) fn contribute<K: Knowledge<Published = L>>(&mut self, left: &L, by: &mut K) {
        by.merge(left, &mut self.updates);
    }
}
