//! From the syntax tree to a checked property: what names mean, whether types fit.
//!
//! [`declare`] enters declarations and [`event`] those of events, [`infer`] finds types for the undeclared variables of bare formulas,
//! [`formula`] resolves formulas and regular expressions, [`compare`] turns comparisons into
//! conditions on gauges, [`pattern`] writes out specification patterns and
//! [`offence`] says what breaks them.

mod compare;
mod declare;
mod event;
mod formula;
mod infer;
mod offence;
mod pattern;

use portent_monitor_core::Type;
use rustc_hash::FxHashMap;
use std::sync::Arc;

use crate::{
    alphabet::{Alphabet, AlphabetBuilder, EventId, StateVariable, VariableId},
    diagnostic::{Diagnostic, Source},
    ere::{Ere, Mode},
    error::Error,
    ltl::{Ltl, Size},
    suggest,
    syntax::{Body, EreTree, Expression, PropertyTree, Span},
};

/// A property may have this many names: parameters, declarations, and propositions.
const MAX_NAMES: usize = 1_000;
/// With its definitions written out, a property may have this many operators and operands.
const MAX_WRITTEN_OUT: usize = 1 << 17;

/// A property with everything checked.
pub(crate) struct Resolved {
    pub(crate) name: Option<String>,
    pub(crate) parameters: Vec<String>,
    /// Pairs of parameters that differ in every instance.
    pub(crate) inequalities: Vec<(usize, usize)>,
    pub(crate) alphabet: Alphabet,
    pub(crate) body: ResolvedBody,
    /// The place of the body in the text.
    pub(crate) span: Span,
    /// The `let` names, each with the place of its value in the text.
    pub(crate) definitions: Vec<(String, Span)>,
    pub(crate) warnings: Vec<Diagnostic>,
}

#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum ResolvedBody {
    Ltl {
        formula: Ltl,
        pattern: Option<WrittenPattern>,
    },
    Ere {
        expression: Ere,
        mode: Mode,
    },
}

/// That a formula was written as a specification pattern.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct WrittenPattern {
    /// What a run does that breaks it, in words; `None` where no finite run does.
    pub(crate) offence: Option<String>,
}

/// What a name stands for.
#[derive(Clone)]
enum Symbol {
    Event(EventId),
    /// By its place among the declared variables.
    Variable(usize),
    Let(usize),
}

/// A name that was declared, and where.
struct Entry {
    symbol: Symbol,
    span: Span,
    used: bool,
}

struct Definition {
    name: String,
    value: Expression,
    span: Span,
    /// What it stands for and how large that is, once it was used.
    resolved: Option<(Ltl, Size)>,
}

struct DeclaredVariable {
    variable: StateVariable,
    /// Its place in the alphabet, once the body mentions it.
    id: Option<VariableId>,
}

struct Resolver<'a> {
    source: &'a Arc<Source>,
    symbols: FxHashMap<String, Entry>,
    variables: Vec<DeclaredVariable>,
    definitions: Vec<Definition>,
    parameters: Vec<String>,
    inequalities: Vec<(usize, usize)>,
    builder: AlphabetBuilder,
    /// Nothing is declared: names mean what their use implies.
    bare: bool,
    /// The types of the variables of a bare formula.
    inferred: FxHashMap<String, Type>,
    /// How much the definitions that were used add up to.
    written_out: usize,
    warnings: Vec<Diagnostic>,
}

/// Checks one property.
pub(crate) fn resolve(source: &Arc<Source>, tree: &PropertyTree) -> Result<Resolved, Error> {
    let mut resolver = Resolver {
        source,
        symbols: FxHashMap::default(),
        variables: Vec::new(),
        definitions: Vec::new(),
        parameters: Vec::new(),
        inequalities: Vec::new(),
        builder: AlphabetBuilder::default(),
        bare: tree.declarations.is_empty() && tree.parameters.is_empty(),
        inferred: FxHashMap::default(),
        written_out: 0,
        warnings: Vec::new(),
    };
    resolver.check_count(tree)?;
    resolver.declare(tree)?;
    if resolver.bare {
        resolver.inferred = infer::types(&tree.body);
    }
    resolver.define_used(&tree.body)?;
    let (body, span) = resolver.body(&tree.body)?;
    resolver.check_unused()?;
    let steps_only = matches!(body, ResolvedBody::Ere { .. });
    let Resolver {
        builder,
        warnings,
        parameters,
        inequalities,
        definitions,
        ..
    } = resolver;
    let definitions = definitions.into_iter();
    let alphabet = builder.finish(steps_only).ok_or_else(|| {
        let message = "the propositions of this property make letters that do not fit 64 bits";
        Error::limit(Diagnostic::error(
            source,
            span,
            message,
            "too many propositions",
        ))
    })?;
    let name = tree.name.as_ref().map(|name| name.text.clone());
    Ok(Resolved {
        name,
        parameters,
        inequalities,
        alphabet,
        body,
        span,
        definitions: definitions
            .map(|definition| (definition.name, definition.value.span))
            .collect(),
        warnings,
    })
}

impl Resolver<'_> {
    /// What the property says, and where.
    fn body(&mut self, body: &Body) -> Result<(ResolvedBody, Span), Error> {
        let ltl = |formula, pattern| ResolvedBody::Ltl { formula, pattern };
        Ok(match body {
            Body::Ltl(formula) => (ltl(self.formula(formula)?, None), formula.span),
            Body::Pattern {
                pattern,
                scope,
                span,
            } => {
                let formula = self.pattern(pattern, scope, *span)?;
                let offence = self.offence(pattern, scope);
                (ltl(formula, Some(WrittenPattern { offence })), *span)
            }
            Body::Ere(expression) => (self.words(expression, Mode::Prefix)?, expression.span),
            Body::Never(expression) => (self.words(expression, Mode::Never)?, expression.span),
        })
    }

    fn words(&mut self, expression: &EreTree, mode: Mode) -> Result<ResolvedBody, Error> {
        let expression = self.ere(expression)?;
        Ok(ResolvedBody::Ere { expression, mode })
    }
}

/// What a value of a type is called.
fn with_article(type_of: Type) -> &'static str {
    match type_of {
        Type::Int => "an int",
        Type::Float => "a float",
        Type::Bool => "a bool",
        Type::Str => "a string",
    }
}

impl Resolver<'_> {
    /// Some of what follows compares names one by one, so there must not be too many.
    fn check_count(&self, tree: &PropertyTree) -> Result<(), Error> {
        let count = tree.parameters.len() + tree.constraints.len() + tree.declarations.len();
        match &tree.name {
            Some(name) if count > MAX_NAMES => {
                let message =
                    format!("a property declares at most {MAX_NAMES} names; this one has {count}");
                let diagnostic = self.error(name.span, message, "too many declarations");
                Err(Error::limit(diagnostic))
            }
            _ => Ok(()),
        }
    }

    /// The same for names that their use declares, and for propositions.
    fn check_names(&self, span: Span) -> Result<(), Error> {
        if self.builder.names() <= MAX_NAMES {
            return Ok(());
        }
        let message =
            format!("a property has at most {MAX_NAMES} variables, events and propositions");
        Err(Error::limit(self.error(span, message, "one too many")))
    }

    fn error(
        &self,
        span: Span,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic::error(self.source, span, message, label)
    }

    fn unknown(&self, name: &str, span: Span) -> Error {
        let diagnostic = self.error(span, format!("unknown name `{name}`"), "not declared");
        if self.parameters.iter().any(|parameter| parameter == name) {
            return Error::meaning(diagnostic.help(format!(
                "`{name}` is a parameter; parameters are bound by events and cannot be read"
            )));
        }
        let candidates = self.declared_names();
        let Some(close) = suggest::closest(name, candidates.iter().copied()) else {
            return Error::meaning(if self.symbols.is_empty() {
                diagnostic
            } else {
                diagnostic.help(format!("declared are {}", some_names(&candidates)))
            });
        };
        let kind = match self.symbols[close].symbol {
            Symbol::Event(_) => "event",
            Symbol::Variable(_) => "variable",
            Symbol::Let(_) => "proposition",
        };
        Error::meaning(diagnostic.help(format!("did you mean the {kind} `{close}`?")))
    }

    /// In the order of declaration, so that messages are deterministic.
    fn declared_names(&self) -> Vec<&str> {
        let mut declared: Vec<(&String, &Entry)> = self.symbols.iter().collect();
        declared.sort_by_key(|(_, entry)| entry.span.start);
        declared
            .into_iter()
            .map(|(name, _)| name.as_str())
            .collect()
    }

    /// Looks a name up, and notes that it is used.
    fn symbol(&mut self, name: &str) -> Option<Symbol> {
        let entry = self.symbols.get_mut(name)?;
        entry.used = true;
        Some(entry.symbol.clone())
    }

    /// The place in the alphabet of a declared variable, which the body mentions.
    fn variable(&mut self, index: usize) -> VariableId {
        let declared = &mut self.variables[index];
        *declared
            .id
            .get_or_insert_with(|| self.builder.variable(declared.variable.clone()))
    }
}

/// The first of some names, for a message.
fn some_names(names: &[&str]) -> String {
    let first: Vec<String> = names
        .iter()
        .take(8)
        .map(|name| format!("`{name}`"))
        .collect();
    let more = if names.len() > 8 { ", ..." } else { "" };
    first.join(", ") + more
}
