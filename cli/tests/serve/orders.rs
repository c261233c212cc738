//! Three processes over HTTP, one property over all of them: checked live, and offline from the three files.

use std::{env, path::Path, process::Command};

use super::server::Server;
use crate::common::portent;

#[path = "../../../examples/orders/main.rs"]
mod program;

const SPEC: &str = "examples/orders/orders.portent";
const ROLE: &str = "ORDERS_ROLE";

/// Where this test is run by the others, it is one of the three processes.
#[test]
fn plays_a_role() {
    let Ok(role) = env::var(ROLE) else { return };
    let parts: Vec<&str> = role.split('\n').collect();
    program::play(Path::new(parts[0]), parts[1], &parts[2..]).unwrap();
}

/// Runs the program with a server, and gives the folder of its files.
pub(crate) fn run(server: Option<&Server>, is_fixed: bool) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let played = program::run(folder.path(), is_fixed, |folder, role, rest| {
        let mut command = Command::new(env::current_exe()?);
        let mut all = vec![folder.to_str().unwrap(), role];
        all.extend(rest);
        command
            .args(["--exact", "serve::orders::plays_a_role", "--nocapture"])
            .env(ROLE, all.join("\n"));
        if let Some(server) = server {
            command.env("PORTENT_SERVE", &server.events);
        }
        Ok(command)
    });
    played.unwrap();
    folder
}

/// Checks the three files as one run.
fn offline(folder: &Path) -> (Option<i32>, serde_json::Value) {
    let paths = ["shop", "payment", "shipping"]
        .map(|role| folder.join(format!("{role}.jsonl")).display().to_string());
    let [shop, payment, shipping] = &paths;
    let done = portent(&[
        "check",
        "--together",
        "--format",
        "json",
        "--spec",
        SPEC,
        shipping,
        shop,
        payment,
    ]);
    assert_eq!(done.err, "");
    (done.code, done.json())
}

#[test]
fn a_hasty_shop_is_caught_live_and_from_its_files() {
    let server = Server::start(&["--spec", SPEC]);
    let folder = run(Some(&server), false);
    // Nine events: three orders, paid for and shipped.
    let state = server.wait_for_events(9);
    assert_eq!(state["violation_count"], 3, "{state}");
    for nothing in ["lost", "refused", "held", "repeated"] {
        assert_eq!(state[nothing], 0, "{nothing}: {state}");
    }
    let live = server.stop();
    assert_eq!(live.code, Some(1), "{}", live.out);
    let (code, report) = offline(folder.path());
    assert_eq!(code, Some(1));
    assert_eq!(report["trace"]["events"], 9);
    assert_eq!(report["warnings"], serde_json::json!([]));
    let found = report["properties"].as_array().unwrap();
    assert_eq!(found.len(), 3);
    for order in found {
        assert_eq!(order["predicted"]["violated"], true, "{order}");
        assert_eq!(order["runs"]["total"], "2");
    }
}

#[test]
fn a_shop_that_waits_is_fine_live_and_from_its_files() {
    let server = Server::start(&["--spec", SPEC]);
    let folder = run(Some(&server), true);
    let state = server.wait_for_events(9);
    assert_eq!(state["violation_count"], 0, "{state}");
    assert_eq!(server.stop().code, Some(0));
    let (code, report) = offline(folder.path());
    assert_eq!(code, Some(0), "{report}");
    for order in report["properties"].as_array().unwrap() {
        assert_eq!(order["runs"]["total"], "1", "{order}");
    }
}

#[test]
fn files_without_clocks_cannot_be_put_together() {
    let done = portent(&[
        "check",
        "--together",
        "--property",
        "always !nothing",
        "examples/bank/bank.jsonl",
    ]);
    assert_eq!(done.code, Some(2));
    assert!(
        done.err
            .contains("--together puts the events of several files in order by their clocks"),
        "{}",
        done.err
    );
}
