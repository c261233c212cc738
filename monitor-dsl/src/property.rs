//! A property: text that was parsed, with every name and type checked.

use rustc_hash::FxHashSet;
use std::{fmt, sync::Arc};

#[cfg(feature = "serde")]
use crate::diagnostic::Unsourced;
use crate::{
    alphabet::Alphabet,
    config::Config,
    diagnostic::{Diagnostic, Source},
    error::Error,
    monitor::Monitor,
    resolve::{self, Resolved, ResolvedBody},
    spelling, syntax,
};

/// A checked property.
///
/// Cheap to clone. Parse a bare formula with [`Property::parse`], a file of properties with
/// [`Property::parse_file`], and continue with [`Property::monitor`].
///
/// ```
/// use portent_monitor_dsl::{Kind, Property};
///
/// let file = r#"
///     property file(f) {
///         event open(f), read(f), close(f)
///         ere: (open read* close)*
///     }
/// "#;
/// let properties = Property::parse_file("files.portent", file)?;
/// assert_eq!(properties[0].name(), "file");
/// assert_eq!(properties[0].parameters(), ["f"]);
/// assert_eq!(properties[0].kind(), Kind::Ere);
/// # Ok::<(), portent_monitor_dsl::Error>(())
/// ```
#[derive(Clone)]
pub struct Property(Arc<Checked>);

struct Checked {
    origin: Origin,
    source: Arc<Source>,
    name: String,
    /// The place of the whole property in the text.
    span: syntax::Span,
    resolved: Resolved,
}

/// What is needed to parse the property again.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Origin {
    file: Option<String>,
    text: Arc<str>,
    /// Which of the properties in the text.
    index: usize,
}

/// A property that is not read again: its text is only shown.
#[cfg(feature = "serde")]
#[derive(serde::Serialize, serde::Deserialize)]
pub(crate) struct SealedProperty {
    origin: Origin,
    name: String,
    /// Whether it was given that name.
    has_name: bool,
    span: syntax::Span,
    parameters: Vec<String>,
    inequalities: Vec<(usize, usize)>,
    alphabet: Alphabet,
    body: ResolvedBody,
    body_span: syntax::Span,
    definitions: Vec<(String, syntax::Span)>,
    warnings: Vec<Unsourced>,
}

#[cfg(feature = "serde")]
impl From<SealedProperty> for Property {
    fn from(sealed: SealedProperty) -> Property {
        let source = Arc::new(Source {
            file: sealed.origin.file.clone(),
            text: sealed.origin.text.clone(),
        });
        let warnings = sealed.warnings.into_iter();
        let resolved = Resolved {
            name: sealed.has_name.then(|| sealed.name.clone()),
            parameters: sealed.parameters,
            inequalities: sealed.inequalities,
            alphabet: sealed.alphabet,
            body: sealed.body,
            span: sealed.body_span,
            definitions: sealed.definitions,
            warnings: warnings.map(|one| one.with_source(&source)).collect(),
        };
        Property(Arc::new(Checked {
            origin: sealed.origin,
            source,
            name: sealed.name,
            span: sealed.span,
            resolved,
        }))
    }
}

/// The kind of body that a property has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Kind {
    /// `ltl:`, or nothing in a bare formula.
    Ltl,
    /// `ere:`.
    Ere,
    /// `never:`.
    Never,
    /// `pattern:`.
    Pattern,
}

impl Kind {
    /// The word that begins such a body.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Ltl => "ltl",
            Kind::Ere => "ere",
            Kind::Never => "never",
            Kind::Pattern => "pattern",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Property {
    /// Reads a bare formula, or a text with exactly one `property`.
    pub fn parse(text: impl AsRef<[u8]>) -> Result<Property, Error> {
        let source = syntax::decode(None, text.as_ref())?;
        if !syntax::begins_property(&source) {
            let tree = syntax::parse_bare(&source)?;
            return Property::check(&source, &tree, 0);
        }
        let trees = syntax::parse_file(&source)?;
        if let [_, second, ..] = trees.as_slice() {
            let message = "expected one property, found several";
            let diagnostic = Diagnostic::error(&source, second.span, message, "the second");
            return Err(Error::syntax(diagnostic));
        }
        Property::check(&source, &trees[0], 0)
    }

    /// Reads the properties of a file; its name is for messages only.
    pub fn parse_file(name: &str, text: impl AsRef<[u8]>) -> Result<Vec<Property>, Error> {
        let source = syntax::decode(Some(name), text.as_ref())?;
        let trees = syntax::parse_file(&source)?;
        let mut names = FxHashSet::default();
        for tree in &trees {
            let name = tree.name.as_ref().expect("properties of a file have names");
            if !names.insert(&name.text) {
                let message = format!("two properties are named `{}`", name.text);
                let diagnostic = Diagnostic::error(&source, name.span, message, "the second");
                return Err(Error::meaning(diagnostic));
            }
        }
        let check = |(index, tree)| Property::check(&source, tree, index);
        trees.iter().enumerate().map(check).collect()
    }

    fn check(
        source: &Arc<Source>,
        tree: &syntax::PropertyTree,
        index: usize,
    ) -> Result<Property, Error> {
        let resolved = resolve::resolve(source, tree)?;
        let name = match &resolved.name {
            Some(name) => name.clone(),
            None => source.text.split_whitespace().collect::<Vec<_>>().join(" "),
        };
        let origin = Origin {
            file: source.file.clone(),
            text: source.text.clone(),
            index,
        };
        Ok(Property(Arc::new(Checked {
            origin,
            source: source.clone(),
            name,
            span: tree.span,
            resolved,
        })))
    }

    /// Reads a property again from where it came from.
    #[cfg(feature = "serde")]
    pub(crate) fn from_origin(origin: &Origin) -> Result<Property, Error> {
        match &origin.file {
            None => Property::parse(&*origin.text),
            Some(file) => {
                let mut properties = Property::parse_file(file, &*origin.text)?;
                let index = origin.index.min(properties.len() - 1);
                Ok(properties.swap_remove(index))
            }
        }
    }

    /// All that was found out when it was read.
    #[cfg(feature = "serde")]
    pub(crate) fn seal(&self) -> SealedProperty {
        let Resolved {
            name: _,
            parameters,
            inequalities,
            alphabet,
            body,
            span,
            definitions,
            warnings,
        } = &self.0.resolved;
        SealedProperty {
            origin: self.0.origin.clone(),
            name: self.0.name.clone(),
            has_name: self.0.resolved.name.is_some(),
            span: self.0.span,
            parameters: parameters.clone(),
            inequalities: inequalities.clone(),
            alphabet: alphabet.clone(),
            body: body.clone(),
            body_span: *span,
            definitions: definitions.clone(),
            warnings: warnings.iter().map(Diagnostic::without_source).collect(),
        }
    }

    pub(crate) fn origin(&self) -> &Origin {
        &self.0.origin
    }

    /// The name; for a bare formula, its text.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// What the body is.
    pub fn kind(&self) -> Kind {
        match &self.0.resolved.body {
            ResolvedBody::Ltl { pattern: None, .. } => Kind::Ltl,
            ResolvedBody::Ltl {
                pattern: Some(_), ..
            } => Kind::Pattern,
            ResolvedBody::Ere {
                mode: crate::ere::Mode::Prefix,
                ..
            } => Kind::Ere,
            ResolvedBody::Ere {
                mode: crate::ere::Mode::Never,
                ..
            } => Kind::Never,
        }
    }

    /// The names of the parameters. A property with parameters has one monitor instance for every
    /// combination of their values.
    pub fn parameters(&self) -> &[String] {
        &self.0.resolved.parameters
    }

    /// The pairs of parameters that `where` says differ, by their places in
    /// [`parameters`](Property::parameters): other bindings are no instances.
    ///
    /// ```
    /// # use portent_monitor_dsl::Property;
    /// let text = "property p(t, u, f) where t != u { event a(f) by t, b(f) by u  ltl: always (b -> once a) }";
    /// assert_eq!(Property::parse(text)?.inequalities(), [(0, 1)]);
    /// # Ok::<(), portent_monitor_dsl::Error>(())
    /// ```
    pub fn inequalities(&self) -> &[(usize, usize)] {
        &self.0.resolved.inequalities
    }

    /// What `where` says, each inequality as it is written.
    pub(crate) fn constraint_texts(&self) -> Vec<String> {
        let name = |index: usize| spelling::name(&self.parameters()[index]);
        let pairs = self.inequalities().iter();
        pairs
            .map(|&(one, other)| format!("{} != {}", name(one), name(other)))
            .collect()
    }

    /// The letters that the property reads.
    pub fn alphabet(&self) -> &Alphabet {
        &self.0.resolved.alphabet
    }

    /// What is suspicious about the text but not wrong: names that are declared and not used.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.0.resolved.warnings
    }

    /// The text of the body.
    pub fn text(&self) -> &str {
        let span = self.0.resolved.span;
        &self.0.source.text[span.start..span.end]
    }

    /// The whole text: the name, the parameters and the declarations with the body.
    ///
    /// ```
    /// # use portent_monitor_dsl::Property;
    /// let file = "property low { var w: int = 0  ltl: always (w < 30) }\n";
    /// let property = Property::parse(file)?;
    /// assert_eq!(property.full_text(), file.trim());
    /// assert_eq!(property.text(), "always (w < 30)");
    /// # Ok::<(), portent_monitor_dsl::Error>(())
    /// ```
    pub fn full_text(&self) -> &str {
        let span = self.0.span;
        self.0.source.text[span.start..span.end].trim()
    }

    /// The names that `let` gives to propositions, in their order, each with its value as it was
    /// written.
    ///
    /// ```
    /// # use portent_monitor_dsl::Property;
    /// let text = "property low { var w: int = 0  let high = w > 30  ltl: always !high }";
    /// let property = Property::parse(text)?;
    /// assert_eq!(property.definitions().collect::<Vec<_>>(), [("high", "w > 30")]);
    /// # Ok::<(), portent_monitor_dsl::Error>(())
    /// ```
    pub fn definitions(&self) -> impl Iterator<Item = (&str, &str)> {
        let text = &self.0.source.text;
        let definitions = self.0.resolved.definitions.iter();
        definitions.map(|(name, span)| (name.as_str(), text[span.start..span.end].trim()))
    }

    /// The name of the file that it was read from, if it was.
    ///
    /// ```
    /// # use portent_monitor_dsl::Property;
    /// let file = Property::parse_file("a.portent", "property a { event x  ltl: always x }")?;
    /// assert_eq!(file[0].file(), Some("a.portent"));
    /// assert_eq!(Property::parse("always x")?.file(), None);
    /// # Ok::<(), portent_monitor_dsl::Error>(())
    /// ```
    pub fn file(&self) -> Option<&str> {
        self.0.source.file.as_deref()
    }

    /// The minimal monitor, with the limits and the four verdicts of [`Config::new`].
    pub fn monitor(&self) -> Result<Monitor, Error> {
        Config::new().monitor(self)
    }

    pub(crate) fn body(&self) -> &ResolvedBody {
        &self.0.resolved.body
    }

    pub(crate) fn source(&self) -> &Arc<Source> {
        &self.0.source
    }

    pub(crate) fn body_span(&self) -> syntax::Span {
        self.0.resolved.span
    }
}

impl fmt::Debug for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Property")
            .field("name", &self.name())
            .field("kind", &self.kind())
            .field("text", &self.text())
            .finish()
    }
}
