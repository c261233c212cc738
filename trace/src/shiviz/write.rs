//! Events into a log of the layout that GoVector writes: `host {clock}`, then the text.

use std::io::{self, Write};

use portent_monitor_core::{Event, Op, Symbols};

/// Writes one event, or says what such a log has no place for.
pub(crate) fn write_event(
    out: &mut impl Write,
    event: &Event,
    symbols: &Symbols,
) -> io::Result<Result<(), String>> {
    let Op::Stamped(stamped) = &event.op else {
        return Ok(Err("it needs a vector clock on every event".to_owned()));
    };
    if !stamped.action.set.is_empty() {
        return Ok(Err(
            "it has no place for the variables that an event sets".to_owned()
        ));
    }
    let host = symbols.threads.name(event.thread);
    if host.is_empty() || host.contains(char::is_whitespace) {
        return Ok(Err(format!(
            "a host without blanks is needed, not {host:?}"
        )));
    }
    let text = match event.text() {
        Some(text) => text.to_owned(),
        None => {
            let name = stamped
                .action
                .name
                .map_or("", |name| symbols.names.name(name));
            let args: Vec<String> = stamped
                .action
                .args
                .iter()
                .map(ToString::to_string)
                .collect();
            if args.is_empty() {
                name.to_owned()
            } else {
                format!("{name}({})", args.join(","))
            }
        }
    };
    if text.contains(['\n', '\r']) {
        return Ok(Err("a text of one line is needed".to_owned()));
    }
    write!(out, "{host} {{")?;
    for (i, (thread, lines)) in stamped.clock.iter().enumerate() {
        let separator = if i > 0 { ", " } else { "" };
        let name = serde_json::to_string(symbols.threads.name(*thread))?;
        write!(out, "{separator}{name}:{lines}")?;
    }
    writeln!(out, "}}\n{text}")?;
    Ok(Ok(()))
}
