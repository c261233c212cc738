//! One-time initialisation: like a lock, exclusive during the initialisation and shared by all threads afterwards.
//!
//! The object itself is that lock. The object after it is the flag that it is complete, for threads that only check.

use super::Body;
use crate::{
    engine::{Performed, State},
    operation::{Kind, ObjectIndex, Op},
};

/// Whether something is done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Once {
    running: bool,
    done: bool,
}

impl Once {
    pub(crate) fn new(done: bool) -> Once {
        Once {
            running: false,
            done,
        }
    }
}

impl State {
    fn once(&mut self, object: ObjectIndex) -> &mut Once {
        match &mut self.objects[object as usize].body {
            Body::Once(once) => once,
            _ => unreachable!("only what is done once is called once"),
        }
    }

    /// What it is to call this now.
    pub(crate) fn call(&mut self, object: ObjectIndex) -> Op {
        let kind = if self.once(object).done {
            Kind::FindDone
        } else {
            Kind::Initialise
        };
        Op::new(kind, object)
    }

    pub(crate) fn can_call(&self, op: Op) -> bool {
        let Body::Once(once) = &self.objects[op.object as usize].body else {
            return false;
        };
        !once.running && (once.done || op.kind == Kind::Initialise)
    }

    /// Whether what is looked at is done, if it is something that is done once.
    #[inline]
    pub(crate) fn is_done(&self, object: ObjectIndex) -> bool {
        if !matches!(self.objects[object as usize].body, Body::Side) {
            return true;
        }
        match &self.objects[object as usize - 1].body {
            Body::Once(once) => once.done,
            _ => true,
        }
    }

    pub(crate) fn perform_once(&mut self, op: Op) -> Performed {
        let initialises = op.kind == Kind::Initialise;
        if initialises {
            self.once(op.object).running = true;
        }
        Performed {
            op,
            succeeds: initialises,
        }
    }

    /// It is done: whoever still wants to finds that.
    pub(crate) fn done(&mut self, side: ObjectIndex) {
        let object = side - 1;
        self.once(object).done = true;
        self.refine_pending(object, |kind| match kind {
            Kind::Initialise => Kind::FindDone,
            kind => kind,
        });
    }

    /// Whoever did it, or failed to, has ended.
    pub(crate) fn left_once(&mut self, thread: usize, object: ObjectIndex) {
        self.once(object).running = false;
        if self.is_recording() {
            self.run.release(thread, object, false);
        }
    }
}
