//! Replays the committed corpus of the fuzz target `property`, with the same checks as the target.

#[path = "../../fuzz/property.rs"]
mod property;

use std::{fs, path::Path};

#[test]
fn the_corpus_is_refused_or_good() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus/property");
    let mut files: Vec<_> = fs::read_dir(&corpus)
        .unwrap_or_else(|error| panic!("{}: {error}", corpus.display()))
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()
        .unwrap_or_else(|error| panic!("{}: {error}", corpus.display()));
    files.sort();
    assert!(
        files.len() >= 100,
        "only {} files in {}",
        files.len(),
        corpus.display()
    );
    for file in files {
        // The name of the file that a panic is about is the last one here; the harness shows it only then.
        println!("{}", file.display());
        let text = fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        property::check(&text);
    }
}
