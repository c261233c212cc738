//! What programs do that a scheduler may stumble over.

use std::{
    cell::{Cell, RefCell},
    process::Command,
    sync::Arc,
    time::Duration,
};

use portent_explore::{Explorer, FailureKind, Stopped, choose, strategy::Optimal};
use portent_hooks::{
    hint,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicU32, Ordering::SeqCst},
    },
    task, thread, thread_local,
};

#[test]
fn a_thread_that_spins_waits_for_a_change() {
    let report = Explorer::new().check(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let other = Arc::clone(&flag);
        let thread = thread::spawn(move || other.store(true, SeqCst));
        while !flag.load(SeqCst) {
            thread::yield_now();
        }
        thread.join().unwrap();
    });
    report.assert_passed();
    assert_eq!(report.stopped, Stopped::Exhausted, "{report}");
    // It looks once, twice, or waits after that.
    assert_eq!(report.executions, 3, "{report}");
}

#[test]
fn a_lock_that_is_spun_for() {
    let report = Explorer::new().keep_going().check(|| {
        let lock = Arc::new(AtomicBool::new(false));
        let inside = Arc::new(AtomicU32::new(0));
        let work = {
            let (lock, inside) = (Arc::clone(&lock), Arc::clone(&inside));
            move || {
                while lock.compare_exchange(false, true, SeqCst, SeqCst).is_err() {
                    hint::spin_loop();
                }
                assert_eq!(inside.fetch_add(1, SeqCst), 0, "two are inside");
                inside.fetch_sub(1, SeqCst);
                lock.store(false, SeqCst);
            }
        };
        let threads: Vec<_> = (0..2).map(|_| thread::spawn(work.clone())).collect();
        for thread in threads {
            thread.join().unwrap();
        }
    });
    report.assert_passed();
    assert_eq!(report.stopped, Stopped::Exhausted, "{report}");
}

#[test]
fn a_thread_that_spins_for_ever_is_found() {
    let report = Explorer::new().check(|| {
        let flag = AtomicBool::with_name("never", false);
        while !flag.load(SeqCst) {
            thread::yield_now();
        }
    });
    assert_eq!(report.failures[0].kind, FailureKind::Deadlock, "{report}");
    assert!(
        report.failures[0].message.contains("look again at never"),
        "{report}"
    );
    let blind = Explorer::new().check(|| {
        loop {
            hint::spin_loop();
        }
    });
    assert!(
        blind.failures[0].message.contains("does nothing but pause"),
        "{blind}"
    );
}

#[test]
fn who_gives_up_after_some_looks_is_no_failure() {
    let report = Explorer::new().check(|| {
        let flag = AtomicBool::new(false);
        for _ in 0..5 {
            if flag.load(SeqCst) {
                return;
            }
            thread::yield_now();
        }
    });
    report.assert_passed();
}

#[test]
fn a_run_that_does_not_end_is_stopped_and_that_is_said() {
    let report = Explorer::new().max_steps(100).check(|| {
        let number = AtomicU32::new(0);
        loop {
            number.fetch_add(1, SeqCst);
        }
    });
    assert_eq!(report.stopped, Stopped::Steps);
    assert_eq!(report.too_long, 1);
    assert_eq!(
        report.left_out(),
        ["what comes after the bound on steps, where 1 run was stopped"]
    );
}

#[test]
fn threads_have_locals_of_their_own_in_every_run() {
    thread_local! {
        static COUNT: Cell<u32> = const { Cell::new(0) };
    }
    let report = Explorer::new().check(|| {
        let number = Arc::new(AtomicU32::new(0));
        let work = {
            let number = Arc::clone(&number);
            move || {
                for _ in 0..2 {
                    COUNT.set(COUNT.get() + 1);
                    number.fetch_add(1, SeqCst);
                }
                assert_eq!(COUNT.get(), 2);
            }
        };
        let threads: Vec<_> = (0..2).map(|_| thread::spawn(work.clone())).collect();
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(COUNT.get(), 0);
    });
    report.assert_passed();
    assert_eq!(report.executions, 6);
}

#[test]
fn locals_that_are_set_first_are_not_made() {
    thread_local! {
        static CELL: Cell<u32> = panic!("nobody asked for it");
        static LIST: RefCell<Vec<u32>> = panic!("nobody asked for it");
    }
    let report = Explorer::new().check(|| {
        let work = || {
            CELL.set(2);
            LIST.set(vec![3]);
            CELL.set(CELL.get() + 1);
            LIST.set(LIST.take().repeat(2));
            assert_eq!((CELL.get(), LIST.replace(vec![])), (3, vec![3, 3]));
        };
        thread::spawn(work).join().unwrap();
        work();
    });
    report.assert_passed();
}

#[test]
fn locals_are_dropped_at_the_end_of_their_thread() {
    struct Tells(Arc<AtomicU32>);
    impl Drop for Tells {
        fn drop(&mut self) {
            self.0.fetch_add(1, SeqCst);
        }
    }
    thread_local! {
        static TELLS: Cell<Option<Tells>> = const { Cell::new(None) };
    }
    let report = Explorer::new().check(|| {
        let number = Arc::new(AtomicU32::new(0));
        let other = Arc::clone(&number);
        thread::spawn(move || TELLS.set(Some(Tells(other))))
            .join()
            .unwrap();
        assert_eq!(number.load(SeqCst), 1);
    });
    report.assert_passed();
}

#[test]
fn values_are_explored_with_schedules() {
    let program = || {
        let number = Arc::new(AtomicU32::new(0));
        let work = {
            let number = Arc::clone(&number);
            move || {
                number.fetch_add(choose(3), SeqCst);
            }
        };
        let threads: Vec<_> = (0..2).map(|_| thread::spawn(work.clone())).collect();
        for thread in threads {
            thread.join().unwrap();
        }
        assert_ne!(number.load(SeqCst), 4, "both chose two");
    };
    let report = Explorer::new().keep_going().check(program);
    // Nine pairs of values, in two orders each.
    assert_eq!((report.executions, report.failed), (18, 2), "{report}");
    let again = Explorer::new()
        .replay(&report.failures[0].token)
        .unwrap()
        .check(program);
    assert_eq!(again.failures[0].message, report.failures[0].message);
    let optimal = Explorer::new()
        .strategy(Optimal::new)
        .keep_going()
        .check(program);
    assert_eq!((optimal.executions, optimal.failed), (18, 2), "{optimal}");
}

#[test]
fn what_a_program_catches_does_not_keep_it_from_ending() {
    let report = Explorer::new().check(|| {
        let lock = Mutex::new(());
        loop {
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let _one = lock.lock();
                let _two = lock.lock();
            }));
        }
    });
    assert_eq!(report.deadlocks, 1);
    assert!(
        report.notes[0].contains("1 threads could not be ended"),
        "{report}"
    );
}

#[test]
fn destructors_that_lock_while_a_deadlock_is_taken_apart() {
    struct Locks(Arc<Mutex<u32>>);
    impl Drop for Locks {
        fn drop(&mut self) {
            *self
                .0
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner) += 1;
        }
    }
    let report = Explorer::new().keep_going().check(|| {
        let locks = Arc::new([Mutex::new(()), Mutex::new(())]);
        let count = Arc::new(Mutex::new(0));
        let threads: Vec<_> = (0..2)
            .map(|number| {
                let (locks, count) = (Arc::clone(&locks), Arc::clone(&count));
                thread::spawn(move || {
                    let _locks = Locks(count);
                    let _first = locks[number].lock().unwrap();
                    let _second = locks[1 - number].lock().unwrap();
                })
            })
            .collect();
        for thread in threads {
            let _ = thread.join();
        }
    });
    assert_eq!(report.deadlocks, 1, "{report}");
    assert_eq!(report.stopped, Stopped::Exhausted);
}

#[test]
fn more_threads_than_a_row_of_clocks_has_counts() {
    let report = Explorer::new().check(|| {
        let number = Arc::new(AtomicU32::new(0));
        let threads: Vec<_> = (0..20)
            .map(|each| {
                let number = Arc::clone(&number);
                thread::spawn(move || {
                    if each % 10 == 9 {
                        number.fetch_add(1, SeqCst);
                    }
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
    });
    assert_eq!((report.executions, report.failed), (2, 0));
    let too_many = Explorer::new().check(|| {
        for _ in 0..100 {
            thread::spawn(|| {});
        }
    });
    assert_eq!(too_many.failures[0].kind, FailureKind::Limit);
}

#[test]
fn what_changes_from_run_to_run_is_said() {
    use std::sync::atomic::AtomicU32 as Native;
    static RUNS: Native = Native::new(0);
    let report = Explorer::new().keep_going().check(|| {
        let numbers = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
        let other = Arc::clone(&numbers);
        let which = RUNS.fetch_add(1, SeqCst) as usize % 2;
        let thread = thread::spawn(move || {
            other[0].fetch_add(1, SeqCst);
            other[which].store(2, SeqCst);
        });
        numbers[0].fetch_add(1, SeqCst);
        numbers[which].load(SeqCst);
        thread.join().unwrap();
    });
    assert_eq!(
        report.failures[0].kind,
        FailureKind::Nondeterminism,
        "{report}"
    );
    static OLD: AtomicU32 = AtomicU32::new(0);
    let report = Explorer::new().check(|| {
        let thread = thread::spawn(|| OLD.fetch_add(1, SeqCst));
        OLD.fetch_add(1, SeqCst);
        thread.join().unwrap();
    });
    assert!(report.notes[0].contains("older than a run"), "{report}");
}

/// Runs one of the tests here in a process of its own, in which it does something terrible.
fn alone(test: &str) -> String {
    let output = Command::new(std::env::current_exe().unwrap())
        .args([&format!("traps::{test}"), "--exact", "--nocapture"])
        .env("PORTENT_ALONE", test)
        .output()
        .unwrap();
    assert!(!output.status.success());
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn is_alone(test: &str) -> bool {
    std::env::var("PORTENT_ALONE").is_ok_and(|alone| alone == test)
}

#[cfg(unix)]
#[test]
fn a_stack_that_is_too_small() {
    #[expect(unconditional_recursion)]
    fn deeper(depth: u64) -> u64 {
        std::hint::black_box([depth; 16])[3] + deeper(depth + 1)
    }
    if is_alone("a_stack_that_is_too_small") {
        let _ = Explorer::new().check(|| {
            let _ = thread::spawn(|| deeper(0)).join();
        });
    } else {
        let said = alone("a_stack_that_is_too_small");
        assert!(
            said.contains("thread 1 of an explored program has overflowed its stack"),
            "{said}"
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_lock_that_is_not_explored() {
    if is_alone("a_lock_that_is_not_explored") {
        let _ = Explorer::new().check(|| {
            let lock = Arc::new(std::sync::Mutex::new(()));
            let number = Arc::new(AtomicU32::new(0));
            let work = {
                let (lock, number) = (Arc::clone(&lock), Arc::clone(&number));
                move || {
                    let _inside = lock.lock().unwrap();
                    number.fetch_add(1, SeqCst);
                }
            };
            let threads: Vec<_> = (0..2).map(|_| thread::spawn(work.clone())).collect();
            for thread in threads {
                thread.join().unwrap();
            }
        });
    } else {
        let said = alone("a_lock_that_is_not_explored");
        assert!(
            said.contains("thread 2 of an explored program waits for something real"),
            "{said}"
        );
    }
}

#[test]
fn the_order_of_a_hash_map_is_noticed() {
    use std::collections::HashMap;
    let report = Explorer::new().check(|| {
        let numbers: HashMap<u32, AtomicU32> =
            (0..20).map(|key| (key, AtomicU32::new(0))).collect();
        let other = Arc::new(AtomicU32::new(0));
        let thread = {
            let other = Arc::clone(&other);
            thread::spawn(move || other.store(1, SeqCst))
        };
        // As many steps before it as there are numbers before the fourth.
        for (key, number) in &numbers {
            if *key == 4 {
                break;
            }
            number.fetch_add(1, SeqCst);
        }
        other.load(SeqCst);
        thread.join().unwrap();
    });
    assert_eq!(
        report.failures[0].kind,
        FailureKind::Nondeterminism,
        "{report}"
    );
}

#[test]
fn a_deadlock_inside_a_scope() {
    let report = Explorer::new().keep_going().check(|| {
        let locks = [Mutex::new(vec![1]), Mutex::new(vec![2])];
        thread::scope(|scope| {
            for number in 0..2 {
                let locks = &locks;
                scope.spawn(move || {
                    let mut first = locks[number].lock().unwrap();
                    let second = locks[1 - number].lock().unwrap();
                    first.push(second[0]);
                });
            }
        });
        drop(locks);
    });
    assert_eq!((report.executions, report.deadlocks), (3, 1), "{report}");
    assert_eq!(report.stopped, Stopped::Exhausted);
}

#[test]
fn a_sleep_takes_no_time_and_orders_nothing() {
    let report = Explorer::new().check(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let other = Arc::clone(&flag);
        let thread = thread::spawn(move || {
            thread::sleep(Duration::from_secs(1000));
            other.store(true, SeqCst);
        });
        let is_set = flag.load(SeqCst);
        while !flag.load(SeqCst) {
            thread::sleep(Duration::from_secs(1));
        }
        assert!(
            !is_set,
            "a thread that sleeps may be the first one all the same"
        );
        thread.join().unwrap();
    });
    assert_eq!(report.failed, 1, "{report}");
    assert!(
        report.failures[0].message.contains("may be the first one"),
        "{report}"
    );
}

#[test]
fn tasks_of_a_runtime_are_refused() {
    let refused = |what: &str, program: fn()| {
        let report = Explorer::new().check(program);
        assert_eq!(report.failures[0].kind, FailureKind::Limit, "{report}");
        assert!(report.failures[0].message.contains(what), "{report}");
        assert!(
            report.failures[0]
                .message
                .ends_with("which cannot be explored"),
            "{report}"
        );
    };
    refused("main begins a task of tokio at", || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime.block_on(async {
            let _ = task::spawn(async {}).await;
        });
    });
    refused("main synchronises as tasks of tokio do", || {
        let (sender, _receiver) = task::mpsc::unbounded_channel();
        let _ = sender.send(1);
    });
}
