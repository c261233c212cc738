//! Formulas and regular expressions: what their names mean.

use portent_monitor_core::Type;

use super::{MAX_WRITTEN_OUT, Resolver, Symbol, with_article};
use crate::{
    alphabet::{Event, gauge::GaugeCondition},
    diagnostic::Diagnostic,
    ere::{Ere, EreOp},
    error::Error,
    ltl::{Ltl, LtlOp, Size},
    spelling,
    syntax::{
        Body, EreJoin, EreKind, EreTree, Expression, ExpressionKind, MAX_DEPTH, Operator, Span,
        meant_by_name,
    },
};

impl Resolver<'_> {
    /// An expression that must be true or false.
    pub(super) fn formula(&mut self, expression: &Expression) -> Result<Ltl, Error> {
        let span = expression.span;
        match &expression.kind {
            // Spot writes the constants as digits.
            ExpressionKind::Number(digits) if digits == "1" => Ok(constant(true, span)),
            ExpressionKind::Number(digits) if digits == "0" => Ok(constant(false, span)),
            ExpressionKind::Number(_) => {
                let error = self.error(span, "a number is not a formula", "not a formula");
                let before = self.source.text[..span.start].trim_end();
                Err(Error::meaning(if before.ends_with("=>") {
                    error.help("\"at least\" is written `>=`; `=>` is \"implies\"")
                } else {
                    error
                }))
            }
            ExpressionKind::Name(name) if name == "true" => Ok(constant(true, span)),
            ExpressionKind::Name(name) if name == "false" => Ok(constant(false, span)),
            ExpressionKind::Name(name) | ExpressionKind::Text(name) => self.named(name, span),
            ExpressionKind::Apply(Operator::Compare(comparison), operands) => {
                let formula = self.compare(*comparison, operands, expression)?;
                self.check_names(span)?;
                Ok(formula)
            }
            ExpressionKind::Apply(operator, operands) => match logical(*operator) {
                Some(op) => {
                    let parts: Result<Vec<Ltl>, Error> = operands
                        .iter()
                        .map(|operand| self.formula(operand))
                        .collect();
                    Ok(Ltl::new(op, parts?, span))
                }
                None => {
                    let diagnostic = self.error(
                        span,
                        "expected a formula, found an arithmetic expression",
                        "a number",
                    );
                    Err(Error::meaning(
                        diagnostic.help("compare it, as in `x + y > 0`"),
                    ))
                }
            },
        }
    }

    /// A formula about the present position only; `place` says where no others are allowed.
    pub(super) fn state_formula(
        &mut self,
        expression: &Expression,
        place: &str,
    ) -> Result<Ltl, Error> {
        let formula = self.formula(expression)?;
        match first_temporal(&formula) {
            None => Ok(formula),
            Some(temporal) => {
                let message = format!("{place} is made of propositions, not of temporal formulas");
                let label = "this looks at other positions of the run";
                Err(Error::meaning(self.error(temporal.span, message, label)))
            }
        }
    }

    fn named(&mut self, name: &str, span: Span) -> Result<Ltl, Error> {
        match self.symbol(name) {
            Some(Symbol::Event(event)) => {
                let proposition = self.builder.proposition_of(event);
                Ok(Ltl::new(LtlOp::Proposition(proposition), Vec::new(), span))
            }
            Some(Symbol::Let(index)) => {
                let Size { total, .. } = self.definition(index)?;
                self.written_out += total;
                if self.written_out > MAX_WRITTEN_OUT {
                    let message = format!(
                        "with its definitions written out, the property has more than \
                         {MAX_WRITTEN_OUT} operators and operands"
                    );
                    return Err(Error::limit(self.error(span, message, "one too many")));
                }
                let (formula, _) = self.definitions[index].resolved.as_ref().expect("resolved");
                Ok(Ltl {
                    span,
                    ..formula.clone()
                })
            }
            Some(Symbol::Variable(index)) => {
                let variable = self.variables[index].variable.clone();
                if variable.type_of != Type::Bool {
                    return Err(self.not_boolean(name, variable.type_of, span));
                }
                let id = self.variable(index);
                let text = spelling::name(name);
                let proposition = self.builder.condition(text, GaugeCondition::Bool(id));
                Ok(Ltl::new(LtlOp::Proposition(proposition), Vec::new(), span))
            }
            None if self.bare => {
                if let Some(&type_of) = self.inferred.get(name) {
                    return Err(self.not_boolean(name, type_of, span));
                }
                self.warn_of_name(name, span);
                let event = self.bare_event(name);
                self.check_names(span)?;
                Ok(Ltl::new(LtlOp::Proposition(event), Vec::new(), span))
            }
            None => Err(self.unknown(name, span)),
        }
    }

    /// Warns of the first use of an event whose name was probably meant for something else.
    fn warn_of_name(&mut self, name: &str, span: Span) {
        let is_quoted = self.source.text[span.start..].starts_with('"');
        if is_quoted || self.builder.find_event(name).is_some() {
            return;
        }
        if let Some(meant) = meant_by_name(name) {
            let message = format!("`{name}` is taken for the name of an event");
            let warning = Diagnostic::warning(self.source, span, message, "an event");
            self.warnings.push(warning.help(meant));
        }
    }

    /// The proposition for an event that its use declares.
    fn bare_event(&mut self, name: &str) -> usize {
        let event = self
            .builder
            .find_event(name)
            .unwrap_or_else(|| self.builder.event(Event::named(name)));
        self.builder.proposition_of(event)
    }

    fn not_boolean(&self, name: &str, type_of: Type, span: Span) -> Error {
        let diagnostic = if self.bare {
            self.error(
                span,
                format!("`{name}` is used both as an event and as a variable"),
                "an event here",
            )
        } else {
            self.error(
                span,
                format!("`{name}` is a variable of type {type_of}, not a formula"),
                with_article(type_of),
            )
        };
        let example = match type_of {
            Type::Str => format!("{name} == \"...\""),
            Type::Bool => format!("{name} == true"),
            Type::Int | Type::Float => format!("{name} > 0"),
        };
        Error::meaning(diagnostic.help(format!("compare it, as in `{example}`")))
    }

    /// Resolves the definitions that a body uses, in the order in which they are written, so that
    /// propositions come in that order too.
    pub(super) fn define_used(&mut self, body: &Body) -> Result<(), Error> {
        let mut used = vec![false; self.definitions.len()];
        let mut pending: Vec<&Expression> = body.expressions();
        let definitions: Vec<Expression> = self
            .definitions
            .iter()
            .map(|definition| definition.value.clone())
            .collect();
        while let Some(expression) = pending.pop() {
            expression.for_each_name(&mut |name| {
                if let Some(Symbol::Let(index)) = self.symbols.get(name).map(|entry| &entry.symbol)
                    && !std::mem::replace(&mut used[*index], true)
                {
                    pending.push(&definitions[*index]);
                }
            });
        }
        for index in (0..used.len()).filter(|&index| used[index]) {
            self.definition(index)?;
        }
        Ok(())
    }

    /// Finds out what a `let` stands for, and how large that is. A definition sees only those before
    /// it, so this ends.
    pub(super) fn definition(&mut self, index: usize) -> Result<Size, Error> {
        if let Some((_, size)) = self.definitions[index].resolved {
            return Ok(size);
        }
        let value = self.definitions[index].value.clone();
        self.check_order(&value, index)?;
        let formula = self.state_formula(&value, "a definition")?;
        let size = formula.size();
        if size.depth > MAX_DEPTH {
            let message =
                format!("with its definitions written out, this nests more than {MAX_DEPTH} deep");
            let diagnostic = self.error(self.definitions[index].span, message, "too deep");
            return Err(Error::limit(diagnostic));
        }
        self.definitions[index].resolved = Some((formula, size));
        Ok(size)
    }

    fn check_order(&self, value: &Expression, index: usize) -> Result<(), Error> {
        match &value.kind {
            ExpressionKind::Apply(_, operands) => operands
                .iter()
                .try_for_each(|operand| self.check_order(operand, index)),
            ExpressionKind::Name(name) => match self.symbols.get(name).map(|entry| &entry.symbol) {
                Some(Symbol::Let(other)) if *other >= index => {
                    let own = &self.definitions[index];
                    let message = if *other == index {
                        format!("`{name}` is defined by itself")
                    } else {
                        format!("`{}` uses `{name}`, which is defined later", own.name)
                    };
                    let line = self.error(own.span, "", "").line();
                    let diagnostic = self.error(value.span, message, "not defined yet");
                    Err(Error::meaning(
                        diagnostic.help(format!("in the definition on line {line}")),
                    ))
                }
                _ => Ok(()),
            },
            ExpressionKind::Text(_) | ExpressionKind::Number(_) => Ok(()),
        }
    }

    pub(super) fn ere(&mut self, expression: &EreTree) -> Result<Ere, Error> {
        let span = expression.span;
        Ok(match &expression.kind {
            EreKind::Dot => Ere::new(EreOp::Letter(Vec::new()), Vec::new(), span),
            EreKind::Name(letter) => match &letter.kind {
                ExpressionKind::Name(name) if name == "epsilon" => {
                    Ere::new(EreOp::Epsilon, Vec::new(), span)
                }
                ExpressionKind::Name(name) if name == "empty" => {
                    Ere::new(EreOp::Empty, Vec::new(), span)
                }
                _ => Ere::new(EreOp::Letter(vec![self.formula(letter)?]), Vec::new(), span),
            },
            EreKind::Letter(conditions) => {
                let conditions: Result<Vec<Ltl>, Error> = conditions
                    .iter()
                    .map(|condition| self.state_formula(condition, "a letter"))
                    .collect();
                Ere::new(EreOp::Letter(conditions?), Vec::new(), span)
            }
            EreKind::Complement(inner) => Ere::new(EreOp::Complement, vec![self.ere(inner)?], span),
            EreKind::Repeat(inner, min, max) => {
                Ere::new(EreOp::Repeat(*min, *max), vec![self.ere(inner)?], span)
            }
            EreKind::Join(join, parts) => {
                let parts: Result<Vec<Ere>, Error> =
                    parts.iter().map(|part| self.ere(part)).collect();
                let op = match join {
                    EreJoin::Union => EreOp::Union,
                    EreJoin::Intersection => EreOp::Intersection,
                    EreJoin::Concat => EreOp::Concat,
                };
                Ere::new(op, parts?, span)
            }
        })
    }
}

fn constant(value: bool, span: Span) -> Ltl {
    Ltl::new(
        if value { LtlOp::True } else { LtlOp::False },
        Vec::new(),
        span,
    )
}

fn first_temporal(formula: &Ltl) -> Option<&Ltl> {
    if formula.op.is_temporal() {
        return Some(formula);
    }
    formula.parts.iter().find_map(first_temporal)
}

fn logical(operator: Operator) -> Option<LtlOp> {
    use Operator::*;
    Some(match operator {
        Negate | Times | Plus | Minus | Compare(_) => return None,
        Not => LtlOp::Not,
        And => LtlOp::And,
        Or => LtlOp::Or,
        Xor => LtlOp::Xor,
        Implies => LtlOp::Implies,
        Iff => LtlOp::Iff,
        Next => LtlOp::Next,
        WeakNext => LtlOp::WeakNext,
        Eventually => LtlOp::Eventually,
        Always => LtlOp::Always,
        Until => LtlOp::Until,
        WeakUntil => LtlOp::WeakUntil,
        Release => LtlOp::Release,
        StrongRelease => LtlOp::StrongRelease,
        Yesterday => LtlOp::Yesterday,
        WeakYesterday => LtlOp::WeakYesterday,
        Once => LtlOp::Once,
        Historically => LtlOp::Historically,
        Since => LtlOp::Since,
        WeakSince => LtlOp::WeakSince,
        Trigger => LtlOp::Trigger,
        Start => LtlOp::Start,
        End => LtlOp::End,
        Interval => LtlOp::Interval,
        EventuallyIn(distance) => LtlOp::EventuallyIn(distance),
        AlwaysIn(distance) => LtlOp::AlwaysIn(distance),
        OnceIn(distance) => LtlOp::OnceIn(distance),
        HistoricallyIn(distance) => LtlOp::HistoricallyIn(distance),
    })
}
