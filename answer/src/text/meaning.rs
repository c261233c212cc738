//! The meanings of names that a property defines with `let`.

use portent_monitor_dsl::Property;

/// The definitions that a piece of a property's text uses, directly or through each other, in the
/// order in which they are written.
pub(crate) fn meanings<'p>(property: &'p Property, text: &str) -> Vec<(&'p str, String)> {
    let definitions: Vec<(&str, &str)> = property.definitions().collect();
    let mut used = vec![false; definitions.len()];
    let mark = |text: &str, used: &mut [bool]| {
        for name in names(text) {
            if let Some(index) = definitions.iter().position(|(other, _)| *other == name) {
                used[index] = true;
            }
        }
    };
    mark(text, &mut used);
    // A definition sees only earlier ones.
    for index in (0..definitions.len()).rev() {
        if used[index] {
            mark(definitions[index].1, &mut used);
        }
    }
    let on_one_line = |meaning: &str| meaning.split_whitespace().collect::<Vec<_>>().join(" ");
    let meant = definitions.iter().zip(used).filter(|(_, used)| *used);
    meant
        .map(|((name, meaning), _)| (*name, on_one_line(meaning)))
        .collect()
}

/// The names in a text; quoted text contains none.
fn names(text: &str) -> impl Iterator<Item = &str> {
    let unquoted = text.split('"').step_by(2);
    unquoted.flat_map(|part| part.split(|c: char| !c.is_alphanumeric() && c != '_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_is_meant() {
        let text = "property p { var w: int = 0  var s: string = \"\"
            let low = w < 3
            let high = w
                > 30
            let bad = high || w < 0
            let other = s == \"low\"
            ltl: always !(bad || other) }";
        let property = Property::parse(text).unwrap();
        let of = |text| meanings(&property, text);
        assert_eq!(of("always w > 3"), []);
        assert_eq!(
            of("bad"),
            [
                ("high", "w > 30".to_owned()),
                ("bad", "high || w < 0".to_owned())
            ]
        );
        assert_eq!(of("!other"), [("other", "s == \"low\"".to_owned())]);
        assert_eq!(of("lowest || \"high\""), []);
    }
}
