//! The committed corpora of the fuzz targets, replayed by ordinary tests.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// Gives each file of the corpus of a fuzz target to the target's own check.
///
/// # Panics
///
/// Panics if the corpus cannot be read or has fewer files than `at_least`, and if the check does.
pub fn replay(target: &str, at_least: usize, check: impl Fn(&[u8])) {
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus");
    let corpus = corpora.join(target);
    let files = files(&corpus).unwrap_or_else(|error| panic!("{}: {error}", corpus.display()));
    let count = files.len();
    assert!(
        count >= at_least,
        "only {count} files in {}",
        corpus.display()
    );
    for file in files {
        // The last name printed is that of the file that caused a panic; the harness shows it only then.
        println!("{}", file.display());
        let data = fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        check(&data);
    }
}

fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let mut files = entries.collect::<io::Result<Vec<_>>>()?;
    files.sort();
    Ok(files)
}
