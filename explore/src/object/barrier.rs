//! Barriers: the threads that have arrived.

use super::Body;
use crate::{engine::State, operation::ObjectIndex};

/// Who waits for others at a barrier.
#[derive(Clone, Debug, Default)]
pub(crate) struct Barrier {
    arrived: Vec<u8>,
}

impl State {
    /// One more has arrived; whether it was the last.
    pub(crate) fn arrive(&mut self, thread: usize, object: ObjectIndex, event: u32) -> bool {
        let needed = self.threads[thread].companions;
        let Body::Barrier(barrier) = &mut self.objects[object as usize].body else {
            unreachable!("threads arrive at barriers only");
        };
        if barrier.arrived.len() + 1 < needed {
            barrier.arrived.push(thread as u8);
            return false;
        }
        let arrived = std::mem::take(&mut barrier.arrived);
        for other in arrived {
            self.goes_on(usize::from(other), event);
        }
        true
    }
}
