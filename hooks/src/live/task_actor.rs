//! The actor of a task, which replaces that of the thread while the task is polled.

use std::{mem::ManuallyDrop, sync::Arc};

use portent_monitor_core::Version;

use super::{
    Subscriber,
    actor::{self, Actor},
    carrier,
    identity::Identity,
    recording, version,
};

/// The actor of a task.
pub(crate) struct TaskActor {
    /// While the task is polled, the actor of the thread.
    resting: Option<Box<Actor>>,
    /// The version that it shows when it acts, in this generation of recordings. Avoids a look at the actor.
    shown: Version,
    generation: u64,
    has_ended: bool,
}

impl TaskActor {
    /// For a task that was forked and takes part in this recording.
    pub(crate) fn begin(identity: Arc<Identity>, recording: Option<Arc<Subscriber>>) -> TaskActor {
        TaskActor {
            resting: Actor::of_task(identity, recording),
            shown: Version::EMPTY,
            // Never the current generation: it has not looked yet.
            generation: u64::MAX,
            has_ended: false,
        }
    }

    /// The task acts from now on, until the guard is dropped, even by a panic. Guards may be nested.
    #[inline]
    pub(crate) fn act(&mut self) -> Acting<'_> {
        let outer = version::shown();
        let is_on = actor::swap(&mut self.resting);
        if is_on {
            version::show(self.shown);
            let generation = recording::generation();
            if self.generation != generation {
                self.generation = generation;
                actor::notice();
            }
        }
        Acting {
            task: self,
            outer,
            is_on,
        }
    }

    /// Whether the task has finished its work.
    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended
    }
}

/// While it lives, a task acts in this thread.
pub(crate) struct Acting<'a> {
    task: &'a mut TaskActor,
    /// What the thread showed before.
    outer: Version,
    is_on: bool,
}

impl Acting<'_> {
    /// The task has finished its work: whoever waits for it can learn of that, and its chain can be reused.
    pub(crate) fn end(self) {
        if self.is_on {
            actor::with(|actor| actor.finish(false));
        }
        self.task.has_ended = true;
    }

    /// The task no longer acts. The same as to drop it, but in line.
    #[inline(always)]
    pub(crate) fn rest(self) {
        ManuallyDrop::new(self).stop();
    }

    #[inline(always)]
    fn stop(&mut self) {
        if !self.is_on {
            return;
        }
        self.task.shown = version::shown();
        actor::swap(&mut self.task.resting);
        version::show(self.outer);
        if carrier::has_lent() || self.task.has_ended {
            self.give_back();
        }
    }

    /// Gives back what it borrowed from the thread.
    #[cold]
    #[inline(never)]
    fn give_back(&mut self) {
        if let Some(actor) = &mut self.task.resting {
            actor.rest();
            if self.task.has_ended {
                actor.leave();
                self.task.resting = None;
            }
        }
    }
}

impl Drop for Acting<'_> {
    fn drop(&mut self) {
        self.stop();
    }
}
