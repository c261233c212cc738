//! What the story of a witness names: the events that matter to the monitor, and what the names of a
//! property mean.

use crate::common::{RESERVOIR, portent, portent_with};
use serde_json::{Value, json};

/// A trace of short lines: `T1 a` is an event, `T1 x = 3` a write.
fn trace(lines: &[&str]) -> String {
    let line = |line: &&str| match line.split(' ').collect::<Vec<_>>()[..] {
        [t, name] => format!("{{\"t\":\"{t}\",\"op\":\"event\",\"name\":\"{name}\"}}\n"),
        [t, variable, "=", value] => {
            format!("{{\"t\":\"{t}\",\"op\":\"write\",\"var\":\"{variable}\",\"val\":{value}}}\n")
        }
        _ => panic!("what is {line}?"),
    };
    lines.iter().map(line).collect()
}

/// The story in JSON, after making sure that text and page have its sentences.
fn story(property: &str, lines: &[&str]) -> Value {
    let trace = trace(lines);
    let check = |format| {
        let arguments = ["check", "--format", format, "--property", property, "-"];
        portent_with(&arguments, trace.as_bytes())
    };
    let json = check("json").json();
    let story = json["properties"][0]["story"].clone();
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (text, page) = (flat(&check("text").out), check("html").out);
    for part in ["swap", "why", "next"] {
        let sentence = story[part].as_str().expect("a sentence");
        assert!(text.contains(&flat(sentence)), "{sentence}\n{text}");
        let quoted = serde_json::to_string(sentence).unwrap();
        let quoted = quoted.trim_matches('"').replace('<', "\\u003c");
        assert!(page.contains(&quoted), "{quoted}");
    }
    story
}

const ONCE: &str = "property order { event a, b, noise  ltl: always (b -> once a) }";

#[test]
fn steps_that_are_ignored_are_not_said_to_be_overtaken() {
    let mut lines = vec!["T1 noise"; 200];
    lines.extend(["T1 a", "T1 noise", "T2 b"]);
    let story = story(ONCE, &lines);
    assert_eq!(
        story["swap"],
        "`T2: b` (line 203) could have come before `T1: a` (line 201); then it is violated after 1 \
         step."
    );
    assert_eq!(story["swapped"], json!([[200, 202]]));
    let next = story["next"].as_str().unwrap();
    let pair = "makes `T2: b` (line 203) wait for `T1: a` (line 201)";
    assert!(next.contains(pair), "{next}");
}

#[test]
fn steps_that_are_ignored_are_not_said_to_overtake() {
    let story = story(ONCE, &["T1 a", "T2 noise", "T2 noise", "T2 b", "T1 noise"]);
    assert_eq!(
        story["swap"],
        "`T2: b` (line 4) could have come before `T1: a` (line 1); then it is violated after 3 steps."
    );
    assert_eq!(story["swapped"], json!([[0, 3]]));
}

/// Writes that stay on the same side of every comparison change no state.
#[test]
fn writes_that_make_no_difference_are_not_named() {
    let property = "property p { event use  var x: int = 0  ltl: always (use -> x > 10) }";
    let story = story(
        property,
        &["T1 x = 1", "T1 x = 2", "T1 x = 11", "T1 x = 12", "T2 use"],
    );
    assert_eq!(
        story["swap"],
        "`T2: use` (line 5) could have come before `T1: x = 11` (line 3); then it is violated after 1 \
         step."
    );
}

/// Neither of two equal writes matters by itself, but to come before the first is what it takes.
#[test]
fn of_steps_that_matter_together_one_is_named() {
    let property = "property p { event use  var x: int = 0  ltl: always (use -> x > 10) }";
    let story = story(property, &["T1 x = 11", "T1 x = 11", "T2 use"]);
    assert_eq!(story["swapped"], json!([[0, 2]]));
}

/// In the observed run nothing changes the state, and still `b = false` keeps it as it is.
#[test]
fn a_step_that_keeps_the_observed_run_safe_is_named() {
    let property = "property p { var a: bool = false  var b: bool = false  ltl: always !(a && b) }";
    let story = story(property, &["T2 b = true", "T2 b = false", "T1 a = true"]);
    assert_eq!(
        story["swap"],
        "`T1: a = true` (line 3) could have come before `T2: b = false` (line 2); then it is violated \
         after 2 steps."
    );
}

/// Of many random runs no story names a step that the monitor ignores wherever it stands: `noise`.
#[test]
fn noise_is_never_named() {
    let mut seed: u64 = 7;
    let mut random = move |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) % below
    };
    let mut told = 0;
    for _ in 0..60 {
        let lines: Vec<String> = (0..12)
            .map(|_| {
                let name = ["noise", "noise", "noise", "a", "b", "c"][random(6) as usize];
                format!("T{} {name}", random(3))
            })
            .collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let property = "property p { event a, b, c, noise  ltl: always (c -> (!a since b)) }";
        let arguments = ["check", "--format", "json", "--property", property, "-"];
        let report = portent_with(&arguments, trace(&lines).as_bytes()).json();
        let story = &report["properties"][0]["story"];
        if let Some(swap) = story["swap"].as_str() {
            told += 1;
            assert!(!swap.contains("noise"), "{lines:?}: {swap}");
            assert!(!story["next"].to_string().contains("noise"), "{lines:?}");
        }
    }
    assert!(told > 10, "{told} stories");
}

#[test]
fn names_are_shown_with_their_meaning() {
    let text = portent(&RESERVOIR).out;
    for line in [
        "  let p = w > 26\n",
        "  let q = w > 30\n",
        "  let r = v > 55\n",
    ] {
        assert!(text.contains(line), "{text}");
    }
    let flat: Vec<&str> = text.split_whitespace().collect();
    let meaning = "There, `p` is `w > 26`, `q` is `w > 30` and `r` is `v > 55`.";
    assert!(flat.join(" ").contains(meaning), "{text}");
    let json = portent(&[&RESERVOIR[..], &["--format", "json"]].concat()).json();
    assert_eq!(
        json["properties"][0]["definitions"],
        json!({"p": "w > 26", "q": "w > 30", "r": "v > 55"})
    );
    let why = json["properties"][0]["story"]["why"].as_str().unwrap();
    assert!(why.ends_with(meaning), "{why}");
}
