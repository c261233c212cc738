//! Viewers, with a browser or with Prometheus: a few requests, each answered once.
//!
//! Neither another page in the same browser nor a foreign host name that resolves to this machine may read the page: the requested
//! host must be an address, `localhost` or an allowed name, and requests from other origins are refused.

use std::{
    io,
    net::IpAddr,
    time::{Duration, Instant},
};

use super::{Common, listen::Connection, metrics, page};

/// The largest number of simultaneous viewers.
pub(super) const MAX_VIEWERS: usize = 64;
/// Limits on the size, the headers and the duration of a request.
const MAX_REQUEST: usize = 16 * 1024;
const MAX_HEADERS: usize = 64;
const TIME: Duration = Duration::from_secs(5);

/// An HTTP response.
struct Answer {
    status: &'static str,
    kind: &'static str,
    body: Vec<u8>,
}

impl Answer {
    fn new(status: &'static str, kind: &'static str, body: impl Into<Vec<u8>>) -> Answer {
        let body = body.into();
        Answer { status, kind, body }
    }

    fn refused(status: &'static str, why: &str) -> Answer {
        Answer::new(status, "text/plain; charset=utf-8", format!("{why}\n"))
    }
}

/// Answers one request.
pub(super) fn view(mut connection: Box<dyn Connection>, common: &Common) {
    let answer = match read(&mut *connection) {
        Ok(request) => answer(&request, common),
        Err(Some(answer)) => answer,
        // The viewer has disconnected.
        Err(None) => return,
    };
    let _ = send(&mut *connection, &answer);
}

/// Tells a viewer that there are too many.
pub(super) fn turn_away(mut connection: Box<dyn Connection>, _: &Common) {
    let answer = Answer::refused("503 Service Unavailable", "too many look at once");
    let _ = send(&mut *connection, &answer);
}

fn send(connection: &mut dyn Connection, answer: &Answer) -> io::Result<()> {
    let Answer { status, kind, body } = answer;
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\nCache-Control: no-store\r\n\
         X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\n\
         X-Frame-Options: SAMEORIGIN\r\n\r\n"
    );
    let all = [head.as_bytes(), body].concat();
    let (mut rest, end) = (&all[..], Instant::now() + TIME);
    while !rest.is_empty() {
        match connection.write(rest) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => rest = &rest[written..],
            Err(error) if is_time_out(&error) && Instant::now() < end => {}
            Err(error) => return Err(error),
        }
    }
    connection.flush()
}

fn is_time_out(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
    )
}

/// The bytes of a request, up to its end.
fn read(connection: &mut dyn Connection) -> Result<Vec<u8>, Option<Answer>> {
    let (mut bytes, mut chunk) = (Vec::new(), [0; 2048]);
    let end = Instant::now() + TIME;
    loop {
        let read = match connection.read(&mut chunk) {
            Ok(0) => return Err(None),
            Ok(read) => read,
            Err(error) if is_time_out(&error) && Instant::now() < end => continue,
            Err(_) => return Err(None),
        };
        bytes.extend_from_slice(&chunk[..read]);
        if bytes.windows(4).any(|end| end == b"\r\n\r\n") {
            return Ok(bytes);
        }
        if bytes.len() > MAX_REQUEST {
            let why = "the request is too large";
            return Err(Some(Answer::refused(
                "431 Request Header Fields Too Large",
                why,
            )));
        }
        if Instant::now() > end {
            return Err(Some(Answer::refused(
                "408 Request Timeout",
                "the request takes too long",
            )));
        }
    }
}

fn answer(bytes: &[u8], common: &Common) -> Answer {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    let bad = |why: &str| Answer::refused("400 Bad Request", why);
    if !matches!(request.parse(bytes), Ok(httparse::Status::Complete(_))) {
        return bad("this is not a request");
    }
    let (Some(method), Some(target)) = (request.method, request.path) else {
        return bad("this is not a request");
    };
    let header = |name: &str| {
        let mut found = request
            .headers
            .iter()
            .filter(|one| one.name.eq_ignore_ascii_case(name));
        let first = found
            .next()
            .and_then(|one| std::str::from_utf8(one.value).ok());
        // A duplicate header is an attempt at deception.
        first.filter(|_| found.next().is_none())
    };
    if method != "GET" {
        return Answer::refused("405 Method Not Allowed", "this can only be looked at");
    }
    let Some(host) = header("host").filter(|host| is_allowed(host, &common.hosts)) else {
        return Answer::refused(
            "403 Forbidden",
            "the page is asked for under a name that is not allowed; --host allows one",
        );
    };
    let is_foreign = header("origin").is_some_and(|origin| origin != format!("http://{host}"));
    let is_cross_site = header("sec-fetch-site").is_some_and(|site| site == "cross-site");
    if is_foreign || is_cross_site {
        return Answer::refused("403 Forbidden", "requests of other origins are refused");
    }
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    // Style and script contain no secrets, and browsers request them without the token.
    let is_secret = !matches!(path, "/live.js" | "/live.css");
    if let Some(token) = common.token.as_ref().filter(|_| is_secret) {
        let bearer = header("authorization").and_then(|value| value.strip_prefix("Bearer "));
        let given = query
            .split('&')
            .find_map(|part| part.strip_prefix("token="));
        if !token.is(bearer.or(given)) {
            common.board.token_refused();
            let why = "a token is asked for: add ?token=... to the address, or send `Authorization: Bearer ...`";
            return Answer::refused("401 Unauthorized", why);
        }
    }
    resource(path, common)
}

fn resource(path: &str, common: &Common) -> Answer {
    let ok = |kind, body: String| Answer::new("200 OK", kind, body);
    match path {
        "/" => ok("text/html; charset=utf-8", page::DOCUMENT.to_owned()),
        "/live.js" => ok("text/javascript; charset=utf-8", page::SCRIPT.to_owned()),
        "/live.css" => ok("text/css; charset=utf-8", page::style()),
        "/state" => ok("application/json", common.board.json()),
        "/metrics" => {
            let text = common.board.look(metrics::render);
            ok("text/plain; version=0.0.4; charset=utf-8", text)
        }
        _ => {
            let number = path
                .strip_prefix("/violation/")
                .and_then(|number| number.parse().ok());
            match number.and_then(|number| common.board.page(number)) {
                Some(page) => ok("text/html; charset=utf-8", page),
                None => Answer::refused("404 Not Found", "there is nothing of that name"),
            }
        }
    }
}

/// Whether the page may be requested under this host name: an IP address cannot be made to resolve elsewhere, nor can `localhost`.
fn is_allowed(host: &str, hosts: &[String]) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    let is_named = |other: &String| other.eq_ignore_ascii_case(name);
    name.parse::<IpAddr>().is_ok()
        || name.eq_ignore_ascii_case("localhost")
        || hosts.iter().any(is_named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_others_can_point_here_are_not_allowed() {
        let hosts = ["monitor.lan".to_owned()];
        for good in [
            "127.0.0.1:7108",
            "127.0.0.1",
            "[::1]:7108",
            "localhost:1",
            "LOCALHOST",
            "monitor.lan:80",
        ] {
            assert!(is_allowed(good, &hosts), "{good}");
        }
        for bad in [
            "",
            "evil.example",
            "127.0.0.1.evil.example:80",
            "localhost.evil.example",
            "monitor.lan.evil.example",
            "[x]",
        ] {
            assert!(!is_allowed(bad, &hosts), "{bad}");
        }
    }
}
