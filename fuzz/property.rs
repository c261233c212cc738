//! What is checked of a text that claims to be a property. The fuzz target calls it with whatever libFuzzer makes up, and
//! a test of `monitor-dsl` with every file of the committed corpus.

use portent_monitor_dsl::{Config, Error, Monitor, Property};

/// The largest machine that is made: small, so that many texts can be tried.
const MAX_STATES: usize = 200;
/// Letters are tried one by one up to this many.
const MAX_LETTERS: usize = 64;

/// Refused or good, as a bare formula and as a file. Panics if it is neither.
pub(crate) fn check(text: &[u8]) {
    if let Some(property) = accepted(Property::parse(text)) {
        check_property(&property);
    }
    if let Some(properties) = accepted(Property::parse_file("fuzz.portent", text)) {
        assert!(!properties.is_empty());
        properties.iter().take(4).for_each(check_property);
    }
}

/// What was accepted, if it was; an error must be fit to be shown.
fn accepted<T>(result: Result<T, Error>) -> Option<T> {
    let error = match result {
        Ok(accepted) => return Some(accepted),
        Err(error) => error,
    };
    let diagnostic = error.diagnostic().expect("a place in the text");
    assert!(!diagnostic.message().is_empty());
    assert!(diagnostic.line() >= 1 && diagnostic.column() >= 1);
    assert!(diagnostic.render(false).starts_with("error: "));
    assert!(diagnostic.render(true).contains("\u{1b}["));
    None
}

fn check_property(property: &Property) {
    for warning in property.warnings() {
        assert!(warning.render(false).starts_with("warning: "));
    }
    let config = Config::new().max_states(MAX_STATES).max_propositions(8);
    if let Some(monitor) = accepted(config.monitor(property)) {
        check_monitor(&monitor);
    }
}

fn check_monitor(monitor: &Monitor) {
    assert!((1..=MAX_STATES).contains(&monitor.states()));
    for state in monitor.state_ids() {
        for letter in monitor.alphabet().letters().take(MAX_LETTERS) {
            let next = monitor.next(state, letter);
            assert!(next.index() < monitor.states());
            if monitor.verdict(state).is_final() {
                assert_eq!(
                    monitor.verdict(next),
                    monitor.verdict(state),
                    "a final verdict stays"
                );
            }
        }
    }
    let stored = serde_json::to_string(monitor).expect("plain data");
    let again: Monitor = serde_json::from_str(&stored).expect("what was just stored");
    assert_eq!(again, *monitor);
    assert_eq!(monitor.description().transitions.len(), monitor.states());
    assert!(monitor.to_table().contains("verdict"));
    assert!(monitor.to_dot().starts_with("digraph"));
    assert!(monitor.to_rust().contains("pub struct Monitor"));
    for note in monitor.notes() {
        assert!(!note.to_string().is_empty());
    }
}
