//! The effects of an operation: on its object, on the run, and on properties.

use portent_hooks::control::Callsite;
use portent_monitor_core::Value;

use super::{Performed, State};
use crate::{
    operation::{Kind, Op},
    relevance::RelevantStep,
    run::After,
};

impl State {
    /// What comes of an operation.
    #[inline]
    pub(super) fn perform(&mut self, thread: usize, op: Op) -> Performed {
        match op.kind {
            Kind::Read => Performed {
                op,
                succeeds: self.is_done(op.object),
            },
            Kind::Write | Kind::Update => Performed { op, succeeds: true },
            Kind::Lock
            | Kind::TryLock
            | Kind::Unlock
            | Kind::ReadLock
            | Kind::TryReadLock
            | Kind::ReadUnlock
            | Kind::Downgrade => self.perform_lock(thread, op),
            Kind::Wait | Kind::Wake => self.perform_condition(thread, op),
            Kind::Send | Kind::TrySend | Kind::Receive | Kind::TryReceive => {
                self.perform_channel(thread, op)
            }
            Kind::Initialise | Kind::FindDone => self.perform_once(op),
            Kind::Park => self.perform_token(thread, op),
            _ => Performed { op, succeeds: true },
        }
    }

    /// What follows from an event; whether its thread goes on.
    #[inline]
    pub(super) fn performed(&mut self, thread: usize, op: Op, event: u32) -> bool {
        match op.kind {
            Kind::NotifyOne | Kind::NotifyAll => self.notify(thread, op, event),
            Kind::Send | Kind::Receive | Kind::CloseReceiver | Kind::CloseSender => {
                self.performed_channel(op, event);
            }
            Kind::Arrive => {
                let is_last = self.arrive(thread, op.object, event);
                self.threads[thread].turn.succeeds = is_last;
                return is_last;
            }
            Kind::Done => self.done(op.object),
            Kind::Request => self.ask(thread, op.object),
            Kind::Park | Kind::Unpark => self.performed_token(op, event),
            _ => {}
        }
        true
    }

    /// What an operation races with, if that is not what it depends on.
    #[inline]
    pub(super) fn races_instead(&self, op: Op) -> Option<u32> {
        match op.kind {
            Kind::FailedSend => self.filled_by(op),
            Kind::Send | Kind::Receive if self.had_to_wait(op) => {
                Some(self.run.last_of_kind(op.object, op.kind))
            }
            _ => None,
        }
    }

    /// What an operation comes after besides what it depends on, and whether it could have come before.
    #[inline]
    pub(super) fn comes_after(&mut self, thread: usize, op: Op, rows: &mut Vec<u32>) -> bool {
        match op.kind {
            Kind::Send | Kind::TrySend | Kind::Receive | Kind::TryReceive => {
                self.channel_rows(op, rows)
            }
            Kind::Park => {
                self.token_rows(thread, op, rows);
                // That is what the thread waits for, whatever else happens.
                for row in rows.drain(..) {
                    self.run.teach(thread, row);
                }
                false
            }
            _ => false,
        }
    }

    /// What threads still want to do races with what happened.
    pub(super) fn close(&mut self) {
        let mut rows = std::mem::take(&mut self.rows);
        for thread in self.parked {
            let op = self.pending[thread];
            if op.kind == Kind::Wake && !self.wakes_by_itself(thread) {
                // Only who notifies it lets it go on.
                continue;
            }
            rows.clear();
            let reversible = self.comes_after(thread, op, &mut rows);
            let request = self.first_request(op);
            let after = After {
                rows: &rows,
                reversible,
                instead: request.or_else(|| self.races_instead(op)),
                only_instead: request.is_some(),
            };
            self.run.close(thread, op, after);
        }
        self.rows = rows;
    }

    /// The thread that runs wrote what its last step was about.
    pub(super) fn wrote(&mut self, before: Option<Value>, value: Option<Value>) {
        let event = self.run.followed() - 1;
        let done = self.run.events()[event];
        let object = self.objects.get(done.op.object as usize);
        let variable = object.and_then(|object| object.variable);
        if let (Some(relevance), Some(variable), Some(value)) =
            (&mut self.relevance, variable, value)
        {
            let label = relevance.wrote(variable, before, value);
            relevance.steps.push(RelevantStep {
                event: event as u32,
                thread: done.thread,
                label,
                callsite: None,
                place: done.place,
            });
        }
    }

    /// An application event of the thread that runs follows what it did before; whether it did so the last time.
    pub(super) fn follow_event(&mut self, op: Op) -> bool {
        let point = self.point.saturating_sub(1);
        let followed = self
            .run
            .commit(self.current, op, None, point, After::default());
        if followed.is_err() {
            let _ = self.diverged(self.current);
        }
        followed.is_ok()
    }

    /// The last event of the run is an application event.
    pub(super) fn happened(&mut self, callsite: &'static Callsite, label: u32) {
        let event = self.run.followed() - 1;
        if let Some(relevance) = &mut self.relevance {
            relevance.steps.push(RelevantStep {
                event: event as u32,
                thread: self.current as u8,
                label,
                callsite: Some(callsite),
                place: None,
            });
        }
    }
}
