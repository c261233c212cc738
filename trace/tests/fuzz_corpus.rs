//! Replays the committed corpora of the fuzz targets that read traces, with the same checks.

#[path = "../../fuzz/trace.rs"]
mod trace;

use std::{fs, path::Path};

#[test]
fn the_corpora_are_refused_or_good() {
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus");
    for (target, check) in trace::TARGETS {
        let corpus = corpora.join(target);
        let mut files: Vec<_> = fs::read_dir(&corpus)
            .unwrap_or_else(|error| panic!("{}: {error}", corpus.display()))
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<Result<_, _>>()
            .unwrap_or_else(|error| panic!("{}: {error}", corpus.display()));
        files.sort();
        assert!(
            files.len() >= 10,
            "only {} files in {}",
            files.len(),
            corpus.display()
        );
        for file in files {
            // The name of the file that a panic is about is the last one here; the harness shows
            // it only then.
            println!("{}", file.display());
            let data =
                fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            check(&data);
        }
    }
}
