//! What goes wrong on the way, and a server that goes on where it was.

use std::{
    fs,
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use portent_hooks::{Full, event};
use portent_sidecar::Sidecar;
use serde_json::{Value, json};

use crate::{
    broker::Broker,
    common::portent,
    serve::{
        orders,
        server::{FILES, Server, line, many},
    },
};

fn serve(broker: &Broker, options: &[&str]) -> Server {
    let mut all = vec!["--property", FILES];
    if !options.contains(&"--patience") {
        all.extend(["--patience", "100s"]);
    }
    all.extend(options);
    Server::listening(&broker.address(), &all)
}

fn expect_none(state: &Value, of: &[&str]) {
    for nothing in of {
        assert_eq!(state[nothing], 0, "{nothing}: {state}");
    }
}

/// Whether a problem was told so many times.
fn is_told(state: &Value, problem: &str, times: usize) -> bool {
    state["problems"].to_string().matches(problem).count() == times
}

const LOSSES: [&str; 6] = [
    "lost",
    "refused",
    "held",
    "repeated",
    "missed_lines",
    "missed_messages",
];

#[test]
fn a_hasty_shop_of_three_processes_is_caught() {
    let broker = Broker::start();
    let server = Server::listening(
        &broker.address(),
        &["--spec", "examples/orders/orders.portent"],
    );
    orders::run(Some(&server), false);
    let state = server.wait_for_events(9);
    assert_eq!(state["violation_count"], 3, "{state}");
    assert_eq!(state["clients"].as_object().unwrap().len(), 3, "{state}");
    expect_none(&state, &LOSSES);
    broker.wait_until_acknowledged("portent");
    assert_eq!(server.stop().code, Some(1));
}

#[test]
fn what_comes_twice_counts_once() {
    let broker = Broker::start();
    let server = serve(&broker, &[]);
    let (first, second) = (
        line("a", &[("a", 1)], "open", "x"),
        line("b", &[("a", 1), ("b", 1)], "read", "x"),
    );
    // It waits for the other, and is not acknowledged: so the stream sends it once more.
    broker.publish("events.b", &second);
    let state = server.wait_for("a redelivery", |state| state["redelivered"] != 0);
    assert_eq!((&state["events"], &state["held"]), (&json!(0), &json!(1)));
    assert_eq!(state["repeated"], 0, "{state}");
    broker.publish("events.a", &first);
    server.wait_for_events(2);
    broker.wait_until_acknowledged("portent");
    // Sent twice, in one message and in two.
    broker.publish("events.a", first.repeat(2));
    broker.publish("events.b", &second);
    let state = server.wait_for("three repetitions", |state| state["repeated"] == 3);
    assert_eq!((&state["events"], &state["lines"]), (&json!(2), &json!(5)));
    assert_eq!(state["violation_count"], 0, "{state}");
}

#[test]
fn a_server_that_is_started_again_goes_on_where_it_was() {
    let broker = Broker::start();
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let recorded = |name: &str| {
        let text = fs::read_to_string(file(name)).unwrap();
        let lines = text.lines().filter(|line| line.contains("\"t\""));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let first = serve(&broker, &["--record", &file("1.jsonl")]);
    broker.publish("events.p", many("p", 20));
    broker.publish("events.a", line("a", &[("a", 1)], "read", "x"));
    // Nothing of this was looked at when the server ends.
    let waiting = line("q", &[("p", 21), ("q", 1)], "open", "q");
    broker.publish("events.q", &waiting);
    first.wait_for("one to wait", |state| {
        state["events"] == 21 && state["held"] == 1
    });
    let ended = first.stop();
    assert_eq!(ended.code, Some(1), "{}", ended.out);
    // While no server is there.
    broker.publish("events.p", line("p", &[("p", 21)], "open", "p"));

    let second = serve(&broker, &["--record", &file("2.jsonl")]);
    broker.publish("events.b", line("b", &[("b", 1)], "open", "x"));
    let state = second.wait_for_events(24);
    assert_eq!(state["known"], 21, "{state}");
    expect_none(&state, &LOSSES);
    // It still knows that nobody had opened what was read.
    assert_eq!(state["violation_count"], 1, "{state}");
    broker.wait_until_acknowledged("portent");
    let ended = second.stop();
    assert_eq!(ended.code, Some(1));
    assert!(
        !ended.out.starts_with("event "),
        "told twice: {}",
        ended.out
    );
    // What waited is in both files, as the first server has looked at it before it ended, though not in its order.
    assert_eq!(recorded("1.jsonl").len(), 22);
    assert_eq!(recorded("2.jsonl").len(), 3);

    // Another name has not seen anything yet, and the first one everything.
    let other = serve(&broker, &["--consumer", "other"]);
    assert_eq!(other.wait_for_events(24)["known"], 0);
    let third = serve(&broker, &[]);
    assert_eq!(third.wait_for_events(24)["known"], 24);
}

#[test]
fn a_server_that_is_killed_loses_nothing() {
    let broker = Broker::start();
    let sidecar = Sidecar::remote(&broker.address())
        .names(["open"])
        .process("steady")
        .on_full(Full::Block)
        .linger(Duration::from_secs(60))
        .start()
        .unwrap();
    let entered = sidecar.enter();
    for round in 0..4 {
        let server = serve(&broker, &[]);
        for number in 0..100 {
            event!(open, number);
            if number == 50 {
                let half = 100 * round + 50;
                server.wait_for("half", |state| state["events"].as_u64() >= Some(half));
            }
        }
        // Killed, at whichever point it is.
        drop(server);
    }
    drop(entered);
    let summary = sidecar.stop().unwrap();
    assert_eq!((summary.counts.sent, summary.counts.unsent), (400, 0));
    let server = serve(&broker, &[]);
    let state = server.wait_for_events(400);
    expect_none(&state, &LOSSES);
}

#[test]
fn nothing_is_lost_when_the_stream_is_away() {
    let mut broker = Broker::start();
    let server = serve(&broker, &[]);
    let told = Arc::new(Mutex::new(Vec::new()));
    let errors = Arc::clone(&told);
    let sidecar = Sidecar::remote(&broker.address())
        .names(["open"])
        .process("patient")
        .on_full(Full::Block)
        .on_error(move |error| errors.lock().unwrap().push(error.to_string()))
        .linger(Duration::from_secs(60))
        .start()
        .unwrap();
    let entered = sidecar.enter();
    for round in 0..3 {
        for number in 0..200 {
            event!(open, number);
            if number % 20 == 0 {
                thread::sleep(Duration::from_millis(2));
            }
        }
        if round < 2 {
            // In the middle of it.
            broker.kill();
            told.lock().unwrap().clear();
            event!(open, round);
            while told.lock().unwrap().is_empty() {
                thread::sleep(Duration::from_millis(10));
            }
            server.wait_for("both to know", |state| is_told(state, "is away", round + 1));
            broker.start_again();
            server.wait_for_events(201 * (round as u64 + 1));
        }
    }
    drop(entered);
    let summary = sidecar.stop().unwrap();
    assert_eq!(
        (summary.counts.sent, summary.counts.unsent),
        (602, 0),
        "{:?}",
        summary.errors
    );
    let state = server.wait_for_events(602);
    expect_none(&state, &["lost", "refused", "held", "missed_messages"]);
    broker.wait_until_acknowledged("portent");
}

#[test]
fn a_stream_that_has_lost_everything_is_told() {
    let mut broker = Broker::start();
    let server = serve(&broker, &[]);
    broker.publish("events.p", many("p", 3));
    server.wait_for_events(3);
    broker.kill();
    broker.forget();
    broker.start_again();
    server.wait_for("another stream", |state| {
        is_told(state, "another one than before", 1)
    });
    // The numbers of messages begin anew, and those of events do not.
    broker.publish("events.p", line("p", &[("p", 4)], "open", "p"));
    server.wait_for_events(4);
    let ended = server.stop();
    for said in ["1 time a stream was lost", "1 not searched in full"] {
        assert!(ended.out.contains(said), "{}", ended.out);
    }
}

#[test]
fn what_the_stream_no_longer_has_is_counted() {
    let broker = Broker::start();
    let server = serve(&broker, &[]);
    for number in 1..=5 {
        broker.publish("events.p", line("p", &[("p", number)], "open", "p"));
    }
    server.wait_for_events(5);
    broker.wait_until_acknowledged("portent");
    assert_eq!(server.stop().code, Some(0));
    broker.ask("STREAM.PURGE.events", &json!({ "seq": 4 }));
    let server = serve(&broker, &["--patience", "1s"]);
    let state = server.wait_for_events(2);
    assert_eq!(
        (&state["missed_messages"], &state["lost"]),
        (&json!(3), &json!(3))
    );
    let ended = server.stop();
    assert!(
        ended
            .out
            .contains("3 messages were not in the stream any more"),
        "{}",
        ended.out
    );
    assert!(
        ended.out.contains("1 not searched in full"),
        "{}",
        ended.out
    );
}

#[test]
fn garbage_is_refused_and_others_go_on() {
    let broker = Broker::start();
    let server = serve(&broker, &["--max-line", "1000B"]);
    broker.publish("events.x", "garbage");
    broker.publish("events.x", b"\xff\x00\n\n{\"t\": 1}");
    broker.publish("events.x", "");
    let good = line("p", &[("p", 1)], "open", "p");
    let long = line("q", &[("q", 1)], "open", &"q".repeat(2000));
    broker.publish("events.p.deep", format!("{long}{good}"));
    let state = server.wait_for_events(1);
    assert_eq!(
        (&state["refused"], &state["long_lines"]),
        (&json!(3), &json!(1))
    );
    let problems = state["problems"].to_string();
    assert!(problems.contains("events.x:1"), "{problems}");
    broker.wait_until_acknowledged("portent");
}

#[test]
fn a_line_that_the_stream_does_not_take_is_left_out() {
    let broker = Broker::start();
    let server = serve(&broker, &[]);
    let sidecar = Sidecar::remote(&broker.address())
        .names(["open"])
        .process("talkative")
        .start()
        .unwrap();
    let entered = sidecar.enter();
    event!(open, 1);
    event!(open, "x".repeat(2 << 20));
    event!(open, 2);
    drop(entered);
    let summary = sidecar.stop().unwrap();
    assert_eq!((summary.counts.sent, summary.counts.unsent), (2, 1));
    let error = summary.errors[0].to_string();
    assert!(
        error.contains("is more than the server takes at once"),
        "{error}"
    );
    // The clock of the second says that one is missing.
    let state = server.wait_for("one to wait", |state| state["held"] == 1);
    assert_eq!(state["events"], 1);
}

/// What `portent serve` says of such an address, and that it does not begin.
fn refused(address: &str) -> String {
    let done = portent(&[
        "serve",
        "--property",
        FILES,
        "--page",
        "127.0.0.1:0",
        "--listen",
        address,
    ]);
    assert_eq!(done.code, Some(2), "{}", done.err);
    done.err
}

/// What a sidecar says of it.
fn sidecar_error(address: &str) -> String {
    let sidecar = Sidecar::remote(address)
        .names(["open"])
        .linger(Duration::from_millis(500))
        .start()
        .unwrap();
    let entered = sidecar.enter();
    event!(open, 1);
    drop(entered);
    let summary = sidecar.stop().unwrap();
    assert_eq!((summary.counts.sent, summary.counts.unsent), (0, 1));
    summary.errors[0].to_string()
}

#[test]
fn what_is_wrong_with_a_stream_is_said() {
    let mut broker = Broker::start();
    broker.ask(
        "STREAM.CREATE.else",
        &json!({ "name": "else", "subjects": ["weather"], "retention": "limits", "storage": "file" }),
    );
    let address = broker.address();
    let wrong = address.replace("/events", "/else");
    for message in [refused(&wrong), sidecar_error(&wrong)] {
        let expected = "the stream `else` takes the subjects `weather` and not `else.>`";
        assert!(message.contains(expected), "{message}");
    }
    broker.kill();
    for message in [refused(&address), sidecar_error(&address)] {
        assert!(
            message.contains("cannot connect to a NATS server"),
            "{message}"
        );
    }
    let without = Broker::without_streams().address();
    // It is gone by now; one that is there says something else.
    assert!(refused(&without).contains("cannot connect"), "{without}");
    let broker = Broker::without_streams();
    for message in [refused(&broker.address()), sidecar_error(&broker.address())] {
        assert!(
            message.contains("the NATS server has no JetStream"),
            "{message}"
        );
    }
    let message = refused("nats://127.0.0.1:1/a.b");
    assert!(
        message.contains("the name of a stream has letters"),
        "{message}"
    );
    let message = portent(&["serve", "--property", FILES, "--consumer", "a b"]).err;
    assert!(message.contains("expected letters, digits"), "{message}");
}
