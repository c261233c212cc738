//! Races, lock orders and blocks that are not atomic, of a program that runs.

use std::sync::mpsc;

use portent_findings::{
    Hunt, Model, Options,
    report::{Kind, Label},
};
use portent_hooks::{Shared, atomic_block, sync::Mutex, thread};
use portent_sidecar::Sidecar;

#[test]
fn a_lock_order_is_told_with_all_its_places_while_the_program_runs() {
    let (tell, told) = mpsc::channel();
    let sidecar = Sidecar::builder()
        .find(Options::default().model(Model::Strong))
        .on_finding(move |finding| tell.send(finding.clone()).unwrap())
        .start()
        .unwrap();
    let entered = sidecar.enter();
    let (a, b) = (
        Mutex::with_name("order a", ()),
        Mutex::with_name("order b", ()),
    );
    let turn = std::sync::Barrier::new(2);
    thread::scope(|s| {
        s.spawn(|| {
            a.lock().map(|_a| drop(b.lock())).unwrap();
            // No hook: that one comes before the other is a matter of this run.
            turn.wait();
        });
        s.spawn(|| {
            turn.wait();
            b.lock().map(|_b| drop(a.lock())).unwrap();
        });
    });
    // It still runs.
    let finding = told.recv().unwrap();
    assert_eq!(
        (finding.kind, finding.label),
        (Kind::Deadlock, Label::Shown)
    );
    for one in &finding.participants {
        let sites = [&one.row.loc, &one.holds[0].loc];
        let here =
            |site: &&Option<String>| site.as_deref().is_some_and(|at| at.contains("finding.rs:"));
        assert!(sites.iter().all(here), "{one:?}");
    }
    assert_eq!(sidecar.counts().violations, 0);
    drop(entered);
    let summary = sidecar.stop().unwrap();
    assert_eq!(summary.counts.findings, 1);
    let report = summary.findings.unwrap();
    assert!(report.is_certain());
    assert_eq!(report.findings.len(), 1);
    assert_eq!(report.findings[0].key, finding.key);
    assert!(report.warnings.is_empty(), "{:?}", report.warnings);
}

#[test]
fn a_race_is_told_at_once_and_a_block_at_the_end() {
    let (tell, told) = mpsc::channel();
    let sidecar = Sidecar::builder()
        .find(Options::default().hunt(Hunt::ALL))
        .on_finding(move |finding| tell.send(finding.to_string()).unwrap())
        .start()
        .unwrap();
    let entered = sidecar.enter();
    let x = Shared::with_name("found x", 0);
    thread::scope(|s| {
        let _block = atomic_block("found block");
        let read = x.get();
        s.spawn(|| x.set(5)).join().unwrap();
        x.set(read + 1);
        s.spawn(|| x.set(7));
        s.spawn(|| x.set(8));
    });
    assert!(told.recv().unwrap().starts_with("data race on found x: "));
    drop(entered);
    let report = sidecar.stop().unwrap().findings.unwrap();
    let kinds: Vec<Kind> = report.findings.iter().map(|finding| finding.kind).collect();
    assert!(
        kinds.contains(&Kind::Race) && kinds.contains(&Kind::Atomicity),
        "{kinds:?}"
    );
}
