//! A server that a test has started.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, ChildStderr, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::common::command;

pub(crate) const FILES: &str =
    "property file(f) { event open(f), read(f)  ltl: always (read -> once open) }";

/// How it ended.
pub(crate) struct Ended {
    pub(crate) out: String,
    pub(crate) code: Option<i32>,
}

pub(crate) struct Server {
    child: Child,
    _errors: BufReader<ChildStderr>,
    /// Where events and viewers go.
    pub(crate) events: String,
    pub(crate) page: String,
}

impl Server {
    /// On ports that are free.
    pub(crate) fn start(options: &[&str]) -> Server {
        Server::listening("127.0.0.1:0", options)
    }

    pub(crate) fn listening(address: &str, options: &[&str]) -> Server {
        let mut all = vec!["serve", "--listen", address, "--page", "127.0.0.1:0"];
        all.extend(options);
        let mut child = command(&all)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut errors = BufReader::new(child.stderr.take().unwrap());
        let mut told = |what: &str| {
            let mut line = String::new();
            errors.read_line(&mut line).unwrap();
            let found = line.strip_prefix(what);
            found.unwrap_or_else(|| panic!("{line}")).trim().to_owned()
        };
        let events = told("events: ");
        for _ in options.iter().filter(|option| **option == "--listen") {
            told("events: ");
        }
        let page = told("page: http://").trim_end_matches('/').to_owned();
        Server {
            child,
            _errors: errors,
            events,
            page,
        }
    }

    pub(crate) fn connect(&self) -> TcpStream {
        TcpStream::connect(&self.events).unwrap()
    }

    /// Sends lines, and goes.
    pub(crate) fn send(&self, lines: &str) {
        self.connect().write_all(lines.as_bytes()).unwrap();
    }

    /// The status and the body of an answer.
    pub(crate) fn get(&self, path: &str, headers: &[&str]) -> (String, String) {
        let host = format!("Host: {}", self.page);
        let has_host = headers.iter().any(|header| header.starts_with("Host:"));
        let mut request = format!("GET {path} HTTP/1.1\r\n");
        for header in headers.iter().copied().chain((!has_host).then_some(&*host)) {
            request += &format!("{header}\r\n");
        }
        let mut stream = TcpStream::connect(&self.page).unwrap();
        stream.write_all((request + "\r\n").as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().to_owned();
        (status, body.to_owned())
    }

    pub(crate) fn state(&self) -> Value {
        serde_json::from_str(&self.get("/state", &[]).1).unwrap()
    }

    /// Waits until the state is as it should be. There is no other way to know when a server has heard something.
    pub(crate) fn wait_for(&self, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let begun = Instant::now();
        loop {
            let state = self.state();
            if is_so(&state) {
                return state;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "{what}: {state}");
            thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) fn wait_for_events(&self, count: u64) -> Value {
        self.wait_for(&format!("{count} events"), |state| state["events"] == count)
    }

    /// Sends its process a signal.
    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let told = Command::new("kill").args([name, &id]).status().unwrap();
        assert!(told.success());
    }

    /// Ctrl-C.
    pub(crate) fn stop(mut self) -> Ended {
        self.signal("-INT");
        let mut out = String::new();
        self.child
            .stdout
            .take()
            .unwrap()
            .read_to_string(&mut out)
            .unwrap();
        let code = self.child.wait().unwrap().code();
        Ended { out, code }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A line with a clock.
pub(crate) fn line(thread: &str, clock: &[(&str, u32)], name: &str, file: &str) -> String {
    let clock: Vec<String> = clock
        .iter()
        .map(|(of, count)| format!("\"{of}\": {count}"))
        .collect();
    let clock = clock.join(", ");
    format!(
        "{{\"t\": \"{thread}\", \"vc\": {{{clock}}}, \"name\": \"{name}\", \"args\": [\"{file}\"]}}\n"
    )
}

/// Many lines of one thread, which violate nothing.
pub(crate) fn many(thread: &str, count: u32) -> String {
    (1..=count)
        .map(|number| line(thread, &[(thread, number)], "open", thread))
        .collect()
}
