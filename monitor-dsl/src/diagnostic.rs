//! Messages about a place in the text of a property.
//!
//! A message says what was found, where, what was expected, and, where that can be guessed, what
//! would be right. It carries the text it is about, so that it can be shown long after parsing.

#[cfg(feature = "snippets")]
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use std::{fmt, ops::Range, sync::Arc};

use crate::syntax::Span;

/// The text of properties and the name of the file it came from.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) file: Option<String>,
    pub(crate) text: Arc<str>,
}

/// A message about a place in the text of a property.
///
/// Displayed, it shows the line with a caret under the place:
///
/// ```
/// use portent_monitor_dsl::Property;
///
/// let error = Property::parse("always (w > 3 && w == \"high\")").unwrap_err();
/// let diagnostic = error.diagnostic().unwrap();
/// assert_eq!((diagnostic.line(), diagnostic.column()), (1, 18));
/// assert!(error.to_string().contains("cannot compare"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    source: Arc<Source>,
    span: Span,
    severity: Severity,
    message: String,
    label: String,
    help: Option<String>,
}

/// A warning whose source is known elsewhere.
#[cfg(feature = "serde")]
#[derive(serde::Serialize, serde::Deserialize)]
pub(crate) struct Unsourced {
    span: Span,
    message: String,
    label: String,
    help: Option<String>,
}

#[cfg(feature = "serde")]
impl Unsourced {
    pub(crate) fn with_source(self, source: &Arc<Source>) -> Diagnostic {
        Diagnostic {
            help: self.help,
            ..Diagnostic::warning(source, self.span, self.message, self.label)
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Severity {
    Error,
    Warning,
}

impl Diagnostic {
    pub(crate) fn error(
        source: &Arc<Source>,
        span: Span,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> Self {
        Diagnostic {
            source: source.clone(),
            span,
            severity: Severity::Error,
            message: message.into(),
            label: label.into(),
            help: None,
        }
    }

    pub(crate) fn warning(
        source: &Arc<Source>,
        span: Span,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> Self {
        let severity = Severity::Warning;
        Diagnostic {
            severity,
            ..Diagnostic::error(source, span, message, label)
        }
    }

    /// What there is to know of it besides its source, which several have in common.
    #[cfg(feature = "serde")]
    pub(crate) fn without_source(&self) -> Unsourced {
        Unsourced {
            span: self.span,
            message: self.message.clone(),
            label: self.label.clone(),
            help: self.help.clone(),
        }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// What is wrong, in one line.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What would be right, if that can be guessed.
    pub fn suggestion(&self) -> Option<&str> {
        self.help.as_deref()
    }

    /// The file, if the text came from one.
    pub fn file(&self) -> Option<&str> {
        self.source.file.as_deref()
    }

    /// The line of the place, from 1.
    pub fn line(&self) -> usize {
        self.before().matches('\n').count() + 1
    }

    /// The column of the place in characters, from 1.
    pub fn column(&self) -> usize {
        let line_start = self.before().rfind('\n').map_or(0, |newline| newline + 1);
        self.before()[line_start..].chars().count() + 1
    }

    /// The place as a range of bytes of the text that was parsed.
    ///
    /// ```
    /// use portent_monitor_dsl::Property;
    ///
    /// let text = "always (w > 3 && w == \"high\")";
    /// let error = Property::parse(text).unwrap_err();
    /// assert_eq!(&text[error.diagnostic().unwrap().span()], "w == \"high\"");
    /// ```
    pub fn span(&self) -> Range<usize> {
        self.span.start..self.span.end
    }

    /// The text that the message is about.
    pub fn offending(&self) -> &str {
        &self.source.text[self.span()]
    }

    fn before(&self) -> &str {
        &self.source.text[..self.span.start]
    }

    /// The message with its place, in a line or two.
    #[cfg(not(feature = "snippets"))]
    fn plain(&self) -> String {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let file = self
            .file()
            .map_or_else(String::new, |file| format!("{file}:"));
        let (line, column) = (self.line(), self.column());
        let (message, label) = (&self.message, &self.label);
        let mut text = format!("{severity}: {message}\n --> {file}{line}:{column}: {label}");
        if let Some(help) = &self.help {
            text += &format!("\n  = help: {help}");
        }
        text
    }

    /// The message with the source line and a caret, in colour if asked; without the feature
    /// `snippets` only with the numbers of line and column.
    #[cfg(not(feature = "snippets"))]
    pub fn render(&self, _colour: bool) -> String {
        self.plain()
    }

    /// The message with the source line and a caret, in colour if asked; without the feature
    /// `snippets` only with the numbers of line and column.
    #[cfg(feature = "snippets")]
    pub fn render(&self, colour: bool) -> String {
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let annotation = AnnotationKind::Primary
            .span(self.span())
            .label(&*self.label);
        let snippet = Snippet::source(&*self.source.text)
            .path(self.source.file.as_deref())
            .annotation(annotation);
        let mut group: Group = level.primary_title(&*self.message).element(snippet);
        if let Some(help) = &self.help {
            group = group.element(Level::HELP.message(&**help));
        }
        let renderer = if colour {
            Renderer::styled()
        } else {
            Renderer::plain()
        };
        renderer.render(&[group])
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}
