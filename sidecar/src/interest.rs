//! Which events of a program its properties need.

use portent_hooks::{Builder, Recording};
use portent_monitor_dsl::Property;

/// What is to be recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Interest {
    /// Every operation.
    Everything,
    /// The events and the writes of variables that have these names.
    Names(Vec<String>),
}

impl Interest {
    /// What these properties read. A property that reads operations or texts may read anything.
    pub(crate) fn of(properties: &[Property]) -> Interest {
        let mut names = Vec::new();
        for alphabet in properties.iter().map(Property::alphabet) {
            let mut events = alphabet.events().iter();
            let mut variables = alphabet.variables().iter();
            if events.any(|event| event.on.is_some() || event.matches.is_some())
                || variables.any(|variable| variable.matches.is_some())
            {
                return Interest::Everything;
            }
            names.extend(alphabet.events().iter().map(|event| event.name.clone()));
            let variables = alphabet.variables().iter();
            names.extend(variables.map(|variable| variable.name.clone()));
        }
        names.sort_unstable();
        names.dedup();
        Interest::Names(names)
    }

    /// Adds these names.
    pub(crate) fn and(self, more: &[String]) -> Interest {
        match self {
            Interest::Everything => Interest::Everything,
            Interest::Names(mut names) => {
                names.extend_from_slice(more);
                Interest::Names(names)
            }
        }
    }

    pub(crate) fn recording(&self) -> Builder {
        match self {
            Interest::Everything => Recording::everything(),
            Interest::Names(names) => Recording::relevant(names),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(texts: &[&str]) -> Interest {
        let properties = texts.iter().map(Property::parse);
        Interest::of(&properties.collect::<Result<Vec<_>, _>>().expect("good"))
    }

    fn names(names: &[&str]) -> Interest {
        Interest::Names(names.iter().map(|&name| name.to_owned()).collect())
    }

    #[test]
    fn names_of_events_and_variables_are_enough_unless_operations_or_texts_are_read() {
        let file = "property file(f) { event open(f), close(f)  ere: (open close)* }";
        let level = "always (full -> level > 0 && open_files >= 0)";
        assert_eq!(of(&[]), names(&[]));
        assert_eq!(of(&[file, file]), names(&["close", "open"]));
        assert_eq!(
            of(&[file, level]),
            names(&["close", "full", "level", "open", "open_files"])
        );
        let operations = "property p(l) { event take on lock(l)  ltl: always !take }";
        assert_eq!(of(&[file, operations]), Interest::Everything);
        let texts = r#"property p { event bad matches "^error"  ltl: always !bad }"#;
        assert_eq!(of(&[texts, file]), Interest::Everything);
        let read = r#"property p { var n: int = 0 matches "n=(?<n>[0-9]+)"  ltl: always n < 3 }"#;
        assert_eq!(of(&[read]), Interest::Everything);
    }
}
