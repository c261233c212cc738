//! What clients do to a server and to each other.

use std::{
    fs,
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    os::unix::{
        fs::symlink,
        net::{UnixListener, UnixStream},
    },
    thread,
    time::Duration,
};

use super::server::{FILES, Server, line, many};
use crate::common::portent;

fn watching(options: &[&str]) -> Server {
    Server::start(&[&["--property", FILES], options].concat())
}

#[test]
fn a_violation_that_two_clients_only_have_together_is_told_at_once_and_at_the_end() {
    let server = watching(&[]);
    server.send(&line("a", &[("a", 1)], "open", "x"));
    server.wait_for_events(1);
    server.send(&line("b", &[("b", 1)], "read", "x"));
    let state = server.wait_for("a violation", |state| state["violation_count"] == 1);
    assert_eq!(state["violations"][0]["status"], "PREDICTED");
    assert_eq!(state["violations"][0]["binding"], "f = \"x\"");
    assert_eq!(state["properties"][0]["predicted"], 1);
    let ended = server.stop();
    assert_eq!(ended.code, Some(1), "{}", ended.out);
    assert!(
        ended
            .out
            .starts_with("event 2: PREDICTED file, f = \"x\"\n"),
        "{}",
        ended.out
    );
    assert!(
        ended.out.contains("A run that violates it"),
        "{}",
        ended.out
    );
}

#[test]
fn without_a_violation_the_exit_code_is_that_of_check() {
    let server = watching(&[]);
    let lines = [
        line("a", &[("a", 1)], "open", "x"),
        line("b", &[("a", 1), ("b", 1)], "read", "x"),
    ];
    // In the wrong order: the clocks say what comes first.
    server.send(&lines[1]);
    server.wait_for("one that waits", |state| state["held"] == 1);
    server.send(&lines[0]);
    server.wait_for_events(2);
    let ended = server.stop();
    assert_eq!(ended.code, Some(0), "{}", ended.out);
}

#[test]
fn nobody_loses_anything_by_what_others_do() {
    let server = watching(&["--max-line", "64KiB", "--patience", "100s"]);
    let good = many("good", 2000);
    let (first, second) = good.split_at(good.len() / 2);
    let mut patient = server.connect();
    // Inside a line, which it ends later.
    patient.write_all(first.as_bytes()).unwrap();
    // One dies inside a line.
    let dying = line("dying", &[("dying", 1)], "open", "y");
    server.send(&format!("{dying}{}", &dying[..dying.len() / 2]));
    // One sends garbage: bytes that are no text, text that is no JSON, JSON that is no event, an event that contradicts others.
    let mut garbage = server.connect();
    garbage
        .write_all(b"\xff\xfe\x00\x01\n{\"t\": \n[1, 2]\n{\"t\": \"x\"}\nGET / HTTP/1.1\n\n")
        .unwrap();
    garbage
        .write_all(b"{\"t\": \"g\", \"vc\": {\"h\": 1}, \"name\": \"open\"}\n")
        .unwrap();
    garbage
        .write_all(line("garbage", &[("garbage", 1)], "open", "z").as_bytes())
        .unwrap();
    // One sends a line of ten megabytes, and goes on after it.
    let mut long = server.connect();
    let chunk = vec![b'x'; 1 << 20];
    for _ in 0..10 {
        long.write_all(&chunk).unwrap();
    }
    long.write_all(b"\n").unwrap();
    long.write_all(line("long", &[("long", 1)], "open", "l").as_bytes())
        .unwrap();
    // One connects and says nothing.
    let _silent = server.connect();
    patient.write_all(second.as_bytes()).unwrap();
    let state = server.wait_for("all good events", |state| {
        state["events"] == 2003
            && state["cut_lines"] == 1
            && state["long_lines"] == 1
            && state["limit"] == "missing"
    });
    assert_eq!(state["refused"], 6, "{state}");
    let (_, metrics) = server.get("/metrics", &[]);
    assert!(metrics.contains("\nportent_exhaustive 0\n"), "{metrics}");
    assert_eq!(
        (state["lost"].as_u64(), state["held"].as_u64()),
        (Some(0), Some(0))
    );
    let problems = state["problems"].to_string();
    assert!(problems.contains("ended inside a line"), "{problems}");
    assert!(
        problems.contains("a line of more than 65536 bytes is left out"),
        "{problems}"
    );
    let ended = server.stop();
    assert_eq!(ended.code, Some(0), "{}", ended.out);
    assert!(ended.out.contains("6 lines were refused"), "{}", ended.out);
    assert!(
        ended.out.contains("1 line was cut when its client ended"),
        "{}",
        ended.out
    );
}

/// Every byte is a packet of its own, and it pauses inside lines for longer than the server listens at once.
#[test]
fn a_client_that_dribbles_holds_nobody_up_and_loses_nothing() {
    let server = watching(&["--patience", "100s"]);
    let mut dribbling = server.connect();
    dribbling.set_nodelay(true).unwrap();
    let quick = many("quick", 600);
    let mut quick = quick.split_inclusive('\n');
    let mut events = 0;
    for (sent, byte) in many("slow", 30).bytes().enumerate() {
        dribbling.write_all(&[byte]).unwrap();
        if sent % 500 == 20 {
            // It is inside a line, and the others' come and are looked at.
            let some: Vec<&str> = quick.by_ref().take(100).collect();
            events += some.len() as u64;
            server.send(&some.concat());
            server.wait_for("what others send", |state| {
                state["events"].as_u64() >= Some(events)
            });
            thread::sleep(Duration::from_millis(250));
        }
    }
    assert!(events > 300, "{events}");
    let state = server.wait_for_events(events + 30);
    for nothing in ["refused", "cut_lines", "lost", "held"] {
        assert_eq!(state[nothing], 0, "{nothing}: {state}");
    }
}

#[test]
fn of_a_thousand_clients_only_so_many_come_in_and_they_go_on() {
    let server = watching(&["--max-clients", "4"]);
    let mut inside: Vec<TcpStream> = (0..4).map(|_| server.connect()).collect();
    server.wait_for("four clients", |state| {
        state["clients"].as_object().unwrap().len() == 4
    });
    for number in 0..1000 {
        let mut outside = server.connect();
        if number % 100 == 0 {
            let mut answer = String::new();
            outside.read_to_string(&mut answer).unwrap();
            assert!(answer.contains("there are 4 clients already"), "{answer}");
        }
    }
    server.wait_for("all were turned away", |state| state["turned_away"] == 1000);
    for (number, client) in inside.iter_mut().enumerate() {
        client
            .write_all(many(&format!("t{number}"), 10).as_bytes())
            .unwrap();
    }
    server.wait_for_events(40);
    // Who goes makes room.
    drop(inside);
    server.wait_for("none is there", |state| {
        state["clients"].as_object().unwrap().is_empty()
    });
    server.send(&many("late", 1));
    server.wait_for_events(41);
}

#[test]
fn clients_are_counted_whichever_way_they_come_in() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let address = format!("unix:{}", path.display());
    let server = watching(&["--max-clients", "2", "--listen", &address]);
    let _inside = (server.connect(), UnixStream::connect(&path).unwrap());
    server.wait_for("two clients", |state| {
        state["clients"].as_object().unwrap().len() == 2
    });
    let mut answers = [String::new(), String::new()];
    let [tcp, unix] = &mut answers;
    server.connect().read_to_string(tcp).unwrap();
    let mut third = UnixStream::connect(&path).unwrap();
    third.read_to_string(unix).unwrap();
    for answer in answers {
        assert!(answer.contains("there are 2 clients already"), "{answer}");
    }
}

#[test]
fn that_nothing_orders_the_operations_of_two_clients_is_told_once() {
    let server = watching(&[]);
    let write = |thread: &str| {
        format!("{{\"t\": \"{thread}\", \"op\": \"write\", \"var\": \"x\", \"val\": 1}}\n")
    };
    server.send(&write("a").repeat(2));
    let state = server.wait_for_events(2);
    assert!(state["problems"].as_array().unwrap().is_empty(), "{state}");
    server.send(&write("b"));
    server.wait_for_events(3);
    server.send(&write("c"));
    let state = server.wait_for_events(4);
    let problems = state["problems"].as_array().unwrap();
    assert_eq!(problems.len(), 1, "{state}");
    assert!(
        problems[0]
            .as_str()
            .unwrap()
            .contains("both send events without clocks"),
        "{state}"
    );
}

#[test]
fn events_that_come_twice_count_once_and_those_that_never_come_are_given_up() {
    let server = watching(&["--patience", "300ms"]);
    server.send(&many("a", 10));
    server.wait_for_events(10);
    server.send(&many("a", 10));
    server.wait_for("repeated", |state| state["repeated"] == 10);
    // The sixth to the eighth of b are nowhere.
    let five: String = many("b", 5);
    server.send(&five);
    server.send(&line("b", &[("b", 9)], "open", "b"));
    server.send(&line("c", &[("b", 9), ("c", 1)], "open", "c"));
    let state = server.wait_for("given up", |state| state["events"] == 17);
    assert_eq!(state["lost"], 3, "{state}");
    // One that comes after all is too late.
    server.send(&line("b", &[("b", 7)], "open", "b"));
    server.wait_for("too late", |state| state["repeated"] == 11);
    let ended = server.stop();
    assert!(
        ended
            .out
            .contains("3 events have not come though others count them"),
        "{}",
        ended.out
    );
}

#[test]
fn a_token_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    fs::write(&path, "secret\n").unwrap();
    let server = watching(&["--token-file", path.to_str().unwrap()]);
    let said = |hello: &str| {
        let mut client = server.connect();
        client.write_all(hello.as_bytes()).unwrap();
        client.write_all(many("t", 1).as_bytes()).unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        let mut answer = String::new();
        // It may be gone before it has read all.
        let _ = client.read_to_string(&mut answer);
        answer
    };
    for wrong in [
        "",
        "{\"portent\": 1}\n",
        "{\"portent\": 1, \"token\": \"secre\"}\n",
        "{\"portent\": 1, \"token\": \"wrong\", \"session\": \"s\"}\n",
        "{\"portent\": 1, \"token\": 7}\n",
    ] {
        said(wrong);
    }
    let (status, _) = server.get("/state", &[]);
    assert_eq!(status, "401");
    assert_eq!(server.get("/state?token=wrong", &[]).0, "401");
    assert_eq!(server.get("/", &["Authorization: Bearer wrong"]).0, "401");
    let (status, state) = server.get("/state?token=secret", &[]);
    assert_eq!(status, "200");
    let state: serde_json::Value = serde_json::from_str(&state).unwrap();
    assert_eq!(
        (&state["events"], &state["wrong_tokens"]),
        (&0.into(), &8.into()),
        "{state}"
    );
    assert_eq!(
        said("{\"portent\": 1, \"token\": \"secret\", \"session\": \"s\"}\n"),
        "{\"taken\": 0}\n{\"taken\": 1}\n"
    );
    let (status, metrics) = server.get("/metrics", &["Authorization: Bearer secret"]);
    assert_eq!(status, "200");
    assert!(
        metrics.contains("\nportent_wrong_tokens_total 8\n"),
        "{metrics}"
    );
}

#[test]
fn an_empty_token_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    fs::write(&path, " \n").unwrap();
    let done = portent(&[
        "serve",
        "--property",
        FILES,
        "--token-file",
        path.to_str().unwrap(),
    ]);
    assert_eq!(done.code, Some(2));
    assert!(done.err.contains("the token is empty"), "{}", done.err);
}

#[test]
fn what_is_recorded_is_what_check_reads() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl.zst");
    let server = watching(&["--record", path.to_str().unwrap()]);
    // The later first: in the file they are in order.
    server.send(&line("b", &[("a", 1), ("b", 1)], "read", "x"));
    server.wait_for("one that waits", |state| state["held"] == 1);
    server.send(&line("a", &[("a", 1)], "open", "x"));
    server.send(&line("c", &[("c", 1)], "read", "x"));
    server.wait_for_events(3);
    let live = server.stop();
    let done = portent(&["check", "--property", FILES, path.to_str().unwrap()]);
    assert_eq!((live.code, done.code), (Some(1), Some(1)), "{}", done.err);
    assert!(done.out.contains("3 events, 3 threads"), "{}", done.out);
}

#[test]
fn a_recording_is_not_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl.zst");
    for (file, more) in [
        ("run.jsonl.zst", &[][..]),
        ("run.00000.jsonl.zst", &["--rotate-bytes", "1MiB"]),
    ] {
        let earlier = folder.path().join(file);
        fs::write(&earlier, "of an earlier server").unwrap();
        let command = ["serve", "--record", path.to_str().unwrap()];
        let property = ["--property", "always !a"];
        let done = portent(&[&command[..], &property, more].concat());
        assert_eq!(done.code, Some(2));
        let told = done.err.contains("there is a recording already");
        assert!(told && done.err.contains(file), "{}", done.err);
        let kept = fs::read_to_string(&earlier).unwrap();
        assert_eq!(kept, "of an earlier server");
        fs::remove_file(&earlier).unwrap();
    }
}

#[test]
fn a_full_disk_ends_the_recording_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    symlink("/dev/full", folder.path().join("run.00001.jsonl")).unwrap();
    let path = folder.path().join("run.jsonl");
    let server = watching(&["--record", path.to_str().unwrap(), "--rotate-bytes", "1"]);
    server.send(&many("a", 5));
    server.wait_for("written", |state| state["written"] == 5);
    server.send(&line("b", &[("b", 1)], "open", "x"));
    server.wait_for("unwritten", |state| state["unwritten"].as_u64() > Some(0));
    server.send(&line("c", &[("c", 1)], "read", "x"));
    let state = server.wait_for("a violation", |state| state["violation_count"] == 1);
    assert!(
        state["problems"]
            .to_string()
            .contains("the recording has ended"),
        "{state}"
    );
    let ended = server.stop();
    assert_eq!(ended.code, Some(1));
    assert!(
        ended.out.contains("2 events are not in the recording"),
        "{}",
        ended.out
    );
}

#[test]
fn a_file_that_cannot_be_made_is_told_at_once() {
    let done = portent(&[
        "serve",
        "--property",
        FILES,
        "--record",
        "/no/such/folder/run.jsonl",
    ]);
    assert_eq!(done.code, Some(2));
    assert!(
        done.err.contains("/no/such/folder/run.jsonl"),
        "{}",
        done.err
    );
}

#[test]
fn an_address_that_is_taken_is_told() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    for arguments in [
        ["--listen", &address, "--page", "127.0.0.1:0"],
        ["--listen", "127.0.0.1:0", "--page", &address],
    ] {
        let done = portent(&[&["serve", "--property", FILES], &arguments[..]].concat());
        assert_eq!(done.code, Some(2), "{}", done.err);
        assert!(
            done.err.contains(&format!("cannot listen on {address}")),
            "{}",
            done.err
        );
        assert!(done.err.contains("another server is there"), "{}", done.err);
    }
    let done = portent(&["serve", "--property", FILES, "--listen", "nowhere"]);
    assert_eq!(done.code, Some(2));
    assert!(
        done.err.contains("expected HOST:PORT or unix:PATH"),
        "{}",
        done.err
    );
}

#[test]
fn a_socket_in_the_file_system() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("portent.sock");
    let address = format!("unix:{}", path.display());
    // Left by one that was killed.
    drop(UnixListener::bind(&path).unwrap());
    let server = Server::listening(&address, &["--property", FILES]);
    assert_eq!(server.events, address);
    UnixStream::connect(&path)
        .unwrap()
        .write_all(many("a", 3).as_bytes())
        .unwrap();
    server.wait_for_events(3);
    // Another one does not take it away.
    let done = portent(&[
        "serve",
        "--property",
        FILES,
        "--listen",
        &address,
        "--page",
        "127.0.0.1:0",
    ]);
    assert_eq!(done.code, Some(2));
    assert!(done.err.contains("another server is there"), "{}", done.err);
    assert_eq!(server.stop().code, Some(0));
    assert!(!path.exists(), "it is removed at the end");
    // What is not a socket is left alone.
    fs::write(&path, "precious").unwrap();
    let done = portent(&[
        "serve",
        "--property",
        FILES,
        "--listen",
        &address,
        "--page",
        "127.0.0.1:0",
    ]);
    assert_eq!(done.code, Some(2));
    assert!(done.err.contains("which is not a socket"), "{}", done.err);
    assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
}
