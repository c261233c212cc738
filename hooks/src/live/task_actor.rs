//! A task as one who acts: its actor takes the place of the thread's while the task is polled.

use std::sync::Arc;

use super::{
    Subscriber,
    actor::{self, Actor},
    identity::Identity,
};

/// The actor of a task.
pub(crate) struct TaskActor {
    /// While the task is polled, it is that of the thread.
    resting: Option<Box<Actor>>,
    has_ended: bool,
}

impl TaskActor {
    /// Of a task that was forked, and takes part in this recording.
    pub(crate) fn begin(identity: Arc<Identity>, recording: Option<Arc<Subscriber>>) -> TaskActor {
        TaskActor {
            resting: Actor::of_task(identity, recording),
            has_ended: false,
        }
    }

    /// From now on it acts, until the guard is dropped, also by a panic. Guards may be nested.
    #[inline]
    pub(crate) fn act(&mut self) -> Acting<'_> {
        let is_on = actor::swap(&mut self.resting);
        Acting { task: self, is_on }
    }

    /// Whether what it had to do is done.
    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended
    }
}

/// While it lives, a task acts in this thread.
pub(crate) struct Acting<'a> {
    task: &'a mut TaskActor,
    is_on: bool,
}

impl Acting<'_> {
    /// The task has done all that it had to do: whoever waits for it knows that, and its chain is for others.
    pub(crate) fn end(self) {
        if self.is_on {
            actor::with(|actor| actor.finish(false));
        }
        self.task.has_ended = true;
    }
}

impl Drop for Acting<'_> {
    #[inline]
    fn drop(&mut self) {
        if !self.is_on {
            return;
        }
        actor::swap(&mut self.task.resting);
        if let Some(actor) = &mut self.task.resting {
            actor.rest();
            if self.task.has_ended {
                actor.leave();
                self.task.resting = None;
            }
        }
    }
}
