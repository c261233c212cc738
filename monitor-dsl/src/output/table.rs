//! The machine as a table for people.

use std::fmt::Write;

use crate::monitor::Monitor;

impl Monitor {
    /// How many states [`to_table`](Self::to_table) shows at most.
    pub const TABLE_STATES: usize = 40;

    /// How many edges of a state [`to_table`](Self::to_table) shows at most.
    pub const TABLE_EDGES: usize = 100;

    /// The machine as a table with one line for each edge; of large machines, the first states, and of
    /// states with many edges, the first of these.
    ///
    /// ```
    /// use portent_monitor_dsl::Property;
    ///
    /// let table = Property::parse("always !error")?.monitor()?.to_table();
    /// assert!(table.contains("error"));
    /// # Ok::<(), portent_monitor_dsl::Error>(())
    /// ```
    pub fn to_table(&self) -> String {
        let mut rows = vec![[
            "state".into(),
            "verdict".into(),
            "goes to".into(),
            "when".into(),
        ]];
        for state in self.state_ids().take(Self::TABLE_STATES) {
            let edges = self.edges(state);
            for (index, (to, when)) in edges.iter().take(Self::TABLE_EDGES).enumerate() {
                let mut row = [
                    String::new(),
                    String::new(),
                    to.index().to_string(),
                    self.spell(when),
                ];
                if index == 0 {
                    row[0] = state.index().to_string();
                    row[1] = self.verdict(state).to_string();
                }
                rows.push(row);
            }
            if edges.len() > Self::TABLE_EDGES {
                let more = edges.len() - Self::TABLE_EDGES;
                let last = format!("... and {more} more edges");
                rows.push([String::new(), String::new(), String::new(), last]);
            }
        }
        let width = |column: usize| {
            rows.iter()
                .map(|row: &[String; 4]| row[column].chars().count())
                .max()
                .unwrap_or(0)
        };
        let widths = [width(0), width(1), width(2)];
        let mut table = String::new();
        for row in &rows {
            let line = format!(
                "  {:>a$}  {:<b$}  {:>c$}  {}",
                row[0],
                row[1],
                row[2],
                row[3],
                a = widths[0],
                b = widths[1],
                c = widths[2]
            );
            writeln!(table, "{}", line.trim_end()).expect("writing to a string does not fail");
        }
        if self.states() > Self::TABLE_STATES {
            let more = self.states() - Self::TABLE_STATES;
            writeln!(table, "  ... and {more} more states")
                .expect("writing to a string does not fail");
        }
        table
    }
}
