//! Whole logs as posets, every event being relevant.

use std::path::{Path, PathBuf};

use portent_lattice::laboratory::Poset;
use portent_monitor_core::{Causality, Symbols};
use portent_trace::{Options, TraceReader};

/// The real logs, if they are there: beside the repository, or where `PORTENT_LOGS` says.
pub(crate) fn directory() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/traces/shiviz");
    let told = std::env::var_os("PORTENT_LOGS").map(PathBuf::from);
    told.or(Some(beside)).filter(|path| path.is_dir())
}

/// The order of all events of a log, and their texts.
pub(crate) fn log(path: &Path, parser: &str) -> (Poset, Vec<String>) {
    let options = Options::default().parser(parser);
    let mut reader = TraceReader::open(path, &options).expect("the log opens");
    let (mut causality, mut symbols) = (Causality::default(), Symbols::default());
    let (mut stamps, mut texts) = (Vec::new(), Vec::new());
    while let Some(event) = reader.next_event(&mut symbols).expect("the log is sound") {
        let stamp = causality.step(&event, true).expect("few events");
        stamps.push(stamp.expect("relevant"));
        texts.push(event.text().unwrap_or_default().to_owned());
    }
    let mut poset = Poset::new(causality.chains());
    for stamp in stamps {
        let mut clock = stamp.clock.counts().to_vec();
        clock.resize(causality.chains(), 0);
        poset.push(stamp.chain, &clock);
    }
    (poset, texts)
}
