//! Stored monitors: read again they are the same, and what was changed in between is refused or harmless.

use super::{monitor, properties, sealed::sealed_and_again};
use portent_monitor_dsl::{Config, Monitor, Property, Verdicts};

#[test]
fn a_stored_monitor_is_the_same_monitor() {
    for (index, (property, _)) in properties(0x1500_1000, 120).enumerate() {
        let verdicts = if index % 2 == 0 {
            Verdicts::Three
        } else {
            Verdicts::Four
        };
        let monitor = Config::new()
            .verdicts(verdicts)
            .monitor(&property)
            .unwrap_or_else(|error| panic!("{error}"));
        let stored = serde_json::to_string(&monitor).expect("plain data");
        let again: Monitor =
            serde_json::from_str(&stored).unwrap_or_else(|error| panic!("{stored}\n{error}"));
        assert_eq!(again, monitor);
        assert_eq!(again.description(), monitor.description());
        assert_eq!(serde_json::to_string(&again).expect("plain data"), stored);
        assert_eq!(sealed_and_again(&monitor), monitor);
    }
}

/// The second of the properties of a file stays the second.
#[test]
fn a_stored_monitor_knows_its_place_in_a_file() {
    let text = "property a { event x ltl: always x } property b(f) { event y(f) ere: y* }";
    let properties =
        Property::parse_file("two.portent", text).unwrap_or_else(|error| panic!("{error}"));
    for property in &properties {
        let stored = serde_json::to_string(&monitor(property)).expect("plain data");
        let again: Monitor =
            serde_json::from_str(&stored).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(again.property().name(), property.name());
        assert_eq!(again, monitor(property));
    }
}

/// All the values in a JSON text, replaced one at a time.
fn corruptions(value: &serde_json::Value) -> Vec<serde_json::Value> {
    use serde_json::{Value, json};
    let mut found: Vec<Value> = [
        json!(null),
        json!(-1),
        json!(7),
        json!(4294967295u32),
        json!("ltl"),
        json!([]),
        json!({}),
    ]
    .into();
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                let mut shorter = items.clone();
                shorter.remove(index);
                found.push(Value::Array(shorter));
                for other in corruptions(item) {
                    let mut changed = items.clone();
                    changed[index] = other;
                    found.push(Value::Array(changed));
                }
            }
        }
        Value::Object(fields) => {
            for (key, item) in fields {
                let mut fewer = fields.clone();
                fewer.remove(key);
                found.push(Value::Object(fewer));
                for other in corruptions(item) {
                    let mut changed = fields.clone();
                    changed[key] = other;
                    found.push(Value::Object(changed));
                }
            }
        }
        _ => {}
    }
    found.retain(|other| other != value);
    found
}

/// Whatever was changed, the stored form is refused, or it is a machine that can be followed.
#[test]
fn a_corrupted_monitor_is_refused_or_harmless() {
    let texts = [
        "always (a -> next b)",
        "ere: (a b)*",
        "property p { var x: int = 3 var s: string = \"a\" ltl: always (x > 3 -> once s == \"b\") }",
    ];
    let (mut refused, mut harmless) = (0, 0);
    for text in texts {
        let original = monitor(&Property::parse(text).unwrap_or_else(|error| panic!("{error}")));
        let json = serde_json::to_value(&original).expect("plain data");
        for corrupted in corruptions(&json) {
            let Ok(monitor) = serde_json::from_value::<Monitor>(corrupted) else {
                refused += 1;
                continue;
            };
            harmless += 1;
            for state in monitor.state_ids() {
                for letter in monitor.alphabet().letters() {
                    assert!(monitor.next(state, letter).index() < monitor.states());
                }
            }
            assert_eq!(monitor.description().states, monitor.states());
            assert!(monitor.to_table().contains("verdict"));
            assert!(monitor.to_rust().contains("struct Monitor"));
            drop(monitor.notes());
        }
    }
    assert!(
        refused > 200 && harmless > 10,
        "{refused} refused, {harmless} harmless"
    );
    for text in [
        "",
        "{",
        "null",
        "[]",
        "{\"property\": 3}",
        "{\"property\": {\"file\": null, \"text\": \"\", \"index\": 9}}",
    ] {
        assert!(serde_json::from_str::<Monitor>(text).is_err(), "{text}");
    }
}
