//! Known counts of seven traces of RAPID, where these are at hand: they are not ours to pass on.

use std::{collections::BTreeSet, path::Path};

use portent_findings::{
    Finder, Hunt, Model, Options, Report,
    report::{Kind, Label},
};
use portent_trace::TraceReader;

const FOLDER: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../shared/data/traces/rapid"
);

/// Events and location pairs under happens-before; events, locations and location pairs under strong; patterns and their choices;
/// deadlocks and their tuples of locations.
type Counts = ([u64; 2], [u64; 3], [u64; 2], [u64; 2]);

const EXPECTED: [(&str, Counts); 7] = [
    ("Account", ([3, 3], [3, 2, 3], [3, 12], [0, 0])),
    ("Bensalem", ([0, 0], [0, 0, 0], [2, 2], [1, 1])),
    ("Bensalem_dlf", ([5, 5], [7, 7, 7], [2, 2], [2, 2])),
    ("Deadlock", ([1, 2], [1, 1, 2], [1, 1], [0, 0])),
    ("DiningPhil", ([0, 0], [0, 0, 0], [1, 3125], [1, 1])),
    ("StringBuffer", ([0, 0], [0, 0, 0], [1, 2], [1, 2])),
    ("Transfer", ([0, 0], [0, 0, 0], [1, 1], [0, 0])),
];

fn find(path: &Path, model: Model) -> Report {
    let mut reader = TraceReader::open(path, &portent_trace::Options::default()).unwrap();
    let mut finder = Finder::new(Options::default().model(model).hunt(Hunt::ALL));
    while let Some(event) = reader.next_event(finder.symbols_mut()).unwrap() {
        finder.take(&event).unwrap();
    }
    finder.finish().unwrap()
}

#[test]
fn the_counts_of_seven_traces() {
    let folder = Path::new(FOLDER);
    if !folder.is_dir() {
        println!("skipped: there is no {FOLDER}");
        return;
    }
    let mut found = Vec::new();
    for (name, _) in EXPECTED {
        let path = folder.join(format!("{name}.data"));
        let less = find(&path, Model::HappensBefore).races.unwrap();
        let report = find(&path, Model::Strong);
        let (races, deadlocks) = (report.races.unwrap(), report.deadlocks.unwrap());
        let counts = (
            [less.events, less.location_pairs],
            [races.events, races.locations, races.location_pairs],
            [deadlocks.patterns, deadlocks.choices.parse().unwrap()],
            [deadlocks.deadlocks, deadlocks.location_tuples],
        );
        found.push((name, counts));
        let is_doubtful = report
            .warnings
            .iter()
            .any(|warning| warning.kind == "forks");
        assert_eq!(
            is_doubtful,
            name == "Bensalem_dlf",
            "{name}: {:?}",
            report.warnings
        );
    }
    assert_eq!(found, EXPECTED);
}

/// The locations and the threads of the deadlocks of some run.
fn deadlocks(name: &str) -> Vec<(Vec<String>, usize)> {
    let report = find(
        &Path::new(FOLDER).join(format!("{name}.data")),
        Model::Strong,
    );
    let shown = { report.findings.iter() }
        .filter(|one| one.kind == Kind::Deadlock && one.label != Label::Possible);
    let mut all: Vec<_> = shown
        .map(|finding| {
            let rows = finding.participants.iter().map(|one| &one.row);
            let mut locs: Vec<String> = rows.clone().filter_map(|row| row.loc.clone()).collect();
            locs.sort();
            let threads: BTreeSet<&str> = rows.map(|row| row.t.as_str()).collect();
            assert!(finding.participants.iter().all(|one| !one.holds.is_empty()));
            (locs, threads.len())
        })
        .collect();
    all.sort();
    all
}

#[test]
fn the_deadlocks_of_three_traces_are_where_they_are_known_to_be() {
    if !Path::new(FOLDER).is_dir() {
        println!("skipped: there is no {FOLDER}");
        return;
    }
    let at = |locs: [&str; 2]| (locs.map(str::to_owned).to_vec(), 2);
    assert_eq!(deadlocks("Bensalem"), [at(["32", "60"])]);
    // Its forks name the wrong threads, so that one of them is false.
    assert_eq!(
        deadlocks("Bensalem_dlf"),
        [at(["32", "54"]), at(["32", "60"])]
    );
    let [(locs, threads)] = &deadlocks("DiningPhil")[..] else {
        panic!("all five wait for each other");
    };
    assert_eq!((locs.len(), *threads), (5, 5));
}
