//! The types of `tokio::sync`, with clocks.
//!
//! These types wrap tokio's, which decide who waits for whom. An operation is performed while the clocks of the object are
//! locked, so that both are one step; a task that has to wait does so before.
//!
//! | file | |
//! |---|---|
//! | `condition` | clocks of what is signalled and waited for |
//! | `channel` | clocks of what is sent and received |
//! | the others | the type of that name |

mod channel;
mod condition;
pub mod mpsc;
mod mutex;
mod notify;
pub mod oneshot;
mod rwlock;
mod semaphore;

pub use tokio::sync::{AcquireError, TryAcquireError, TryLockError};

pub use mutex::{Mutex, MutexGuard};
pub use notify::{Notified, Notify};
pub use rwlock::{RwLock, RwLockReadGuard, RwLockWriteGuard};
pub use semaphore::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};

use std::{
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
};

use portent_monitor_core::Op;
use tokio::sync::TryLockError as NotTaken;

use super::outer_clock::{LockSide, OuterClock};
use crate::{
    control,
    live::{
        actor::{self, Place, Ticket},
        line::OperationRecord,
        version,
    },
};

/// Permission to record one operation, if this task records everything.
fn ticket() -> Ticket {
    if version::is_hidden() {
        control::refuse_tasks("synchronises as tasks of tokio do", None);
        actor::prepare()
    } else {
        Ticket::NONE
    }
}

/// Takes a lock in a way that its entry in the ledger is made at once: `attempt` takes it if it is free, and `wait` waits for it.
async fn take_recorded<G, W: Future<Output = G>>(
    outer_clock: &OuterClock,
    place: Place,
    attempt: impl FnOnce() -> Result<G, NotTaken>,
    wait: impl FnOnce() -> W,
    side: impl Fn(&mut G) -> LockSide<'_>,
) -> (G, Ticket) {
    control::refuse_tasks("waits as tasks of tokio do", place);
    let ticket = actor::prepare();
    outer_clock.watch();
    let enter = |taken: &mut G, ledger: &mut _| {
        let side = side(taken);
        let op = side.lock().op;
        let line = || OperationRecord::new(op(outer_clock.id()), place);
        outer_clock.enter_taken(ledger, side, ticket, line);
    };
    {
        let mut ledger = outer_clock.open();
        if let Ok(mut taken) = attempt() {
            enter(&mut taken, &mut ledger);
            return (taken, ticket);
        }
    }
    let request = || OperationRecord::new(Op::Request(outer_clock.id()), place);
    actor::with(|actor| actor.did(ticket, request));
    let mut taken = wait().await;
    enter(&mut taken, &mut outer_clock.open());
    (taken, ticket)
}

/// Waits for a future outside of a runtime.
fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        thread::park();
    }
}
