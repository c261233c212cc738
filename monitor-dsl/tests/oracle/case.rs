//! A whole property as the oracle sees it: variables, events, propositions, a body, and the letters that can occur.
//!
//! Letters are not described by rules about propositions. They are found by trying: every event (or none) with every
//! combination of interesting values of the variables makes a concrete [`Step`], and the valuations that some step has
//! are the letters. For an integer the interesting values are each constant and its two neighbours, so every region
//! between constants is met, and none that holds no integer. For a float they are small and huge numbers of both signs,
//! both zeros, both infinities, and not-a-number.

use std::collections::BTreeMap;

use super::float::{self, Term};
use super::formula::{Ere, Formula};
use super::print::Printer;
use portent_testing::Rng;

/// The type of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Bool,
    Int,
    Float,
    Text,
}

/// A state variable.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// The declared initial value, as text. No letter depends on it.
    pub(crate) initial: String,
}

/// A comparison operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    Different,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

impl Comparison {
    pub(crate) const ALL: [Comparison; 6] = [
        Comparison::Equal,
        Comparison::Different,
        Comparison::Less,
        Comparison::AtMost,
        Comparison::Greater,
        Comparison::AtLeast,
    ];

    fn sign(self) -> &'static str {
        match self {
            Comparison::Equal => "==",
            Comparison::Different => "!=",
            Comparison::Less => "<",
            Comparison::AtMost => "<=",
            Comparison::Greater => ">",
            Comparison::AtLeast => ">=",
        }
    }

    /// The operator that says the same with its operands exchanged.
    fn mirrored(self) -> Comparison {
        match self {
            Comparison::Equal | Comparison::Different => self,
            Comparison::Less => Comparison::Greater,
            Comparison::AtMost => Comparison::AtLeast,
            Comparison::Greater => Comparison::Less,
            Comparison::AtLeast => Comparison::AtMost,
        }
    }

    fn holds<T: PartialOrd>(self, left: &T, right: &T) -> bool {
        match self {
            Comparison::Equal => left == right,
            Comparison::Different => left != right,
            Comparison::Less => left < right,
            Comparison::AtMost => left <= right,
            Comparison::Greater => left > right,
            Comparison::AtLeast => left >= right,
        }
    }
}

/// A proposition.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Prop {
    /// The event with this index.
    Event(usize),
    /// The boolean variable with this index.
    Flag(usize),
    /// An integer variable against a constant.
    Int(usize, Comparison, i64),
    /// Two floating-point expressions.
    Float(Term, Comparison, Term),
    /// A string variable against a constant, equal or different.
    Text(usize, Comparison, String),
}

/// A value of a variable.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
pub(crate) enum Value {
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
}

/// One concrete step: which event it is, and the variables' values just after it.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) event: Option<usize>,
    pub(crate) values: Vec<Value>,
}

/// A letter: a valuation of the body's propositions that some step has.
#[derive(Clone, Debug)]
pub(crate) struct Letter {
    /// Bit `p` is the value of proposition `p`.
    pub(crate) valuation: u32,
    /// Whether it may be the first letter of a run.
    pub(crate) initial: bool,
    /// The concrete steps that have this valuation.
    pub(crate) steps: Vec<Step>,
}

/// The three bodies.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    Ltl(Formula),
    Ere(Ere),
    Never(Ere),
}

/// A property.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) variables: Vec<Variable>,
    pub(crate) events: Vec<String>,
    pub(crate) props: Vec<Prop>,
    /// `let` names of propositions, where they have one.
    pub(crate) aliases: Vec<Option<String>>,
    pub(crate) body: Body,
}

impl Case {
    /// Propositions that are events without variables: `names[i]` is event `i` and proposition `i`.
    pub(crate) fn of_events(names: &[&str], body: Body) -> Case {
        Case {
            variables: Vec::new(),
            events: names.iter().map(|&n| n.to_owned()).collect(),
            props: (0..names.len()).map(Prop::Event).collect(),
            aliases: vec![None; names.len()],
            body,
        }
    }

    /// Propositions that are boolean variables: `names[i]` is variable `i` and proposition `i`.
    pub(crate) fn of_flags(names: &[&str], body: Body) -> Case {
        let variable = |&name: &&str| Variable {
            name: name.to_owned(),
            kind: Kind::Bool,
            initial: "false".to_owned(),
        };
        Case {
            variables: names.iter().map(variable).collect(),
            events: Vec::new(),
            props: (0..names.len()).map(Prop::Flag).collect(),
            aliases: vec![None; names.len()],
            body,
        }
    }

    /// The same property with another body.
    pub(crate) fn with_body(&self, body: Body) -> Case {
        Case {
            body,
            ..self.clone()
        }
    }

    /// The propositions that the body mentions, as a bit set.
    pub(crate) fn mentioned(&self) -> u32 {
        match &self.body {
            Body::Ltl(formula) => formula.propositions(),
            Body::Ere(ere) | Body::Never(ere) => ere.propositions(),
        }
    }

    /// Whether the body mentions a variable: then the run begins with the initial state.
    pub(crate) fn mentions_variable(&self) -> bool {
        self.props
            .iter()
            .enumerate()
            .any(|(p, prop)| !matches!(prop, Prop::Event(_)) && self.mentioned() >> p & 1 == 1)
    }

    /// Whether the text can be a bare formula: nothing is declared there, so all that matters must be mentioned.
    fn can_be_bare(&self) -> bool {
        let mentioned = self.mentioned();
        self.variables.is_empty()
            && (matches!(self.body, Body::Ltl(_))
                || (0..self.props.len()).all(|p| mentioned >> p & 1 == 1))
    }

    /// The letters that can occur, in the order of their valuations.
    ///
    /// Only mentioned propositions count, and for `ere:` and `never:` all events, for they are steps even so.
    pub(crate) fn letters(&self) -> Vec<Letter> {
        let is_ltl = matches!(self.body, Body::Ltl(_));
        let has_initial_letter = self.mentions_variable();
        let mut relevant = self.mentioned();
        for (p, prop) in self.props.iter().enumerate() {
            if !is_ltl && matches!(prop, Prop::Event(_)) {
                relevant |= 1 << p;
            }
        }
        let mut letters: BTreeMap<u32, Letter> = BTreeMap::new();
        for step in self.steps() {
            if step.event.is_none() && !is_ltl && !has_initial_letter {
                continue; // words are made of steps only, and without variables a step is an event
            }
            let valuation = relevant & self.valuation(&step);
            let letter = letters.entry(valuation).or_insert(Letter {
                valuation,
                initial: false,
                steps: Vec::new(),
            });
            letter.initial |= step.event.is_none() || !has_initial_letter;
            letter.steps.push(step);
        }
        letters.into_values().collect()
    }

    /// All concrete steps that are worth telling apart.
    fn steps(&self) -> Vec<Step> {
        let mut valuations: Vec<Vec<Value>> = vec![Vec::new()];
        for v in 0..self.variables.len() {
            let values = self.interesting_values(v);
            valuations = valuations
                .iter()
                .flat_map(|row| {
                    values
                        .iter()
                        .map(move |value| [&row[..], std::slice::from_ref(value)].concat())
                })
                .collect();
        }
        let events = std::iter::once(None).chain((0..self.events.len()).map(Some));
        events
            .flat_map(|event| {
                valuations.iter().map(move |values| Step {
                    event,
                    values: values.clone(),
                })
            })
            .collect()
    }

    fn interesting_values(&self, variable: usize) -> Vec<Value> {
        let mut values = match self.variables[variable].kind {
            Kind::Bool => vec![Value::Bool(false), Value::Bool(true)],
            Kind::Int => vec![Value::Int(0)],
            Kind::Float => return float::INTERESTING.map(Value::Float).to_vec(),
            Kind::Text => vec![Value::Text("none of them".to_owned())],
        };
        for prop in &self.props {
            match prop {
                Prop::Int(v, _, constant) if *v == variable => {
                    values.extend([constant - 1, *constant, constant + 1].map(Value::Int));
                }
                Prop::Text(v, _, constant) if *v == variable => {
                    values.push(Value::Text(constant.clone()))
                }
                _ => {}
            }
        }
        values.sort_by(|a, b| a.partial_cmp(b).expect("values that are ordered"));
        values.dedup();
        values
    }

    fn valuation(&self, step: &Step) -> u32 {
        let holds = |prop: &Prop| match prop {
            Prop::Event(e) => step.event == Some(*e),
            Prop::Flag(v) => step.values[*v] == Value::Bool(true),
            Prop::Int(v, op, constant) => op.holds(&step.values[*v], &Value::Int(*constant)),
            Prop::Float(left, op, right) => {
                op.holds(&left.value(&step.values), &right.value(&step.values))
            }
            Prop::Text(v, op, constant) => {
                op.holds(&step.values[*v], &Value::Text(constant.clone()))
            }
        };
        self.props
            .iter()
            .enumerate()
            .map(|(p, prop)| u32::from(holds(prop)) << p)
            .sum()
    }

    /// The value in a step of a proposition that a monitor shows as `text`: a name, or a comparison of a variable with
    /// a constant.
    pub(crate) fn evaluate(&self, text: &str, step: &Step) -> Result<bool, String> {
        let text = text.trim();
        let unquoted = text.trim_matches('"');
        if let Some(e) = self.events.iter().position(|e| e == unquoted) {
            return Ok(step.event == Some(e));
        }
        if let Some(v) = self.variables.iter().position(|v| v.name == unquoted) {
            return Ok(step.values[v] == Value::Bool(true));
        }
        if let Some(p) = self
            .aliases
            .iter()
            .position(|a| a.as_deref() == Some(unquoted))
        {
            return Ok(self.valuation(step) >> p & 1 == 1);
        }
        let is_float = |p: &usize| matches!(self.props[*p], Prop::Float(..));
        let written = |p: &usize| [self.plain_tokens(*p), self.mirrored_tokens(*p)];
        let mut floats = (0..self.props.len()).filter(is_float);
        if let Some(p) = floats.find(|p| written(p).iter().any(|tokens| tokens.join(" ") == text)) {
            return Ok(self.valuation(step) >> p & 1 == 1);
        }
        // The two-character signs first: `<=` contains `<`.
        let signs = ["==", "!=", "<=", ">=", "<", ">"];
        let (sign, at) = signs
            .iter()
            .find_map(|sign| text.find(sign).map(|at| (*sign, at)))
            .ok_or_else(|| format!("a monitor shows an unknown proposition `{text}`"))?;
        let op = Comparison::ALL
            .into_iter()
            .find(|op| op.sign() == sign)
            .expect("a known sign");
        let left = self.operand(&text[..at], step)?;
        let right = self.operand(&text[at + sign.len()..], step)?;
        Ok(op.holds(&left, &right))
    }

    fn operand(&self, text: &str, step: &Step) -> Result<Value, String> {
        let text = text.trim();
        if let Some(v) = self
            .variables
            .iter()
            .position(|v| v.name == text.trim_matches('"'))
        {
            return Ok(step.values[v].clone());
        }
        if let Some(string) = text.strip_prefix('"').and_then(|t| t.strip_suffix('"')) {
            return Ok(Value::Text(string.to_owned()));
        }
        match text {
            "true" => Ok(Value::Bool(true)),
            "false" => Ok(Value::Bool(false)),
            _ => text
                .parse()
                .map(Value::Int)
                .map_err(|_| format!("a monitor shows an unknown operand `{text}`")),
        }
    }

    /// The property as text: plain without `style`, else with random spellings drawn from it.
    pub(crate) fn text(&self, style: Option<u64>) -> String {
        let mut rng = style.map(Rng::new);
        let names = |p: usize, rng: &mut Option<Rng>| self.tokens(p, rng);
        let printer = Printer::new(&names, rng.as_mut().map(|rng| Rng::new(rng.any())));
        let body = match &self.body {
            Body::Ltl(formula) => printer.formula_text(formula),
            Body::Ere(ere) | Body::Never(ere) => printer.ere_text(ere),
        };
        let keyword = match &self.body {
            Body::Ltl(_) => "ltl:",
            Body::Ere(_) => "ere:",
            Body::Never(_) => "never:",
        };
        if self.can_be_bare() && rng.as_mut().is_none_or(|rng| !rng.one_in(3)) {
            let leave_out =
                matches!(self.body, Body::Ltl(_)) && rng.is_none_or(|mut rng| !rng.one_in(4));
            return if leave_out {
                body
            } else {
                format!("{keyword} {body}")
            };
        }
        let mut lines = vec!["property tested {".to_owned()];
        for variable in &self.variables {
            let kind = match variable.kind {
                Kind::Bool => "bool",
                Kind::Int => "int",
                Kind::Float => "float",
                Kind::Text => "string",
            };
            lines.push(format!(
                "var {}: {kind} = {}",
                variable.name, variable.initial
            ));
        }
        if !self.events.is_empty() {
            lines.push(format!("event {}", self.events.join(", ")));
        }
        for (p, alias) in self.aliases.iter().enumerate() {
            if let Some(alias) = alias {
                lines.push(format!("let {alias} = {}", self.plain_tokens(p).join(" ")));
            }
        }
        lines.push(format!("{keyword} {body}"));
        let newline = match &mut rng {
            None => "\n    ",
            Some(rng) => {
                ["\n    ", "\n", " ", " // a comment\n", " /* a comment */ "][rng.below(5)]
            }
        };
        let text = lines.join(newline);
        if newline.ends_with("\n    ") {
            format!("{text}\n}}")
        } else {
            format!("{text} }}")
        }
    }

    /// One of the ways to write a proposition.
    fn tokens(&self, p: usize, rng: &mut Option<Rng>) -> Vec<String> {
        if let Some(alias) = &self.aliases[p] {
            return vec![alias.clone()];
        }
        let plain = self.plain_tokens(p);
        let Some(rng) = rng else { return plain };
        match &self.props[p] {
            Prop::Event(_) if rng.one_in(12) => vec![format!("\"{}\"", plain[0])],
            Prop::Flag(_) if rng.one_in(16) => {
                vec![plain[0].clone(), "==".to_owned(), "true".to_owned()]
            }
            Prop::Int(..) | Prop::Float(..) | Prop::Text(..) if rng.one_in(3) => {
                self.mirrored_tokens(p)
            }
            _ => plain,
        }
    }

    /// A comparison with its sides exchanged.
    fn mirrored_tokens(&self, p: usize) -> Vec<String> {
        let [left, sign, right] = self.plain_tokens(p).try_into().expect("a comparison");
        let op = Comparison::ALL.into_iter().find(|op| op.sign() == sign);
        let sign = op.expect("a known sign").mirrored().sign().to_owned();
        vec![right, sign, left]
    }

    pub(crate) fn plain_tokens(&self, p: usize) -> Vec<String> {
        match &self.props[p] {
            Prop::Event(e) => vec![self.events[*e].clone()],
            Prop::Flag(v) => vec![self.variables[*v].name.clone()],
            Prop::Int(v, op, constant) => {
                vec![
                    self.variables[*v].name.clone(),
                    op.sign().to_owned(),
                    constant.to_string(),
                ]
            }
            Prop::Float(left, op, right) => {
                let names: Vec<&str> = self.variables.iter().map(|v| v.name.as_str()).collect();
                vec![left.text(&names), op.sign().to_owned(), right.text(&names)]
            }
            Prop::Text(v, op, constant) => {
                vec![
                    self.variables[*v].name.clone(),
                    op.sign().to_owned(),
                    format!("\"{constant}\""),
                ]
            }
        }
    }

    /// A word of letters, readable.
    pub(crate) fn word_text(&self, letters: &[Letter], word: &[usize]) -> String {
        if word.is_empty() {
            return "the empty run".to_owned();
        }
        let letter_text = |&letter: &usize| {
            let step = &letters[letter].steps[0];
            let mut parts: Vec<String> =
                step.event.iter().map(|&e| self.events[e].clone()).collect();
            for (variable, value) in self.variables.iter().zip(&step.values) {
                parts.push(match value {
                    Value::Bool(b) => format!("{}={b}", variable.name),
                    Value::Int(i) => format!("{}={i}", variable.name),
                    Value::Float(x) => format!("{}={x:?}", variable.name),
                    Value::Text(s) => format!("{}={s:?}", variable.name),
                });
            }
            format!("{{{}}}", parts.join(" "))
        };
        word.iter().map(letter_text).collect::<Vec<_>>().join(" ")
    }
}
