//! The metrics page for Prometheus.

use std::fmt::Write;

use super::board::State;

/// The text format of Prometheus, version 0.0.4.
pub(super) fn render(state: &State) -> String {
    let figures = &state.figures;
    let mut text = String::new();
    let mut metric = |name: &str, kind: &str, help: &str, value: f64| {
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "# HELP portent_{name} {help}\n# TYPE portent_{name} {kind}\nportent_{name} {value}\n"
        );
    };
    let counters = [
        ("lines_total", "Lines that came.", figures.lines),
        (
            "events_total",
            "Events that were looked at.",
            figures.events,
        ),
        (
            "known_events_total",
            "Events that a server before had looked at already.",
            figures.known,
        ),
        (
            "refused_lines_total",
            "Lines that are no events, or contradict others.",
            figures.refused,
        ),
        (
            "repeated_events_total",
            "Events that came twice.",
            figures.repeated,
        ),
        (
            "lost_events_total",
            "Events that others count and that never came.",
            figures.lost,
        ),
        (
            "cut_lines_total",
            "Lines whose client ended inside.",
            state.cut_lines,
        ),
        (
            "long_lines_total",
            "Lines that were too long.",
            state.long_lines,
        ),
        (
            "missed_lines_total",
            "Lines that were sent before the server was there.",
            state.missed_lines,
        ),
        (
            "redelivered_messages_total",
            "Messages that a stream sent again.",
            state.redelivered,
        ),
        (
            "missed_messages_total",
            "Messages that a stream no longer had.",
            state.missed_messages,
        ),
        (
            "written_events_total",
            "Events in the recording.",
            figures.written,
        ),
        (
            "unwritten_events_total",
            "Events that could not be recorded.",
            figures.unwritten,
        ),
        ("clients_total", "Clients that came.", state.came),
        (
            "clients_turned_away_total",
            "Clients for whom there was no room.",
            state.turned_away,
        ),
        (
            "wrong_tokens_total",
            "Clients and viewers with a wrong token.",
            state.wrong_tokens,
        ),
    ];
    for (name, help, value) in counters {
        metric(name, "counter", help, value as f64);
    }
    metric(
        "clients",
        "gauge",
        "Clients that are connected.",
        state.clients.len() as f64,
    );
    metric(
        "held_events",
        "gauge",
        "Events that wait for others.",
        figures.held as f64,
    );
    metric(
        "kept_steps",
        "gauge",
        "Steps that searches keep.",
        figures.kept as f64,
    );
    metric(
        "exhaustive",
        "gauge",
        "Whether nothing was left out so far.",
        f64::from(u8::from(figures.limit.is_none())),
    );
    text.push_str("# HELP portent_violations_total Violations, by property.\n# TYPE portent_violations_total counter\n");
    for property in &state.properties {
        let name = property
            .name
            .replace('\\', "\\\\")
            .replace('"', "\\\"")
            .replace('\n', "\\n");
        for (kind, count) in [
            ("observed", property.observed),
            ("predicted", property.predicted),
        ] {
            let _ = writeln!(
                text,
                "portent_violations_total{{property=\"{name}\",kind=\"{kind}\"}} {count}"
            );
        }
    }
    text
}
