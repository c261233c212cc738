//! Violations are predicted while the program runs, and what was not seen is told.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
        mpsc,
    },
    time::{Duration, Instant},
};

use portent_hooks::{Full, Shared, event, sync, thread};
use portent_lattice::Limit;
use portent_monitor_core::Value;
use portent_monitor_dsl::Property;
use portent_sidecar::{Error, Sidecar, Violation};

fn property(text: &str) -> Property {
    Property::parse(text).expect("a good property")
}

fn files() -> Property {
    property("property file(f) { event open(f), read(f)  ltl: always (read -> once open) }")
}

/// A property that no run violates, so that all is looked at to the end.
fn pairs() -> Property {
    property("property pair(w) { event take(w), give(w)  ere: (take give)* take? }")
}

fn within(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < end, "{what}: not within a minute");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Ends threads also if the test fails, which would wait for them for ever.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, SeqCst);
    }
}

fn binding(violation: &Violation) -> Value {
    violation.report.binding[0].1.clone()
}

#[test]
fn a_bank_whose_accounts_are_read_outside_the_lock() {
    // Each account is locked for a withdrawal, but those of odd numbers are looked at before.
    let text = "property account(a) { event look(a), withdraw(a), end(a)  \
                never: look .* withdraw .* withdraw }";
    let text = text.replace(".*", "(look | withdraw | end)*");
    let found = Arc::new(Mutex::new(BTreeSet::new()));
    let told = Arc::clone(&found);
    let sidecar = Sidecar::builder()
        .property(property(&text))
        .on_violation(move |violation| {
            let Value::Int(account) = binding(violation) else {
                panic!("accounts have numbers")
            };
            assert!(violation.lost.is_nothing());
            told.lock().unwrap().insert(account);
        })
        .start()
        .unwrap();
    let entered = sidecar.enter();
    let accounts: Arc<Vec<_>> = Arc::new((0..20).map(|_| sync::Mutex::new(100)).collect());
    let tellers: Vec<_> = { 0..2 }
        .map(|_| {
            let accounts = Arc::clone(&accounts);
            thread::spawn(move || {
                for (number, account) in accounts.iter().enumerate() {
                    if number % 2 == 1 {
                        event!(look, number);
                        let mut held = account.lock().unwrap();
                        event!(withdraw, number);
                        *held -= 60;
                    } else {
                        let mut held = account.lock().unwrap();
                        event!(look, number);
                        if *held >= 60 {
                            event!(withdraw, number);
                            *held -= 60;
                        }
                    }
                    event!(end, number);
                }
            })
        })
        .collect();
    for teller in tellers {
        teller.join().unwrap();
    }
    // Told while the program still could go on.
    let odd: BTreeSet<i64> = (0..20).filter(|number| number % 2 == 1).collect();
    within("all odd accounts", || *found.lock().unwrap() == odd);
    drop(entered);
    let summary = sidecar.stop().unwrap();
    assert_eq!(summary.counts.violations, 10);
    assert_eq!(summary.report.properties.len(), 20);
    assert!(summary.is_exhaustive());
    assert_eq!(summary.report.trace.events, summary.counts.events);
    assert_eq!(*found.lock().unwrap(), odd);
}

#[test]
fn variables_have_initial_values_and_errors_are_told() {
    let (told, errors) = mpsc::channel();
    let level = || property("property level { var level: int  ltl: always level < 3 }");
    let refused = Sidecar::builder().property(level()).start();
    assert!(matches!(
        refused,
        Err(Error::Check(portent_lattice::Error::NoInitialValue { .. }))
    ));
    let sidecar = Sidecar::builder()
        .property(level())
        .initial("level", 7)
        .initial("level", 0)
        .on_error(move |error| told.send(error.to_string()).unwrap())
        .start()
        .unwrap();
    let entered = sidecar.enter();
    let name = Shared::with_name("level", "low".to_owned());
    let level = Shared::with_name("level", 0);
    level.set(1);
    name.set("high".to_owned());
    level.set(3);
    drop(entered);
    let summary = sidecar.stop().unwrap();
    assert!(summary.report.is_violated(), "after the error, too");
    assert_eq!(summary.counts.lost.refused, 1);
    assert!(!summary.is_exhaustive());
    assert_eq!(
        summary.report.properties[0].lattice.limit,
        Some(Limit::Missing)
    );
    let error = errors.recv().unwrap();
    assert!(error.contains("`level` is of type int"), "{error}");
    assert_eq!(summary.errors.len(), 1);
    assert_eq!(summary.errors[0].to_string(), error);
}

#[test]
fn operations_are_recorded_if_a_property_reads_them() {
    let order = property(
        r#"property order { event a on lock("first"), b on lock("second")  ltl: always (b -> once a) }"#,
    );
    let sidecar = Sidecar::builder().property(order).start().unwrap();
    let entered = sidecar.enter();
    let first = sync::Mutex::with_name("first", 0);
    let second = sync::Mutex::with_name("second", 0);
    thread::scope(|s| {
        s.spawn(|| drop(first.lock().unwrap()));
        s.spawn(|| drop(second.lock().unwrap()));
    });
    drop(entered);
    let summary = sidecar.stop().unwrap();
    assert_eq!(summary.counts.violations, 1);
    assert_eq!(
        summary.counts.events, 8,
        "two forks, locks, unlocks and joins"
    );
}

#[test]
fn nothing_is_lost_while_threads_wait_for_room() {
    const EACH: u64 = 50_000;
    let sidecar = Sidecar::builder()
        .property(pairs())
        .capacity(256)
        .start()
        .unwrap();
    let entered = sidecar.enter();
    thread::scope(|s| {
        for worker in 0..4 {
            s.spawn(move || {
                for number in 0..EACH {
                    match number % 2 {
                        0 => event!(take, worker),
                        _ => event!(give, worker),
                    }
                }
            });
        }
    });
    drop(entered);
    let summary = sidecar.stop().unwrap();
    assert_eq!(summary.counts.events, 4 * EACH);
    assert_eq!(summary.report.trace.events, 4 * EACH);
    assert_eq!(summary.report.properties.len(), 4);
    for found in &summary.report.properties {
        assert_eq!(found.relevant, EACH);
        assert!(!found.predicted.violated);
    }
    assert!(summary.counts.lost.is_nothing());
    assert!(summary.is_exhaustive());
}

#[test]
fn a_sidecar_that_cannot_keep_up_narrows_what_it_keeps_and_says_so() {
    const CAPACITY: u64 = 256;
    // Nobody ever does d, but nobody can know that.
    let far = "property far { event a, b, c, d  never: .* a b c a c b .* b a c b a c .* c b a c a b .* d }";
    let made = Arc::new(AtomicU64::new(0));
    let (tell, told) = mpsc::channel();
    let heard = Arc::clone(&made);
    let sidecar = Sidecar::builder()
        .property(property(far))
        .property(files())
        .capacity(CAPACITY as usize)
        .on_violation(move |violation| {
            let name = violation.report.name.clone();
            tell.send((name, heard.load(SeqCst))).unwrap();
        })
        .start()
        .unwrap();
    let entered = sidecar.enter();
    let is_over = AtomicBool::new(false);
    thread::scope(|s| {
        let _ends = Ends(&is_over);
        for _ in 0..4 {
            s.spawn(|| {
                while !is_over.load(SeqCst) {
                    event!(a);
                    event!(b);
                    event!(c);
                    made.fetch_add(3, SeqCst);
                }
            });
        }
        within("narrowed", || sidecar.counts().narrowed > 0);
        // What is observed is told all the same, while it is behind; and not late. What was in queues before it is looked at first, and while that is
        // done and its own queue's turn comes threads may fill theirs once more: no other event can come in between.
        event!(read, file = "a");
        let before = made.load(SeqCst);
        let (name, after) = told.recv_timeout(Duration::from_secs(60)).unwrap();
        is_over.store(true, SeqCst);
        assert_eq!(name, "file");
        let most = 4 * (2 * CAPACITY + 3);
        assert!(
            after.saturating_sub(before) <= most,
            "{before} events, and {after} when it was told"
        );
    });
    drop(entered);
    let summary = sidecar.stop().unwrap();
    assert!(summary.counts.lost.is_nothing());
    let mut warnings = summary.report.warnings.iter();
    assert!(warnings.any(|warning| warning.text.contains("could not keep up")));
}

#[test]
fn chains_of_threads_that_nobody_waits_for_are_used_again_and_the_report_says_so() {
    let sidecar = Sidecar::builder().property(pairs()).start().unwrap();
    let entered = sidecar.enter();
    let mut spawned = 0u64;
    within("settled", || {
        for _ in 0..50 {
            spawned += 1;
            let worker = spawned as i64;
            let detached = thread::spawn(move || {
                event!(take, worker);
                event!(give, worker);
            });
            // It orders nothing.
            while !detached.is_finished() {
                std::thread::yield_now();
            }
        }
        sidecar.counts().settled > 0
    });
    drop(entered);
    let summary = sidecar.stop().unwrap();
    assert_eq!(summary.counts.events, 2 * spawned);
    assert!(!summary.is_exhaustive());
    let mut warnings = summary.report.warnings.iter();
    assert!(warnings.any(|warning| warning.text.contains("nobody waited for")));
}

#[test]
fn what_is_dropped_is_counted_and_the_verdict_says_so() {
    const EVENTS: u64 = 20_000;
    let (go, wait) = mpsc::channel::<()>();
    let sidecar = Sidecar::builder()
        .property(files())
        .property(pairs())
        .capacity(64)
        .on_full(Full::Drop)
        // Meanwhile nobody takes anything out.
        .on_violation(move |_| assert!(wait.recv().is_err(), "nobody sends"))
        .start()
        .unwrap();
    let entered = sidecar.enter();
    event!(read, file = "a");
    for _ in 0..EVENTS / 2 {
        event!(take, worker = 0);
        event!(give, worker = 0);
    }
    drop(entered);
    drop(go);
    let summary = sidecar.stop().unwrap();
    let counts = summary.counts;
    assert!(counts.lost.dropped > EVENTS / 2, "{counts:?}");
    assert_eq!(counts.events + counts.lost.dropped, EVENTS + 1);
    assert!(!summary.is_exhaustive());
    for found in &summary.report.properties {
        assert!(!found.lattice.exhaustive);
        assert_eq!(found.lattice.limit, Some(Limit::Missing));
    }
    let warnings: Vec<&str> = { summary.report.warnings.iter() }
        .map(|warning| warning.text.as_str())
        .collect();
    let expected = format!("({} dropped)", counts.lost.dropped);
    assert!(
        warnings.iter().any(|text| text.contains(&expected)),
        "{warnings:?}"
    );
}

#[test]
fn callbacks_and_threads_may_panic() {
    let calls = Arc::new(AtomicU64::new(0));
    let called = Arc::clone(&calls);
    let sidecar = Sidecar::builder()
        .property(files())
        .on_violation(move |violation| {
            called.fetch_add(1, SeqCst);
            if violation.report.binding[0].1 != Value::from("c") {
                panic!("as it happens");
            }
        })
        .start()
        .unwrap();
    let entered = sidecar.enter();
    event!(read, file = "a");
    let panicking = thread::spawn(|| {
        event!(read, file = "b");
        panic!("as well");
    });
    assert!(panicking.join().is_err());
    event!(read, file = "c");
    within("three calls", || calls.load(SeqCst) == 3);
    within("counts", || sidecar.counts().panics == 2);
    drop(entered);
    let summary = sidecar.stop().unwrap();
    assert_eq!(summary.counts.violations, 3);
    assert_eq!(summary.counts.panics, 2);
    assert!(summary.is_exhaustive());
}

#[test]
fn two_sidecars_do_not_disturb_each_other() {
    let start = |file: &'static str| {
        let found = Arc::new(Mutex::new(Vec::new()));
        let told = Arc::clone(&found);
        let sidecar = Sidecar::builder()
            .property(files())
            .on_violation(move |violation| told.lock().unwrap().push(binding(violation)))
            .start()
            .unwrap();
        let program = {
            let entered = sidecar.enter();
            let program = thread::spawn(move || {
                for _ in 0..1000 {
                    event!(open, file = "common");
                    event!(read, file = "common");
                }
                event!(read, file);
            });
            drop(entered);
            program
        };
        (sidecar, program, found)
    };
    let all = [start("a"), start("b")];
    for ((sidecar, program, found), file) in all.into_iter().zip(["a", "b"]) {
        program.join().unwrap();
        let summary = sidecar.stop().unwrap();
        assert_eq!(summary.counts.events, 2001);
        assert_eq!(*found.lock().unwrap(), [Value::from(file)]);
    }
}

#[test]
fn what_a_callback_does_is_not_watched() {
    static LOCK: sync::Mutex<u64> = sync::Mutex::new(0);
    // Names of its own: threads of other tests that take part in nothing else are watched, too.
    let text = "property tool(t) { event bring(t), apply(t)  ltl: always (apply -> once bring) }";
    let sidecar = Sidecar::builder()
        .property(property(text))
        .on_violation(|_| {
            *LOCK.lock().unwrap() += 1;
            event!(apply, tool = "of the callback");
        })
        .start()
        .unwrap();
    let global = sidecar.make_global();
    let entered = sidecar.enter();
    event!(apply, tool = "of the program");
    within("a call", || {
        sidecar.counts().violations == 1 && *LOCK.lock().unwrap() == 1
    });
    drop((entered, global));
    let summary = sidecar.stop().unwrap();
    assert_eq!(summary.counts.violations, 1);
}

#[test]
fn questions_that_wait_for_the_end_are_told_then() {
    let (told, found) = mpsc::channel();
    let answered = property("always (request -> eventually response)");
    let sidecar = Sidecar::builder()
        .property(answered)
        .options(portent_lattice::Options::default().complete(true))
        .on_violation(move |violation| told.send(violation.report.name.clone()).unwrap())
        .start()
        .unwrap();
    let entered = sidecar.enter();
    event!(request);
    drop(entered);
    within("an event", || sidecar.counts().events == 1);
    assert!(found.try_recv().is_err(), "there may still be a response");
    let summary = sidecar.stop().unwrap();
    assert_eq!(found.try_iter().count(), 1);
    assert_eq!(summary.counts.violations, 1);
}

#[test]
fn dropping_ends_the_thread_and_lets_the_program_go_on() {
    /// Tells when the callback is gone, and with it the thread.
    struct Gone(Arc<AtomicBool>);
    impl Drop for Gone {
        fn drop(&mut self) {
            self.0.store(true, SeqCst);
        }
    }
    let gone = Arc::new(AtomicBool::new(false));
    let (guard, calls) = (Gone(Arc::clone(&gone)), Arc::new(AtomicU64::new(0)));
    let called = Arc::clone(&calls);
    let sidecar = Sidecar::builder()
        .property(files())
        .capacity(64)
        .on_violation(move |_| {
            let _ = &guard;
            called.fetch_add(1, SeqCst);
        })
        .start()
        .unwrap();
    let entered = sidecar.enter();
    event!(read, file = "a");
    drop(sidecar);
    // Nobody would take these out, and nobody waits for room.
    for _ in 0..1000 {
        event!(read, file = "b");
    }
    drop(entered);
    within("the end of the thread", || gone.load(SeqCst));
    assert!(calls.load(SeqCst) >= 1, "what came before was looked at");
}

#[test]
fn there_must_be_something_to_do() {
    assert!(matches!(
        Sidecar::builder().start(),
        Err(Error::NothingToDo)
    ));
}
