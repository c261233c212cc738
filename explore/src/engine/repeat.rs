//! Checks that a program behaves the same when the same choices are made again.

use portent_hooks::control::Ended;

use super::{Engine, Fault};
use crate::{coroutine::Work, strategy::End};

impl Engine {
    /// Runs the program once more, to see whether it does the same again; only the first runs are repeated.
    pub(super) fn repeat(&self, main: &dyn Fn() -> Ended) {
        let (findings, end, faults, objects) = {
            let state = &mut *self.state.borrow_mut();
            if state.repeated >= state.limits.repeated
                || state.abandoned > 0
                || !matches!(state.end, End::Complete | End::Deadlock)
            {
                return;
            }
            state.repeated += 1;
            let findings = state.run.take_findings();
            let faults = std::mem::take(&mut state.faults);
            let objects = state.objects.len();
            let (points, end) = (state.schedule.len(), state.end);
            // Events that nobody chose may come after the last choice.
            state.begin(points, points + 1);
            (findings, end, faults, objects)
        };
        Work::lend(main, |work| self.drive(work));
        let state = &mut *self.state.borrow_mut();
        state.run.put_back(findings);
        let differs = state.end != end
            || state.objects.len() != objects
            || !state.run.was_followed()
            || state
                .faults
                .iter()
                .any(|fault| matches!(fault, Fault::Diverged(..)));
        if differs
            && !state
                .faults
                .iter()
                .any(|fault| matches!(fault, Fault::Diverged(..)))
        {
            state.faults = vec![Fault::Diverged(state.current, None)];
        } else if !differs {
            state.faults = faults;
        }
    }
}
