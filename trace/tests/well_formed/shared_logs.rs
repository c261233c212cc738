//! The logs of real systems, where they are at hand.

use std::path::PathBuf;

use portent_monitor_core::{Causality, Stamp, Symbols};
use portent_trace::{Options, TraceReader};

/// The file, or `None` after saying that the test is skipped.
fn shared(name: &str) -> Option<PathBuf> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../shared/data/traces")
        .join(name);
    if path.exists() {
        return Some(path);
    }
    eprintln!("SKIPPED: {} is not there", path.display());
    None
}

fn options(parser: &str) -> Options {
    if parser.is_empty() {
        Options::default()
    } else {
        Options::default().parser(parser)
    }
}

/// Reads a log and stamps all its events.
fn stamps(name: &str, parser: &str) -> Option<(Vec<Stamp>, Symbols)> {
    let mut reader = TraceReader::open(&shared(name)?, &options(parser)).unwrap();
    let mut symbols = Symbols::default();
    let mut causality = Causality::default();
    let mut stamps = Vec::new();
    while let Some(event) = reader.next_event(&mut symbols).unwrap() {
        stamps.push(causality.step(&event, true).unwrap().unwrap());
    }
    assert!(!reader.next_execution());
    Some((stamps, symbols))
}

const CHORD: &str = r"(?<host>\S*) (?<clock>{.*})\n(?<event>.*)";
const SIMPLEDB: &str = r"(?<event>.*)\n(?<host>\S*) (?<clock>{.*})";
const TSVIZ: &str = r"(?<timestamp>(\d*)) (?<event>.*)\n(?<host>\w*) (?<clock>.*)";
const VOLDEMORT: &str = r"\[(?<date>\d{4}-\d{2}-\d{2} (\d{2}:){2}\d{2},\d{3}) (?<path>\S*)\] (?<priority>(INFO|WARN)) (?<event>.*)\n(?<host>\S*) (?<clock>{.*})";
const AKKA: &str = r"\[\w+\] \[(?<date>([^ ]+ [^ ]+))\] [^ ]+ \[akka://Broadcast/user/(?<host>\w+)\] (?<clock>.*\}) (?<event>.*)";

#[test]
fn logs_have_the_events_and_hosts_that_are_known() {
    for (name, parser, hosts, events) in [
        ("shiviz/chord.log", CHORD, 8, 1235),
        ("shiviz/chord.log", "", 8, 1235),
        ("shiviz/simpledb.log", SIMPLEDB, 5, 509),
        ("shiviz/simpledb.log", "", 5, 509),
        ("shiviz/tsviz_shared_var_4_threads.log", TSVIZ, 4, 5000),
        ("shiviz/tsviz_shared_var_4_threads.log", "", 4, 5000),
        ("shiviz/voldemort.log", VOLDEMORT, 20, 864),
        ("shiviz/voldemort.log", "", 20, 864),
        ("shiviz/facebook.log", "", 4, 47),
        ("shiviz/reliable-broadcast.log", AKKA, 4, 116),
        ("shiviz/simple-reliable-broadcast.log", AKKA, 3, 39),
        // An event of two processes is also a line of the second one: 400, 121, 178 such.
        ("poet/experiment-1-1k.json", "", 3, 1400),
        ("poet/experiment-3-1k.json", "", 3, 1121),
        ("poet/experiment-4-1k.json", "", 6, 1178),
    ] {
        let Some((stamps, symbols)) = stamps(name, parser) else {
            continue;
        };
        assert_eq!(
            (symbols.threads.len(), stamps.len()),
            (hosts, events),
            "{name}"
        );
    }
}

#[test]
fn the_number_of_cuts_is_known() {
    for (name, parser, cuts, widest) in [
        ("shiviz/chord.log", CHORD, 530_195, 3_088),
        ("shiviz/simpledb.log", SIMPLEDB, 1_541_953, 19_440),
    ] {
        let Some((stamps, _)) = stamps(name, parser) else {
            continue;
        };
        assert_eq!(count_cuts(&stamps), (cuts, widest), "{name}");
    }
}

/// The number of consistent cuts, and how many the widest level has, level by level.
fn count_cuts(stamps: &[Stamp]) -> (usize, usize) {
    use std::collections::HashSet;
    let width = stamps
        .iter()
        .map(|stamp| stamp.chain.index() + 1)
        .max()
        .unwrap_or(0);
    let mut chains: Vec<Vec<&Stamp>> = vec![Vec::new(); width];
    for stamp in stamps {
        chains[stamp.chain.index()].push(stamp);
    }
    let mut level = HashSet::from([vec![0u32; width]]);
    let (mut cuts, mut widest) = (0, 0);
    while !level.is_empty() {
        cuts += level.len();
        widest = widest.max(level.len());
        let mut next = HashSet::new();
        for cut in &level {
            for (chain, events) in chains.iter().enumerate() {
                let Some(stamp) = events.get(cut[chain] as usize) else {
                    continue;
                };
                let past = stamp.clock.counts();
                let enabled = past
                    .iter()
                    .enumerate()
                    .all(|(c, &n)| c == chain || n <= cut[c]);
                if enabled {
                    let mut more = cut.clone();
                    more[chain] += 1;
                    next.insert(more);
                }
            }
        }
        level = next;
    }
    (cuts, widest)
}

#[test]
fn a_log_survives_the_native_format() {
    for (name, parser) in [
        ("shiviz/chord.log", CHORD),
        ("shiviz/voldemort.log", VOLDEMORT),
    ] {
        let Some(path) = shared(name) else { continue };
        let log = std::fs::read(path).unwrap();
        let native = crate::common::to_native(&log, &options(parser));
        assert_eq!(
            crate::common::to_native(native.as_bytes(), &Options::default()),
            native
        );
    }
}

#[test]
fn binary_files_that_open_with_a_begin_of_every_thread() {
    for (name, threads, events) in [
        ("Account", 6, 706),
        ("Bensalem", 4, 68),
        ("Bensalem_dlf", 7, 56),
        ("Deadlock", 3, 39),
        ("DiningPhil", 6, 277),
        ("StringBuffer", 3, 74),
        ("Transfer", 3, 72),
    ] {
        let Some(path) = shared(&format!("rapid/{name}.data")) else {
            return;
        };
        let mut reader = TraceReader::open(&path, &Options::default()).unwrap();
        let mut symbols = Symbols::default();
        while reader.next_event(&mut symbols).unwrap().is_some() {}
        let found = (symbols.threads.len(), reader.events());
        assert_eq!(found, (threads, events), "{name}");
    }
}
