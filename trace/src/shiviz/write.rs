//! Events into a log of the layout that GoVector writes: `host {clock}`, then the text.
//!
//! An event without a clock gets the one that its past implies, and its operation becomes its
//! text. Written values have no place in a log, as in the STD format.

use std::io::{self, Write};

use portent_monitor_core::{Event, Op, Stamped, Symbols, ThreadId};

use super::Clocks;

/// Writes one event, or returns what such a log has no place for.
pub(crate) fn write_event(
    out: &mut impl Write,
    event: &Event,
    symbols: &Symbols,
    clocks: &mut Clocks,
) -> io::Result<Result<(), String>> {
    let host = symbols.threads.name(event.thread);
    // A mark at the start of a file is not part of its text.
    if host.is_empty() || host.contains(char::is_whitespace) || host.starts_with('\u{feff}') {
        return Ok(Err(format!(
            "a host without blanks is needed, not {host:?}"
        )));
    }
    let text = match (&event.op, event.text()) {
        (Op::Stamped(stamped), _) if !clocks.order_writes(event.thread, stamped) => {
            let problem =
                "it has no place for the variables that an event sets, and they order events";
            return Ok(Err(problem.to_owned()));
        }
        (Op::Stamped(stamped), None) => action(stamped, symbols),
        _ => symbols.text_of(event).into_owned(),
    };
    if text.contains(['\n', '\r']) {
        return Ok(Err("a text of one line is needed".to_owned()));
    }
    match &event.op {
        Op::Stamped(stamped) => write_record(out, host, &stamped.clock, &text, symbols).map(Ok),
        _ => match clocks.of(event) {
            Ok(clock) => write_record(out, host, &clock, &text, symbols).map(Ok),
            Err(error) => Ok(Err(error.to_string())),
        },
    }
}

/// The text of an event that has only a name and arguments.
fn action(stamped: &Stamped, symbols: &Symbols) -> String {
    let name = stamped.action.name;
    let name = name.map_or("", |name| symbols.names.name(name));
    let args = stamped.action.args.iter();
    let args: Vec<String> = args.map(ToString::to_string).collect();
    if args.is_empty() {
        name.to_owned()
    } else {
        format!("{name}({})", args.join(","))
    }
}

fn write_record(
    out: &mut impl Write,
    host: &str,
    clock: &[(ThreadId, u32)],
    text: &str,
    symbols: &Symbols,
) -> io::Result<()> {
    write!(out, "{host} {{")?;
    for (i, (thread, lines)) in clock.iter().enumerate() {
        let separator = if i > 0 { ", " } else { "" };
        let name = serde_json::to_string(symbols.threads.name(*thread))?;
        write!(out, "{separator}{name}:{lines}")?;
    }
    writeln!(out, "}}\n{text}")
}
