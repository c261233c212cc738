//! The names of `portent check`'s options, as sentences use them.

use portent_answer::Switches;

/// The options of the command.
pub(crate) const SWITCHES: Switches = Switches {
    complete: "--complete",
    strong: "--causality strong",
    maximal: "--causality maximal",
    window: "--window",
    lookahead: Some("--lookahead"),
    memory: Some("--memory"),
    time: Some("--time"),
    max_nodes: Some("--max-nodes"),
    max_bindings: Some("--max-bindings"),
    count: Some("--count always"),
    all: Some("--all"),
    json: Some("--format json"),
};
