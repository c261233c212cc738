//! Colours, or none.

/// Puts colour around words, if the reader wants any.
#[derive(Clone, Copy)]
pub struct Paint {
    /// Whether there is any.
    pub on: bool,
}

impl Paint {
    /// What names something.
    pub fn bold(self, text: &str) -> String {
        self.with("1", text)
    }

    /// What is there for completeness.
    pub fn dim(self, text: &str) -> String {
        self.with("2", text)
    }

    /// What is bad.
    pub fn red(self, text: &str) -> String {
        self.with("1;31", text)
    }

    /// What is good.
    pub fn green(self, text: &str) -> String {
        self.with("32", text)
    }

    /// What to look at.
    pub fn yellow(self, text: &str) -> String {
        self.with("33", text)
    }

    /// Code.
    pub fn cyan(self, text: &str) -> String {
        self.with("36", text)
    }

    fn with(self, code: &str, text: &str) -> String {
        if self.on && !text.is_empty() {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}
