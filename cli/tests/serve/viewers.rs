//! What browsers and Prometheus are shown, and what they are not.

use std::{
    io::{Read, Write},
    net::TcpStream,
};

use super::server::{FILES, Server, line};

fn violated() -> Server {
    let server = Server::start(&["--property", FILES]);
    server.send(&line("a", &[("a", 1)], "open", "</script>"));
    server.wait_for_events(1);
    server.send(&line("b", &[("b", 1)], "read", "</script>"));
    server.wait_for("a violation", |state| {
        state["violation_count"] == 1 && state["events"] == 2
    });
    server
}

#[test]
fn a_violation_has_the_page_that_check_would_make() {
    let server = violated();
    let (status, page) = server.get("/violation/0", &[]);
    assert_eq!(status, "200");
    let (_, data) = page.split_once("id=\"data\">").unwrap();
    let (data, _) = data.split_once("</script>").unwrap();
    let data: serde_json::Value = serde_json::from_str(data).unwrap();
    let finding = &data["traces"][0]["findings"][0];
    assert_eq!(finding["status"], "predicted");
    assert!(
        finding["drawing"]["witness"].is_array() || finding["drawing"].is_object(),
        "{finding}"
    );
    assert_eq!(finding["runs"]["total"], "2");
    for path in [
        "/violation/1",
        "/violation/x",
        "/violation/-1",
        "/violation/99999999999999999999",
        "/../etc/passwd",
        "/nothing",
    ] {
        assert_eq!(server.get(path, &[]).0, "404", "{path}");
    }
    for path in ["/", "/live.js", "/live.css"] {
        assert_eq!(server.get(path, &[]).0, "200", "{path}");
    }
}

#[test]
fn metrics_are_in_the_format_of_prometheus() {
    let server = violated();
    let (status, text) = server.get("/metrics", &[]);
    assert_eq!(status, "200");
    for metric in [
        "portent_events_total 2\n",
        "portent_clients 0\n",
        "portent_exhaustive 1\n",
        "portent_violations_total{property=\"file\",kind=\"predicted\"} 1\n",
        "portent_violations_total{property=\"file\",kind=\"observed\"} 0\n",
    ] {
        assert!(text.contains(metric), "{metric}{text}");
    }
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (name, value) = line.rsplit_once(' ').unwrap();
        assert!(
            name.starts_with("portent_") && value.parse::<f64>().is_ok(),
            "{line}"
        );
        let name = name.split('{').next().unwrap();
        assert!(text.contains(&format!("# TYPE {name} ")), "{name}");
    }
}

/// One never ends its request, one never reads its answer, and one says a byte at a time.
#[test]
fn slow_viewers_hold_nobody_up() {
    let server = violated();
    let ask = |request: &str| {
        let mut stream = TcpStream::connect(&server.page).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        stream
    };
    let host = format!("Host: {}\r\n", server.page);
    let slow: Vec<TcpStream> = (0..40)
        .map(|number| match number % 2 {
            0 => ask(&format!("GET / HTTP/1.1\r\n{host}")),
            _ => ask(&format!("GET /violation/0 HTTP/1.1\r\n{host}\r\n")),
        })
        .collect();
    let mut dribbling = ask("");
    dribbling.set_nodelay(true).unwrap();
    for (sent, byte) in format!("GET /state HTTP/1.1\r\n{host}\r\n")
        .bytes()
        .enumerate()
    {
        dribbling.write_all(&[byte]).unwrap();
        if sent % 10 == 0 {
            let number = 2 + sent as u32 / 10;
            server.send(&line("a", &[("a", number)], "open", "y"));
            server.wait_for_events(u64::from(number) + 1);
        }
    }
    let mut answer = String::new();
    dribbling.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert_eq!(server.get("/metrics", &[]).0, "200");
    drop(slow);
    assert_eq!(server.stop().code, Some(1));
}

#[test]
fn other_origins_and_other_names_are_refused() {
    let server = Server::start(&["--property", FILES, "--host", "monitor.lan"]);
    let own = format!("Origin: http://{}", server.page);
    let port = server.page.split(':').nth(1).unwrap().to_owned();
    for good in [
        &[&*own][..],
        &["Host: localhost"],
        &["Host: monitor.lan:80"],
        &[
            &format!("Host: localhost:{port}"),
            &format!("Origin: http://localhost:{port}"),
        ],
    ] {
        assert_eq!(server.get("/state", good).0, "200", "{good:?}");
    }
    for bad in [
        &["Origin: http://evil.example"][..],
        &["Origin: null"],
        &[&format!("Origin: https://{}", server.page)],
        &["Origin: http://localhost:1"],
        &["Host: evil.example"],
        &["Host: evil.example", "Origin: http://evil.example"],
        &["Host: 127.0.0.1", "Host: evil.example"],
        &["Sec-Fetch-Site: cross-site"],
    ] {
        assert_eq!(server.get("/state", bad).0, "403", "{bad:?}");
    }
}

#[test]
fn requests_that_are_none_are_answered_and_bounded() {
    let server = Server::start(&["--property", FILES]);
    let answer = |request: &[u8]| {
        let mut stream = TcpStream::connect(&server.page).unwrap();
        let _ = stream.write_all(request);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer)
            .split(' ')
            .nth(1)
            .unwrap_or_default()
            .to_owned()
    };
    assert_eq!(answer(b"\xff\xfe nonsense\r\n\r\n"), "400");
    assert_eq!(answer(b"GET /\r\n\r\n"), "400");
    assert_eq!(answer(b"POST / HTTP/1.1\r\nHost: localhost\r\n\r\n"), "405");
    assert_eq!(answer(b"GET / HTTP/1.1\r\n\r\n"), "403");
    let headers = "X: y\r\n".repeat(100);
    assert_eq!(
        answer(format!("GET / HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n").as_bytes()),
        "400"
    );
    // One that never ends is cut off.
    let mut endless = TcpStream::connect(&server.page).unwrap();
    let chunk = [b'a'; 4096];
    let mut sent = 0;
    while sent < 64 << 20 && endless.write_all(&chunk).is_ok() {
        sent += chunk.len();
    }
    assert!(sent < 64 << 20);
    assert_eq!(server.get("/state", &[]).0, "200");
}
