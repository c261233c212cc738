//! Replays the committed corpora of the fuzz targets that read traces, with the same checks.

#[path = "../../../fuzz/trace.rs"]
mod trace;

#[test]
fn the_corpora_are_refused_or_good() {
    for (target, check) in trace::TARGETS {
        portent_testing::replay(target, 10, check);
    }
}
