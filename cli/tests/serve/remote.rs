//! A sidecar that sends its events to a server, over connections that break.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

use portent_hooks::{Full, event, thread as hooked};
use portent_sidecar::{Counts, Sidecar};
use serde_json::Value;

use super::server::{FILES, Server};

/// Passes bytes on to a server, and breaks each connection after so many.
fn breaking(server: &str, after: usize) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, server) = (
        listener.local_addr().unwrap().to_string(),
        server.to_owned(),
    );
    let broken = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&broken);
    thread::spawn(move || {
        for (number, client) in listener.incoming().enumerate() {
            let (mut client, mut server) = (client.unwrap(), TcpStream::connect(&server).unwrap());
            let (mut back, mut to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
            let answers = thread::spawn(move || {
                let mut buffer = [0; 512];
                while let Ok(read @ 1..) = back.read(&mut buffer) {
                    if to.write_all(&buffer[..read]).is_err() {
                        break;
                    }
                }
            });
            // Never twice at the same place, and mostly inside a line.
            let mut left = after + 37 * number;
            let mut buffer = [0; 512];
            while left > 0 {
                let most = left.min(buffer.len());
                let Ok(read @ 1..) = client.read(&mut buffer[..most]) else {
                    break;
                };
                left -= read;
                if server.write_all(&buffer[..read]).is_err() {
                    break;
                }
            }
            count.fetch_add(1, Relaxed);
            let _ = client.shutdown(std::net::Shutdown::Both);
            let _ = server.shutdown(std::net::Shutdown::Both);
            let _ = answers.join();
        }
    });
    (address, broken)
}

#[test]
fn every_event_arrives_once_however_often_the_connection_breaks() {
    let server = Server::start(&["--property", FILES, "--patience", "100s"]);
    let (address, broken) = breaking(&server.events, 3000);
    let sidecar = Sidecar::remote(&address)
        .names(["open"])
        .process("broken")
        .on_full(Full::Block)
        .linger(Duration::from_secs(60))
        .start()
        .unwrap();
    let entered = sidecar.enter();
    for number in 0..400 {
        event!(open, number);
        if number % 50 == 0 {
            thread::sleep(Duration::from_millis(5));
        }
    }
    drop(entered);
    let summary = sidecar.stop().unwrap();
    assert_eq!(
        (summary.counts.sent, summary.counts.unsent),
        (400, 0),
        "{:?}",
        summary.errors
    );
    let state = server.wait_for_events(400);
    for nothing in ["repeated", "lost", "refused", "held", "missed_lines"] {
        assert_eq!(state[nothing], 0, "{nothing}: {state}");
    }
    assert!(broken.load(Relaxed) > 3, "{broken:?}");
}

#[test]
fn a_server_that_comes_later_gets_everything() {
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let address = port.to_string();
    let told = Arc::new(Mutex::new(Vec::new()));
    let errors = Arc::clone(&told);
    let sidecar = Sidecar::remote(&address)
        .names(["open"])
        .process("early")
        .on_error(move |error| errors.lock().unwrap().push(error.to_string()))
        .linger(Duration::from_secs(60))
        .start()
        .unwrap();
    let entered = sidecar.enter();
    for number in 0..100 {
        event!(open, number);
    }
    drop(entered);
    while told.lock().unwrap().is_empty() {
        thread::sleep(Duration::from_millis(10));
    }
    let server = Server::listening(&address, &["--property", FILES]);
    assert_eq!(sidecar.stop().unwrap().counts.sent, 100);
    let state = server.wait_for_events(100);
    assert_eq!(state["lost"], 0, "{state}");
}

/// A program that is faster than its server, which takes nothing for a while: what the program has sent and what is in queues is bounded, and what was
/// counted in clocks arrives.
fn outruns(full: Full) -> (Counts, Value) {
    // More than four megabytes, which are kept, and what the system keeps.
    const EVENTS: usize = 8000;
    let folder = tempfile::tempdir().unwrap();
    let address = format!("unix:{}", folder.path().join("socket").display());
    let server = Server::listening(&address, &["--property", FILES, "--patience", "100s"]);
    let sidecar = Sidecar::remote(&address)
        .names(["open"])
        .process("quick")
        .capacity(64)
        .on_full(full)
        .linger(Duration::from_secs(60))
        .start()
        .unwrap();
    let entered = sidecar.enter();
    event!(open, "the first");
    server.wait_for_events(1);
    server.signal("-STOP");
    let done = AtomicUsize::new(0);
    hooked::scope(|s| {
        s.spawn(|| {
            let text = "x".repeat(1000);
            for _ in 0..EVENTS {
                event!(open, text.clone());
                done.fetch_add(1, Relaxed);
            }
        });
        // Until nothing moves any more.
        let mut before = 0;
        loop {
            thread::sleep(Duration::from_millis(300));
            let now = done.load(Relaxed);
            if before == now && now > 0 {
                break;
            }
            before = now;
        }
        assert_eq!(before < EVENTS, full == Full::Block, "{before} of {EVENTS}");
        server.signal("-CONT");
    });
    drop(entered);
    let counts = sidecar.stop().unwrap().counts;
    assert_eq!(counts.events + counts.lost.dropped, EVENTS as u64 + 1);
    assert_eq!((counts.sent, counts.unsent), (counts.events, 0));
    let state = server.wait_for_events(counts.events);
    for nothing in ["repeated", "lost", "refused", "held", "missed_lines"] {
        assert_eq!(state[nothing], 0, "{nothing}: {state}");
    }
    (counts, state)
}

#[test]
fn a_program_that_outruns_the_server_waits_and_loses_nothing() {
    let (counts, _) = outruns(Full::Block);
    assert_eq!(counts.lost.dropped, 0);
}

#[test]
fn or_it_goes_on_and_what_it_drops_is_in_no_clock() {
    let (counts, state) = outruns(Full::Drop);
    assert!(counts.lost.dropped > 0, "{counts:?}");
    assert_eq!(state["lost"], 0, "{state}");
}

#[test]
fn a_wrong_token_is_told_to_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    std::fs::write(&path, "secret").unwrap();
    let server = Server::start(&["--property", FILES, "--token-file", path.to_str().unwrap()]);
    let sidecar = |token: &str| {
        let sidecar = Sidecar::remote(&server.events)
            .names(["open"])
            .token(token)
            .linger(Duration::from_millis(1500))
            .start()
            .unwrap();
        let entered = sidecar.enter();
        event!(open, 1);
        drop(entered);
        sidecar.stop().unwrap()
    };
    let summary = sidecar("wrong");
    assert_eq!((summary.counts.sent, summary.counts.unsent), (0, 1));
    let errors: Vec<String> = summary.errors.iter().map(ToString::to_string).collect();
    assert!(
        errors
            .iter()
            .any(|error| error.contains("a token is asked for")),
        "{errors:?}"
    );
    let summary = sidecar("secret");
    assert_eq!((summary.counts.sent, summary.counts.unsent), (1, 0));
}
