//! Without the feature `monitor` nothing is hooked: `cargo test -p portent-hooks --features lock_api,tokio --test off`.

#![cfg(not(feature = "monitor"))]

use std::{any::TypeId, mem::size_of};

use portent_hooks::{Shared, event, sync, thread};

fn same<A: 'static, B: 'static>() {
    assert_eq!(TypeId::of::<A>(), TypeId::of::<B>());
    assert_eq!(size_of::<A>(), size_of::<B>());
}

#[test]
fn types_are_those_of_the_standard_library() {
    same::<sync::Mutex<u8>, std::sync::Mutex<u8>>();
    same::<sync::RwLock<u64>, std::sync::RwLock<u64>>();
    same::<sync::Condvar, std::sync::Condvar>();
    same::<sync::Barrier, std::sync::Barrier>();
    same::<sync::Once, std::sync::Once>();
    same::<sync::OnceLock<u8>, std::sync::OnceLock<u8>>();
    same::<sync::LazyLock<u8>, std::sync::LazyLock<u8>>();
    same::<sync::atomic::AtomicU64, std::sync::atomic::AtomicU64>();
    same::<sync::mpsc::Sender<u8>, std::sync::mpsc::Sender<u8>>();
    same::<sync::mpsc::SyncSender<u8>, std::sync::mpsc::SyncSender<u8>>();
    same::<sync::mpsc::Receiver<u8>, std::sync::mpsc::Receiver<u8>>();
    same::<thread::Builder, std::thread::Builder>();
    same::<thread::JoinHandle<()>, std::thread::JoinHandle<()>>();
    same::<thread::LocalKey<u8>, std::thread::LocalKey<u8>>();
    same::<thread::Thread, std::thread::Thread>();
}

#[test]
fn guards_and_results_are_those_of_the_standard_library() {
    same::<sync::MutexGuard<'static, u8>, std::sync::MutexGuard<'static, u8>>();
    same::<sync::RwLockReadGuard<'static, u8>, std::sync::RwLockReadGuard<'static, u8>>();
    same::<sync::RwLockWriteGuard<'static, u8>, std::sync::RwLockWriteGuard<'static, u8>>();
    same::<sync::BarrierWaitResult, std::sync::BarrierWaitResult>();
    same::<sync::WaitTimeoutResult, std::sync::WaitTimeoutResult>();
    same::<sync::OnceState, std::sync::OnceState>();
    same::<sync::mpsc::Iter<'static, u8>, std::sync::mpsc::Iter<'static, u8>>();
    same::<sync::mpsc::TryIter<'static, u8>, std::sync::mpsc::TryIter<'static, u8>>();
    same::<sync::mpsc::IntoIter<u8>, std::sync::mpsc::IntoIter<u8>>();
    same::<thread::Scope<'static, 'static>, std::thread::Scope<'static, 'static>>();
    same::<thread::ScopedJoinHandle<'static, u8>, std::thread::ScopedJoinHandle<'static, u8>>();
}

#[test]
fn atomics_are_those_of_the_standard_library() {
    use std::sync::atomic as native;

    use sync::atomic::*;
    same::<AtomicBool, native::AtomicBool>();
    same::<AtomicI8, native::AtomicI8>();
    same::<AtomicI16, native::AtomicI16>();
    same::<AtomicI32, native::AtomicI32>();
    same::<AtomicI64, native::AtomicI64>();
    same::<AtomicIsize, native::AtomicIsize>();
    same::<AtomicU8, native::AtomicU8>();
    same::<AtomicU16, native::AtomicU16>();
    same::<AtomicU32, native::AtomicU32>();
    same::<AtomicU64, native::AtomicU64>();
    same::<AtomicUsize, native::AtomicUsize>();
    same::<AtomicPtr<u8>, native::AtomicPtr<u8>>();
    same::<Ordering, native::Ordering>();
}

#[cfg(feature = "tokio")]
#[test]
fn tasks_are_those_of_tokio() {
    use portent_hooks::task;
    same::<task::MutexGuard<'static, u8>, tokio::sync::MutexGuard<'static, u8>>();
    same::<task::RwLockReadGuard<'static, u8>, tokio::sync::RwLockReadGuard<'static, u8>>();
    same::<task::RwLockWriteGuard<'static, u8>, tokio::sync::RwLockWriteGuard<'static, u8>>();
    same::<task::SemaphorePermit<'static>, tokio::sync::SemaphorePermit<'static>>();
    same::<task::OwnedSemaphorePermit, tokio::sync::OwnedSemaphorePermit>();
    same::<task::AbortHandle, tokio::task::AbortHandle>();
    same::<task::LocalSet, tokio::task::LocalSet>();
    same::<task::JoinHandle<u8>, tokio::task::JoinHandle<u8>>();
    same::<task::JoinSet<u8>, tokio::task::JoinSet<u8>>();
    same::<task::Mutex<u8>, tokio::sync::Mutex<u8>>();
    same::<task::RwLock<u8>, tokio::sync::RwLock<u8>>();
    same::<task::Notify, tokio::sync::Notify>();
    same::<task::Semaphore, tokio::sync::Semaphore>();
    same::<task::mpsc::Sender<u8>, tokio::sync::mpsc::Sender<u8>>();
    same::<task::oneshot::Receiver<u8>, tokio::sync::oneshot::Receiver<u8>>();
}

#[test]
fn a_variable_is_no_larger_than_a_mutex() {
    assert_eq!(size_of::<Shared<u64>>(), size_of::<sync::Mutex<u64>>());
    let level = Shared::with_name("level", 20);
    level.set(27);
    assert_eq!(level.update(|level| *level) + level.replace(1), 54);
    assert_eq!((level.get(), level.with(|level| *level)), (1, 1));
}

#[test]
fn an_event_evaluates_nothing() {
    let evaluated = || -> i64 { panic!("nobody asks") };
    event!(login);
    event!(login, user = evaluated(), tries = 3);
    event!(login, evaluated());
}

#[cfg(feature = "lock_api")]
#[test]
fn raw_locks_are_plain_ones() {
    use lock_api::RwLockWriteGuard;
    use sync::lock_api::{RawMutex, RawRwLock};

    assert!(size_of::<RawMutex>() <= 24);
    let total = lock_api::Mutex::<RawMutex, u64>::new(0);
    let pair = lock_api::RwLock::<RawRwLock, [u64; 2]>::new([0; 2]);
    thread::scope(|s| {
        for _ in 0..4 {
            s.spawn(|| {
                for round in 0..5_000 {
                    *total.lock() += 1;
                    let mut both = pair.write();
                    both[0] += 1;
                    thread::yield_now();
                    both[1] += 1;
                    let both = match round % 2 {
                        0 => RwLockWriteGuard::downgrade(both),
                        _ => {
                            drop(both);
                            pair.read()
                        }
                    };
                    assert_eq!(both[0], both[1], "nobody writes while somebody reads");
                }
            });
        }
    });
    assert_eq!((*total.lock(), *pair.read()), (20_000, [20_000; 2]));
    let held = total.lock();
    assert!(total.try_lock().is_none() && total.is_locked());
    drop(held);
    assert!(total.try_lock().is_some());
}
