//! Events and counters for the crates `tracing` and `metrics`, with the features of these names.

#[cfg(feature = "tracing")]
use crate::violation::spelled;
use crate::{Counts, Violation};
use portent_findings::report::Finding;

/// An event of `tracing` with the target `portent`.
#[cfg(feature = "tracing")]
pub(crate) fn violation(violation: &Violation) {
    tracing::warn!(
        target: "portent",
        property = violation.report.name.as_str(),
        binding = spelled(&violation.report.binding).as_str(),
        observed = violation.is_observed(),
        lost = %violation.lost,
        "{violation}"
    );
}

#[cfg(not(feature = "tracing"))]
pub(crate) fn violation(_: &Violation) {}

/// Likewise.
#[cfg(feature = "tracing")]
pub(crate) fn finding(finding: &Finding) {
    tracing::warn!(
        target: "portent",
        kind = finding.kind.name(),
        label = finding.label.name(),
        "{finding}"
    );
}

#[cfg(not(feature = "tracing"))]
pub(crate) fn finding(_: &Finding) {}

/// What was counted since the last time.
#[cfg(feature = "metrics")]
pub(crate) fn counted(before: &Counts, now: &Counts) {
    let counters = [
        ("portent_events_total", before.events, now.events),
        (
            "portent_dropped_total",
            before.lost.dropped,
            now.lost.dropped,
        ),
        (
            "portent_violations_total",
            before.violations,
            now.violations,
        ),
    ];
    for (name, before, now) in counters {
        if now > before {
            metrics::counter!(name).increment(now - before);
        }
    }
}

#[cfg(not(feature = "metrics"))]
pub(crate) fn counted(_: &Counts, _: &Counts) {}
