//! Known counts of seven traces of RAPID, where these are at hand: they are not ours to pass on.

use std::path::Path;

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

/// The lines of the deadlocks of some run, with the threads that wait there.
fn deadlocks(name: &str) -> Vec<Vec<(u64, String)>> {
    let report = find(
        &Path::new(FOLDER).join(format!("{name}.data")),
        Model::Strong,
    );
    let shown = { report.findings.iter() }
        .filter(|one| one.kind == Kind::Deadlock && one.label != Label::Possible);
    let mut all: Vec<Vec<(u64, String)>> = shown
        .map(|finding| {
            assert!(finding.participants.iter().all(|one| !one.holds.is_empty()));
            let rows = finding.participants.iter().map(|one| &one.row);
            let mut waits: Vec<(u64, String)> = rows
                .map(|row| (row.line.expect("read from a file"), row.t.clone()))
                .collect();
            waits.sort();
            waits
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
    let at = |waits: &[(u64, &str)]| -> Vec<(u64, String)> {
        let wait = |&(line, thread): &(u64, &str)| (line, thread.to_owned());
        waits.iter().map(wait).collect()
    };
    assert_eq!(deadlocks("Bensalem"), [at(&[(32, "T2"), (60, "T3")])]);
    // Its forks name the wrong threads, and a join is lost, so that the second of them is false.
    let of_dlf = [at(&[(32, "T5"), (44, "T6")]), at(&[(32, "T5"), (54, "T2")])];
    assert_eq!(deadlocks("Bensalem_dlf"), of_dlf);
    let all_five = [
        (65, "T1"),
        (108, "T2"),
        (151, "T3"),
        (194, "T4"),
        (237, "T5"),
    ];
    assert_eq!(deadlocks("DiningPhil"), [at(&all_five)]);
}
