//! A stream that is dormant until the next step of its binding.
//!
//! With very many bindings, hardly any has two consecutive steps, and when its next step arrives its data is no longer cached.
//! So its counts are packed into one block of memory, and unpacked into the property's single active stream.

use std::sync::Arc;

use portent_monitor_core::Value;
use portent_monitor_dsl::StateId;

use super::{kept::KeptStep, plan::Plan, stream::Stream};
use crate::{
    automaton::ProductState,
    engine::Limit,
    order::{Packed, Packing, Unpacking},
};

/// With more searches than this, each is packed between two steps: unpacked, fewer of them would fit in a cache.
pub(super) const AT_HAND: usize = 256;

/// A packed stream.
#[derive(Clone, Debug)]
pub(super) struct Resting {
    counts: Packed,
    plan: Arc<Plan>,
    /// The number of steps kept, and the steps that cannot be packed.
    kept: usize,
    steps: Vec<Arc<KeptStep>>,
    before: (StateId, Vec<Value>),
    origins: Vec<Option<ProductState>>,
    limit: Option<Limit>,
}

impl Resting {
    /// The number of steps kept.
    pub(super) fn kept(&self) -> usize {
        self.kept
    }

    /// Why its search is not exhaustive, if it is not.
    pub(super) fn limit(&self) -> Option<Limit> {
        self.limit
    }
}

/// Inactive streams whose memory is reused, indexed by their number of chains, so that unpacking finds enough room.
#[derive(Clone, Debug, Default)]
pub(super) struct Workplaces {
    free: Vec<Option<Box<Stream>>>,
    packing: Packing,
    list: Vec<u32>,
}

impl Workplaces {
    /// Packs a stream.
    pub(super) fn rest(&mut self, mut stream: Box<Stream>) -> Resting {
        let limit = stream.omitted().1;
        let kept = stream.kept();
        let steps = stream.pack(&mut self.packing);
        self.packing.store(&mut stream.counts);
        let resting = Resting {
            limit,
            counts: std::mem::take(&mut stream.counts),
            plan: Arc::clone(&stream.plan),
            kept,
            steps,
            before: (stream.before.0, std::mem::take(&mut stream.before.1)),
            origins: std::mem::take(&mut stream.origins),
        };
        let width = stream.settled.len();
        if width >= self.free.len() {
            self.free.resize_with(width + 1, || None);
        }
        self.free[width] = Some(stream);
        resting
    }

    /// Unpacks a stream.
    pub(super) fn wake(&mut self, resting: Resting) -> Box<Stream> {
        let mut unpacking = Unpacking::new(&resting.counts, &mut self.list);
        let numbers = Numbers::unpack(&mut unpacking);
        let free = self.free.get_mut(numbers.width as usize);
        let mut stream = free.and_then(Option::take).unwrap_or_else(|| {
            let before = (resting.before.0, Vec::new());
            Box::new(Stream::empty(Arc::clone(&resting.plan), before))
        });
        stream.unpack(numbers, &mut unpacking, resting.steps);
        let Resting {
            counts,
            plan,
            before,
            origins,
            ..
        } = resting;
        (stream.plan, stream.counts) = (plan, counts);
        (stream.before, stream.origins) = (before, origins);
        stream
    }
}

/// The scalar fields of a stream.
struct Numbers {
    width: u32,
    first: u32,
    full: u32,
    forgotten: u32,
    lost: u64,
}

impl Numbers {
    fn unpack(unpacking: &mut Unpacking<'_>) -> Numbers {
        let mut numbers = unpacking.next().iter().copied();
        let mut next = || numbers.next().unwrap_or(0);
        Numbers {
            width: next(),
            first: next(),
            full: next(),
            forgotten: next(),
            lost: u64::from(next()) << 32 | u64::from(next()),
        }
    }
}

impl Stream {
    /// Packs all counts, and returns the steps that are not counts.
    fn pack(&mut self, packing: &mut Packing) -> Vec<Arc<KeptStep>> {
        packing.put_numbers([
            self.settled.len() as u32,
            self.first,
            self.full as u32,
            self.forgotten,
            (self.lost >> 32) as u32,
            self.lost as u32,
        ]);
        packing.put_slice(&self.settled);
        packing.put_slice(&self.forgotten_counts);
        self.log.pack(packing);
        self.search.pack(packing);
        // These counts concern the whole run, and are large.
        self.order.pack(packing);
        self.steps.pack(packing)
    }

    fn unpack(
        &mut self,
        numbers: Numbers,
        unpacking: &mut Unpacking<'_>,
        steps: Vec<Arc<KeptStep>>,
    ) {
        (self.first, self.forgotten) = (numbers.first, numbers.forgotten);
        (self.full, self.lost) = (numbers.full as usize, numbers.lost);
        unpacking.next_into(&mut self.settled);
        unpacking.next_into(&mut self.forgotten_counts);
        self.log.unpack(unpacking);
        self.search.unpack(unpacking);
        self.order.unpack(unpacking);
        self.steps.unpack(unpacking, steps);
    }
}
