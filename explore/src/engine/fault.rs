//! Errors that end a run.

use super::{Mode, Next, State, Status};
use crate::{
    operation::{ObjectIndex, Op},
    panics,
    run::Place,
    strategy::End,
};

/// Something that should not have happened.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    Panicked(usize, panics::Message),
    Deadlock(Vec<(usize, Waiting)>),
    Obstructed(usize, ObjectIndex, Place),
    /// A thread did something else than in the run before, up to here the same.
    Diverged(usize, Place),
    TooManyThreads(Place),
    /// A thread does nothing but pause.
    Spins(usize, Place),
    /// Something that is not explored.
    Refused(usize, &'static str, Place),
}

/// What a thread waits for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Waiting {
    For(Op, Place),
    /// It did this, and cannot go on before others do something.
    In(Op, Place),
    EndOf(usize, Place),
}

impl State {
    pub(super) fn fault(&mut self, fault: Fault) {
        if matches!(self.mode, Mode::Recording) {
            self.faults.push(fault);
            if !matches!(self.faults.last(), Some(Fault::Panicked(..))) {
                self.end = End::Cut;
            }
        }
    }

    /// A destructor waits for others while its thread panics. They would seem to panic, too, so the run ends here.
    #[cold]
    pub(super) fn unwinds_for_ever(&mut self) -> Next {
        self.fault(Fault::Panicked(self.current, panics::take()));
        self.cut()
    }

    /// The run ends while a thread unwinds. That goes on when all have to end; another panic would end the process.
    #[cold]
    pub(super) fn stops_while_it_unwinds(&mut self) {
        let me = &mut self.threads[self.current];
        me.unwinding = true;
        me.suspended = true;
    }

    /// Nobody can go on.
    pub(super) fn deadlock(&mut self) -> Next {
        if self.mode == Mode::Recording {
            let waiting = (0..self.threads.len()).filter_map(|number| {
                let thread = &self.threads[number];
                match thread.status {
                    Status::Parked => {
                        Some((number, Waiting::For(self.pending[number], thread.place)))
                    }
                    Status::Held => Some((number, Waiting::In(self.pending[number], thread.place))),
                    Status::Joining(other, place) => Some((number, Waiting::EndOf(other, place))),
                    _ => None,
                }
            });
            let waiting = waiting.collect();
            self.faults.push(Fault::Deadlock(waiting));
            self.end = End::Deadlock;
        }
        Next::Stop
    }

    pub(super) fn cut(&mut self) -> Next {
        if self.mode == Mode::Recording {
            self.end = End::Cut;
        }
        Next::Stop
    }

    pub(super) fn diverged(&mut self, thread: usize) -> Next {
        let place = self.threads.get(thread).and_then(|thread| thread.place);
        self.fault(Fault::Diverged(thread, place));
        Next::Stop
    }
}
