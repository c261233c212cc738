//! Links between documents lead somewhere: the file is there, and so is the heading.

use std::{collections::BTreeSet, fs, path::Path};

use super::{documents, root};

/// What stands in parentheses after a bracket: `[text](target)`.
fn targets(text: &str) -> Vec<&str> {
    let behind = text.split("](").skip(1);
    behind.filter_map(|rest| rest.split(')').next()).collect()
}

/// The names by which the headings of a document can be linked to.
fn anchors(path: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(path).unwrap();
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| {
        let words = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = words
            .chars()
            .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    headings.map(anchor).collect()
}

#[test]
fn links_lead_somewhere() {
    let others = ["ARCHITECTURE.md", "CONTRIBUTING.md", "examples/README.md"];
    let others = others.map(|name| root().join(name));
    let mut seen = 0;
    for document in documents().into_iter().chain(others) {
        let text = fs::read_to_string(&document).unwrap();
        for target in targets(&text)
            .into_iter()
            .filter(|target| !target.contains("://"))
        {
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let path = if file.is_empty() {
                document.clone()
            } else {
                document.parent().unwrap().join(file)
            };
            let place = format!("{}: {target}", document.display());
            assert!(path.exists(), "{place}");
            assert!(
                anchor.is_empty() || anchors(&path).contains(anchor),
                "{place}"
            );
            seen += 1;
        }
    }
    assert!(seen > 10, "{seen}");
}
