//! Regular expressions over the texts of log lines.
//!
//! Only programs that read texts need to compile them: a build without the feature `regex` refuses properties
//! that contain some.

#[cfg(feature = "regex")]
use regex::Regex;

/// A regular expression over the text of an event.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(into = "String", try_from = "String"))]
pub struct TextPattern {
    text: String,
    #[cfg(feature = "regex")]
    regex: Regex,
}

impl TextPattern {
    /// The expression as it is written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The compiled expression.
    #[cfg(feature = "regex")]
    pub fn regex(&self) -> &Regex {
        &self.regex
    }

    /// Whether it has a group of this name.
    pub(crate) fn has_group(&self, name: &str) -> bool {
        #[cfg(feature = "regex")]
        let found = self.regex.capture_names().flatten().any(|n| n == name);
        #[cfg(not(feature = "regex"))]
        let found = self.text.contains(&format!("<{name}>"));
        found
    }
}

impl PartialEq for TextPattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl From<TextPattern> for String {
    fn from(pattern: TextPattern) -> String {
        pattern.text
    }
}

impl TryFrom<String> for TextPattern {
    type Error = NoPattern;

    #[cfg(feature = "regex")]
    fn try_from(text: String) -> Result<Self, NoPattern> {
        match Regex::new(&text) {
            Ok(regex) => Ok(TextPattern { text, regex }),
            Err(error) => Err(NoPattern {
                problem: "this is not a regular expression of the `regex` crate",
                why: error.to_string(),
            }),
        }
    }

    #[cfg(not(feature = "regex"))]
    fn try_from(_: String) -> Result<Self, NoPattern> {
        Err(NoPattern {
            problem: "regular expressions are not part of this build",
            why: "the feature `regex` adds them".to_owned(),
        })
    }
}

/// Why a text is no [`TextPattern`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}: {why}")]
pub struct NoPattern {
    pub(crate) problem: &'static str,
    pub(crate) why: String,
}
