//! As much of HTTP as three processes need to talk to each other. Every message carries what its sender knows, and whoever gets it
//! comes after that: with any other client or server, these are the two places to change.

use std::{
    collections::HashMap,
    io::{self, BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
};

use portent::Context;

type Headers = HashMap<String, String>;

/// Asks a server for something, and waits for its answer.
pub(crate) fn post(address: &str, path: &str) -> io::Result<()> {
    let stream = TcpStream::connect(address)?;
    send(&stream, &format!("POST {path} HTTP/1.1\r\nHost: {address}"))?;
    receive(&stream).map(drop)
}

/// Answers requests until one asks for `/stop`.
pub(crate) fn serve(listener: &TcpListener, mut handle: impl FnMut(&str)) -> io::Result<()> {
    loop {
        let (stream, _) = listener.accept()?;
        let request = receive(&stream)?;
        let path = request.split(' ').nth(1).unwrap_or_default();
        if path != "/stop" {
            handle(path);
        }
        send(&stream, "HTTP/1.1 204 No Content")?;
        if path == "/stop" {
            return Ok(());
        }
    }
}

/// Writes the head of a message.
fn send(mut stream: &TcpStream, first: &str) -> io::Result<()> {
    let mut headers = Headers::new();
    let injected = Context::current().inject(|name, value| {
        headers.insert(name.to_owned(), value);
    });
    injected.map_err(io::Error::other)?;
    let mut text = format!("{first}\r\nContent-Length: 0\r\nConnection: close\r\n");
    for (name, value) in headers {
        text += &format!("{name}: {value}\r\n");
    }
    stream.write_all((text + "\r\n").as_bytes())
}

/// Reads the head of a message. Gives its first line.
fn receive(stream: &TcpStream) -> io::Result<String> {
    let mut lines = BufReader::new(stream).lines();
    let first = lines.next().ok_or(io::ErrorKind::UnexpectedEof)??;
    let mut headers = Headers::new();
    for line in lines {
        let line = line?;
        let Some((name, value)) = line.split_once(": ") else {
            break;
        };
        headers.insert(name.to_lowercase(), value.to_owned());
    }
    let context = Context::extract(|name| headers.get(name)).map_err(io::Error::other)?;
    context.receive().map_err(io::Error::other)?;
    Ok(first)
}
