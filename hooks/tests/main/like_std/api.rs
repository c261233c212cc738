//! What there is: every stable function, constant and trait of the types, by name. A program that uses one of them is compiled with
//! either `use` line. Left out are those that `docs/live.md` names.

use std::{
    fmt::{Debug, Display, Pointer},
    ops::{Deref, DerefMut},
    panic::{RefUnwindSafe, UnwindSafe},
    time::Duration,
};

use super::{
    sync::{
        self, Barrier, BarrierWaitResult, Condvar, LazyLock, Mutex, MutexGuard, Once, OnceLock,
        OnceState, RwLock, RwLockReadGuard, RwLockWriteGuard, WaitTimeoutResult,
        atomic::{
            AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicPtr,
            AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering,
        },
        mpsc::{self, Receiver, Sender, SyncSender},
    },
    thread::{self, Builder, JoinHandle, Scope, ScopedJoinHandle, Thread},
};

/// Each of these exists; it may be generic.
macro_rules! there_are {
    ($($path:expr),* $(,)?) => { $(let _ = $path;)* };
}

fn sent<T: Send>() {}
fn shared<T: Sync>() {}
fn both<T: Send + Sync + UnwindSafe + RefUnwindSafe>() {}
fn shown<T: Debug>() {}
fn displayed<T: Display + Debug>() {}
fn made_of<T: From<U> + Default + Debug, U>() {}

#[test]
fn locks() {
    type M = Mutex<i32>;
    there_are!(
        M::new,
        M::lock,
        M::try_lock,
        M::is_poisoned,
        M::clear_poison,
        M::into_inner,
        M::get_mut
    );
    both::<M>();
    both::<Mutex<std::cell::Cell<i32>>>();
    made_of::<M, i32>();
    displayed::<MutexGuard<'static, i32>>();
    shared::<MutexGuard<'static, i32>>();
    type R = RwLock<i32>;
    there_are!(
        R::new,
        R::read,
        R::try_read,
        R::write,
        R::try_write,
        R::is_poisoned,
        R::clear_poison,
        R::into_inner,
        R::get_mut
    );
    both::<R>();
    made_of::<R, i32>();
    displayed::<RwLockReadGuard<'static, i32>>();
    displayed::<RwLockWriteGuard<'static, i32>>();
    shared::<RwLockReadGuard<'static, i32>>();
    shared::<RwLockWriteGuard<'static, i32>>();
    // Of something that has no size, too.
    let _: fn(&Mutex<[u8]>) -> bool = Mutex::is_poisoned;
    let _: fn(&RwLock<dyn Debug>) -> bool = RwLock::is_poisoned;
    #[cfg(since = "1.92")]
    #[allow(clippy::incompatible_msrv)]
    let _ = RwLockWriteGuard::<'static, i32>::downgrade;
}

#[test]
#[allow(deprecated)]
fn meetings() {
    type G = MutexGuard<'static, i32>;
    there_are!(
        Condvar::new,
        Condvar::wait::<i32>,
        Condvar::wait_timeout::<i32>,
        Condvar::wait_timeout_ms::<i32>,
        Condvar::notify_one,
        Condvar::notify_all,
        |c: &'static Condvar, g: G| c.wait_while(g, |_| false).is_ok(),
        |c: &'static Condvar, g: G, t: Duration| c.wait_timeout_while(g, t, |_| false).is_ok(),
        WaitTimeoutResult::timed_out,
        Barrier::new,
        Barrier::wait,
        BarrierWaitResult::is_leader,
    );
    both::<Condvar>();
    both::<Barrier>();
    both::<BarrierWaitResult>();
    shown::<Condvar>();
    shown::<Barrier>();
    shown::<BarrierWaitResult>();
    let _ = Condvar::default();
    fn copied<T: Copy + Clone + Eq + PartialEq + Debug>() {}
    copied::<WaitTimeoutResult>();
    both::<WaitTimeoutResult>();
}

#[test]
#[allow(deprecated)]
fn what_is_done_once() {
    there_are!(
        sync::ONCE_INIT,
        Once::new,
        Once::is_completed,
        Once::wait,
        Once::wait_force,
        |o: &Once| o.call_once(|| {}),
        |o: &Once| o.call_once_force(|state: &OnceState| assert!(!state.is_poisoned())),
    );
    both::<Once>();
    shown::<Once>();
    type O = OnceLock<i32>;
    there_are!(
        O::new,
        O::get,
        O::get_mut,
        O::wait,
        O::set,
        O::into_inner,
        O::take,
        |o: &'static O| o.get_or_init(|| 1),
    );
    both::<O>();
    made_of::<O, i32>();
    fn compared<T: Clone + Eq + PartialEq>() {}
    compared::<O>();
    type L = LazyLock<i32>;
    there_are!(L::new, L::force);
    fn derefs<T: Deref<Target = i32> + DerefMut>() {}
    derefs::<L>();
    both::<L>();
    shown::<L>();
    let _ = L::default();
}

#[cfg(since = "1.94")]
#[test]
#[allow(clippy::incompatible_msrv)]
fn younger_functions_of_what_is_made_when_needed() {
    let mut lazy = LazyLock::new(|| 7);
    assert!(LazyLock::get(&lazy).is_none() && LazyLock::get_mut(&mut lazy).is_none());
    *LazyLock::force_mut(&mut lazy) += 1;
    assert_eq!(LazyLock::get(&lazy), Some(&8));
    assert_eq!(LazyLock::get_mut(&mut lazy), Some(&mut 8));
}

#[test]
fn channels() {
    there_are!(
        mpsc::channel::<i32>,
        mpsc::sync_channel::<i32>,
        Sender::<i32>::send,
        SyncSender::<i32>::send,
        SyncSender::<i32>::try_send,
        Receiver::<i32>::recv,
        Receiver::<i32>::try_recv,
        Receiver::<i32>::recv_timeout,
        Receiver::<i32>::iter,
        Receiver::<i32>::try_iter,
    );
    both::<Sender<i32>>();
    both::<SyncSender<i32>>();
    fn safe<T: UnwindSafe + RefUnwindSafe>() {}
    safe::<Receiver<i32>>();
    sent::<Receiver<i32>>();
    sent::<mpsc::IntoIter<i32>>();
    fn cloned<T: Clone + Debug>() {}
    cloned::<Sender<i32>>();
    cloned::<SyncSender<i32>>();
    shown::<Receiver<i32>>();
    fn iterates<T: Iterator<Item = i32> + Debug>() {}
    iterates::<mpsc::Iter<'static, i32>>();
    iterates::<mpsc::TryIter<'static, i32>>();
    iterates::<mpsc::IntoIter<i32>>();
    displayed::<mpsc::SendError<i32>>();
    displayed::<mpsc::TrySendError<i32>>();
    displayed::<mpsc::RecvError>();
    displayed::<mpsc::TryRecvError>();
    displayed::<mpsc::RecvTimeoutError>();
}

macro_rules! common {
    ($name:ty, $value:ty) => {{
        type A = $name;
        there_are!(
            A::new,
            A::load,
            A::store,
            A::swap,
            A::compare_and_swap,
            A::compare_exchange,
            A::compare_exchange_weak,
            A::get_mut,
            A::into_inner,
            A::as_ptr,
            |a: &A| a.fetch_update(Ordering::SeqCst, Ordering::SeqCst, Some),
        );
        both::<A>();
        made_of::<A, $value>();
    }};
}

#[test]
#[allow(deprecated)]
fn atomics() {
    macro_rules! integers {
        ($($name:ident $value:ty),*) => {$(
            common!($name, $value);
            there_are!(
                $name::fetch_add, $name::fetch_sub, $name::fetch_and, $name::fetch_nand, $name::fetch_or,
                $name::fetch_xor, $name::fetch_max, $name::fetch_min,
            );
        )*};
    }
    integers!(AtomicI8 i8, AtomicI16 i16, AtomicI32 i32, AtomicI64 i64, AtomicIsize isize);
    integers!(AtomicU8 u8, AtomicU16 u16, AtomicU32 u32, AtomicU64 u64, AtomicUsize usize);
    common!(AtomicBool, bool);
    there_are!(
        AtomicBool::fetch_and,
        AtomicBool::fetch_nand,
        AtomicBool::fetch_or,
        AtomicBool::fetch_xor,
        AtomicBool::fetch_not,
    );
    common!(AtomicPtr<i32>, *mut i32);
    fn pointer<T: Pointer>() {}
    pointer::<AtomicPtr<i32>>();
    there_are!(
        sync::atomic::fence,
        sync::atomic::compiler_fence,
        sync::atomic::spin_loop_hint,
        sync::atomic::ATOMIC_BOOL_INIT,
        sync::atomic::ATOMIC_ISIZE_INIT,
        sync::atomic::ATOMIC_USIZE_INIT,
    );
}

#[test]
#[allow(deprecated)]
fn threads() {
    there_are!(
        thread::spawn::<fn(), ()>,
        thread::scope::<'static, fn(&Scope<'_, 'static>), ()>,
        thread::current,
        thread::park,
        thread::park_timeout,
        thread::park_timeout_ms,
        thread::sleep,
        thread::sleep_ms,
        thread::yield_now,
        thread::panicking,
        thread::available_parallelism,
        Builder::new,
        Builder::name,
        Builder::stack_size,
        Builder::spawn::<fn(), ()>,
        Builder::spawn_scoped::<fn(), ()>,
        JoinHandle::<()>::thread,
        JoinHandle::<()>::join,
        JoinHandle::<()>::is_finished,
        ScopedJoinHandle::<'static, ()>::thread,
        ScopedJoinHandle::<'static, ()>::join,
        ScopedJoinHandle::<'static, ()>::is_finished,
        Thread::unpark,
        Thread::id,
        Thread::name,
    );
    let _: thread::Result<()> = Ok(());
    let _: Option<thread::ThreadId> = None;
    let _: Option<thread::AccessError> = None;
    sent::<JoinHandle<i32>>();
    shared::<JoinHandle<i32>>();
    sent::<ScopedJoinHandle<'static, i32>>();
    shared::<ScopedJoinHandle<'static, i32>>();
    both::<Thread>();
    both::<Builder>();
    shown::<Builder>();
    shown::<JoinHandle<i32>>();
    shown::<ScopedJoinHandle<'static, i32>>();
    shown::<Scope<'static, 'static>>();
    fn cloned<T: Clone + Debug>() {}
    cloned::<Thread>();
}
