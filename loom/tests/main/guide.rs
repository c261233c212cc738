//! What the guide shows.

use loom::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use crate::failure;

const GUIDE: &str = include_str!("../../../docs/loom.md");

fn add(count: &AtomicUsize) {
    count.store(count.load(SeqCst) + 1, SeqCst);
}

fn two_are_counted() {
    let count = Arc::new(AtomicUsize::new(0));
    let other = loom::thread::spawn({
        let count = count.clone();
        move || add(&count)
    });
    add(&count);
    other.join().unwrap();
    assert_eq!(count.load(SeqCst), 2);
}

/// The block of the guide in this language.
fn block(language: &str) -> &'static str {
    let (_, block) = GUIDE
        .split_once(&format!("```{language}\n"))
        .expect("a block");
    block.split_once("```").expect("its end").0
}

/// The words of a text, without numbers of lines and what depends on them.
fn words(text: &str) -> Vec<&str> {
    let words = text.split_whitespace();
    words
        .filter(|word| !word.contains(".rs:") && !word.starts_with("PORTENT_REPLAY="))
        .collect()
}

#[test]
fn its_program_is_this_one() {
    let squeezed = |text: &str| text.split_whitespace().collect::<String>();
    let guide = squeezed(block("rust"));
    let here = squeezed(include_str!("guide.rs"));
    let (before, model) = guide.split_once("loom::model(||").expect("a model");
    let model = model.strip_suffix(");}").expect("and nothing else");
    assert!(here.contains(&format!("fntwo_are_counted(){model}")));
    let (_, function) = before.split_once("fnadd").expect("a function");
    let (function, _) = function.split_once("#[test]").expect("before the test");
    assert!(here.contains(&format!("fnadd{function}")));
}

#[test]
fn its_program_fails_as_it_says() {
    let message = failure(two_are_counted);
    let said = words(&message);
    let (_, shown) = block("text")
        .split_once('\n')
        .expect("a line of the test, and others");
    for part in shown.split("[...]\n").map(words) {
        assert!(
            said.windows(part.len()).any(|words| words == part),
            "{part:?}\n{message}"
        );
    }
}

/// The lines for `Cargo.toml` name this package, from beside the repository.
#[test]
fn its_patch_is_this_package() {
    let path = block("toml").split('"').nth(1).expect("a path");
    let folder = path
        .strip_prefix("../portent/")
        .expect("in a clone beside the crate");
    assert!(env!("CARGO_MANIFEST_DIR").ends_with(folder));
    assert!(block("toml").starts_with("[patch.crates-io]\nloom = "));
    // What it takes the place of.
    assert!(env!("CARGO_PKG_VERSION").starts_with("0.7."));
    assert_eq!(env!("CARGO_PKG_NAME"), "loom");
}
