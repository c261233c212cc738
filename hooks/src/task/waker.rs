//! Clocks that wakes carry: waking a task comes before its next poll.
//!
//! In a trace, a wake is a notify of a condition named after the task, and the next poll is a wake-up. Unlike a parked
//! thread, a task does not record that it begins to wait, so a wake does not come after that.

use std::{
    future::poll_fn,
    pin::pin,
    sync::Arc,
    task::{Context, Wake, Waker},
};

use portent_monitor_core::{Access, Op, Operation, Role, Version};

use super::quiet;
use crate::live::{actor, identity::Identity, line::OperationRecord, operation::access, version};

const NOTIFY: Access = access(Operation::Notify, Role::Condition);
const WAIT: Access = access(Operation::Wait, Role::Condition);

/// The waker that others see for a task whose real waker is `inner`, cached in `shown`. Tokio uses one waker for each task throughout.
#[inline]
pub(super) fn wrap<'a>(
    identity: &Arc<Identity>,
    shown: &'a mut Option<Waker>,
    inner: &'a Waker,
) -> &'a Waker {
    let known = identity.waker().get_or_init(|| inner.clone());
    if known.will_wake(inner) {
        shown.get_or_insert_with(|| Waker::from(Arc::clone(identity)))
    } else {
        inner
    }
}

/// The waker that tokio made, if `shown` is the one that others see for this task. It is needed where tokio itself wakes the task: that happens
/// outside of all tasks, in a thread that may have a clock itself.
pub(super) fn unwrap(shown: &Waker) -> Waker {
    let inner = actor::with_existing(|actor| {
        let inner = actor.identity().waker().get()?;
        // Not `will_wake`: wakers of the same kind may have different tables of functions.
        let is_own = shown.data() == Arc::as_ptr(actor.identity()).cast();
        is_own.then(|| inner.clone())
    });
    inner.flatten().unwrap_or_else(|| shown.clone())
}

impl Wake for Identity {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        tell(self);
        if let Some(inner) = self.waker().get() {
            inner.wake_by_ref();
        }
    }
}

/// As [`tokio::task::yield_now`].
pub async fn yield_now() {
    let mut inner = pin!(tokio::task::yield_now());
    poll_fn(|cx| {
        let waker = unwrap(cx.waker());
        inner.as_mut().poll(&mut Context::from_waker(&waker))
    })
    .await;
}

/// Passes what this thread knows to a task that it is about to wake. Wakers are called anywhere, so this never waits.
pub(super) fn tell(identity: &Identity) {
    if version::shown() == Version::EMPTY || quiet::is_quiet() {
        return;
    }
    actor::with_existing(|actor| {
        // It knows itself what it knows.
        if std::ptr::eq(&**actor.identity(), identity) {
            return;
        }
        let ticket = actor.ticket_at_once();
        identity.with_token(|token| {
            let line = || OperationRecord::new(Op::Notify(identity.condition()), None);
            actor.visit(token, NOTIFY, ticket, line);
            identity.tell_woken();
        });
    });
}

/// Receives the clocks of all wakes since this task was last polled.
#[inline(always)]
pub(super) fn receive(identity: &Identity) {
    if identity.take_woken() {
        receive_slowly(identity);
    }
}

#[cold]
#[inline(never)]
fn receive_slowly(identity: &Identity) {
    actor::with(|actor| {
        let ticket = actor.ticket_at_once();
        identity.with_token(|token| {
            let line = || OperationRecord::new(Op::Wait(identity.condition(), None), None);
            actor.visit(token, WAIT, ticket, line);
        });
    });
}
