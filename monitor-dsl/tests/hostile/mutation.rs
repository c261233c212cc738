//! Cut-off and damaged files: answered, whatever is left of them.

use portent_monitor_dsl::{Config, Property};

use portent_testing::Rng;

use super::answer::*;

const FILE: &str = r#"
// A bit of everything. /* not a comment
property reservoir {
    var w: int = 20  /* inner "quote */ var v: float = -4.5e1
    var on: bool = true   var s: string = "a\"\\ü"
    let p = w + 2 * w > 26 && v <= 2.5   let q = p || s != "open"
    ltl: always (q -> ((on && p) since start(p))) U [p, q) <-> X N F on
}
property "a file"(f, g) {
    event open(f), "read it"(f, g) matches "read (?<f>[0-9]+) (?<g>\w*)", close(g)
    ere: (open "read it"* ~(close+ & .) ; {open, !close}{2,3} | epsilon)? empty
}
property bad { event a, b  never: .* a{2} (a|b){3,} b }
property absent { event a, b, c  pattern: a responds to (b || c) between a and (c) }
"#;

/// A file that parses or not, but is answered either way. Parsing it as one property is another entrance.
fn survives(text: &[u8]) -> bool {
    let small = Config::new().max_states(200);
    for property in Property::parse(text).iter() {
        drop(answer_with(&small, text));
        assert!(!property.name().is_empty() || text.contains(&b'"'));
    }
    match Property::parse_file("mutant.portent", text) {
        Ok(properties) => {
            for property in &properties {
                for warning in property.warnings() {
                    assert!(warning.render(true).contains("warning"));
                }
                if let Err(error) = small.monitor(property) {
                    refusal(&error);
                }
            }
            true
        }
        Err(error) => {
            let diagnostic = error.diagnostic().expect("a place in the text");
            assert!(diagnostic.line() >= 1 && diagnostic.column() >= 1);
            assert!(diagnostic.render(true).contains("mutant.portent"));
            refusal(&error);
            false
        }
    }
}

#[test]
fn every_prefix_and_suffix_of_a_file() {
    let bytes = FILE.as_bytes();
    assert!(survives(bytes), "{:?}", Property::parse_file("file", FILE));
    let prefixes = (0..bytes.len())
        .filter(|&cut| survives(&bytes[..cut]))
        .count();
    assert_eq!(
        prefixes, 7,
        "after each property, with and without the end of its line"
    );
    let suffixes = (0..bytes.len())
        .filter(|&cut| survives(&bytes[cut..]))
        .count();
    assert!((4..200).contains(&suffixes), "{suffixes}");
}

#[test]
fn mutations_of_a_file() {
    let pieces: Vec<&[u8]> = [
        "(",
        ")",
        "[",
        "{",
        "}",
        "\"",
        "\\",
        "/*",
        "*/",
        "//",
        "\n",
        "->",
        "~",
        "*",
        "{1,2}",
        "=",
        "==",
        "G ",
        "X ",
        "property ",
        "ltl:",
        "ere:",
        "0",
        "9999999999999999999",
        "1e999",
        "-",
        "\u{0}",
        "\u{2028}",
        "é",
        "🦀",
        "matches",
        "(?<f>",
        "let x = ",
    ]
    .iter()
    .map(|piece| piece.as_bytes())
    .chain([&[0xff][..], &[0xc3], &[0xf0, 0x9f]])
    .collect();
    let mut rng = Rng::new(0x4057_11e5);
    let mut parsed = 0;
    for _ in 0..20_000 {
        let mut text = FILE.as_bytes().to_vec();
        for _ in 0..rng.between(1, 4) {
            let at = rng.below(text.len() + 1);
            let to = (at + rng.below(12)).min(text.len());
            match rng.below(6) {
                0 => drop(text.drain(at..to)),
                1 => text
                    .splice(at..at, pieces[rng.below(pieces.len())].iter().copied())
                    .for_each(drop),
                2 => text
                    .splice(at..to, pieces[rng.below(pieces.len())].iter().copied())
                    .for_each(drop),
                3 if at < text.len() => text[at] ^= 1 << rng.below(8),
                4 if at < text.len() => text[at] = rng.any() as u8,
                _ => {
                    let copy = text[at..to].to_vec();
                    let target = rng.below(text.len() + 1);
                    text.splice(target..target, copy).for_each(drop);
                }
            }
        }
        parsed += usize::from(survives(&text));
    }
    assert!((500..10_000).contains(&parsed), "{parsed}");
}
