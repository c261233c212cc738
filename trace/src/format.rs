//! The formats, and how to recognise them by their content.

use std::{fmt, str::FromStr};

use crate::{
    kairos::looks_like_kairos,
    shiviz::{Layout, looks_like_parser},
};

/// A trace format, without its compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// One JSON object a line.
    Native,
    /// The text format of the RAPID tools: `T1|w(V2)|345`.
    Std,
    /// The binary form of the same.
    RapidBinary,
    /// A log with vector clocks in the style of ShiViz, TSViz and GoVector.
    ShiViz,
    /// The JSON document of the PoET tool; can only be read.
    Poet,
    /// The CSV file of the Kairos tool; can only be read.
    Kairos,
}

impl Format {
    /// Its name for users.
    pub fn name(self) -> &'static str {
        match self {
            Format::Native => "native",
            Format::Std => "std",
            Format::RapidBinary => "rapid-binary",
            Format::ShiViz => "shiviz",
            Format::Poet => "poet",
            Format::Kairos => "kairos",
        }
    }

    /// The formats in the order in which they are tried.
    pub const ALL: [Format; 6] = [
        Format::Native,
        Format::Std,
        Format::RapidBinary,
        Format::ShiViz,
        Format::Poet,
        Format::Kairos,
    ];

    /// Recognises the format of a file from its first bytes.
    ///
    /// ```
    /// use portent_trace::Format;
    ///
    /// assert_eq!(Format::detect(b"T1|w(V2)|345\n"), Some(Format::Std));
    /// assert_eq!(Format::detect(b"{\"t\": 1, \"op\": \"read\", \"var\": \"x\"}"), Some(Format::Native));
    /// assert_eq!(Format::detect(b"alice {\"alice\":1}\nhello\n"), Some(Format::ShiViz));
    /// assert_eq!(Format::detect(b"Dear diary,\n"), None);
    /// ```
    pub fn detect(start: &[u8]) -> Option<Format> {
        // The binary header begins with the number of threads, of which there are at most 1024, in
        // two bytes; a text does not begin this way, though there may be a zero byte further on.
        if start.first().is_some_and(|&byte| byte <= 4) {
            return Some(Format::RapidBinary);
        }
        let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
        // The sample may end in the middle of a character.
        let text = match std::str::from_utf8(start) {
            Ok(text) => text,
            Err(error) => std::str::from_utf8(&start[..error.valid_up_to()]).unwrap_or(""),
        };
        let Some(line) = text.lines().find(|line| !line.trim().is_empty()) else {
            // An empty file is a native trace without events.
            return start.trim_ascii().is_empty().then_some(Format::Native);
        };
        if line.trim_start().starts_with('{') {
            let whole_object = line.trim_end().ends_with('}');
            let document = text.contains("\"events\"") && !text.contains("\"t\"");
            return Some(
                if document && !(whole_object && line.contains("\"portent\"")) {
                    Format::Poet
                } else {
                    Format::Native
                },
            );
        }
        if looks_like_parser(line) {
            return Some(Format::ShiViz);
        }
        if looks_like_kairos(line) {
            return Some(Format::Kairos);
        }
        if looks_like_std(line) {
            return Some(Format::Std);
        }
        Layout::detect(text.lines(), false).map(|_| Format::ShiViz)
    }
}

impl Format {
    /// The format of a stream whose first line suffices to recognise it, so that reading need not wait for more.
    pub(crate) fn of_line(start: &[u8]) -> Option<Format> {
        let (line, _) = std::str::from_utf8(start).ok()?.split_once('\n')?;
        let line = line.trim();
        let is_native = line.starts_with('{')
            && line.ends_with('}')
            && ["\"t\"", "\"portent\""]
                .iter()
                .any(|key| line.contains(key));
        if is_native {
            return Some(Format::Native);
        }
        let is_std = looks_like_std(line) && !looks_like_parser(line) && !looks_like_kairos(line);
        is_std.then_some(Format::Std)
    }
}

fn looks_like_std(line: &str) -> bool {
    let mut fields = line.split('|');
    let (Some(thread), Some(op)) = (fields.next(), fields.next()) else {
        return false;
    };
    let word = op.trim().split('(').next().unwrap_or("");
    !thread.trim().is_empty() && crate::rapid::is_word(word)
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A word that names no format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown trace format `{0}`; there are native, std, rapid-binary, shiviz, poet, kairos")]
pub struct UnknownFormatName(String);

impl FromStr for Format {
    type Err = UnknownFormatName;

    fn from_str(name: &str) -> Result<Format, UnknownFormatName> {
        match name {
            "jsonl" => Ok(Format::Native),
            "rapid" => Ok(Format::Std),
            "binary" => Ok(Format::RapidBinary),
            "govector" | "tsviz" => Ok(Format::ShiViz),
            _ => Format::ALL
                .into_iter()
                .find(|format| format.name() == name)
                .ok_or_else(|| UnknownFormatName(name.to_owned())),
        }
    }
}
