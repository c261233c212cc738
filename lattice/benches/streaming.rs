//! Watching a running program: the streaming engine beside levels with a lookahead of 64, in the same run.
//!
//! `cargo bench -p portent-lattice --bench streaming` prints events a second on one core, with everything that an event costs:
//! looking at it, clocks, one binding. All events are steps; before 30 of 100 the thread takes and releases one of a few locks, which
//! is not counted as events. The last letter of each violation never comes, so no search ends early. Levels are stopped after
//! one second, for their rate only; `PORTENT_NO_LEVELS` leaves them out, and `PORTENT_ONLY` asks only questions whose names contain it.
//!
//! Alone on a virtual machine of two cores, time on the processor, for 4 and 16 threads; levels beside it did 45 k to 89 k and
//! 14 k to 20 k:
//!
//! | question | 4 | 16 | aim |
//! |---|---|---|---|
//! | no or one restricted stage | 1.47 to 2.28 M | 1.00 to 1.61 M | 1 M, 500 k |
//! | two restricted stages | 943 k | 216 k | 500 k, 75 k |
//! | three | 246 k | 23 k, not exhaustive | 200 k, 10 k |
//! | parity, beam of 64 | 319 k, not exhaustive | 188 k, not exhaustive | 150 k, 25 k |
//! | every event moves it, beam of 64 | 101 k, not exhaustive | 63 k, not exhaustive | |
//! | 16,000 bindings | 431 to 455 k and 34 MB | | 500 k (not met) and 100 MB |
//!
//! Of 16,000 bindings the searches rest [packed](../src/order/packed.rs) between two steps, and of their [steps](../src/watch/steps.rs)
//! there is only what the binding does not tell. When each search stayed as it was, the same machine did 1.1 to 1.4 times less in turn, with 136 MB.
//! With all of each step it was 69 MB and, in turn, 330 k instead of 400 k. What is left is spent on packing and
//! unpacking, a third, and on memory that is in no cache: the event, its binding, the track and the packed search. So it depends on
//! who else wants the caches; on other days the same machine did up to 584 k.
//!
//! The longest event of each question took at most 1 ms, but for what it waited for others, and of one 9.9 ms. With 16,000 bindings it took 0.5 ms and with 90,000
//! 0.6 ms; when tables of all bindings were doubled at once, 1.7 and 16.
//!
//! Where every event moves the automaton, a beam of 64 nodes stands beside a window of the 64 cuts of each level that are nearest to the
//! observed one. Of violations that the observed run does not have they find:
//!
//! | | beam | window |
//! |---|---|---|
//! | 4 or 5 threads, 22 events | 398 of 400 | 400 |
//! | the same, not shown by the four nearest cuts | 37 of 40 | 39 |
//! | 16 or 17 threads, 14 events | 100 of 100 | 100 |
//! | the same, not shown by the four nearest cuts | 9 of 10 | 10 |
//! | 4 or 5 threads, 60 events of which a quarter move it | 199 of 200 | 195 |
//! | the same, not shown by the four nearest cuts | 59 of 60 | 54 |
//!
//! The window (levels, in the last column of the table that this prints) does half as many events a second with 4 threads and a quarter with 16, and
//! finds less where some events move nothing. So there is only the beam (`a_beam_of_64_finds_nearly_all`).

use std::time::{Duration, Instant};

use portent_lattice::{Options, Watch};
use portent_monitor_core::{Action, Event, Op, Symbols, Value};
use portent_monitor_dsl::{Monitor, Property};
use portent_testing::Rng;

/// What kind of question, the property, and the events that come.
const QUESTIONS: &[(&str, &str, &[&str])] = &[
    (
        "precedence (no restricted stage)",
        "property p { event a, b, c, d  ltl: always (d -> once a) }",
        &["b", "c", "b", "c"],
    ),
    (
        "pattern of four (no restricted stage)",
        "property p { event a, b, c, d  never: .* a .* b .* c .* d }",
        &["a", "b", "c"],
    ),
    (
        "absence after (1 restricted stage)",
        "property p { event a, b, r, d  never: .* a (a | b)* d }",
        &["a", "r", "b"],
    ),
    (
        "a, b without r (2 restricted stages)",
        "property p { event a, b, c, r, d  never: .* a (a | b | c)* b (a | b | c)* d }",
        &["a", "b", "r", "c"],
    ),
    (
        "a, b, c without r (3 restricted stages)",
        "property p { event a, b, c, r, d  never: .* a (a | b | c)* b (a | b | c)* c (a | b | c)* d }",
        &["a", "b", "c", "r"],
    ),
    (
        "parity (cyclic)",
        "property p { event a, b, d  never: (b* a b* a)* b* d }",
        &["a", "b", "b", "b"],
    ),
    (
        "every event moves it (cyclic)",
        "property p { event a, b, d  never: (a (a | b) | b b | b a (a | b))* d }",
        &["a", "b"],
    ),
];

fn monitor(text: &str) -> Monitor {
    let property = Property::parse(text).expect("a property");
    property.monitor().expect("small")
}

/// A program that runs: what its threads do next.
struct Program {
    symbols: Symbols,
    rng: Rng,
    threads: Vec<portent_monitor_core::ThreadId>,
    locks: Vec<portent_monitor_core::LockId>,
    names: Vec<portent_monitor_core::NameId>,
}

impl Program {
    fn new(threads: usize, names: &[&str]) -> Program {
        let mut symbols = Symbols::default();
        let mut thread = |n: usize| symbols.threads.intern(&format!("T{n}")).expect("few");
        let threads = (0..threads).map(&mut thread).collect();
        let mut lock = |n: usize| symbols.locks.intern(&format!("m{n}")).expect("few");
        let locks = (0..3).map(&mut lock).collect();
        let names = { names.iter() }
            .map(|name| symbols.names.intern(name).expect("few"))
            .collect();
        Program {
            symbols,
            rng: Rng::new(42),
            threads,
            locks,
            names,
        }
    }

    /// Somebody who watches it.
    fn watch(&self, text: &str, options: Options) -> Watch {
        let options = options.admitted(true);
        let mut watch = Watch::new([monitor(text)], |_| None, options).expect("no variables");
        *watch.symbols_mut() = self.symbols.clone();
        watch
    }

    /// The main thread forks all others, so that nobody else is expected.
    fn begin(&self) -> Vec<Event> {
        let main = self.threads[0];
        let forks = self.threads[1..].iter();
        forks
            .map(|&child| Event::new(main, Op::Fork(child)))
            .collect()
    }

    /// The next step, maybe after a synchronisation.
    fn next(&mut self, args: &[i64], events: &mut Vec<Event>) {
        events.clear();
        let thread = self.rng.pick(&self.threads);
        if self.rng.below(100) < 30 {
            let lock = self.rng.pick(&self.locks);
            events.push(Event::new(thread, Op::Lock(lock)));
            events.push(Event::new(thread, Op::Unlock(lock)));
        }
        let mut action = Action::default();
        action.name = Some(self.rng.pick(&self.names));
        action.args = args.iter().copied().map(Value::from).collect();
        events.push(Event::new(thread, Op::Event(Box::new(action))));
    }
}

/// Steps a second, the longest that one took, and whether all was searched.
struct Measured {
    rate: f64,
    longest: Duration,
    exhaustive: bool,
}

/// Watches this many steps, or as many as fit in the time; takes the best of three parts, as others may use the machine.
fn measure(text: &str, names: &[&str], threads: usize, options: Options, most: usize) -> Measured {
    let mut program = Program::new(threads, names);
    let mut watch = program.watch(text, options);
    for event in program.begin() {
        watch.take(&event).expect("fits");
    }
    let (mut best, mut longest) = (0.0f64, Longest::default());
    // Events are made before they are taken.
    const BATCH: usize = 10_000;
    let mut batch: Vec<Vec<Event>> = vec![Vec::new(); BATCH];
    let begin = Instant::now();
    let mut done = 0;
    while done < most && begin.elapsed() < Duration::from_secs(2) {
        let mut spent = Duration::ZERO;
        let mut of_part = 0;
        while of_part < most / 3 && begin.elapsed() < Duration::from_secs(2) {
            for events in &mut batch {
                program.next(&[], events);
            }
            longest.begin();
            let busy = on_processor();
            for events in &batch {
                let start = Instant::now();
                for event in events {
                    let news = watch.take(event).expect("fits");
                    assert!(news.is_empty(), "nothing is violated");
                }
                longest.note(start.elapsed());
                of_part += 1;
                if begin.elapsed() > Duration::from_secs(2) {
                    break;
                }
            }
            spent += on_processor() - busy;
            if spent > Duration::from_secs(1) {
                break;
            }
        }
        // Of less the system does not tell the time.
        if spent > Duration::from_millis(50) {
            best = best.max(of_part as f64 / spent.as_secs_f64());
        }
        done += of_part;
    }
    let report = watch.finish("bench");
    let exhaustive = report.is_ok_and(|report| report.properties[0].lattice.exhaustive);
    Measured {
        rate: best,
        longest: longest.time,
        exhaustive,
    }
}

fn rate(rate: f64) -> String {
    match rate {
        1e6.. => format!("{:.2} M", rate / 1e6),
        1e3.. => format!("{:.0} k", rate / 1e3),
        _ => format!("{rate:.0}"),
    }
}

fn table(only: &str) {
    for (kind, text, names) in QUESTIONS.iter().filter(|(kind, ..)| kind.contains(only)) {
        for threads in [4, 16] {
            let streams = measure(text, names, threads, Options::default(), 600_000);
            let levels = match std::env::var_os("PORTENT_NO_LEVELS") {
                Some(_) => "-".to_owned(),
                None => {
                    let levels = Options::default().lookahead(64).window(64);
                    rate(measure(text, names, threads, levels, 30_000).rate)
                }
            };
            println!(
                "{kind:<42} {threads:>2} threads: {:>8} events/s, longest {:>7.2} ms{} | levels, window 64: {levels}",
                rate(streams.rate),
                streams.longest.as_secs_f64() * 1e3,
                if streams.exhaustive {
                    ""
                } else {
                    ", not exhaustive"
                },
            );
        }
    }
}

/// Many files, of which each is opened, read and closed again and again, by any thread.
fn parametric(files: usize) {
    let text = "property file(f) { event open(f), read(f), close(f), lost(f)  \
                never: .* close (read | close)* lost }";
    let mut program = Program::new(4, &["open", "read", "close"]);
    let mut watch = program.watch(text, Options::default());
    for event in program.begin() {
        watch.take(&event).expect("fits");
    }
    let before = memory();
    let mut events = Vec::new();
    let (mut best, mut steps, mut longest) = (0.0f64, 0, Longest::default());
    let (mut of_part, mut spent) = (0, Duration::ZERO);
    for _ in 0..80 {
        let batch: Vec<Vec<Event>> = (0..10_000)
            .map(|_| {
                let file = program.rng.below(files) as i64;
                program.next(&[file], &mut events);
                std::mem::take(&mut events)
            })
            .collect();
        longest.begin();
        let busy = on_processor();
        for event in batch.iter().flatten() {
            let start = Instant::now();
            watch.take(event).expect("fits");
            longest.note(start.elapsed());
        }
        spent += on_processor() - busy;
        steps += batch.len();
        of_part += batch.len();
        if of_part >= 100_000 {
            best = best.max(of_part as f64 / spent.as_secs_f64());
            (of_part, spent) = (0, Duration::ZERO);
        }
    }
    println!(
        "{files} bindings, {steps} steps, 4 threads: {} events/s, longest {:.2} ms, {:.0} MB more than before",
        rate(best),
        longest.time.as_secs_f64() * 1e3,
        (memory() - before) / 1e6
    );
}

/// How long this thread has been on a processor, so that others who use the machine do not count; the time where the system does not tell.
fn on_processor() -> Duration {
    static BEGIN: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    scheduled(0).unwrap_or_else(|| BEGIN.elapsed())
}

/// What the system tells of this thread: how long it has run, and how long it has waited for a processor.
fn scheduled(place: usize) -> Option<Duration> {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds = told.split(' ').nth(place)?.parse().ok()?;
    Some(Duration::from_nanos(nanoseconds))
}

/// The longest that a step took, without what it waited for others who use the machine.
#[derive(Default)]
struct Longest {
    time: Duration,
    waited: Duration,
}

impl Longest {
    /// What it has waited for until now does not count.
    fn begin(&mut self) {
        self.waited = scheduled(1).unwrap_or_default();
    }

    fn note(&mut self, elapsed: Duration) {
        // Whoever waits, waits for longer than that.
        if elapsed > Duration::from_micros(200) {
            let before = self.waited;
            self.begin();
            let waited = self.waited.saturating_sub(before);
            self.time = self.time.max(elapsed.saturating_sub(waited));
        }
    }
}

/// The memory of this process, in bytes; 0 where the system does not tell.
fn memory() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes =
        line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<f64>().ok());
    kilobytes.unwrap_or(0.0) * 1e3
}

fn main() {
    let only = std::env::var("PORTENT_ONLY").unwrap_or_default();
    table(&only);
    if "16,000 bindings".contains(&only) {
        parametric(16_000);
    }
    if "90,000 bindings".contains(&only) {
        parametric(90_000);
    }
}
