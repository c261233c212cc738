//! Every primitive under the scheduler: small programs whose classes can be counted by hand, or are known from the literature.

mod channels;
mod conditions;
mod known;
mod locks;
mod meetings;
mod threads;

use std::time::Duration;

use portent_explore::{
    Explorer, FailureKind, Report, Stopped,
    strategy::{Exhaustive, Source},
};

/// How long threads wait: no time passes.
const TIME: Duration = Duration::from_secs(3600);

/// One run of each class; it has to be the same number as among all interleavings.
fn explore(explorer: Explorer, program: impl Fn()) -> Report {
    let report = explorer.strategy(Source::new).keep_going().check(program);
    assert_eq!(report.stopped, Stopped::Exhausted, "{report}");
    report
}

/// Executions, cut runs, deadlocks.
fn counts(program: impl Fn()) -> (u64, u64, u64) {
    let report = explore(Explorer::new(), program);
    (report.executions, report.blocked, report.deadlocks)
}

/// The same, of a program so small that all interleavings can be compared.
fn checked(program: impl Fn()) -> (u64, u64, u64) {
    checked_by(Explorer::new, program)
}

fn checked_by(explorer: impl Fn() -> Explorer, program: impl Fn()) -> (u64, u64, u64) {
    let all = explorer()
        .strategy(Exhaustive::new)
        .keep_going()
        .check(&program);
    assert_eq!(all.stopped, Stopped::Exhausted, "{all}");
    let report = explore(explorer(), program);
    assert_eq!(report.classes, all.classes, "{report}\n{all}");
    assert_eq!(report.deadlocks > 0, all.deadlocks > 0);
    assert_eq!(report.failed > 0, all.failed > 0);
    (report.executions, report.blocked, report.deadlocks)
}

/// What the first failure says, which is of this kind.
fn failure(report: &Report, kind: FailureKind) -> &str {
    let failure = report.failures.first();
    let failure = failure.unwrap_or_else(|| panic!("nothing failed: {report}"));
    assert_eq!(failure.kind, kind, "{report}");
    &failure.message
}
