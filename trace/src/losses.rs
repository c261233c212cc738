//! The losses of a conversion: data that the new format has no place for.
//!
//! An event that a format cannot express at all is an error. An optional detail of an event, such as a value or a
//! source location, is left out, counted and reported, and so are initial values, because a trace
//! without its values is often all that the other tool needs.

use portent_monitor_core::{Event, Op};

use crate::{Format, Header};

/// The data of a trace that its new format had no place for; native has a place for everything.
///
/// ```
/// use portent_monitor_core::Symbols;
/// use portent_trace::{Compression, Format, Options, TraceReader, TraceWriter, convert};
///
/// let text = "{\"portent\": 1, \"init\": {\"x\": 0}}\n\
///             {\"t\": 1, \"op\": \"write\", \"var\": \"x\", \"val\": 3, \"time\": 17}\n";
/// let mut from = TraceReader::new("a.jsonl", text.as_bytes(), &Options::default())?;
/// let mut to = TraceWriter::new("a.std", Vec::new(), Format::Std, Compression::None)?;
/// let mut symbols = Symbols::default();
/// convert(&mut from, &mut to, &mut symbols)?;
/// let losses = to.losses(&symbols);
/// let lost = "1 initial value, 1 written value and 1 time";
/// assert_eq!(losses.in_words().as_deref(), Some(lost));
/// # Ok::<(), portent_trace::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Losses {
    /// Initial values of variables.
    pub initial: u64,
    /// Values that were written to variables.
    pub values: u64,
    /// Texts of log lines.
    pub texts: u64,
    /// Source locations.
    pub locations: u64,
    /// Times.
    pub times: u64,
    /// Keys unknown to Portent.
    pub keys: u64,
    /// Marks that an access was of an atomic, or that a lock was taken by a try.
    pub marks: u64,
    /// Additional threads of an event.
    pub partners: u64,
    /// The kinds of names that became numbers.
    pub names: Vec<&'static str>,
}

impl Losses {
    /// Counts the lost parts of a header; only native has one.
    pub(crate) fn count_header(&mut self, header: &Header, format: Format) {
        if format != Format::Native {
            self.initial += header.init.len() as u64;
        }
    }

    /// Counts the lost parts of an event that was written in this format.
    pub(crate) fn count(&mut self, event: &Event, format: Format) {
        if format == Format::Native {
            return;
        }
        let known = |value: Option<_>| u64::from(value.is_some());
        self.values += event.writes().map(|(_, value)| known(value)).sum::<u64>();
        self.times += u64::from(event.time.is_some());
        self.marks += u64::from(event.mark.is_some());
        self.partners += event.partners().len() as u64;
        let details = event.details.as_deref();
        self.keys += details.map_or(0, |details| details.extra.len() as u64);
        match format {
            // A log has the location in its text if that is made from the operation.
            Format::ShiViz => {
                let told = event.text().is_none() && !matches!(event.op, Op::Stamped(_));
                self.locations += u64::from(event.loc.is_some() && !told);
            }
            _ => self.texts += u64::from(event.text().is_some()),
        }
    }

    /// "3 written values and 1 time", or `None` if nothing was lost.
    pub fn in_words(&self) -> Option<String> {
        let counts = [
            (self.initial, "initial value"),
            (self.values, "written value"),
            (self.texts, "text"),
            (self.locations, "location"),
            (self.times, "time"),
            (self.keys, "other key"),
            (self.marks, "mark of an atomic or a try"),
            (self.partners, "partner in an event"),
        ];
        let counts = counts.into_iter().filter(|(count, _)| *count > 0);
        let mut parts: Vec<String> = counts
            .map(|(count, thing)| match count {
                1 => format!("1 {thing}"),
                _ => match thing.split_once(' ') {
                    // "2 marks of an atomic", not "2 mark of an atomics".
                    Some((thing @ ("mark" | "partner"), rest)) => {
                        format!("{count} {thing}s {rest}")
                    }
                    _ => format!("{count} {thing}s"),
                },
            })
            .collect();
        if !self.names.is_empty() {
            parts.push(format!("the names of {}", join(&self.names)));
        }
        (!parts.is_empty()).then(|| join(&parts))
    }
}

/// "a", "a and b", "a, b and c".
fn join(parts: &[impl AsRef<str>]) -> String {
    let parts: Vec<&str> = parts.iter().map(AsRef::as_ref).collect();
    match parts.as_slice() {
        [most @ .., last] if !most.is_empty() => format!("{} and {last}", most.join(", ")),
        parts => parts.concat(),
    }
}
