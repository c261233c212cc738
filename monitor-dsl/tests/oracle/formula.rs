//! Syntax trees of LTL formulas and extended regular expressions, and their way back to text.
//!
//! The printer draws one of the spellings that the language allows for every operator, leaves out parentheses that
//! precedence makes superfluous (not always), and varies white space, so that whatever the oracle checks about meaning
//! it checks about the parser too. Without a random source it prints one plain, fully parenthesised text.

use portent_testing::Rng;

/// A prefix operator of LTL, `start(..)` and `end(..)` included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Unary {
    Not,
    Next,
    WeakNext,
    Eventually,
    Always,
    Yesterday,
    WeakYesterday,
    Once,
    Historically,
    Start,
    End,
}

/// An infix operator of LTL, the interval `[.., ..)` included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Binary {
    And,
    Or,
    Xor,
    Implies,
    Iff,
    Until,
    WeakUntil,
    Release,
    StrongRelease,
    Since,
    WeakSince,
    Trigger,
    Interval,
}

/// An LTL formula; propositions are indices into the case's list.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Formula {
    Const(bool),
    Prop(usize),
    Unary(Unary, Box<Formula>),
    Binary(Binary, Box<Formula>, Box<Formula>),
}

/// An extended regular expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Ere {
    Epsilon,
    Empty,
    /// Any step.
    Any,
    /// The bare name of an event, by its proposition.
    Event(usize),
    /// A step in which all of these (boolean) formulas hold.
    Step(Vec<Formula>),
    /// At least so many, at most so many copies.
    Repeat(Box<Ere>, u32, Option<u32>),
    Complement(Box<Ere>),
    Concat(Box<Ere>, Box<Ere>),
    Intersect(Box<Ere>, Box<Ere>),
    Union(Box<Ere>, Box<Ere>),
}

impl Unary {
    /// Every way to write the operator.
    fn spellings(self) -> &'static [&'static str] {
        match self {
            Unary::Not => &["!", "not"],
            Unary::Next => &["X", "next"],
            Unary::WeakNext => &["N", "wnext"],
            Unary::Eventually => &["F", "<>", "eventually"],
            Unary::Always => &["G", "[]", "always"],
            Unary::Yesterday => &["Y", "prev"],
            Unary::WeakYesterday => &["Z", "wprev"],
            Unary::Once => &["O", "once"],
            Unary::Historically => &["H", "historically"],
            Unary::Start => &["start"],
            Unary::End => &["end"],
        }
    }
}

impl Binary {
    /// Every way to write the operator; the interval has no infix form.
    fn spellings(self) -> &'static [&'static str] {
        match self {
            Binary::And => &["&&", "&", "and"],
            Binary::Or => &["||", "|", "or"],
            Binary::Xor => &["xor", "^"],
            Binary::Implies => &["->", "=>", "implies"],
            Binary::Iff => &["<->", "<=>", "iff"],
            Binary::Until => &["U", "until"],
            Binary::WeakUntil => &["W", "unless"],
            Binary::Release => &["R", "release"],
            Binary::StrongRelease => &["M"],
            Binary::Since => &["S", "since"],
            Binary::WeakSince => &["WS", "wsince"],
            Binary::Trigger => &["T", "trigger"],
            Binary::Interval => &[],
        }
    }

    /// How tightly it binds, loosest first; unary operators have [`UNARY`], atoms [`ATOM`].
    fn level(self) -> u8 {
        match self {
            Binary::Iff => 0,
            Binary::Implies => 1,
            Binary::Or => 2,
            Binary::Xor => 3,
            Binary::And => 4,
            Binary::Interval => ATOM,
            _ => 5,
        }
    }

    /// The least level that the left and the right operand may have without parentheses. `and`, `or`, `xor` and `iff`
    /// are associative in meaning, so either grouping will do; the others group to the right.
    fn operand_levels(self) -> (u8, u8) {
        let level = self.level();
        match self {
            Binary::And | Binary::Or | Binary::Xor | Binary::Iff => (level, level),
            _ => (level + 1, level),
        }
    }
}

const UNARY: u8 = 6;
const ATOM: u8 = 7;

impl Formula {
    pub(crate) fn unary(op: Unary, operand: Formula) -> Formula {
        Formula::Unary(op, Box::new(operand))
    }

    pub(crate) fn binary(op: Binary, left: Formula, right: Formula) -> Formula {
        Formula::Binary(op, Box::new(left), Box::new(right))
    }

    /// Calls `visit` on every subformula, the formula itself first.
    pub(crate) fn each(&self, visit: &mut impl FnMut(&Formula)) {
        visit(self);
        match self {
            Formula::Const(_) | Formula::Prop(_) => {}
            Formula::Unary(_, a) => a.each(visit),
            Formula::Binary(_, a, b) => {
                a.each(visit);
                b.each(visit);
            }
        }
    }

    /// The number of temporal operators: each costs the tableau one bit.
    pub(crate) fn temporal_operators(&self) -> usize {
        let mut count = 0;
        self.each(&mut |f| match f {
            Formula::Unary(op, _) if *op != Unary::Not => count += 1,
            Formula::Binary(op, _, _) if op.level() >= 5 => count += 1,
            _ => {}
        });
        count
    }

    /// The propositions that occur, as a bit set.
    pub(crate) fn propositions(&self) -> u32 {
        let mut set = 0;
        self.each(&mut |f| {
            if let Formula::Prop(p) = f {
                set |= 1 << p;
            }
        });
        set
    }

    /// The value of a formula without temporal operators in one letter.
    pub(crate) fn holds_in(&self, letter: u32) -> bool {
        match self {
            Formula::Const(value) => *value,
            Formula::Prop(p) => letter >> p & 1 == 1,
            Formula::Unary(Unary::Not, a) => !a.holds_in(letter),
            Formula::Binary(op, a, b) => {
                let (a, b) = (a.holds_in(letter), b.holds_in(letter));
                match op {
                    Binary::And => a && b,
                    Binary::Or => a || b,
                    Binary::Xor => a != b,
                    Binary::Implies => !a || b,
                    Binary::Iff => a == b,
                    _ => panic!("{self:?} is not boolean"),
                }
            }
            Formula::Unary(..) => panic!("{self:?} is not boolean"),
        }
    }

    /// All formulas that are one step simpler: a subformula replaced by one of its operands or by a constant.
    pub(crate) fn simpler(&self) -> Vec<Formula> {
        let mut out = Vec::new();
        match self {
            Formula::Const(_) => {}
            Formula::Prop(_) => out.extend([Formula::Const(true), Formula::Const(false)]),
            Formula::Unary(op, a) => {
                out.extend([(**a).clone(), Formula::Const(true), Formula::Const(false)]);
                out.extend(a.simpler().into_iter().map(|a| Formula::unary(*op, a)));
            }
            Formula::Binary(op, a, b) => {
                out.extend([(**a).clone(), (**b).clone()]);
                out.extend([Formula::Const(true), Formula::Const(false)]);
                let left = a.simpler().into_iter();
                out.extend(left.map(|a| Formula::binary(*op, a, (**b).clone())));
                let right = b.simpler().into_iter();
                out.extend(right.map(|b| Formula::binary(*op, (**a).clone(), b)));
            }
        }
        out
    }
}

impl Ere {
    pub(crate) fn repeat(operand: Ere, least: u32, most: Option<u32>) -> Ere {
        Ere::Repeat(Box::new(operand), least, most)
    }

    pub(crate) fn complement(operand: Ere) -> Ere {
        Ere::Complement(Box::new(operand))
    }

    pub(crate) fn concat(left: Ere, right: Ere) -> Ere {
        Ere::Concat(Box::new(left), Box::new(right))
    }

    pub(crate) fn intersect(left: Ere, right: Ere) -> Ere {
        Ere::Intersect(Box::new(left), Box::new(right))
    }

    pub(crate) fn union(left: Ere, right: Ere) -> Ere {
        Ere::Union(Box::new(left), Box::new(right))
    }

    /// Calls `visit` on every subexpression.
    pub(crate) fn each(&self, visit: &mut impl FnMut(&Ere)) {
        visit(self);
        match self {
            Ere::Epsilon | Ere::Empty | Ere::Any | Ere::Event(_) | Ere::Step(_) => {}
            Ere::Repeat(a, _, _) | Ere::Complement(a) => a.each(visit),
            Ere::Concat(a, b) | Ere::Intersect(a, b) | Ere::Union(a, b) => {
                a.each(visit);
                b.each(visit);
            }
        }
    }

    /// The propositions that occur, as a bit set.
    pub(crate) fn propositions(&self) -> u32 {
        let mut set = 0;
        self.each(&mut |e| match e {
            Ere::Event(p) => set |= 1 << p,
            Ere::Step(parts) => parts.iter().for_each(|f| set |= f.propositions()),
            _ => {}
        });
        set
    }

    /// Whether it is a classical regular expression: no intersection and no complement.
    pub(crate) fn is_classical(&self) -> bool {
        let mut classical = true;
        self.each(&mut |e| {
            if matches!(e, Ere::Intersect(..) | Ere::Complement(_)) {
                classical = false;
            }
        });
        classical
    }

    /// Whether a step with this letter is matched by a one-letter expression.
    pub(crate) fn matches_letter(&self, letter: u32) -> bool {
        match self {
            Ere::Any => true,
            Ere::Event(p) => letter >> p & 1 == 1,
            Ere::Step(parts) => parts.iter().all(|f| f.holds_in(letter)),
            _ => panic!("{self:?} is not a letter"),
        }
    }

    /// All expressions that are one step simpler.
    pub(crate) fn simpler(&self) -> Vec<Ere> {
        let mut out = Vec::new();
        if !matches!(self, Ere::Epsilon | Ere::Empty) {
            out.extend([Ere::Epsilon, Ere::Empty]);
        }
        match self {
            Ere::Epsilon | Ere::Empty | Ere::Any => {}
            Ere::Event(_) => out.push(Ere::Any),
            Ere::Step(parts) => {
                out.push(Ere::Any);
                for (i, part) in parts.iter().enumerate() {
                    let mut fewer = parts.clone();
                    fewer.remove(i);
                    out.push(Ere::Step(fewer));
                    for simpler in part.simpler() {
                        let mut parts = parts.clone();
                        parts[i] = simpler;
                        out.push(Ere::Step(parts));
                    }
                }
            }
            Ere::Repeat(a, least, most) => {
                out.push((**a).clone());
                if *least > 0 {
                    out.push(Ere::repeat((**a).clone(), least - 1, most.map(|m| m - 1)));
                }
                out.extend(
                    a.simpler()
                        .into_iter()
                        .map(|a| Ere::repeat(a, *least, *most)),
                );
            }
            Ere::Complement(a) => {
                out.push((**a).clone());
                out.extend(a.simpler().into_iter().map(Ere::complement));
            }
            Ere::Concat(a, b) => simpler_pair(a, b, Ere::concat, &mut out),
            Ere::Intersect(a, b) => simpler_pair(a, b, Ere::intersect, &mut out),
            Ere::Union(a, b) => simpler_pair(a, b, Ere::union, &mut out),
        }
        out
    }
}

fn simpler_pair(a: &Ere, b: &Ere, build: fn(Ere, Ere) -> Ere, out: &mut Vec<Ere>) {
    out.extend([a.clone(), b.clone()]);
    out.extend(a.simpler().into_iter().map(|a| build(a, b.clone())));
    out.extend(b.simpler().into_iter().map(|b| build(a.clone(), b)));
}

/// Prints trees as text, plainly or with random spellings.
pub(crate) struct Printer<'a> {
    /// The tokens of a proposition, e.g. `w`, `>`, `2`.
    names: &'a dyn Fn(usize, &mut Option<Rng>) -> Vec<String>,
    /// Where spellings come from; `None` prints plainly.
    rng: Option<Rng>,
    tokens: Vec<String>,
}

impl<'a> Printer<'a> {
    pub(crate) fn new(
        names: &'a dyn Fn(usize, &mut Option<Rng>) -> Vec<String>,
        rng: Option<Rng>,
    ) -> Printer<'a> {
        Printer {
            names,
            rng,
            tokens: Vec::new(),
        }
    }

    /// The text of a formula.
    pub(crate) fn formula_text(mut self, formula: &Formula) -> String {
        self.formula(formula, 0);
        join(&self.tokens, &mut self.rng)
    }

    /// The text of an expression.
    pub(crate) fn ere_text(mut self, ere: &Ere) -> String {
        self.ere(ere, 0);
        join(&self.tokens, &mut self.rng)
    }

    fn push(&mut self, token: &str) {
        self.tokens.push(token.to_owned());
    }

    fn pick(&mut self, spellings: &[&str]) {
        let i = self
            .rng
            .as_mut()
            .map_or(0, |rng| rng.below(spellings.len()));
        self.push(spellings[i]);
    }

    /// Whether to print parentheses around something of `level` where `least` is the loosest that needs none.
    fn parenthesise(&mut self, level: u8, least: u8, atom: u8) -> bool {
        level < least
            || match &mut self.rng {
                None => level < atom && least > 0,
                Some(rng) => rng.one_in(if level < atom { 4 } else { 30 }),
            }
    }

    fn formula(&mut self, formula: &Formula, least: u8) {
        let level = match formula {
            Formula::Const(_) | Formula::Prop(_) => ATOM,
            Formula::Unary(Unary::Start | Unary::End, _) => ATOM,
            Formula::Unary(..) => UNARY,
            Formula::Binary(op, ..) => op.level(),
        };
        let parentheses = self.parenthesise(level, least, ATOM);
        if parentheses {
            self.push("(");
        }
        match formula {
            Formula::Const(value) => self.push(if *value { "true" } else { "false" }),
            Formula::Prop(p) => {
                let tokens = (self.names)(*p, &mut self.rng);
                // Plain text leaves no doubt about what an operator in front of a comparison applies to.
                let wrap = self.rng.is_none() && tokens.len() > 1 && !parentheses && least > 0;
                if wrap {
                    self.push("(");
                }
                self.tokens.extend(tokens);
                if wrap {
                    self.push(")");
                }
            }
            Formula::Unary(op @ (Unary::Start | Unary::End), a) => {
                self.pick(op.spellings());
                self.push("(");
                self.formula(a, 0);
                self.push(")");
            }
            Formula::Unary(op, a) => {
                self.pick(op.spellings());
                self.formula(a, UNARY);
            }
            Formula::Binary(Binary::Interval, a, b) => {
                self.push("[");
                self.formula(a, 0);
                self.push(",");
                self.formula(b, 0);
                self.push(")");
            }
            Formula::Binary(op, a, b) => {
                let (left, right) = op.operand_levels();
                self.formula(a, left);
                self.pick(op.spellings());
                self.formula(b, right);
            }
        }
        if parentheses {
            self.push(")");
        }
    }

    fn ere(&mut self, ere: &Ere, least: u8) {
        const COMPLEMENT: u8 = 3;
        const POSTFIX: u8 = 4;
        const LETTER: u8 = 5;
        let level = match ere {
            Ere::Epsilon | Ere::Empty | Ere::Any | Ere::Event(_) | Ere::Step(_) => LETTER,
            Ere::Repeat(..) => POSTFIX,
            Ere::Complement(_) => COMPLEMENT,
            Ere::Concat(..) => 2,
            Ere::Intersect(..) => 1,
            Ere::Union(..) => 0,
        };
        let parentheses = self.parenthesise(level, least, LETTER);
        if parentheses {
            self.push("(");
        }
        match ere {
            Ere::Epsilon => self.push("epsilon"),
            Ere::Empty => self.push("empty"),
            Ere::Any => self.pick(&[".", "{}"]),
            Ere::Event(p) => {
                let braces = self.rng.as_mut().is_some_and(|rng| rng.one_in(6));
                if braces {
                    self.push("{");
                }
                let tokens = (self.names)(*p, &mut self.rng);
                self.tokens.extend(tokens);
                if braces {
                    self.push("}");
                }
            }
            Ere::Step(parts) if parts.is_empty() => self.push("{}"),
            Ere::Step(parts) => {
                self.push("{");
                for (i, part) in parts.iter().enumerate() {
                    if i > 0 {
                        self.push(",");
                    }
                    self.formula(part, 0);
                }
                self.push("}");
            }
            Ere::Repeat(a, least, most) => {
                let counted = match most {
                    None => format!("{{{least},}}"),
                    Some(most) if most == least => format!("{{{least}}}"),
                    Some(most) => format!("{{{least},{most}}}"),
                };
                let mut spellings = vec![counted.as_str()];
                match (*least, *most) {
                    (0, None) => spellings.splice(0..0, ["*", "*"]).for_each(drop),
                    (1, None) => spellings.splice(0..0, ["+", "+"]).for_each(drop),
                    (0, Some(1)) => spellings.splice(0..0, ["?", "?"]).for_each(drop),
                    _ => {}
                }
                // `a+?` would be a lazy `a+` to a user of `regex`; the page does not say, so a postfix operator under
                // another one always has parentheses when the outer may be `?`.
                self.ere(a, if spellings[0] == "?" { LETTER } else { POSTFIX });
                self.pick(&spellings);
            }
            Ere::Complement(a) => {
                self.push("~");
                self.ere(a, COMPLEMENT);
            }
            Ere::Concat(a, b) => {
                self.ere(a, 2);
                if self.rng.as_mut().is_some_and(|rng| rng.one_in(4)) {
                    self.push(";");
                }
                self.ere(b, 2);
            }
            Ere::Intersect(a, b) => {
                self.ere(a, 1);
                self.push("&");
                self.ere(b, 1);
            }
            Ere::Union(a, b) => {
                self.ere(a, 0);
                self.push("|");
                self.ere(b, 0);
            }
        }
        if parentheses {
            self.push(")");
        }
    }
}

/// Joins tokens with white space, leaving it out at times where no two tokens can grow together.
fn join(tokens: &[String], rng: &mut Option<Rng>) -> String {
    let mut text = String::new();
    for (i, token) in tokens.iter().enumerate() {
        if i > 0 {
            let may_touch = may_touch(&tokens[i - 1], token);
            let touch = may_touch && rng.as_mut().is_none_or(|rng| rng.one_in(2));
            let space = match rng {
                Some(rng) => [" ", " ", " ", " ", " ", " ", "  ", "\n", "\t"][rng.below(9)],
                None => " ",
            };
            text.push_str(if touch { "" } else { space });
        }
        text.push_str(token);
    }
    text
}

/// Whether two neighbouring tokens can do without a space: next to a bracket, after a prefix sign, before a postfix one.
fn may_touch(left: &str, right: &str) -> bool {
    let is_prefix = matches!(left, "!" | "~" | "[]" | "<>");
    let is_postfix = matches!(right, "*" | "+" | "?")
        || right.starts_with('{') && right[1..].starts_with(|c: char| c.is_ascii_digit());
    let opens_word = right.starts_with(|c: char| c.is_alphanumeric() || c == '(' || c == '{');
    matches!(left, "(" | "[" | "{")
        || matches!(right, ")" | "," | "}" | ";")
        || is_postfix
        || is_prefix && opens_word
        || matches!(left, "start" | "end") && right == "("
}
