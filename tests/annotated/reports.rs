//! What annotated tests leave in the folder that `PORTENT_REPORT` names.

use std::fs;

use portent::{
    Checker, Options, Property, Verdict,
    trace::{Options as TraceOptions, TraceReader},
};

use super::{alone, place};

#[test]
fn a_recording_is_left_that_can_be_checked_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = alone(
        "annotated::failing::predicted_in_the_first_of_three",
        Some(folder.path()),
    );
    assert!(output.contains("test result: ok. 1 passed"), "{output}");
    let name = "suite-annotated-failing-predicted_in_the_first_of_three-1";
    let file = |ending: &str| folder.path().join(format!("{name}.{ending}"));
    let spec = fs::read_to_string(file("portent")).expect("a property file");
    let properties = Property::parse_file("spec", spec).expect("properties");
    let monitors = properties
        .iter()
        .map(|property| property.monitor().expect("small"));
    let mut reader = TraceReader::open(&file("jsonl"), &TraceOptions::default()).expect("a trace");
    let initial = |name: &str| reader.header().initial(name);
    let mut checker = Checker::new(monitors, initial, Options::default()).expect("initial values");
    while let Some(event) = reader.next_event(checker.symbols_mut()).expect("an event") {
        checker.take(&event).expect("fits");
    }
    let report = checker.finish("trace").expect("a report");
    assert!(report.is_violated());
    assert_eq!(report.properties[0].observed.verdict, Verdict::Ok);
}

/// One that fails and one that passes.
#[test]
fn a_page_is_left_for_each_test() {
    let folder = tempfile::tempdir().expect("a folder");
    for (test, status, witness) in [
        ("failing::predicted", "predicted", true),
        ("passing::joined", "holds", false),
    ] {
        let output = alone(&format!("annotated::{test}"), Some(folder.path()));
        assert!(output.contains("test result: ok. 1 passed"), "{output}");
        let name = format!("suite-annotated-{}.html", test.replace("::", "-"));
        let page = fs::read_to_string(folder.path().join(&name)).expect("a page");
        let data = page
            .split_once(r#"<script type="application/json" id="data">"#)
            .and_then(|(_, rest)| rest.split_once("</script>"))
            .expect("data");
        let data: serde_json::Value = serde_json::from_str(data.0).expect("JSON");
        let command = format!("cargo test suite::annotated::{test}");
        assert_eq!(data["origin"]["command"], command.as_str());
        let entry = &data["traces"][0]["findings"][0];
        assert_eq!(entry["status"], status);
        assert_eq!(entry["predicted"]["violated"], witness);
        let events = entry["drawing"]["events"].as_array().expect("a drawing");
        let places = events.iter().map(|event| event["loc"].as_str().unwrap());
        assert!(places.eq(["x.set(2);", "y.set(1);"].map(place)) || test != "failing::predicted");
        assert_eq!(events.len(), 2);
    }
}

/// A page about no property says that there is nothing to show, where there is something.
#[test]
fn findings_without_a_property_leave_no_page_that_says_nothing_is_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = alone("annotated::failing::deadlock", Some(folder.path()));
    assert!(output.contains("test result: ok. 1 passed"), "{output}");
    let path = |ending: &str| {
        folder
            .path()
            .join("suite-annotated-failing-deadlock")
            .with_extension(ending)
    };
    assert!(path("jsonl").exists() && !path("html").exists());
    let command = "portent find --only deadlocks --causality strong --format html --output ";
    assert!(output.contains(command), "{output}");
    assert!(!output.contains("The page: "), "{output}");
}
