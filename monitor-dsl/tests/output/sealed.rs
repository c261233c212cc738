//! Monitors as data of a program: the same as those that they were made of, and nobody reads their text again.

use portent_monitor_dsl::{
    Monitor, Property,
    sealed::{Data, Sealed, unseal},
};
use serde_json::Value;

/// Texts with everything that a property may have.
const TEXTS: [&str; 7] = [
    "always (logout -> once login)",
    "always (w > 30 -> ((v > 55 && w > 26) since start(w > 26)))",
    "property file(f) { event open(f), read(f), close(f) by f  ere: (open read* close)* }",
    "property p(t, u) where t != u { event a by t on lock(\"m\"), b by u on send  never: a b{2,3} a }",
    "property s { var s: string = \"\"  var x: float = 1.5  var unused: bool = true
        let open = s == \"open\"  ltl: always (open -> G[1:3] x < 2.5) }",
    "property pays { event pay, ship, cancel  pattern: pay precedes ship before cancel }",
    // Beyond 64 bits.
    "always (x * 9000000000000000000 * y > 9000000000000000000 * 3 - z * 9000000000000000000 * 5)",
];

fn monitor(text: &str) -> Monitor {
    let property = Property::parse(text);
    let monitor = property.and_then(|property| property.monitor());
    monitor.unwrap_or_else(|error| panic!("{text}\n{error}"))
}

/// As a macro would write it, but for ever in memory instead of in a program.
fn constant(value: &Value) -> Data {
    match value {
        Value::Null => Data::Null,
        Value::Bool(value) => Data::Bool(*value),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => Data::Int(number),
            (None, Some(number)) => Data::Large(number),
            (None, None) => Data::Float(number.as_f64().expect("a number")),
        },
        Value::String(text) => Data::Str(Box::leak(text.clone().into())),
        Value::Array(values) => Data::List(Box::leak(values.iter().map(constant).collect())),
        Value::Object(entries) => {
            let entries = entries.iter();
            let entry = |(name, value): (&String, &Value)| {
                let name: &'static str = Box::leak(name.clone().into());
                (name, constant(value))
            };
            Data::Map(Box::leak(entries.map(entry).collect()))
        }
    }
}

/// What a program has of a monitor that a macro wrote down.
pub(super) fn sealed_and_again(monitor: &Monitor) -> Monitor {
    again(&serde_json::to_value(Sealed(monitor)).expect("plain data"))
}

fn again(value: &Value) -> Monitor {
    unseal(Box::leak(Box::new(constant(value))))
}

#[test]
fn a_sealed_monitor_is_the_same_monitor() {
    for text in TEXTS {
        let monitor = monitor(text);
        let again = sealed_and_again(&monitor);
        assert_eq!(again, monitor, "{text}");
        let (property, other) = (monitor.property(), again.property());
        assert_eq!(other.alphabet(), property.alphabet(), "{text}");
        assert_eq!(other.kind(), property.kind());
        assert_eq!(other.parameters(), property.parameters());
        assert_eq!(other.inequalities(), property.inequalities());
        assert_eq!(other.warnings(), property.warnings());
        assert_eq!(other.full_text(), property.full_text());
        assert!(other.definitions().eq(property.definitions()));
        // What is said of it goes by the tree of its body.
        assert_eq!(
            format!("{:?}", again.notes()),
            format!("{:?}", monitor.notes())
        );
        assert_eq!(again.description(), monitor.description());
        // It can be made anew, too.
        assert_eq!(other.monitor().expect("small"), monitor);
    }
}

/// A property whose text became nonsense still works: nobody reads it.
#[test]
fn the_text_of_a_sealed_monitor_is_not_read() {
    for text in TEXTS {
        let monitor = monitor(text);
        let mut value = serde_json::to_value(Sealed(&monitor)).expect("plain data");
        let nonsense = "?".repeat(text.len());
        assert!(Property::parse(&nonsense).is_err());
        value["property"]["origin"]["text"] = nonsense.clone().into();
        let again = again(&value);
        assert_eq!(
            again.property().full_text(),
            &nonsense[..monitor.property().full_text().len()]
        );
        assert_eq!(again.property().alphabet(), monitor.property().alphabet());
        for state in monitor.state_ids() {
            assert_eq!(again.verdict(state), monitor.verdict(state));
            for letter in monitor.alphabet().letters() {
                assert_eq!(again.next(state, letter), monitor.next(state, letter));
            }
        }
    }
}
