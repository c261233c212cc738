//! Small traces whose findings are known, by the lines that they are about.

use portent_findings::{
    Finder, Hunt, Model, Options, Report,
    report::{Kind, Label},
};
use portent_monitor_core::{Event, Symbols};
use portent_testing::RunModel;
use portent_trace::TraceReader;

use crate::{atomicity::violated_in_some_run, brute::AllRuns};

/// What is found in a trace of native lines.
fn find(trace: &str, model: Model) -> Report {
    let options = portent_trace::Options::default();
    let mut reader = TraceReader::new("golden", trace.as_bytes(), &options).unwrap();
    let mut finder = Finder::new(Options::default().model(model).hunt(Hunt::ALL));
    while let Some(event) = reader.next_event(finder.symbols_mut()).unwrap() {
        finder.take(&event).unwrap();
    }
    finder.finish().unwrap()
}

/// The lines of the findings of a kind that are certain.
fn lines(report: &Report, kind: Kind) -> Vec<Vec<u64>> {
    let certain = |finding: &&portent_findings::report::Finding| {
        finding.kind == kind && finding.label != Label::Possible
    };
    let lines = report.findings.iter().filter(certain).map(|finding| {
        let lines = finding.participants.iter().filter_map(|one| one.row.line);
        let mut lines: Vec<u64> = lines.collect();
        lines.sort_unstable();
        lines
    });
    lines.collect()
}

fn patterns(report: &Report) -> u64 {
    report.deadlocks.as_ref().expect("looked for").patterns
}

/// Lines of short words: thread, operation and object.
fn trace(short: &str) -> String {
    let key = |op: &str| match op {
        "read" | "write" => "var",
        "begin" | "end" => "block",
        _ => "lock",
    };
    let line = |words: &str| {
        let words: Vec<&str> = words.split_whitespace().collect();
        let [t, op, object] = words[..3] else {
            panic!("three words: {words:?}");
        };
        let mark = words
            .get(3)
            .map_or(String::new(), |mark| format!(r#","{mark}":true"#));
        format!(r#"{{"t":{t},"op":"{op}","{}":"{object}"{mark}}}"#, key(op))
    };
    let lines: Vec<String> = short.split(';').map(line).collect();
    lines.join("\n") + "\n"
}

/// What is expected under happens-before, `strong` and the maximal model.
#[track_caller]
fn check(short: &str, kind: Kind, expected: [&[&[u64]]; 3]) {
    for (model, expected) in [Model::HappensBefore, Model::Strong]
        .into_iter()
        .zip(expected)
    {
        let report = find(&trace(short), model);
        assert_eq!(lines(&report, kind), expected, "{model:?}");
    }
    let events = events(short);
    for (model, expected) in RunModel::ALL.into_iter().zip(expected) {
        let runs = AllRuns::new(&events, model);
        let found: Vec<Vec<usize>> = match kind {
            Kind::Race => runs.races().into_keys().map(Vec::from).collect(),
            Kind::Deadlock => runs.deadlocks().into_iter().collect(),
            Kind::Atomicity => panic!("asked of `violated_in_some_run`"),
        };
        let lines = { found.iter() }.map(|found| found.iter().map(|&event| event as u64 + 1));
        let lines: Vec<Vec<u64>> = lines.map(Iterator::collect).collect();
        assert_eq!(lines, expected, "all runs, {model:?}");
    }
}

/// The events of short words.
fn events(short: &str) -> Vec<Event> {
    let trace = trace(short);
    let options = portent_trace::Options::default();
    let mut reader = TraceReader::new("golden", trace.as_bytes(), &options).unwrap();
    let (mut symbols, mut events) = (Symbols::default(), Vec::new());
    while let Some(event) = reader.next_event(&mut symbols).unwrap() {
        events.push(event);
    }
    events
}

const RACE_BEHIND_A_LOCK: &str = "1 write x; 1 lock m; 1 unlock m; 2 lock m; 2 unlock m; 2 write x";
const D1: &str = "1 lock a; 1 lock b; 1 unlock b; 1 unlock a; 2 lock b; 2 lock a";

#[test]
fn r1_a_race_behind_a_lock_is_seen_by_leaving_the_section_out() {
    check(
        RACE_BEHIND_A_LOCK,
        Kind::Race,
        [&[], &[&[1, 6]], &[&[1, 6]]],
    );
}

#[test]
fn r2_a_write_inside_a_section_cannot_be_overtaken() {
    let short = "1 lock m; 1 write x; 1 unlock m; 2 lock m; 2 unlock m; 2 write x";
    check(short, Kind::Race, [&[], &[], &[&[2, 6]]]);
}

#[test]
fn r3_what_a_read_brings_is_not_a_race() {
    let short = "1 write x; 1 write f; 2 read f; 2 write x";
    check(short, Kind::Race, [&[&[2, 3]], &[&[2, 3]], &[&[2, 3]]]);
    let report = find(&trace(short), Model::HappensBefore);
    assert_eq!(report.findings[0].label, Label::Observed);
}

#[test]
fn atomics_do_not_race() {
    check(
        "1 write x atomic; 2 write x atomic",
        Kind::Race,
        [&[], &[], &[]],
    );
}

#[test]
fn what_its_clock_puts_after_another_write_is_not_a_race() {
    let races = |second: &str| {
        let trace = format!(
            "{}\n{}\n",
            r#"{"t":"A","vc":{"A":1},"name":"sold","set":{"x":1}}"#, second
        );
        let of = |model| {
            let report = find(&trace, model);
            (report.findings.len(), lines(&report, Kind::Race))
        };
        [Model::HappensBefore, Model::Strong].map(of)
    };
    let after = races(r#"{"t":"B","vc":{"A":1,"B":1},"name":"sold","set":{"x":2}}"#);
    assert_eq!(after, [(0, vec![]), (0, vec![])]);
    let beside = races(r#"{"t":"B","vc":{"B":1},"name":"sold","set":{"x":2}}"#);
    assert_eq!(beside, [(1, vec![vec![1, 2]]), (1, vec![vec![1, 2]])]);
}

#[test]
fn d1_two_locks_in_two_orders() {
    check(D1, Kind::Deadlock, [&[], &[&[2, 6]], &[&[2, 6]]]);
    let report = find(&trace(D1), Model::HappensBefore);
    assert_eq!((patterns(&report), report.findings.len()), (1, 1));
    assert_eq!(report.findings[0].label, Label::Possible);
    assert!(!report.is_certain());
    let report = find(&trace(D1), Model::Strong);
    let finding = &report.findings[0];
    assert_eq!(finding.label, Label::Shown);
    let held: Vec<_> = { finding.participants.iter() }
        .map(|one| {
            (
                one.row.object.as_deref().unwrap(),
                &*one.holds[0].lock,
                one.holds[0].line,
            )
        })
        .collect();
    assert_eq!(held, [("b", "a", Some(1)), ("a", "b", Some(5))]);
}

#[test]
fn d1_a_common_lock_keeps_them_apart() {
    let short = "1 lock g; 1 lock a; 1 lock b; 1 unlock b; 1 unlock a; 1 unlock g; \
                 2 lock g; 2 lock b; 2 lock a";
    check(short, Kind::Deadlock, [&[], &[], &[]]);
    assert_eq!(patterns(&find(&trace(short), Model::Strong)), 0);
}

#[test]
fn d1_what_is_read_keeps_them_apart() {
    let short =
        "1 lock a; 1 lock b; 1 unlock b; 1 unlock a; 1 write x; 2 read x; 2 lock b; 2 lock a";
    check(short, Kind::Deadlock, [&[], &[], &[]]);
    let report = find(&trace(short), Model::Strong);
    assert_eq!(patterns(&report), 1);
    let mut deadlocks = { report.findings.iter() }.filter(|one| one.kind == Kind::Deadlock);
    assert_eq!(deadlocks.next().map(|one| one.label), Some(Label::Possible));
}

#[test]
fn a_try_holds_but_does_not_wait() {
    let waits = "1 lock a try; 1 lock b; 1 unlock b; 1 unlock a; 2 lock b; 2 lock a";
    check(waits, Kind::Deadlock, [&[], &[&[2, 6]], &[&[2, 6]]]);
    let does_not = "1 lock a; 1 lock b try; 1 unlock b; 1 unlock a; 2 lock b; 2 lock a";
    check(does_not, Kind::Deadlock, [&[], &[], &[]]);
}

#[test]
fn d2_a_section_that_is_needed_as_a_whole() {
    let short = "1 lock m; 1 lock a; 1 lock b; 1 unlock b; 1 unlock a; 1 unlock m; \
                 2 lock m; 2 unlock m; 2 lock b; 2 lock a";
    check(short, Kind::Deadlock, [&[], &[], &[&[3, 10]]]);
    assert_eq!(patterns(&find(&trace(short), Model::Strong)), 1);
}

#[test]
fn d3_where_the_trace_ends() {
    let short = "1 lock a; 2 lock b; 1 req b; 2 req a";
    check(short, Kind::Deadlock, [&[&[3, 4]], &[&[3, 4]], &[&[3, 4]]]);
    let report = find(&trace(short), Model::HappensBefore);
    assert_eq!(report.findings[0].label, Label::Observed);
}

#[test]
fn d4_shared_sides_do_not_wait_for_each_other() {
    let shared = "1 rlock a; 1 lock b; 1 unlock b; 1 runlock a; 2 lock b; 2 rlock a";
    assert_eq!(patterns(&find(&trace(shared), Model::Strong)), 0);
    let exclusive = "1 rlock a; 1 lock b; 1 unlock b; 1 runlock a; 2 lock b; 2 lock a";
    check(exclusive, Kind::Deadlock, [&[], &[&[2, 6]], &[&[2, 6]]]);
}

#[test]
fn d5_locks_that_are_not_held_together() {
    let short =
        "1 lock a; 1 lock b; 1 unlock a; 1 lock c; 1 unlock c; 1 unlock b; 2 lock c; 2 lock a";
    check(short, Kind::Deadlock, [&[], &[], &[]]);
    assert_eq!(patterns(&find(&trace(short), Model::Strong)), 0);
}

#[test]
fn one_thread_alone_does_not_deadlock() {
    let short = "1 lock a; 1 lock b; 1 unlock b; 1 unlock a; 1 lock b; 1 lock a";
    assert_eq!(patterns(&find(&trace(short), Model::Strong)), 0);
}

#[test]
fn a1_a_write_between_read_and_write() {
    let short = "1 begin B; 1 read x; 2 write x; 1 write x; 1 end B";
    for model in [Model::HappensBefore, Model::Strong] {
        let report = find(&trace(short), model);
        assert_eq!(lines(&report, Kind::Atomicity), [[2, 3, 3, 4]]);
    }
    let events = events(short);
    for model in RunModel::ALL {
        assert_eq!(violated_in_some_run(&events, model).len(), 1, "{model:?}");
    }
    let report = find(&trace(short), Model::HappensBefore);
    let finding = { report.findings.iter() }
        .find(|finding| finding.kind == Kind::Atomicity)
        .unwrap();
    assert_eq!(
        (finding.block.as_deref(), finding.label),
        (Some("B"), Label::Observed)
    );
}

#[test]
fn a2_a_block_that_ran_alone() {
    let short = "1 begin B; 1 read x; 1 write x; 1 end B; 2 write x";
    for model in [Model::HappensBefore, Model::Strong] {
        let report = find(&trace(short), model);
        assert!(lines(&report, Kind::Atomicity).is_empty());
    }
    let events = events(short);
    let violated = RunModel::ALL.map(|model| violated_in_some_run(&events, model).len());
    assert_eq!(violated, [0, 0, 1]);
}

#[test]
fn a_recording_that_is_not_complete_is_warned_of() {
    let forks = concat!(
        r#"{"t":1,"op":"fork","child":2}"#,
        "\n",
        r#"{"t":1,"op":"write","var":"x"}"#,
        "\n",
        r#"{"t":3,"op":"write","var":"x"}"#,
        "\n",
    );
    let report = find(forks, Model::HappensBefore);
    let kinds: Vec<_> = report.warnings.iter().map(|warning| warning.kind).collect();
    assert_eq!(kinds, ["forks"]);
}

#[test]
fn a_section_that_is_entered_twice_is_warned_of_whatever_is_looked_for() {
    let twice = "1 write x; 1 lock m; 2 lock m; 2 unlock m; 2 write x; 2 begin B; 2 end B";
    let shared = twice.replace("1 lock", "1 rlock");
    let both = shared
        .replace("2 lock", "2 rlock")
        .replace("2 unlock", "2 runlock");
    let once = "1 lock m; 1 unlock m; 2 lock m; 2 unlock m";
    let again = "1 lock m; 1 lock m; 1 unlock m; 1 unlock m; 2 lock m; 2 unlock m";
    for hunt in ["races", "deadlocks", "atomicity"] {
        for model in [Model::HappensBefore, Model::Strong] {
            let warning = |short: &str| {
                let options = portent_trace::Options::default().lenient(true);
                let text = trace(short);
                let mut reader = TraceReader::new("twice", text.as_bytes(), &options).unwrap();
                let options = Options::default().model(model).hunt(hunt.parse().unwrap());
                let mut finder = Finder::new(options);
                while let Some(event) = reader.next_event(finder.symbols_mut()).unwrap() {
                    finder.take(&event).unwrap();
                }
                let warnings = finder.finish().unwrap().warnings.into_iter();
                let mut sections = warnings.filter(|warning| warning.kind == "sections");
                sections.next().map(|warning| warning.text)
            };
            let text = warning(twice).expect("it is entered twice");
            assert!(
                text.contains("thread 2 takes lock m in line 3 while thread 1 holds it (1 in all)"),
                "{hunt}, {model:?}: {text}"
            );
            for fine in [&both, once, again] {
                assert_eq!(warning(fine), None, "{hunt}, {model:?}: {fine}");
            }
        }
    }
}

#[test]
fn races_alone_are_told_with_the_locks_that_are_held() {
    let short = "1 lock m; 1 write x; 1 unlock m; 2 lock n; 2 write x; 2 unlock n";
    let options = portent_trace::Options::default();
    let text = trace(short);
    let mut reader = TraceReader::new("held", text.as_bytes(), &options).unwrap();
    let mut finder = Finder::new(Options::default().hunt(Hunt::RACES));
    while let Some(event) = reader.next_event(finder.symbols_mut()).unwrap() {
        finder.take(&event).unwrap();
    }
    let report = finder.finish().unwrap();
    let held: Vec<_> = { report.findings[0].participants.iter() }
        .map(|one| (one.holds[0].lock.as_str(), one.holds[0].line))
        .collect();
    assert_eq!(held, [("m", Some(1)), ("n", Some(4))]);
}
