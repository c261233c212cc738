//! A meeting point.
//!
//! Built from a mutex and a condition variable, as in the standard library, rather than around its barrier:
//! the last thread to arrive has to know which arrivals belong to its round.

use std::{
    collections::VecDeque,
    fmt,
    panic::Location,
    sync::{Condvar, Mutex},
};

use portent_monitor_core::{Access, BarrierId, Op, Operation, Role};

use crate::{
    control::{self, Class, Object, Step},
    live::{
        Published,
        actor::{self, Ticket},
        line::OperationRecord,
        lock,
        names::Name,
        operation::access,
        version,
    },
};

const ARRIVAL: Access = access(Operation::Barrier, Role::Arrival);
const DEPARTURE: Access = access(Operation::Barrier, Role::Departure);

/// [`std::sync::Barrier`], with clocks.
///
/// ```
/// use portent_hooks::{sync::Barrier, thread};
///
/// let barrier = Barrier::new(2);
/// let leaders = thread::scope(|s| {
///     let all = [(); 2].map(|()| s.spawn(|| barrier.wait().is_leader()));
///     all.map(|one| one.join().unwrap())
/// });
/// assert!(leaders[0] != leaders[1]);
/// ```
pub struct Barrier {
    name: Name,
    threads: usize,
    state: Mutex<State>,
    met: Condvar,
}

struct State {
    arrived: usize,
    round: u64,
    /// Rounds that not all threads have left yet, from the oldest to the open one.
    rounds: VecDeque<Round>,
    /// To be used again.
    unused: Vec<Published>,
}

struct Round {
    number: u64,
    arrivals: Published,
    /// How many arrived and did not go on yet.
    inside: usize,
}

/// [`std::sync::BarrierWaitResult`] of a [`Barrier`].
pub struct BarrierWaitResult(bool);

impl Barrier {
    /// As [`std::sync::Barrier::new`].
    #[inline]
    #[track_caller]
    pub const fn new(threads: usize) -> Barrier {
        Barrier::called(Name::here(), threads)
    }

    /// Creates a barrier with this name in recordings.
    #[track_caller]
    pub fn with_name(name: &str, threads: usize) -> Barrier {
        Barrier::called(Name::given(name, |symbols| &mut symbols.barriers), threads)
    }

    const fn called(name: Name, threads: usize) -> Barrier {
        Barrier {
            name,
            threads,
            state: Mutex::new(State {
                arrived: 0,
                round: 0,
                rounds: VecDeque::new(),
                unused: Vec::new(),
            }),
            met: Condvar::new(),
        }
    }

    fn id(&self) -> BarrierId {
        self.name.id("Barrier", |symbols| &mut symbols.barriers)
    }

    /// As [`std::sync::Barrier::wait`].
    #[track_caller]
    pub fn wait(&self) -> BarrierWaitResult {
        let place = Some(Location::caller());
        if let Some(controller) = control::current() {
            let object = Object::new(&self.name, "Barrier", Class::Barrier);
            let turn = controller.step(Step::Arrive(self.threads), object, place);
            return BarrierWaitResult(turn.succeeds);
        }
        let ticket = if version::is_hidden() {
            actor::prepare()
        } else {
            Ticket::NONE
        };
        let mut state = lock(&self.state);
        let number = state.round;
        let round = state.arrive(number);
        actor::with(|actor| {
            actor.did(ticket, || {
                OperationRecord::new(Op::Barrier(self.id(), number), place)
            });
            actor.publish_updates(&mut round.arrivals, ARRIVAL);
        });
        state.arrived += 1;
        let is_leader = state.arrived >= self.threads;
        if is_leader {
            state.arrived = 0;
            state.round = state.round.wrapping_add(1);
            self.met.notify_all();
        } else {
            while state.round == number {
                state = match self.met.wait(state) {
                    Ok(state) => state,
                    Err(poisoned) => poisoned.into_inner(),
                };
            }
        }
        state.go_on(number);
        BarrierWaitResult(is_leader)
    }
}

impl State {
    fn arrive(&mut self, number: u64) -> &mut Round {
        if self
            .rounds
            .back()
            .is_none_or(|round| round.number != number)
        {
            let arrivals = self.unused.pop().unwrap_or_default();
            self.rounds.push_back(Round {
                number,
                arrivals,
                inside: 0,
            });
        }
        let last = self.rounds.len() - 1;
        let round = &mut self.rounds[last];
        round.inside += 1;
        round
    }

    /// A thread of a round continues, and knows what all of them knew.
    fn go_on(&mut self, number: u64) {
        let Some(at) = self.rounds.iter().position(|round| round.number == number) else {
            return;
        };
        let round = &mut self.rounds[at];
        actor::with(|actor| actor.receive_awaited(&round.arrivals, DEPARTURE));
        round.inside -= 1;
        if round.inside == 0
            && let Some(mut round) = self.rounds.remove(at)
        {
            round.arrivals.clear();
            self.unused.push(round.arrivals);
        }
    }
}

impl BarrierWaitResult {
    /// As [`std::sync::BarrierWaitResult::is_leader`].
    #[must_use]
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier").finish_non_exhaustive()
    }
}

impl fmt::Debug for BarrierWaitResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BarrierWaitResult")
            .field("is_leader", &self.is_leader())
            .finish()
    }
}
