//! What a user is told before trusting a property: each kind of note, and that sound properties get none.

use portent_monitor_dsl::{NoteKind, Property};

/// The kinds of the notes on a property, each with the part that it is about.
fn notes(text: &str) -> Vec<(NoteKind, Option<String>)> {
    let monitor = Property::parse(text)
        .and_then(|property| property.monitor())
        .unwrap_or_else(|error| panic!("{text}\n{error}"));
    let part = |note: &portent_monitor_dsl::Note| {
        let place = note.place.as_ref()?;
        Some(place.offending().to_owned())
    };
    monitor
        .notes()
        .iter()
        .map(|note| (note.kind, part(note)))
        .collect()
}

fn about(kind: NoteKind, part: &str) -> (NoteKind, Option<String>) {
    (kind, Some(part.to_owned()))
}

#[test]
fn sound_properties_get_none() {
    for text in [
        "always (a -> once b)",
        "ere: (open read* close)*",
        "never: .* a b",
        "(!b) U a",
    ] {
        assert_eq!(notes(text), [], "{text}");
    }
}

#[test]
fn trivial_properties() {
    let trivially = |kind| [(kind, None)];
    assert_eq!(notes("a || !a"), trivially(NoteKind::TriviallyTrue));
    assert_eq!(
        notes("G (w > 30 -> w > 26)"),
        trivially(NoteKind::TriviallyTrue)
    );
    assert_eq!(notes("F (a && b)"), trivially(NoteKind::TriviallyFalse));
    assert_eq!(notes("ere: a & a a"), trivially(NoteKind::TriviallyFalse));
    assert_eq!(notes("never: empty"), trivially(NoteKind::TriviallyTrue));
}

#[test]
fn properties_that_no_finite_run_decides() {
    assert_eq!(notes("G F a"), [(NoteKind::NotMonitorable, None)]);
    assert_eq!(notes("ere: (a | b)* a"), [(NoteKind::NotMonitorable, None)]);
    assert_eq!(notes("a -> G F b")[0], (NoteKind::PartlyMonitorable, None));
}

#[test]
fn parts_that_never_matter() {
    let never = |part| about(NoteKind::NeverMatters, part);
    let redundant = |part| about(NoteKind::Redundant, part);
    assert_eq!(notes("ere: a (b & empty)*"), [never("b")]);
    assert_eq!(notes("G (x > 3) && G (x > 1)"), [redundant("G (x > 1)")]);
    // Of equal parts all but one.
    assert_eq!(
        notes("F a || F a || F a"),
        [redundant("F a"), redundant("F a")]
    );
    assert_eq!(notes("ere: (a | a b?) c"), [redundant("a")]);
    assert_eq!(notes("ere: a b* & a .*"), [redundant("a .*")]);
}

#[test]
fn parts_that_are_constant() {
    let always = about(NoteKind::AlwaysTrue, "always ((a && b) -> c)");
    assert_eq!(notes("always ((a && b) -> c) && F d"), [always]);
    let never = about(NoteKind::AlwaysFalse, "F (a && b)");
    assert_eq!(notes("F (a && b) || F c"), [never]);
}
