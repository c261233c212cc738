//! The example with an HTTP service: its defect is predicted by one run, seen by none, and gone when it is mended.

#[path = "../examples/checkout/service.rs"]
mod service;

use portent::Verdict;
use service::{Version, is_wrong, watch};

#[test]
fn one_run_predicts_what_others_do_not_show() {
    let wrong = (0..1000).filter(|_| is_wrong(Version::Broken).unwrap());
    assert_eq!(wrong.count(), 0);
    let summary = watch(Version::Broken).unwrap();
    let found = &summary.report.properties[0];
    assert_ne!(found.observed.verdict, Verdict::Violated);
    assert!(found.predicted.violated);
    assert!(summary.counts.lost.is_nothing(), "{}", summary.counts.lost);
    assert_eq!(summary.counts.events, 9);
}

#[test]
fn the_mended_service_is_silent() {
    let summary = watch(Version::Fixed).unwrap();
    assert!(!summary.report.is_violated());
    assert!(summary.is_exhaustive(), "{}", summary.counts.lost);
    assert_eq!(summary.counts.events, 9);
}
