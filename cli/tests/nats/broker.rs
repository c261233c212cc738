//! A `nats-server` that a test has started, and the few words of its protocol that a test says itself.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) struct Broker {
    child: Child,
    port: u16,
    has_streams: bool,
    folder: TempDir,
}

impl Broker {
    /// With JetStream, on a free port of this machine, which keeps its streams in a folder of its own.
    pub(crate) fn start() -> Broker {
        Broker::with(true)
    }

    pub(crate) fn without_streams() -> Broker {
        Broker::with(false)
    }

    fn with(has_streams: bool) -> Broker {
        let folder = tempfile::tempdir().unwrap();
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let child = run(port, has_streams, folder.path());
        Broker {
            child,
            port,
            has_streams,
            folder,
        }
    }

    pub(crate) fn address(&self) -> String {
        format!("nats://127.0.0.1:{}/events", self.port)
    }

    /// Without a warning.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn start_again(&mut self) {
        self.child = run(self.port, self.has_streams, self.folder.path());
    }

    /// All streams are lost.
    pub(crate) fn forget(&mut self) {
        self.folder = tempfile::tempdir().unwrap();
    }

    fn connect(&self) -> BufReader<TcpStream> {
        let mut server = BufReader::new(TcpStream::connect(("127.0.0.1", self.port)).unwrap());
        assert!(read_line(&mut server).starts_with("INFO "));
        write(
            &mut server,
            b"CONNECT {\"verbose\": false, \"headers\": true}\r\n",
        );
        server
    }

    /// A message of somebody who is no sidecar.
    pub(crate) fn publish(&self, subject: &str, payload: impl AsRef<[u8]>) {
        let payload = payload.as_ref();
        let mut server = self.connect();
        write(
            &mut server,
            format!("PUB {subject} {}\r\n", payload.len()).as_bytes(),
        );
        write(&mut server, payload);
        write(&mut server, b"\r\nPING\r\n");
        assert_eq!(read_line(&mut server), "PONG");
    }

    /// Asks JetStream for something.
    pub(crate) fn ask(&self, what: &str, request: &Value) -> Value {
        let mut server = self.connect();
        let request = request.to_string();
        let asked = format!(
            "SUB answer 1\r\nPUB $JS.API.{what} answer {}\r\n{request}\r\n",
            request.len()
        );
        write(&mut server, asked.as_bytes());
        let head = read_line(&mut server);
        let length = head.rsplit(' ').next().unwrap().parse().unwrap();
        let mut answer = vec![0; length];
        server.read_exact(&mut answer).unwrap();
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        assert_eq!(answer["error"], Value::Null, "{what}");
        answer
    }

    /// Waits until the servers of this name have nothing left to do.
    pub(crate) fn wait_until_acknowledged(&self, consumer: &str) {
        let begun = Instant::now();
        loop {
            let info = self.ask(&format!("CONSUMER.INFO.events.{consumer}"), &json!({}));
            if info["num_ack_pending"] == 0 && info["num_pending"] == 0 {
                return;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "{info}");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn run(port: u16, has_streams: bool, folder: &Path) -> Child {
    let mut command = Command::new("nats-server");
    command
        .args(["--addr", "127.0.0.1", "--port", &port.to_string()])
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    if has_streams {
        command.arg("--jetstream").arg("--store_dir").arg(folder);
    }
    let child = command.spawn();
    let child = child.expect("no `nats-server` was found; `ci/nats.sh` installs one");
    let begun = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(begun.elapsed() < Duration::from_secs(60));
        thread::sleep(Duration::from_millis(10));
    }
    child
}

fn write(server: &mut BufReader<TcpStream>, bytes: &[u8]) {
    server.get_mut().write_all(bytes).unwrap();
}

fn read_line(server: &mut BufReader<TcpStream>) -> String {
    let mut line = String::new();
    server.read_line(&mut line).unwrap();
    line.trim_end().to_owned()
}
