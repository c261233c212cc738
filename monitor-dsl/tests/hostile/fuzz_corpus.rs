//! Replays the committed corpus of the fuzz target `property`, with the same checks as the target.

#[path = "../../../fuzz/property.rs"]
mod property;

#[test]
fn the_corpus_is_refused_or_good() {
    portent_testing::replay("property", 100, property::check);
}
