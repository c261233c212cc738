//! A process with a sidecar forks: the child has the handle and not the thread, and neither waits for it nor disturbs the parent's.
//!
//! A binary with one test, as the child of a process with many threads might find a lock that one of them held.

// A fork is unsafe: the child has only one thread.
#![cfg(unix)]
#![allow(unsafe_code)]

use std::{
    fs,
    io::{Read, Write, pipe},
    net::TcpListener,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    },
    time::Duration,
};

use portent_hooks::{Shared, event};
use portent_monitor_core::Symbols;
use portent_monitor_dsl::Property;
use portent_sidecar::{Counts, Error, Recorder, Sidecar, Summary};
use portent_trace::{Options, TraceReader};

/// More than a queue holds: who waited for a reader would wait for ever.
const EVENTS: u64 = 50_000;

fn tick() {
    event!(tick);
}

/// Forks; what the child says, which does `child` and ends. The guards of its parent are not dropped there.
fn forked(child: impl FnOnce() -> String) -> String {
    let (mut from_child, mut to_parent) = pipe().unwrap();
    // SAFETY: the child allocates, which the C library allows after a fork, and takes no lock that another thread of this process holds.
    match unsafe { libc::fork() } {
        0 => {
            drop(from_child);
            // SAFETY: who waits for ever is ended, which its parent notices.
            unsafe { libc::alarm(60) };
            let said = child();
            to_parent.write_all(said.as_bytes()).unwrap();
            // SAFETY: it ends without anything of the parent's.
            unsafe { libc::_exit(0) }
        }
        id => {
            assert!(id > 0, "a fork");
            drop(to_parent);
            let mut said = String::new();
            from_child.read_to_string(&mut said).unwrap();
            let mut status = 0;
            // SAFETY: the child is ours, and the status is there to be written.
            assert_eq!(unsafe { libc::waitpid(id, &mut status, 0) }, id);
            assert_eq!(status, 0, "the child said {said:?}");
            said
        }
    }
}

/// Has a child record and stop a sidecar, and another one drop it; then the parent records and stops.
fn outlives_its_forks(sidecar: Sidecar) -> Summary {
    let entered = sidecar.enter();
    tick();
    let mut sidecar = Some(sidecar);
    let expected = format!(
        "the sidecar belongs to process {}, of which this one is a fork: here nothing is watched; the child starts one of its own",
        std::process::id()
    );
    let stopped = forked(|| {
        (0..EVENTS).for_each(|_| tick());
        let sidecar = sidecar.take().unwrap();
        assert_eq!(sidecar.counts(), Counts::default());
        match sidecar.stop() {
            Err(error @ Error::Forked { .. }) => error.to_string(),
            other => format!("{other:?}"),
        }
    });
    assert_eq!(stopped, expected);
    let dropped = forked(|| {
        drop(sidecar.take());
        (0..EVENTS).for_each(|_| tick());
        "done".to_owned()
    });
    assert_eq!(dropped, "done");
    tick();
    drop(entered);
    sidecar.take().unwrap().stop().unwrap()
}

fn property() -> Property {
    Property::parse("property ticks { event tick, bang  ltl: always !bang }").unwrap()
}

fn watch() {
    let told = Arc::new(AtomicU64::new(0));
    let hears = Arc::clone(&told);
    let sidecar = Sidecar::builder()
        .property(property())
        .on_violation(move |_| {
            hears.fetch_add(1, SeqCst);
        })
        .start();
    let summary = outlives_its_forks(sidecar.unwrap());
    assert_eq!(summary.counts.events, 2, "what the children did is theirs");
    assert!(summary.is_exhaustive());
    assert_eq!(told.load(SeqCst), 0);
}

fn events_in(path: &Path) -> usize {
    let mut reader = TraceReader::open(path, &Options::default()).unwrap();
    let (mut symbols, mut events) = (Symbols::default(), 0);
    while reader.next_event(&mut symbols).unwrap().is_some() {
        events += 1;
    }
    events
}

fn record() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl.zst");
    let recorder = Recorder::to_file(&path).flush_every(Duration::from_millis(1));
    let summary = outlives_its_forks(recorder.start().unwrap());
    assert_eq!(summary.counts.written, 2);
    assert_eq!(events_in(&path), 2, "the file is the parent's alone");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

/// A child with a sidecar of its own, after which the parent's has its connection still.
fn send() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let server = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut lines = std::io::BufReader::new(&stream);
        let mut taken = 0;
        std::io::BufRead::read_line(&mut lines, &mut String::new()).unwrap();
        writeln!(&stream, "{{\"taken\": 0}}").unwrap();
        while taken < 2 {
            let mut line = String::new();
            std::io::BufRead::read_line(&mut lines, &mut line).unwrap();
            assert!(line.contains("\"tick\""), "{line}");
            taken += 1;
            writeln!(&stream, "{{\"taken\": {taken}}}").unwrap();
        }
    });
    let sidecar = Sidecar::remote(&address).names(["tick"]).process("parent");
    let summary = outlives_its_forks(sidecar.start().unwrap());
    assert_eq!((summary.counts.sent, summary.counts.unsent), (2, 0));
    server.join().unwrap();
}

/// A child may have a sidecar of its own.
fn watch_in_the_child() {
    let said = forked(|| {
        let sidecar = Sidecar::builder().property(property()).start().unwrap();
        let entered = sidecar.enter();
        event!(bang);
        drop(entered);
        let summary = sidecar.stop().unwrap();
        summary.report.is_violated().to_string()
    });
    assert_eq!(said, "true");
}

/// Another thread of the parent holds the table of names nearly always, and so at the moment of a fork: the child meets places, objects, threads and texts for
/// the first time, and goes on. A sidecar of its own it gets if the table was free, and else is told why not.
fn meet_names_that_are_in_use() {
    let sidecar = Sidecar::builder().property(property()).start().unwrap();
    let entered = sidecar.enter();
    let is_over = AtomicBool::new(false);
    let mut refused = 0;
    std::thread::scope(|s| {
        s.spawn(|| {
            while !is_over.load(SeqCst) {
                // A copy of all names, in which there are many.
                drop(portent_hooks::symbols());
            }
        });
        for number in 0..10_000 {
            drop(Shared::with_name(&format!("name {number}"), 0));
        }
        for _ in 0..8 {
            let said = forked(|| {
                event!(bang);
                event!(tick, text = "a text");
                Shared::with_name("new", 0).set(1);
                portent_hooks::thread::scope(|s| {
                    s.spawn(|| event!(tick));
                });
                match Sidecar::builder().property(property()).start() {
                    Ok(sidecar) => format!("{}", sidecar.stop().is_ok()),
                    Err(error) => error.to_string(),
                }
            });
            if said != "true" {
                assert_eq!(said, Error::ForkedInUse.to_string());
                refused += 1;
            }
        }
        is_over.store(true, SeqCst);
    });
    drop(entered);
    assert!(refused > 0, "the table was never in use");
    assert_eq!(sidecar.stop().unwrap().counts.events, 0);
}

#[test]
fn a_sidecar_stays_with_the_process_that_started_it() {
    watch();
    record();
    send();
    watch_in_the_child();
    meet_names_that_are_in_use();
}
