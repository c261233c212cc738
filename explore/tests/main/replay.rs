//! A failure is repeated from what was printed of it.

use std::{process::Command, sync::Arc};

use portent_explore::{Error, Explorer, strategy::Random};
use portent_hooks::{
    sync::atomic::{AtomicU32, Ordering::SeqCst},
    thread,
};

fn lost_update() {
    let number = Arc::new(AtomicU32::with_name("number", 0));
    let spawn = |name: &str| {
        let number = Arc::clone(&number);
        let add = move || number.store(number.load(SeqCst) + 1, SeqCst);
        thread::Builder::new()
            .name(name.to_owned())
            .spawn(add)
            .unwrap()
    };
    let (ann, bob) = (spawn("ann"), spawn("bob"));
    ann.join().unwrap();
    bob.join().unwrap();
    assert_eq!(number.load(SeqCst), 2, "an update is lost");
}

#[test]
fn a_failure_is_repeated_by_its_token() {
    let report = Explorer::new().check(lost_update);
    let mut first = report.failures[0].clone();
    // One run that is repeated is not shrunk.
    assert!(first.shrunk.take().is_some());
    let again = Explorer::new()
        .replay(&first.token)
        .unwrap()
        .check(lost_update);
    assert_eq!(again.executions, 1);
    assert_eq!(again.failures[0].to_string(), first.to_string());
    assert_eq!(
        again.notes,
        ["this is a run that was repeated, and it did the same"]
    );
    // Of another program it says so.
    let other = Explorer::new().replay(&first.token).unwrap().check(|| {
        AtomicU32::new(0).load(SeqCst);
    });
    assert!(other.notes[0].contains("did something else"), "{other}");
}

#[test]
fn the_run_is_a_table() {
    let report = Explorer::new().check(lost_update);
    let expected = [
        "main panicked at explore/tests/main/replay.rs:24:5: assertion `left == right` failed: an update is lost",
        "  left: 1",
        " right: 2",
        "  step  main         ann           bob",
        "     1               read number                 explore/tests/main/replay.rs:15:47",
        "     2                             read number   explore/tests/main/replay.rs:15:47",
        "     3                             write number  explore/tests/main/replay.rs:15:34",
        "     4               write number                explore/tests/main/replay.rs:15:34",
        "     5  read number                              explore/tests/main/replay.rs:24:23",
    ];
    let text = report.to_string();
    let shown: Vec<&str> = text
        .lines()
        .take(expected.len())
        .map(str::trim_end)
        .collect();
    assert_eq!(shown, expected, "{text}");
    let last = "  PORTENT_REPLAY=p1-";
    assert!(
        text.lines().nth(expected.len()).unwrap().starts_with(last),
        "{text}"
    );
}

#[test]
fn long_schedules_survive() {
    let program = || {
        let number = Arc::new(AtomicU32::new(0));
        let threads: Vec<_> = (0..9)
            .map(|_| {
                let number = Arc::clone(&number);
                thread::spawn(move || {
                    for _ in 0..40 {
                        number.fetch_add(1, SeqCst);
                    }
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        panic!("always");
    };
    for seed in 0..20 {
        let report = Explorer::new()
            .strategy(move || Random::new(seed, 1))
            .check(program);
        let first = &report.failures[0];
        let again = Explorer::new().replay(&first.token).unwrap().check(program);
        assert_eq!(again.failures[0].token, first.token);
        assert_eq!(
            again.notes,
            ["this is a run that was repeated, and it did the same"]
        );
    }
    // Nobody is interrupted: one byte for most threads, and a number for long turns.
    let report = Explorer::new().check(program);
    assert!(
        report.failures[0].token.len() < 50,
        "{}",
        report.failures[0].token
    );
}

#[test]
fn what_is_no_token_is_refused() {
    for (token, what) in [
        ("", "does not begin with `p1-`"),
        ("p1-", "too short"),
        ("p1-IUMh-x3K", "does not end"),
        ("p1-I?Mh-x3Kd0Q", "no base64url"),
        ("p1-wA-x3Kd0Q", "breaks off"),
        ("p1-\u{e9}\u{e9}\u{e9}\u{e9}", ""),
    ] {
        let Err(error) = Explorer::new().replay(token) else {
            panic!("{token} was read");
        };
        assert!(matches!(error, Error::Token { .. }));
        assert!(error.to_string().contains(what), "{token}: {error}");
    }
}

/// The test that another process runs.
#[test]
fn replayed_by_the_environment() {
    let report = Explorer::new().check(lost_update);
    if std::env::var_os("PORTENT_REPLAY").is_some() {
        assert_eq!(report.executions, 1);
        assert_eq!(report.failed, 1);
        println!("was repeated");
        return;
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args([
            "replay::replayed_by_the_environment",
            "--exact",
            "--nocapture",
        ])
        .env("PORTENT_REPLAY", &report.failures[0].token)
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("was repeated"));
}
