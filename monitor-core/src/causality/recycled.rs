//! Shared clocks in recycled memory.
//!
//! A thread that has left its clock at an object can no longer write into it when it ticks, and needs another one. Meanwhile
//! the clocks that other threads left are replaced, and the last owner of a clock releases it. So a run that only repeats
//! earlier reads and writes allocates nothing.

use std::{cell::RefCell, ops::Deref, sync::Arc};

use super::thread_clock::Hold;
use crate::Clock;

/// The number of clocks kept for reuse.
const MOST: usize = 256;

thread_local! {
    /// Unowned clocks. They belong to the thread that computes clocks, not to the observed threads.
    static SPARE: RefCell<Vec<Arc<Clock>>> = const { RefCell::new(Vec::new()) };
}

/// A clock that may be shared. It is changed in place if there is only one owner, and otherwise copied first.
#[derive(Clone, Debug, Default)]
pub(super) struct Recycled(Arc<Clock>);

impl Recycled {
    fn let_go(self) {
        // If a thread is ending, its spare clocks are gone already.
        if Arc::strong_count(&self.0) == 1 {
            let _ = SPARE.try_with(|spare| {
                let mut spare = spare.borrow_mut();
                if spare.len() < MOST {
                    spare.push(self.0);
                }
            });
        }
    }
}

impl Deref for Recycled {
    type Target = Clock;

    #[inline]
    fn deref(&self) -> &Clock {
        &self.0
    }
}

impl Hold for Recycled {
    const SHARED: bool = true;

    #[inline]
    fn get_mut(&mut self) -> &mut Clock {
        if Arc::get_mut(&mut self.0).is_none() {
            let spare = SPARE.try_with(|spare| spare.borrow_mut().pop());
            if let Ok(Some(mut copy)) = spare
                && let Some(clock) = Arc::get_mut(&mut copy)
            {
                clock.copy_from(&self.0);
                self.0 = copy;
            }
        }
        Arc::make_mut(&mut self.0)
    }

    #[inline]
    fn assign(&mut self, other: &Self) {
        std::mem::replace(self, other.clone()).let_go();
    }

    #[inline]
    fn clear(held: &mut Option<Self>) {
        if let Some(held) = held.take() {
            held.let_go();
        }
    }

    #[inline]
    fn share(&self) -> Arc<Clock> {
        Arc::clone(&self.0)
    }

    fn bytes(&self) -> usize {
        self.0.bytes() / Arc::strong_count(&self.0)
    }
}
