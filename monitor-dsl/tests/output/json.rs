//! The machine as other programs see it: the keys of its JSON form, and what they say.

use super::monitor;
use portent_monitor_dsl::{Monitor, Property};

#[test]
fn the_keys_of_a_description() {
    let monitor = monitor(
        &Property::parse("property p(f) { event a(f) ltl: always !a }")
            .unwrap_or_else(|e| panic!("{e}")),
    );
    let json = serde_json::to_value(monitor.description()).expect("plain data");
    let keys: Vec<&String> = json.as_object().expect("an object").keys().collect();
    let expected = [
        "name",
        "kind",
        "parameters",
        "where",
        "events",
        "states",
        "initial",
        "propositions",
        "outputs",
        "transitions",
    ];
    assert_eq!(keys, expected);
    assert_eq!(json["outputs"], serde_json::json!(["ok", "violated"]));
    assert_eq!(
        json["transitions"][1],
        serde_json::json!([{"when": "true", "to": 1}])
    );
}

#[test]
fn declared_events_are_described() {
    let text = r#"
        property p(t, u, x) where u != t {
            event a(x) by t on lock(x), b by u on send("c"), c(x) by u matches "(?<x>.)", d, e on fork
            ltl: always (a || b || c || d || e)
        }"#;
    let monitor = Property::parse(text).and_then(|property| property.monitor());
    let monitor = monitor.unwrap_or_else(|error| panic!("{error}"));
    let json = serde_json::to_value(monitor.description()).expect("plain data");
    assert_eq!(json["where"], serde_json::json!(["t != u"]));
    let event = |name, parameters, by, matches, on| {
        serde_json::json!({
            "name": name, "parameters": parameters, "by": by, "matches": matches, "on": on,
        })
    };
    let (x, none) = (Some(["x"]), None::<&str>);
    let expected = [
        event("a", x, Some("t"), none, Some("lock(x)")),
        event("b", None, Some("u"), none, Some("send(\"c\")")),
        event("c", x, Some("u"), Some("(?<x>.)"), none),
        event("d", None, none, none, none),
        event("e", None, none, none, Some("fork")),
    ];
    assert_eq!(json["events"], serde_json::json!(expected));
    assert!(monitor.to_rust().contains("/// a(x) by t on lock(x)\n"));
    let stored = serde_json::to_string(&monitor).expect("plain data");
    assert_eq!(serde_json::from_str::<Monitor>(&stored).ok(), Some(monitor));
}
