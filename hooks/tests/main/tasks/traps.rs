//! What only tasks have: panics and aborts, guards that are held over an await, queues that are lent, runtimes that are shared.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use portent_hooks::{
    Recorded, Recording, event,
    task::{self, JoinSet, LocalSet, Mutex, Notify, Semaphore, mpsc, oneshot},
};
use portent_monitor_core::{Op, Stamp, Value};

use super::{recorded, runtime};
use crate::stress::collect;

/// The stamp of the event with this name.
fn stamp<'a>(events: &'a [Recorded], name: &str) -> &'a Stamp {
    let symbols = portent_hooks::symbols();
    let is_it = |recorded: &&Recorded| {
        let name_of = recorded.event.action().and_then(|action| action.name);
        name_of.is_some_and(|id| symbols.names.name(id) == name)
    };
    let mut found = events.iter().filter(is_it);
    let stamp = &found.next().expect(name).stamp;
    assert!(found.next().is_none(), "{name} happened once");
    stamp
}

fn is_before(events: &[Recorded], one: &str, other: &str) -> bool {
    stamp(events, one).precedes(stamp(events, other))
}

fn are_concurrent(events: &[Recorded], one: &str, other: &str) -> bool {
    !is_before(events, one, other) && !is_before(events, other, one)
}

#[test]
fn tasks_of_one_thread_are_concurrent() {
    let (events, stream) = recorded(&["one", "other", "joined"], 1, async {
        let one = task::spawn(async { event!(one) });
        let other = task::spawn(async { event!(other) });
        one.await.unwrap();
        event!(joined);
        other.await.unwrap();
    });
    assert!(are_concurrent(&events, "one", "other"));
    assert!(is_before(&events, "one", "joined"));
    assert!(are_concurrent(&events, "other", "joined"));
    assert_eq!(stream.counts().foreign, 0);
}

#[test]
fn a_task_that_panics_has_ended() {
    struct Last;
    impl Drop for Last {
        fn drop(&mut self) {
            event!(dropped);
        }
    }
    for threads in [1, 2] {
        let names = ["first", "dropped", "joined", "main_goes_on"];
        let (events, _) = recorded(&names, threads, async {
            let failing = task::spawn(async {
                let _last = Last;
                event!(first);
                task::yield_now().await;
                std::panic::resume_unwind(Box::new(()));
            });
            assert!(failing.await.unwrap_err().is_panic());
            event!(joined);
            // The actor of the thread is back in its place.
            let aside = task::spawn(async {});
            event!(main_goes_on);
            aside.await.unwrap();
        });
        assert!(is_before(&events, "first", "dropped"));
        assert!(is_before(&events, "dropped", "joined"));
        assert!(is_before(&events, "joined", "main_goes_on"));
    }
}

#[test]
fn what_an_aborted_task_drops_comes_after_the_abort_and_before_the_join() {
    struct Last;
    impl Drop for Last {
        fn drop(&mut self) {
            event!(dropped);
        }
    }
    for threads in [1, 2] {
        let names = ["begun", "aborts", "dropped", "joined"];
        let (events, _) = recorded(&names, threads, async {
            let (begun, has_begun) = oneshot::channel();
            let waiting = task::spawn(async {
                let _last = Last;
                event!(begun);
                begun.send(()).unwrap();
                std::future::pending::<()>().await;
            });
            has_begun.await.unwrap();
            event!(aborts);
            waiting.abort();
            assert!(waiting.await.unwrap_err().is_cancelled());
            event!(joined);
        });
        let order = ["begun", "aborts", "dropped", "joined"];
        for pair in order.windows(2) {
            assert!(is_before(&events, pair[0], pair[1]), "{pair:?}");
        }
    }
}

#[test]
fn a_task_that_never_ran_is_joined_with_what_its_spawner_knew() {
    let (events, _) = recorded(&["before", "joined"], 1, async {
        let mut set = JoinSet::new();
        event!(before);
        set.spawn(async {});
        set.abort_all();
        assert!(set.join_next().await.unwrap().is_err());
        event!(joined);
    });
    assert!(is_before(&events, "before", "joined"));
}

#[test]
fn local_tasks_and_blocking_ones_are_actors() {
    let names = ["local", "blocking", "end"];
    let (events, stream) = recorded(&names, 1, async {
        let set = LocalSet::new();
        let running = set.run_until(async {
            let local = task::spawn_local(async { event!(local) });
            let blocking = task::spawn_blocking(|| event!(blocking));
            local.await.unwrap();
            blocking.await.unwrap();
            event!(end);
        });
        running.await;
    });
    assert!(are_concurrent(&events, "local", "blocking"));
    assert!(is_before(&events, "local", "end") && is_before(&events, "blocking", "end"));
    assert_eq!(stream.counts().foreign, 0);
}

#[test]
fn a_channel_that_is_not_hooked_is_seen_by_its_wakes() {
    let (events, _) = recorded(&["sent", "received"], 1, async {
        let (sender, mut receiver) = tokio::sync::watch::channel(0);
        let waiting = task::spawn(async move {
            receiver.changed().await.unwrap();
            event!(received);
        });
        task::yield_now().await;
        let telling = task::spawn(async move {
            event!(sent);
            sender.send(1).unwrap();
        });
        waiting.await.unwrap();
        telling.await.unwrap();
    });
    assert!(is_before(&events, "sent", "received"));
}

#[test]
fn who_gets_a_permit_comes_after_those_that_were_given_back() {
    let names = ["one", "other", "third"];
    let (events, _) = recorded(&names, 1, async {
        let semaphore = Arc::new(Semaphore::new(2));
        let mut tasks = Vec::new();
        let permit = Arc::clone(&semaphore).acquire_owned().await.unwrap();
        tasks.push(task::spawn(async move {
            event!(one);
            drop(permit);
        }));
        let permit = Arc::clone(&semaphore).acquire_owned().await.unwrap();
        tasks.push(task::spawn(async move {
            event!(other);
            drop(permit);
        }));
        tasks.push(task::spawn(async move {
            let mut permits = semaphore.acquire_many(2).await.unwrap();
            event!(third);
            assert_eq!(permits.split(1).unwrap().num_permits(), 1);
            semaphore.close();
            assert!(semaphore.acquire().await.is_err());
        }));
        for task in tasks {
            task.await.unwrap();
        }
    });
    assert!(are_concurrent(&events, "one", "other"));
    assert!(is_before(&events, "one", "third") && is_before(&events, "other", "third"));
}

#[test]
fn a_kept_signal_does_not_tell_when_it_was_waited_for() {
    let names = ["waits", "signals", "woken", "signalled"];
    let (events, _) = recorded(&names, 1, async {
        let notify = Arc::new(Notify::new());
        let waiting = Arc::clone(&notify);
        let waiting = task::spawn(async move {
            event!(waits);
            waiting.notified().await;
            event!(woken);
        });
        let signalling = task::spawn(async move {
            event!(signals);
            notify.notify_one();
            event!(signalled);
        });
        waiting.await.unwrap();
        signalling.await.unwrap();
    });
    assert!(is_before(&events, "signals", "woken"));
    assert!(are_concurrent(&events, "waits", "signalled"));
}

#[test]
fn a_failed_try_comes_after_the_lock_of_the_holder() {
    for threads in [1, 2] {
        let (events, stream) = recorded(&["holds", "tried", "gives_back"], threads, async {
            let mutex = Arc::new(Mutex::new(0));
            // From the first try on it is known who holds it.
            drop(mutex.try_lock().unwrap());
            let held = Arc::clone(&mutex);
            let (first, is_first) = oneshot::channel();
            let (second, is_second) = tokio::sync::oneshot::channel();
            let holding = task::spawn(async move {
                let guard = held.lock().await;
                event!(holds);
                first.send(()).unwrap();
                // Not hooked, and it is there before anybody waits for it.
                while is_second.is_empty() {
                    task::yield_now().await;
                }
                event!(gives_back);
                drop(guard);
            });
            is_first.await.unwrap();
            assert!(mutex.try_lock().is_err());
            event!(tried);
            second.send(()).unwrap();
            holding.await.unwrap();
        });
        assert!(is_before(&events, "holds", "tried"));
        assert!(are_concurrent(&events, "tried", "gives_back"));
        assert_eq!(stream.counts().blind, 0);
    }
}

/// A guard that is held over an await is given back by the same task, though another thread may carry it then, whose queue has nothing
/// of it.
#[test]
fn what_is_taken_in_one_poll_is_given_back_in_another() {
    let runtime = runtime(2);
    let (recording, mut stream) = Recording::everything().start();
    let entered = recording.enter();
    runtime.block_on(async {
        let mutex = Arc::new(Mutex::new(0));
        let mut set = JoinSet::new();
        for _ in 0..20 {
            let mutex = Arc::clone(&mutex);
            set.spawn(async move {
                for _ in 0..20 {
                    let mut guard = mutex.lock().await;
                    task::yield_now().await;
                    *guard += 1;
                }
            });
        }
        set.join_all().await;
        assert_eq!(*mutex.lock().await, 400);
    });
    drop((entered, runtime));
    let events = stream.finish();
    let count = |is: fn(&Op) -> bool| events.iter().filter(|one| is(&one.event.op)).count();
    assert_eq!(count(|op| matches!(op, Op::Lock(_))), 401);
    assert_eq!(count(|op| matches!(op, Op::Unlock(_))), 401);
    crate::stress::same_offline(&events[..400]);
}

/// Queues are small, and many tasks write to few: nothing is lost, and what comes out is in causal order.
#[test]
fn lent_queues_lose_nothing() {
    let (recording, stream) = Recording::relevant(["step"]).capacity(64).start();
    let stopped = Arc::new(AtomicBool::new(false));
    let reader = thread::spawn({
        let stopped = Arc::clone(&stopped);
        move || collect(stream, &stopped)
    });
    let entered = recording.enter();
    let runtime = runtime(2);
    runtime.block_on(async {
        let (sender, mut receiver) = mpsc::channel(3);
        for number in 0..50i64 {
            let sender = sender.clone();
            task::spawn(async move {
                for step in 0..40 {
                    event!(step, number, step, "text");
                    if step % 7 == 0 {
                        sender.send(number).await.unwrap();
                    }
                    task::yield_now().await;
                }
            });
        }
        drop(sender);
        while receiver.recv().await.is_some() {}
    });
    drop((entered, runtime));
    stopped.store(true, Ordering::Release);
    let (events, counts) = reader.join().unwrap();
    assert_eq!((events.len(), counts.dropped), (50 * 40, 0));
    let mut last: Vec<Option<(i64, &Stamp)>> = vec![None; 50];
    for recorded in &events {
        let args = &recorded.event.action().unwrap().args;
        let [Value::Int(number), Value::Int(step), Value::Str(text)] = &args[..] else {
            panic!("{args:?}");
        };
        assert_eq!(&**text, "text");
        let last = &mut last[*number as usize];
        assert_eq!(*step, last.map_or(0, |(step, _)| step + 1));
        assert!(last.is_none_or(|(_, stamp)| stamp.precedes(&recorded.stamp)));
        *last = Some((*step, &recorded.stamp));
    }
}

/// Tasks of two recordings are carried by the same threads.
#[test]
fn recordings_share_a_runtime() {
    let runtime = runtime(2);
    let (one, mut of_one) = Recording::relevant(["shared_tick"]).start();
    let (other, mut of_other) = Recording::everything().start();
    let spawn = |recording: &Recording, count: usize| {
        let _entered = recording.enter();
        let _inside = runtime.enter();
        let body = move || async move {
            for _ in 0..count {
                event!(shared_tick);
                task::yield_now().await;
            }
        };
        [task::spawn(body()), task::spawn(body())]
    };
    let handles = [spawn(&one, 100), spawn(&other, 70)];
    runtime.block_on(async {
        for handle in handles.into_iter().flatten() {
            handle.await.unwrap();
        }
    });
    drop(runtime);
    assert_eq!(of_one.finish().len(), 200);
    let events = of_other.finish();
    let ticks = events.iter().filter(|one| one.event.action().is_some());
    assert_eq!(ticks.count(), 140);
}
