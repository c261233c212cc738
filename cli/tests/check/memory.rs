//! `--memory` is a ceiling: what a process has in memory at its peak is at most 1.25 times the limit and 32 MB, whatever takes it.
//! What is left out is said, and what was observed is there.
#![cfg(target_os = "linux")]

use std::{fs, io::Write, process::Stdio, time::Duration};

use serde_json::Value;

use super::search::grid;
use crate::common::command;

const MIB: u64 = 1 << 20;

/// Checks a trace within a number of MiB of memory, and gives the report and the exit code if the peak is below the ceiling.
fn within(limit: u64, property: &str, trace: &str, more: &[&str]) -> (Value, Option<i32>) {
    let memory = format!("{limit}MiB");
    let arguments = ["check", "--memory", &memory, "--property", property];
    let folder = tempfile::tempdir().unwrap();
    let [input, output] = ["trace.jsonl", "report.json"].map(|name| folder.path().join(name));
    fs::File::create(&input)
        .and_then(|mut file| file.write_all(trace.as_bytes()))
        .unwrap();
    let mut child = command(&[&arguments[..], more].concat())
        .args(["--format", "json", "--output"])
        .args([&output, &input])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    // The peak never falls, so that the last that is seen of it counts.
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    let code = loop {
        let seen = fs::read_to_string(&status).unwrap_or_default();
        let line = seen.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
        peak = peak.max(1024 * kilobytes.unwrap_or(0u64));
        if let Some(status) = child.try_wait().unwrap() {
            break status.code();
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    let ceiling = limit * MIB * 5 / 4 + 32_000_000;
    assert!(peak > 0, "nothing was seen of the process");
    assert!(peak <= ceiling, "{peak} bytes of {ceiling}");
    let report = fs::read_to_string(output).unwrap();
    (serde_json::from_str(&report).unwrap(), code)
}

fn kinds(report: &Value) -> Vec<&str> {
    let warnings = report["warnings"].as_array().unwrap().iter();
    warnings
        .map(|warning| warning["kind"].as_str().unwrap())
        .collect()
}

#[test]
fn clocks_of_many_threads() {
    let mut trace = String::from("{\"t\":1,\"op\":\"event\",\"name\":\"b\"}\n");
    for thread in 0..16_000 {
        trace += &format!("{{\"t\":{thread},\"op\":\"lock\",\"lock\":\"m\"}}\n");
        trace += &format!("{{\"t\":{thread},\"op\":\"event\",\"name\":\"a\"}}\n");
        trace += &format!("{{\"t\":{thread},\"op\":\"unlock\",\"lock\":\"m\"}}\n");
    }
    let (report, code) = within(64, "always (a -> once b)", &trace, &[]);
    assert_eq!(
        code,
        Some(1),
        "`a` of the first thread need not wait for `b`"
    );
    assert!(kinds(&report).contains(&"order_beyond_memory"));
    let property = &report["properties"][0];
    assert_eq!(property["observed"]["verdict"], "satisfied");
    assert_eq!(property["lattice"]["exhaustive"], false);
    assert_eq!(property["lattice"]["limit"], "memory");

    // The other way round, what was observed is bad, long after the order is lost.
    trace += "{\"t\":7,\"op\":\"event\",\"name\":\"c\"}\n";
    let (report, code) = within(64, "always (c -> !once b)", &trace, &[]);
    assert_eq!(code, Some(1));
    let property = &report["properties"][0];
    assert_eq!(property["observed"]["verdict"], "violated");
}

#[test]
fn many_bindings() {
    let mut trace = String::new();
    for event in ["open", "close"] {
        for file in 0..100_000 {
            let thread = file % 4;
            trace += &format!(
                "{{\"t\":{thread},\"op\":\"event\",\"name\":\"{event}\",\"args\":[\"file{file}\"]}}\n"
            );
        }
    }
    let property = "property file(f) { event open(f), close(f) ltl: always (close -> once open) }";
    let (report, code) = within(64, property, &trace, &[]);
    assert_eq!(code, Some(0));
    assert_eq!(kinds(&report), ["bindings_beyond_memory"]);
    let text = report["warnings"][0]["text"].as_str().unwrap();
    assert!(
        text.ends_with("a larger --memory has room for more"),
        "{text}"
    );
    let entries = report["properties"].as_array().unwrap();
    assert!(
        (16_300..=64 * 256).contains(&entries.len()),
        "{}",
        entries.len()
    );
    for entry in entries {
        assert_eq!(entry["relevant"], 2);
        assert_eq!(entry["observed"]["verdict"], "satisfied");
    }
}

#[test]
fn texts_of_a_long_log() {
    let text = "x".repeat(1000);
    let line = |number| {
        let thread = number % 4;
        format!("{{\"t\":{thread},\"op\":\"event\",\"name\":\"a\",\"text\":\"{number} {text}\"}}\n")
    };
    let trace: String = (0..120_000).map(line).collect();
    let (report, code) = within(64, "always !once Y once a", &trace, &[]);
    assert_eq!(code, Some(1));
    assert_eq!(kinds(&report), ["texts_beyond_memory"]);
    let property = &report["properties"][0];
    assert_eq!(property["observed"]["verdict"], "violated");
    let witness = property["predicted"]["witness"].as_array().unwrap();
    assert_eq!(witness.len(), 120_000);
    assert_eq!(witness[0]["text"], format!("0 {text}"));
    assert!(witness[119_999]["text"].is_null());
}

#[test]
fn levels_of_the_lattice() {
    let mut trace = grid(8, 6);
    for thread in 0..8 {
        trace += &format!("{{\"t\":\"main\",\"op\":\"join\",\"child\":{thread}}}\n");
    }
    trace += "{\"t\":\"main\",\"op\":\"event\",\"name\":\"c\"}\n";
    let arguments = ["--engine", "enumerate", "--count", "never"];
    let (report, code) = within(32, "never: ({}* b)? (a a)* c", &trace, &arguments);
    assert_eq!(code, Some(1), "far enough from the observed run");
    let property = &report["properties"][0];
    assert_eq!(property["observed"]["verdict"], "ok");
    assert_eq!(property["lattice"]["exhaustive"], false);
    assert_eq!(property["lattice"]["limit"], "memory");
    assert!(property["lattice"]["dropped"].as_u64().unwrap() > 0);
}

#[test]
fn more_steps_than_there_is_room_for() {
    let line = "{\"t\":1,\"op\":\"event\",\"name\":\"a\"}\n";
    let trace = line.repeat(300_000) + "{\"t\":2,\"op\":\"event\",\"name\":\"b\"}\n";
    let (report, code) = within(1, "always (b -> !once a)", &trace, &[]);
    assert_eq!(code, Some(1));
    assert!(kinds(&report).contains(&"steps_beyond_memory"));
    let property = &report["properties"][0];
    assert_eq!(property["observed"]["verdict"], "violated");
    assert_eq!(property["observed"]["step"], 300_001);
    assert_eq!(property["relevant"], 300_001);
    assert_eq!(property["lattice"]["exhaustive"], false);
}

/// With parameters there is not one observed run that could be followed without them.
#[test]
fn more_steps_of_bindings_than_there_is_room_for() {
    let line = "{\"t\":1,\"op\":\"event\",\"name\":\"a\",\"args\":[1]}\n";
    let trace = line.repeat(300_000);
    let property = "property p(x) { event a(x)  ltl: always !a }";
    let arguments = ["check", "--memory", "1MiB", "--property", property, "-"];
    let done = crate::common::portent_with(&arguments, trace.as_bytes());
    assert_eq!(done.code, Some(2), "{}", done.out);
    assert!(
        done.err.contains("a larger --memory has room for more"),
        "{}",
        done.err
    );
}
