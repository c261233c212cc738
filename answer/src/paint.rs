//! Colours, or none.

/// Puts colour around words, if the reader wants colours.
#[derive(Clone, Copy)]
pub struct Paint {
    /// Whether there are colours.
    pub on: bool,
}

impl Paint {
    /// Names of things.
    pub fn bold(self, text: &str) -> String {
        self.with("1", text)
    }

    /// Secondary information.
    pub fn dim(self, text: &str) -> String {
        self.with("2", text)
    }

    /// Bad news.
    pub fn red(self, text: &str) -> String {
        self.with("1;31", text)
    }

    /// Good news.
    pub fn green(self, text: &str) -> String {
        self.with("32", text)
    }

    /// Points of interest.
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
