//! Enters the declarations of a property, and complains of what is declared twice or never used.

use portent_monitor_core::{Type, Value};

use super::{DeclaredVariable, Definition, Entry, Resolver, Symbol, with_article};
use crate::{
    alphabet::{StateVariable, TextPattern},
    diagnostic::Diagnostic,
    error::Error,
    suggest,
    syntax::{Declaration, Name, PropertyTree, Span},
};

impl Resolver<'_> {
    pub(super) fn declare(&mut self, tree: &PropertyTree) -> Result<(), Error> {
        for parameter in &tree.parameters {
            if self.parameters.contains(&parameter.text) {
                return Err(self.duplicate(parameter, None));
            }
            self.parameters.push(parameter.text.clone());
        }
        self.constrain(&tree.constraints)?;
        let mut bound = vec![false; self.parameters.len()];
        for declaration in &tree.declarations {
            match declaration {
                Declaration::Variable {
                    name,
                    type_name,
                    initial,
                    matches,
                } => {
                    let variable = self.state_variable(name, type_name, initial, matches)?;
                    self.variables.push(DeclaredVariable { variable, id: None });
                    self.enter(name, Symbol::Variable(self.variables.len() - 1))?;
                }
                Declaration::Let { name, value } => {
                    let (value, span) = (value.clone(), name.span);
                    let text = name.text.clone();
                    self.definitions.push(Definition {
                        name: text,
                        value,
                        span,
                        resolved: None,
                    });
                    self.enter(name, Symbol::Let(self.definitions.len() - 1))?;
                }
                Declaration::Event {
                    name,
                    parameters,
                    by,
                    source,
                } => {
                    let parameters = parameters.as_deref();
                    let event = self.event(name, parameters, by.as_ref(), source)?;
                    for parameter in event.binds() {
                        bound[parameter] = true;
                    }
                    let id = self.builder.event(event);
                    self.enter(name, Symbol::Event(id))?;
                }
            }
        }
        if let Some(free) = bound.iter().position(|&bound| !bound) {
            let parameter = &tree.parameters[free];
            let message = format!("parameter `{}` is bound by no event", parameter.text);
            let diagnostic = self.error(parameter.span, message, "unused parameter");
            return Err(Error::meaning(diagnostic.help(format!(
                "declare an event that carries it, as in `event open({})`, or leave it out",
                parameter.text
            ))));
        }
        Ok(())
    }

    fn enter(&mut self, name: &Name, symbol: Symbol) -> Result<(), Error> {
        if matches!(name.text.as_str(), "true" | "false") {
            let message = format!("`{}` cannot be declared", name.text);
            return Err(Error::meaning(self.error(name.span, message, "a constant")));
        }
        if let Some(earlier) = self.symbols.get(&name.text) {
            return Err(self.duplicate(name, Some(earlier.span)));
        }
        let entry = Entry {
            symbol,
            span: name.span,
            used: false,
        };
        self.symbols.insert(name.text.clone(), entry);
        Ok(())
    }

    fn duplicate(&self, name: &Name, earlier: Option<Span>) -> Error {
        let message = format!("`{}` is declared twice", name.text);
        let diagnostic = self.error(name.span, message, "declared again here");
        Error::meaning(match earlier {
            Some(earlier) => {
                let line = self.error(earlier, "", "").line();
                diagnostic.help(format!("the first declaration is on line {line}"))
            }
            None => diagnostic,
        })
    }

    fn state_variable(
        &self,
        name: &Name,
        type_name: &Name,
        initial: &Option<(Value, Span)>,
        matches: &Option<Name>,
    ) -> Result<StateVariable, Error> {
        let type_of = match type_name.text.as_str() {
            "int" => Type::Int,
            "float" => Type::Float,
            "bool" => Type::Bool,
            "string" => Type::Str,
            other => {
                let message = format!("unknown type `{other}`");
                let diagnostic = self.error(type_name.span, message, "not a type");
                let close = match other {
                    "i64" | "i32" | "u32" | "u64" | "long" | "integer" => Some("int"),
                    "f64" | "f32" | "double" | "real" | "number" => Some("float"),
                    "str" | "text" | "String" => Some("string"),
                    _ => suggest::closest(other, ["int", "float", "bool", "string"]),
                };
                return Err(Error::meaning(match close {
                    Some(close) => diagnostic.help(format!("did you mean `{close}`?")),
                    None => diagnostic.help("the types are `int`, `float`, `bool` and `string`"),
                }));
            }
        };
        let initial = match initial {
            None => None,
            Some((value, span)) => Some(match (type_of, value) {
                (Type::Float, Value::Int(n)) => Value::Float(*n as f64),
                (expected, value) if value.type_of() == expected => value.clone(),
                (expected, value) => {
                    let message = format!(
                        "`{}` is declared as {expected}, but begins as {value}",
                        name.text
                    );
                    let label = format!("this is {}", with_article(value.type_of()));
                    return Err(Error::meaning(self.error(*span, message, label)));
                }
            }),
        };
        let matches = match matches {
            None => None,
            Some(text) => Some(self.regex(text, std::slice::from_ref(&name.text), "variable")?),
        };
        Ok(StateVariable {
            name: name.text.clone(),
            type_of,
            initial,
            matches,
        })
    }

    pub(super) fn parameter(&self, name: &Name) -> Result<usize, Error> {
        let known = self
            .parameters
            .iter()
            .position(|parameter| *parameter == name.text);
        known.ok_or_else(|| {
            let message = format!("`{}` is not a parameter of the property", name.text);
            let diagnostic = self.error(name.span, message, "unknown parameter");
            let candidates = self.parameters.iter().map(String::as_str);
            Error::meaning(match suggest::closest(&name.text, candidates) {
                Some(close) => diagnostic.help(format!("did you mean `{close}`?")),
                None if self.parameters.is_empty() => diagnostic.help(format!(
                    "declare it with the property: `property name({}) {{ ... }}`",
                    name.text
                )),
                None => {
                    let all = self.parameters.join("`, `");
                    diagnostic.help(format!("the parameters are `{all}`"))
                }
            })
        })
    }

    /// A regular expression with a named group for each of `groups`.
    pub(super) fn regex(
        &self,
        text: &Name,
        groups: &[String],
        what: &str,
    ) -> Result<TextPattern, Error> {
        let pattern = TextPattern::try_from(text.text.clone()).map_err(|error| {
            let why = error.why.lines().last().unwrap_or_default();
            let why = why.trim_start_matches("error: ");
            Error::meaning(self.error(text.span, error.problem, why))
        })?;
        for group in groups {
            if !pattern.has_group(group) {
                let message = format!("no group of the regular expression is named `{group}`");
                let diagnostic = self.error(text.span, message, format!("needed for the {what}"));
                return Err(Error::meaning(
                    diagnostic.help(format!("write `(?<{group}>...)` around its text")),
                ));
            }
        }
        Ok(pattern)
    }

    /// Warns of names that the body does not use, and checks unused definitions.
    pub(super) fn check_unused(&mut self) -> Result<(), Error> {
        let mut unused: Vec<(String, Symbol, Span)> = self
            .symbols
            .iter()
            .filter(|(_, entry)| !entry.used)
            .map(|(name, entry)| (name.clone(), entry.symbol.clone(), entry.span))
            .collect();
        unused.sort_by_key(|(_, _, span)| span.start);
        // What only an unused definition mentions is no part of the property.
        let builder = self.builder.clone();
        for (name, symbol, span) in unused {
            let (message, label) = match symbol {
                Symbol::Event(_) => (
                    format!("event `{name}` is declared but not used"),
                    "still a step of the property",
                ),
                Symbol::Variable(_) => (
                    format!("variable `{name}` is declared but not used"),
                    "never read",
                ),
                Symbol::Let(index) => {
                    self.definition(index)?;
                    (format!("`{name}` is defined but not used"), "never read")
                }
            };
            self.warnings
                .push(Diagnostic::warning(self.source, span, message, label));
        }
        self.builder = builder;
        Ok(())
    }
}
