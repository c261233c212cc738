//! What is on disk is what happened.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use portent_hooks::{Recording, Shared, event, sync, thread};
use portent_lattice::{Checker, Options, Report};
use portent_monitor_core::{Action, Event, Spelling, Symbols, Value};
use portent_monitor_dsl::Property;
use portent_sidecar::{Error, Files, Recorder, Sidecar};
use portent_trace::{Header, TraceReader};

/// The header and the lines of a file.
fn read(path: &Path) -> Result<(Header, Vec<String>), portent_trace::Error> {
    let mut reader = TraceReader::open(path, &portent_trace::Options::default())?;
    let (mut symbols, mut lines) = (Symbols::default(), Vec::new());
    let header = reader.header().clone();
    while let Some(event) = reader.next_event(&mut symbols)? {
        lines.push(Spelling::new(&event, &symbols).to_string());
    }
    Ok((header, lines))
}

fn check(path: &Path, property: &Property) -> Report {
    let mut reader = TraceReader::open(path, &portent_trace::Options::default()).unwrap();
    let initial = |name: &str| reader.header().initial(name);
    let monitor = property.monitor().unwrap();
    let mut checker = Checker::new([monitor], initial, Options::default()).unwrap();
    while let Some(event) = reader.next_event(checker.symbols_mut()).unwrap() {
        checker.take(&event).unwrap();
    }
    checker.finish("run").unwrap()
}

/// A program with one thread after the other, so that there is one order.
fn program() {
    let x = Shared::with_name("x", 0);
    let lock = sync::Mutex::with_name("lock", ());
    let (sender, receiver) = sync::mpsc::sync_channel(3);
    for number in 0..50 {
        thread::scope(|s| {
            s.spawn(|| {
                let _held = lock.lock().unwrap();
                x.set(x.get() + 1);
                event!(done, number, "what", 0.5);
                sender.send(number).unwrap();
            });
        });
        receiver.recv().unwrap();
    }
}

#[test]
fn a_recording_that_is_read_back_is_what_a_stream_gives() {
    let folder = tempfile::tempdir().unwrap();
    for ending in ["jsonl", "jsonl.zst", "jsonl.gz"] {
        let path = folder.path().join(format!("run.{ending}"));
        let recorder = Recorder::to_file(&path)
            .initial("x", 0)
            .flush_every(Duration::from_micros(1));
        let recorder = recorder.start().unwrap();
        let entered = recorder.enter();
        program();
        drop(entered);
        let summary = recorder.stop().unwrap();
        assert_eq!(summary.files, [path.as_path()]);
        assert_eq!(summary.counts.written, summary.counts.events);

        let (recording, mut stream) = Recording::everything().start();
        let entered = recording.enter();
        program();
        drop(entered);
        let expected: Vec<String> = stream.finish().iter().map(ToString::to_string).collect();
        let (header, lines) = read(&path).unwrap();
        assert_eq!(header.initial("x"), Some(Value::from(0)));
        assert_eq!(without_numbers(&lines), without_numbers(&expected));
        assert!(lines.len() > 400, "{}", lines.len());
    }
}

/// Threads, and objects that share a name, are numbered through the process.
fn without_numbers(lines: &[String]) -> Vec<String> {
    let digits = |text: &str| {
        text.chars()
            .filter(|char| !char.is_ascii_digit() && *char != '#')
            .collect()
    };
    lines.iter().map(|line| digits(line)).collect()
}

#[test]
fn parts_of_everything_are_one_trace() {
    let folder = tempfile::tempdir().unwrap();
    let recorder = Recorder::to_file(folder.path().join("run.jsonl.zst"))
        .rotate_bytes(300)
        .flush_every(Duration::from_micros(1))
        .start()
        .unwrap();
    let entered = recorder.enter();
    for _ in 0..3 {
        program();
        std::thread::sleep(Duration::from_millis(5));
    }
    drop(entered);
    let summary = recorder.stop().unwrap();
    assert!(summary.files.len() > 2, "{:?}", summary.files);
    let whole = folder.path().join("whole.jsonl.zst");
    let mut sorted: Vec<PathBuf> = { fs::read_dir(folder.path()).unwrap() }
        .map(|entry| entry.unwrap().path())
        .collect();
    sorted.sort();
    assert_eq!(sorted, summary.files, "as `cat run.*` has them");
    let bytes: Vec<u8> = { sorted.iter() }
        .flat_map(|part| fs::read(part).unwrap())
        .collect();
    fs::write(&whole, bytes).unwrap();
    let (_, lines) = read(&whole).unwrap();
    assert_eq!(lines.len() as u64, summary.counts.events);
}

/// The clock is ours, so nothing has to be waited for.
/// Four threads, whose jobs have numbers that nobody can guess, and a lock now and then.
fn random_jobs(each: u64) {
    let lock = sync::Mutex::with_name("results", 0u64);
    thread::scope(|s| {
        for worker in 0..4u64 {
            let lock = &lock;
            s.spawn(move || {
                let mut state = worker + 0x9e37_79b9_7f4a_7c15;
                for _ in 0..each {
                    state ^= state << 13;
                    state ^= state >> 7;
                    state ^= state << 17;
                    event!(take, job = state % 10_000);
                    if state >> 60 == 0 {
                        *lock.lock().unwrap() += 1;
                    }
                    event!(give, job = state % 10_000);
                }
            });
        }
    });
}

/// Compressed, in frames of the usual size, of a recording of everything and of one of some names, which has clocks.
#[test]
fn an_event_takes_sixteen_bytes_of_the_disk_at_most() {
    let folder = tempfile::tempdir().unwrap();
    for (name, names) in [
        ("all.jsonl.zst", &[][..]),
        ("some.jsonl.zst", &["take", "give"]),
    ] {
        let recorder = Recorder::to_file(folder.path().join(name));
        let recorder = Sidecar::builder()
            .names(names.iter().copied())
            .record(recorder);
        let recorder = recorder.start().unwrap();
        let entered = recorder.enter();
        random_jobs(10_000);
        drop(entered);
        let written = recorder.stop().unwrap().counts.written;
        let bytes = fs::metadata(folder.path().join(name)).unwrap().len();
        println!(
            "{name}: {:.1} bytes an event",
            bytes as f64 / written as f64
        );
        assert!(written >= 80_000);
        assert!(
            bytes <= 16 * written,
            "{name}: {bytes} bytes, {written} events"
        );
    }
}

#[test]
fn a_part_that_is_old_enough_is_followed_by_another_with_the_next_event() {
    let folder = tempfile::tempdir().unwrap();
    let recorder = Recorder::to_file(folder.path().join("run.jsonl"));
    let begun = Instant::now();
    let hour = Duration::from_secs(3600);
    let mut files = recorder.rotate_every(hour).create().unwrap();
    let mut symbols = Symbols::default();
    let thread = symbols.threads.intern("T1").unwrap();
    let names = ["first", "second", "third", "fourth", "fifth"];
    let events = names.map(|name| {
        let name = symbols.names.intern(name).unwrap();
        Event::new(thread, Action::new(name))
    });
    let mut events = events.iter();
    let mut take = |files: &mut Files| files.take(events.next().unwrap(), &symbols).unwrap();
    let tick = |files: &mut Files, now| files.tick(now, &symbols).unwrap();
    take(&mut files);
    tick(&mut files, begun + hour / 2);
    take(&mut files);
    assert_eq!(files.paths().len(), 1);
    // Time alone makes no part without events.
    tick(&mut files, begun + 2 * hour);
    tick(&mut files, begun + 3 * hour);
    assert_eq!(files.paths().len(), 1);
    take(&mut files);
    assert_eq!(files.paths().len(), 2);
    // The second part is young: it was begun just now.
    tick(&mut files, begun + hour / 2);
    take(&mut files);
    tick(&mut files, Instant::now() + hour);
    take(&mut files);
    files.finish(&symbols).unwrap();
    let names = |path: &PathBuf| {
        let text = fs::read_to_string(path).unwrap();
        let lines = text
            .lines()
            .filter_map(|line| line.split_once("\"name\": \""));
        lines
            .map(|(_, name)| name.trim_end_matches("\"}").to_owned())
            .collect::<Vec<_>>()
    };
    let parts: Vec<_> = files.paths().iter().map(names).collect();
    assert_eq!(
        parts,
        [
            vec!["first", "second"],
            vec!["third", "fourth"],
            vec!["fifth"]
        ]
    );
}

/// Every part is old at once: each look ends one.
#[test]
fn a_sidecar_begins_another_part_when_it_is_time() {
    let folder = tempfile::tempdir().unwrap();
    let recorder = Recorder::to_file(folder.path().join("run.jsonl.zst"));
    let recorder = recorder
        .rotate_every(Duration::ZERO)
        .flush_every(Duration::ZERO);
    let property = Property::parse("property tick { event tick  ltl: always true }").unwrap();
    let sidecar = Sidecar::builder()
        .property(property.clone())
        .record(recorder);
    let sidecar = sidecar.start().unwrap();
    let entered = sidecar.enter();
    for written in 1..=5 {
        event!(tick);
        while sidecar.counts().written < written {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    drop(entered);
    let summary = sidecar.stop().unwrap();
    let events = summary
        .files
        .iter()
        .map(|part| check(part, &property).trace.events);
    let events: Vec<u64> = events.collect();
    // The first part may have been made so early that it was time for another before the first event.
    let written = events.strip_prefix(&[0]).unwrap_or(&events);
    assert_eq!(written, [1; 5], "{:?}", summary.files);
}

#[test]
fn of_some_names_each_part_is_a_trace_with_the_same_answers() {
    // The thread that writes `x` is always before the one that says so, which only the clocks know.
    let text = "property p { var x: int  event told  ltl: always (told -> x > 0) }";
    let property = Property::parse(text).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let record = |name: &str, is_ordered: bool, rotate: bool| {
        let mut recorder = Recorder::to_file(folder.path().join(name)).flush_every(Duration::ZERO);
        if rotate {
            recorder = recorder.rotate_bytes(200);
        }
        let sidecar = Sidecar::builder()
            .property(property.clone())
            .initial("x", 0)
            .record(recorder)
            .start()
            .unwrap();
        let entered = sidecar.enter();
        let x = Shared::with_name("x", 0);
        let (sender, receiver) = sync::mpsc::channel();
        thread::scope(|s| {
            s.spawn(|| {
                for round in 1..=200 {
                    x.set(round);
                    if is_ordered {
                        sender.send(()).unwrap();
                    }
                    if round % 20 == 0 {
                        std::thread::sleep(Duration::from_millis(2));
                    }
                }
            });
            s.spawn(move || {
                for _ in 1..=200 {
                    if is_ordered {
                        receiver.recv().unwrap();
                    }
                    event!(told);
                }
            });
        });
        drop(entered);
        let summary = sidecar.stop().unwrap();
        assert_eq!(summary.counts.written, 400);
        assert_eq!(summary.report.is_violated(), !is_ordered);
        summary
    };
    for is_ordered in [true, false] {
        let summary = record("whole.jsonl.zst", is_ordered, false);
        let report = check(&summary.files[0], &property);
        assert_eq!(report.is_violated(), !is_ordered);
        assert_eq!(report.trace.events, 400);
    }
    let summary = record("parts.jsonl.zst", true, true);
    assert!(summary.files.len() > 2, "{:?}", summary.files);
    let mut events = 0;
    for (number, part) in summary.files.iter().enumerate() {
        let report = check(part, &property);
        assert!(!report.is_violated(), "{part:?}");
        events += report.trace.events;
        let (header, _) = read(part).unwrap();
        let Some(Value::Int(x)) = header.initial("x") else {
            panic!("each part says what x is")
        };
        assert_eq!(x == 0, number == 0);
    }
    assert_eq!(events, 400);
}

#[test]
fn clocks_of_lines_are_those_of_the_recording() {
    // Random programs would do as well; here each pair of events is compared, of threads that share chains.
    let property = Property::parse("property p(n) { event e(n)  ltl: always true }").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    let program = || {
        let lock = sync::Mutex::new(0);
        thread::scope(|s| {
            for first in [0, 100, 200] {
                let lock = &lock;
                s.spawn(move || {
                    for number in first..first + 10 {
                        event!(e, number);
                        if number % 3 == 0 {
                            *lock.lock().unwrap() += 1;
                        }
                        if number % 5 == 0 {
                            let name = format!("child {number}");
                            let child = thread::Builder::new().name(name);
                            let child = child.spawn_scoped(s, move || event!(e, number + 50));
                            child.unwrap().join().unwrap();
                        }
                    }
                });
            }
        });
    };
    let sidecar = Sidecar::builder()
        .property(property.clone())
        .record(Recorder::to_file(&path))
        .start()
        .unwrap();
    let entered = sidecar.enter();
    program();
    drop(entered);
    sidecar.stop().unwrap();

    let mut reader = TraceReader::open(&path, &portent_trace::Options::default()).unwrap();
    let (mut symbols, mut events) = (Symbols::default(), Vec::new());
    while let Some(event) = reader.next_event(&mut symbols).unwrap() {
        events.push(event);
    }
    assert_eq!(events.len(), 36);
    let number = |index: usize| match events[index].action().unwrap().args[0] {
        Value::Int(number) => number,
        _ => panic!("a number"),
    };
    let clock = |index: usize| match &events[index].op {
        portent_monitor_core::Op::Stamped(stamped) => stamped,
        other => panic!("{other:?} has no clock"),
    };
    for (one, event) in events.iter().enumerate() {
        let own = clock(one).component(event.thread);
        for other in 0..events.len() {
            let is_before = clock(other).component(event.thread) >= own;
            let (a, b) = (number(one), number(other));
            if a / 100 == b / 100 {
                // A family is in one order: a child comes after its number, and before the next.
                let place = |n: i64| (n - n % 100 + n % 50, n % 100 >= 50);
                assert_eq!(is_before, place(a) <= place(b), "{a} {b}");
            } else {
                assert!(!(is_before && one > other), "{a} {b}");
                // Before the lock is first taken, nobody is known.
                if b % 100 == 0 {
                    assert!(!is_before, "{a} {b}");
                }
            }
        }
    }
}

#[test]
fn what_cannot_be_written_is_told() {
    let missing = Path::new("/there/is/no/such/folder/run.jsonl");
    assert!(matches!(
        Recorder::to_file(missing).start(),
        Err(Error::File { .. })
    ));

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl.zst");
    let recorder = Recorder::to_file(&path).start().unwrap();
    let entered = recorder.enter();
    event!(first, 0.5);
    event!(second, f64::NAN);
    event!(third);
    drop(entered);
    let summary = recorder.stop().unwrap();
    assert_eq!((summary.counts.written, summary.counts.unwritten), (2, 1));
    assert!(matches!(
        summary.errors[..],
        [Error::NotFinite { number: 2 }]
    ));
    assert_eq!(read(&path).unwrap().1.len(), 2);
}

/// A device that is always full.
#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_does_not_end_the_watch() {
    use std::os::unix::fs::symlink;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.00001.jsonl");
    symlink("/dev/full", &path).unwrap();
    let files = "property file(f) { event open(f), read(f)  ltl: always (read -> once open) }";
    let sidecar = Sidecar::builder()
        .property(Property::parse(files).unwrap())
        .record(
            Recorder::to_file(folder.path().join("run.jsonl"))
                .rotate_bytes(1)
                .flush_every(Duration::ZERO),
        )
        .start()
        .unwrap();
    let entered = sidecar.enter();
    for file in 0..100 {
        event!(read, file);
        std::thread::sleep(Duration::from_micros(100));
    }
    drop(entered);
    let summary = sidecar.stop().unwrap();
    assert_eq!(summary.counts.violations, 100);
    assert!(
        matches!(summary.errors[..], [Error::File { .. }]),
        "{:?}",
        summary.errors
    );
    assert_eq!(summary.counts.written + summary.counts.unwritten, 100);
    assert!(summary.counts.unwritten > 0);
}

#[test]
fn what_was_flushed_survives_a_kill() {
    const CHILD: &str = "PORTENT_TEST_RECORDS_TO";
    const ENOUGH: u64 = 20_000;
    if let Some(path) = std::env::var_os(CHILD) {
        let recorder = Recorder::to_file(path).flush_every(Duration::from_millis(5));
        let recorder = recorder.start().unwrap();
        let _entered = recorder.enter();
        for worker in 0..3 {
            thread::spawn(move || {
                loop {
                    event!(work, worker);
                }
            });
        }
        loop {
            println!("\nwritten {}", recorder.counts().written);
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl.zst");
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "recording::what_was_flushed_survives_a_kill",
            "--nocapture",
        ])
        .env(CHILD, &path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let written = lines
        .map(|line| line.unwrap())
        .filter_map(|line| line.strip_prefix("written ")?.parse::<u64>().ok())
        .find(|&written| written >= ENOUGH)
        .unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let (_, lines) = read(&path).unwrap();
    assert!(
        lines.len() as u64 >= written,
        "{} of {written}",
        lines.len()
    );
}
