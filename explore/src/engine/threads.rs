//! Threads of a run: how they start, continue after others, and end.

use portent_hooks::control::Ended;

use super::{Fault, GO, Mode, NOTHING, Next, State, Status, Thread, pause::Pause};
use crate::{coroutine::Work, panics, run::NONE};

impl State {
    pub(super) fn start_main(&mut self, main: Work) -> Next {
        let number = self.add_thread(None, None);
        self.jobs[number] = Some(main);
        self.current = number;
        Next::Run(number)
    }

    pub(super) fn add_thread(&mut self, name: Option<&str>, spawner: Option<usize>) -> usize {
        let number = self.threads.len();
        let path = match spawner {
            Some(spawner) => {
                let spawner = &mut self.threads[spawner];
                spawner.children += 1;
                crate::random::mix(spawner.path ^ u64::from(spawner.children))
            }
            None => 1,
        };
        self.threads.push(Thread {
            status: Status::Running,
            place: None,
            name: name.map(Into::into),
            spawner,
            children: 0,
            path,
            turn: GO,
            swallowed: 0,
            unwinding: false,
            suspended: false,
            pause: Pause::default(),
            locals: Vec::new(),
            timed: false,
            notified: false,
            mutex: NONE,
            spurious: 0,
            companions: 0,
            token: NONE,
            changes: 0,
            looked: None,
            last_resorts: 0,
            choices: 0,
        });
        self.pending.push(NOTHING);
        if self.jobs.len() <= number {
            self.jobs.push(None);
        }
        self.run.is_late |= self.had_choice;
        self.run.add_thread(spawner);
        number
    }

    /// A thread that was held goes on, after this row.
    pub(crate) fn goes_on(&mut self, thread: usize, row: u32) {
        if self.mode == Mode::Recording {
            self.run.teach(thread, row);
        }
        self.ready.push(thread);
    }

    pub(super) fn ended(&mut self, thread: usize, ended: Ended) {
        self.threads[thread].status = Status::Ended;
        if ended == Ended::Panicked {
            let message = panics::take();
            self.fault(Fault::Panicked(thread, message));
        }
        for other in 0..self.threads.len() {
            if matches!(self.threads[other].status, Status::Joining(target, _) if target == thread)
            {
                if self.mode == Mode::Recording {
                    self.run.learn(other, thread);
                }
                self.ready.push(other);
            }
        }
    }

    pub(super) fn all_ended(&self) -> bool {
        self.threads
            .iter()
            .all(|thread| thread.status == Status::Ended)
    }
}
