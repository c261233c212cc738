//! The machine as a picture, in the language of Graphviz.

use std::fmt::Write;

use crate::{monitor::Monitor, verdict::Verdict};

impl Monitor {
    /// The machine as a Graphviz digraph: states coloured by verdict, edges labelled with conditions.
    ///
    /// ```
    /// use portent_monitor_dsl::Property;
    ///
    /// let dot = Property::parse("always !error")?.monitor()?.to_dot();
    /// assert!(dot.contains(r#"0 -> 1 [label="error"]"#));
    /// # Ok::<(), portent_monitor_dsl::Error>(())
    /// ```
    pub fn to_dot(&self) -> String {
        let mut dot = String::new();
        self.write_dot(&mut dot)
            .expect("writing to a string does not fail");
        dot
    }

    fn write_dot(&self, dot: &mut String) -> std::fmt::Result {
        writeln!(dot, "digraph {} {{", quote(self.property().name()))?;
        writeln!(dot, "    rankdir=LR;")?;
        writeln!(
            dot,
            "    node [shape=circle style=filled fontname=\"sans-serif\"];"
        )?;
        writeln!(dot, "    edge [fontname=\"monospace\"];")?;
        writeln!(dot, "    start [shape=point style=solid label=\"\"];")?;
        writeln!(dot, "    start -> {};", self.initial().index())?;
        for state in self.state_ids() {
            let verdict = self.verdict(state);
            let colour = match verdict {
                Verdict::Violated => "#f4a6a0",
                Verdict::Satisfied => "#a8d8a0",
                Verdict::Pending => "#f8e0a0",
                Verdict::Ok | Verdict::Unknown => "#ffffff",
            };
            let shape = if verdict.is_final() {
                "doublecircle"
            } else {
                "circle"
            };
            let id = state.index();
            writeln!(
                dot,
                "    {id} [label=\"{id}\\n{verdict}\" fillcolor=\"{colour}\" shape={shape}];"
            )?;
        }
        for state in self.state_ids() {
            for (to, when) in self.edges(state) {
                let label = quote(&self.spell(&when));
                writeln!(
                    dot,
                    "    {} -> {} [label={label}];",
                    state.index(),
                    to.index()
                )?;
            }
        }
        writeln!(dot, "}}")
    }
}

fn quote(text: &str) -> String {
    let escaped = text
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', " ");
    format!("\"{escaped}\"")
}
