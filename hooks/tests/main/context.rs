//! Clocks that cross processes: here these are recordings, whose threads share nothing but headers.

use std::{collections::BTreeMap, sync::mpsc, thread};

use portent_hooks::{Context, ContextError, Recorded, Recording, Stream, event, symbols};
use portent_monitor_core::Value;
use portent_testing::Rng;

type Headers = BTreeMap<String, String>;
type VectorClock = BTreeMap<String, u32>;

fn injected() -> Headers {
    let mut headers = Headers::new();
    Context::current()
        .inject(|key, value| {
            headers.insert(key.to_owned(), value);
        })
        .unwrap();
    headers
}

fn receive(headers: &Headers) -> Result<(), ContextError> {
    Context::extract(|key| headers.get(key))?.receive()
}

/// What a process writes of its events: the source and the clock of each, by its argument.
fn clocks(stream: &mut Stream) -> Vec<(i64, String, VectorClock)> {
    let mut names: BTreeMap<usize, String> = BTreeMap::new();
    let mut lines = Vec::new();
    // Without ending the recording: then it would be forgotten what its chains are called.
    let events: Vec<Recorded> = std::iter::from_fn(|| stream.try_next()).collect();
    let symbols = symbols();
    let name = |thread| symbols.threads.name(thread).to_owned();
    for Recorded {
        event,
        stamp,
        origin,
        ..
    } in events
    {
        let origin = origin.expect("the process has a name");
        names.insert(stamp.chain.index(), name(origin.source));
        let counts = stamp.clock.counts().iter().enumerate();
        let own = counts
            .filter(|(_, count)| **count > 0)
            .map(|(chain, &count)| (names[&chain].clone(), count));
        let peers = origin
            .peers
            .iter()
            .map(|&(peer, count)| (name(peer), count));
        let clock = own.chain(peers).collect();
        let Value::Int(number) = event.action().unwrap().args[0] else {
            panic!("a number");
        };
        lines.push((number, name(origin.source), clock));
    }
    lines
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Event(usize),
    Send { to: usize, message: usize },
    Receive(usize),
}

/// What each thread does, and which events are before which.
struct Program {
    threads: Vec<Vec<Step>>,
    before: Vec<Vec<bool>>,
}

impl Program {
    fn random(rng: &mut Rng, threads: usize) -> Program {
        let mut scripts = vec![Vec::new(); threads];
        // What each thread knows, and what is under way to it.
        let mut known: Vec<Vec<usize>> = vec![Vec::new(); threads];
        let mut under_way: Vec<Vec<(usize, Vec<usize>)>> = vec![Vec::new(); threads];
        let mut past: Vec<Vec<usize>> = Vec::new();
        let mut messages = 0;
        for _ in 0..rng.below(30) + 10 {
            let thread = rng.below(threads);
            match rng.below(3) {
                0 => {
                    let number = past.len();
                    past.push(known[thread].clone());
                    known[thread].push(number);
                    scripts[thread].push(Step::Event(number));
                }
                1 => {
                    let to = rng.below(threads);
                    if to != thread {
                        let message = messages;
                        messages += 1;
                        under_way[to].push((message, known[thread].clone()));
                        scripts[thread].push(Step::Send { to, message });
                    }
                }
                _ if !under_way[thread].is_empty() => {
                    // In any order.
                    let which = rng.below(under_way[thread].len());
                    let (message, knows) = under_way[thread].swap_remove(which);
                    scripts[thread].push(Step::Receive(message));
                    for event in knows {
                        if !known[thread].contains(&event) {
                            known[thread].push(event);
                        }
                    }
                }
                _ => {}
            }
        }
        let events = past.len();
        let before = (0..events).map(|one| {
            (0..events)
                .map(|other| past[other].contains(&one))
                .collect()
        });
        Program {
            before: before.collect(),
            threads: scripts,
        }
    }

    /// Runs it, with thread i in process i modulo their number. Gives the clocks of all events.
    fn run(&self, processes: usize, case: usize) -> BTreeMap<usize, (String, VectorClock)> {
        let mut streams = Vec::new();
        let recordings: Vec<Recording> = (0..processes)
            .map(|process| {
                let named =
                    Recording::relevant(["step"]).process(&format!("case{case}-p{process}"));
                let (recording, stream) = named.start();
                streams.push(stream);
                recording
            })
            .collect();
        let post: Vec<_> = self.threads.iter().map(|_| mpsc::channel()).collect();
        let (senders, inboxes): (Vec<_>, Vec<_>) = post.into_iter().unzip();
        // Threads of the standard library: nothing but headers tells them of each other.
        thread::scope(|scope| {
            for (number, (script, inbox)) in self.threads.iter().zip(inboxes).enumerate() {
                let (senders, recording) = (senders.clone(), &recordings[number % processes]);
                scope.spawn(move || {
                    let _entered = recording.enter();
                    let mut arrived = BTreeMap::new();
                    for &step in script {
                        match step {
                            Step::Event(number) => event!(step, number as i64),
                            Step::Send { to, message } => {
                                // Not all messages are waited for.
                                let _ = senders[to].send((message, injected()));
                            }
                            Step::Receive(message) => {
                                while !arrived.contains_key(&message) {
                                    let (message, headers) = inbox.recv().unwrap();
                                    arrived.insert(message, headers);
                                }
                                receive(&arrived[&message]).unwrap();
                            }
                        }
                    }
                });
            }
        });
        let lines = streams.iter_mut().flat_map(clocks);
        lines
            .map(|(number, source, clock)| (number as usize, (source, clock)))
            .collect()
    }
}

#[test]
fn random_programs_of_several_processes_have_the_clocks_of_their_messages() {
    let mut pairs = 0;
    for case in 0..300_usize {
        let mut rng = Rng::new(case as u64);
        let program = Program::random(&mut rng, 2 + case % 4);
        let lines = program.run(1 + case % 3, case);
        assert_eq!(lines.len(), program.before.len());
        for (&one, (source, clock)) in &lines {
            let number = clock[source];
            for (&other, (_, later)) in &lines {
                let counted = later.get(source).is_some_and(|&count| number <= count);
                let expected = one == other || program.before[one][other];
                assert_eq!(
                    counted, expected,
                    "case {case}: {one} before {other}? {:?}",
                    program.threads
                );
                pairs += 1;
            }
        }
    }
    assert!(pairs > 10_000, "{pairs}");
}

#[test]
fn a_thread_without_a_recording_passes_on_what_it_received() {
    let headers = Headers::from([(Context::HEADER.to_owned(), "elsewhere/main=7".to_owned())]);
    let passed = thread::spawn(move || {
        receive(&headers).unwrap();
        injected()
    });
    assert_eq!(passed.join().unwrap()[Context::HEADER], "elsewhere/main=7");
}

#[test]
fn what_another_process_has_told_is_carried_by_locks_and_threads() {
    let (recording, mut stream) = Recording::relevant(["step"]).process("carrying").start();
    let entered = recording.enter();
    let mutex = portent_hooks::sync::Mutex::new(());
    portent_hooks::thread::scope(|s| {
        s.spawn(|| {
            let _held = mutex.lock();
            let peer = Context::extract(|_| Some("peer/main=4,peer/w%3D1=2")).unwrap();
            peer.receive().unwrap();
        });
    });
    drop(mutex.lock());
    event!(step, 0);
    drop(entered);
    let clock = &clocks(&mut stream)[0].2;
    assert_eq!(clock.get("peer/main"), Some(&4));
    assert_eq!(clock.get("peer/w=1"), Some(&2));
    assert_eq!(clock.len(), 3, "{clock:?}");
}

#[test]
fn a_process_does_not_believe_in_events_that_it_has_not_told_of() {
    let (recording, _stream) = Recording::relevant(["step"]).process("doubting").start();
    let _entered = recording.enter();
    event!(step, 0);
    let told = injected();
    let (source, count) = told[Context::HEADER].split_once('=').unwrap();
    assert_eq!(count, "1");
    receive(&told).unwrap();
    let invented = Headers::from([(Context::HEADER.to_owned(), format!("{source}=2"))]);
    let error = receive(&invented).unwrap_err();
    assert!(
        matches!(
            error,
            ContextError::NotTold {
                count: 2,
                told: 1,
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn malformed_headers_are_errors() {
    for bad in [
        "",
        "=",
        "a",
        "a=",
        "a=0",
        "a=-1",
        "a=+1",
        "a=1,",
        ",a=1",
        "a=4294967296",
        "a=1;b=2",
        "a=1,a=2",
        "a b=1",
        "a=1 2",
        "%=1",
        "%4=1",
        "%zz=1",
        "%FF=1",
        "a%=1",
        "é=1",
        "a==1",
        "\u{0}=1",
    ] {
        let error = Context::extract(|_| Some(bad)).unwrap_err();
        assert!(
            matches!(error, ContextError::Malformed { .. }),
            "{bad}: {error}"
        );
    }
    let long = format!("a={}", "1".repeat(10_000));
    let error = Context::extract(|_| Some(&long)).unwrap_err();
    assert!(
        matches!(error, ContextError::TooLong { bytes: 10_002, .. }),
        "{error}"
    );
    let name = format!("{}=1", "a".repeat(600));
    assert!(Context::extract(|_| Some(&name)).is_err());
}

#[test]
fn random_bytes_never_panic_and_what_is_read_is_written_again() {
    let mut rng = Rng::new(7);
    let parts = [
        "a", "b/", "%20", "=1", "=", ",", "=3", "z=2", "-~", "%C3", "%A9", " ", "é",
    ];
    let mut read = 0;
    for _ in 0..20_000 {
        let text: String = (0..rng.below(8)).map(|_| rng.pick(&parts)).collect();
        if let Ok(context) = Context::extract(|_| Some(&text)) {
            let mut again = None;
            context.inject(|_, value| again = Some(value)).unwrap();
            assert_eq!(Context::extract(|_| again.as_ref()), Ok(context));
            read += 1;
        }
    }
    assert!(read > 100, "{read}");
}

#[test]
fn a_clock_that_is_too_long_is_not_cut() {
    let many: Vec<String> = (0..700).map(|n| format!("long{n:04}/m=1")).collect();
    for part in many.chunks(350) {
        Context::extract(|_| Some(part.join(",")))
            .unwrap()
            .receive()
            .unwrap();
    }
    let error = Context::current()
        .inject(|_, _| panic!("written"))
        .unwrap_err();
    assert!(
        matches!(error, ContextError::TooLong { sources: 700, .. }),
        "{error}"
    );
}
