//! A page about one failed run: what each thread did, step by step, where in the source, and how to repeat it.
//!
//! It is just a table, so unlike the page of a report it needs no script.

use super::{Origin, PAGE_STYLE, clip, filled, head};

/// A failed run, for display.
#[derive(Clone, Debug)]
pub struct Schedule<'a> {
    /// The explored program.
    pub title: &'a str,
    /// What went wrong.
    pub message: &'a str,
    /// The names of threads.
    pub threads: &'a [String],
    /// The steps of the threads, in order.
    pub steps: Vec<ScheduledStep<'a>>,
    /// A command that repeats the run.
    pub command: &'a str,
    /// Further notes.
    pub notes: Vec<String>,
}

/// A step of a thread.
#[derive(Clone, Copy, Debug)]
pub struct ScheduledStep<'a> {
    /// Its index among those that have a name.
    pub thread: usize,
    /// The operation.
    pub operation: &'a str,
    /// Its arguments; may be empty.
    pub object: &'a str,
    /// The source location.
    pub place: Option<&'a str>,
}

/// Of a longer run, only this many last steps are shown.
const SHOWN: usize = 3_000;

const DOCUMENT: &str = include_str!("schedule.html");
const STYLE: &str = include_str!("schedule.css");

impl Schedule<'_> {
    /// The page.
    ///
    /// ```
    /// use portent_answer::html::{Origin, Schedule, ScheduledStep};
    ///
    /// let threads = ["main".to_owned()];
    /// let step = ScheduledStep { thread: 0, operation: "read", object: "x", place: Some("src/lib.rs:3:5") };
    /// let page = Schedule { title: "a_test", message: "x < 1", threads: &threads, steps: vec![step], command: "cargo test a_test", notes: vec![] };
    /// let page = page.page(&Origin::of("cargo test")?);
    /// assert!(page.contains("x &lt; 1") && page.contains("src/lib.rs:3:5"));
    /// # Ok::<(), portent_answer::Error>(())
    /// ```
    #[must_use]
    pub fn page(&self, origin: &Origin) -> String {
        let notes: String = { self.notes.iter() }
            .map(|note| format!("<li>{}</li>\n", escaped(note)))
            .collect();
        let title = escaped(self.title);
        let message = escaped(&clip(self.message, 20_000));
        let (command, origin) = (escaped(self.command), escaped(&origin.sentence()));
        let table = self.table();
        let parts = [
            ("<!--heading-->", title.as_str()),
            ("<!--message-->", message.as_str()),
            ("<!--command-->", command.as_str()),
            ("<!--notes-->", notes.as_str()),
            ("<!--table-->", table.as_str()),
            ("<!--origin-->", origin.as_str()),
        ];
        head(&title, "", &[PAGE_STYLE, STYLE]) + &filled(DOCUMENT, &parts)
    }

    /// A table with one column per acting thread and one row per step.
    fn table(&self) -> String {
        let columns: Vec<usize> = (0..self.threads.len())
            .filter(|thread| self.steps.iter().any(|step| step.thread == *thread))
            .collect();
        let mut table = String::from("<table>\n<thead><tr><th>step</th>");
        for &thread in &columns {
            table += &format!("<th>{}</th>", escaped(&clip(&self.threads[thread], 100)));
        }
        table += "<th>where</th></tr></thead>\n<tbody>\n";
        let first = self.steps.len().saturating_sub(SHOWN);
        if first > 0 {
            let width = columns.len() + 2;
            table += &format!(
                "<tr><td colspan=\"{width}\" class=\"gap\">the first {first} steps are not shown</td></tr>\n"
            );
        }
        let mut last = None;
        for (number, step) in self.steps.iter().enumerate().skip(first) {
            let class = if last == Some(step.thread) {
                ""
            } else {
                " class=\"other\""
            };
            last = Some(step.thread);
            table += &format!("<tr{class}><td class=\"number\">{}</td>", number + 1);
            for &thread in &columns {
                if thread == step.thread {
                    table += &format!(
                        "<td class=\"step\"><b>{}</b> {}</td>",
                        escaped(step.operation),
                        escaped(&clip(step.object, 300))
                    );
                } else {
                    table += "<td></td>";
                }
            }
            let place = step.place.unwrap_or_default();
            table += &format!("<td class=\"place\">{}</td></tr>\n", escaped(place));
        }
        table + "</tbody>\n</table>"
    }
}

/// Escapes a text for a document: nothing in it is markup.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_a_program_calls_its_things_is_text() {
        let threads = ["<script>alert(1)</script>".to_owned(), "idle".to_owned()];
        let steps = vec![
            ScheduledStep {
                thread: 0,
                operation: "lock",
                object: "\"m\" <b>",
                place: None,
            };
            SHOWN + 7
        ];
        let page = Schedule {
            title: "<!--message-->",
            message: "a & b",
            threads: &threads,
            steps,
            command: "PORTENT_REPLAY=p1-IQ-abcdef cargo test -- '<x>'",
            notes: vec!["a <note>".to_owned()],
        };
        let page = page.page(&Origin::of("cargo test").unwrap());
        assert!(!page.contains("<script") && !page.contains("<note>") && !page.contains("<x>"));
        assert!(page.contains("&lt;!--message--&gt;") && page.contains("a &amp; b"));
        assert!(page.contains("the first 7 steps are not shown"));
        assert!(!page.contains("idle"), "who does nothing has no column");
    }
}
