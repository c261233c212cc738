//! Posets of whole logs, every event being relevant; and generated ones of the same shape.

use std::path::{Path, PathBuf};

use portent_lattice::Poset;
use portent_monitor_core::Causality;
use portent_trace::{Options, TraceReader};

/// The real logs, if they are there: beside the repository, or where `PORTENT_LOGS` says.
pub(crate) fn directory() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/traces/shiviz");
    let told = std::env::var_os("PORTENT_LOGS").map(PathBuf::from);
    told.or(Some(beside)).filter(|path| path.is_dir())
}

/// The order of all events of a log, and their texts.
pub(crate) fn read(path: &Path, parser: &str) -> (Poset, Vec<String>) {
    let options = Options::default().parser(parser);
    let mut reader = TraceReader::open(path, &options).expect("the log opens");
    let mut causality = Causality::default();
    let (mut stamps, mut texts) = (Vec::new(), Vec::new());
    while let Some(event) = reader.next_event().expect("the log is sound") {
        let stamp = causality.step(&event, true).expect("few events");
        stamps.push(stamp.expect("relevant"));
        texts.push(event.text().unwrap_or_default().to_owned());
    }
    let mut poset = Poset::new(causality.chains());
    for stamp in stamps {
        let mut clock = stamp.clock.counts().to_vec();
        clock.resize(causality.chains(), 0);
        poset.push(stamp.chain.index(), &clock);
    }
    (poset, texts)
}

pub(crate) const CHORD: (&str, &str) = ("chord.log", r"(?<host>\S*) (?<clock>{.*})\n(?<event>.*)");
pub(crate) const SIMPLEDB: (&str, &str) =
    ("simpledb.log", r"(?<event>.*)\n(?<host>\S*) (?<clock>{.*})");
pub(crate) const TSVIZ: (&str, &str) = (
    "tsviz_shared_var_4_threads.log",
    r"(?<timestamp>(\d*)) (?<event>.*)\n(?<host>\w*) (?<clock>.*)",
);

/// A log of processes that send each other messages, from a seed: every `period`-th event of a
/// process waits for what another one has last done.
pub(crate) fn generated(processes: usize, events: usize, period: u32, seed: u64) -> Poset {
    let mut state = seed;
    let mut random = move |n: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    let mut poset = Poset::new(processes);
    let mut clocks = vec![vec![0u32; processes]; processes];
    for _ in 0..events {
        let me = random(processes);
        if clocks[me][me] % period == period - 1 {
            let theirs = clocks[random(processes)].clone();
            for (mine, theirs) in clocks[me].iter_mut().zip(theirs) {
                *mine = (*mine).max(theirs);
            }
        }
        clocks[me][me] += 1;
        poset.push(me, &clocks[me]);
    }
    poset
}
