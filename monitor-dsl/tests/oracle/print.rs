//! The way of formulas and expressions back to text.
//!
//! The printer draws one of the spellings that the language allows for every operator, leaves out parentheses that
//! precedence makes superfluous (not always), and varies white space, so that whatever the oracle checks about meaning
//! it checks about the parser too. Without a random source it prints one plain, fully parenthesised text.

use portent_testing::Rng;

use super::formula::{Binary, Direction, Ere, Formula, Step, Unary};

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
            Unary::Times(Step::Next, _) => Unary::Next.spellings(),
            Unary::Times(Step::WeakNext, _) => Unary::WeakNext.spellings(),
            Unary::Times(Step::Yesterday, _) => Unary::Yesterday.spellings(),
            Unary::Times(Step::WeakYesterday, _) => Unary::WeakYesterday.spellings(),
            Unary::Somewhere(Direction::Ahead, ..) => Unary::Eventually.spellings(),
            Unary::Everywhere(Direction::Ahead, ..) => Unary::Always.spellings(),
            Unary::Somewhere(Direction::Back, ..) => Unary::Once.spellings(),
            Unary::Everywhere(Direction::Back, ..) => Unary::Historically.spellings(),
        }
    }

    /// The numbers that it counts with, if it does.
    fn count(self) -> Option<String> {
        match self {
            Unary::Times(_, times) => Some(format!("[{times}]")),
            Unary::Somewhere(_, least, most) | Unary::Everywhere(_, least, most) => {
                Some(format!("[{least}:{most}]"))
            }
            _ => None,
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
    pub(super) fn level(self) -> u8 {
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
                if let Some(count) = op.count() {
                    let wide = self.rng.as_mut().is_some_and(|rng| rng.one_in(4));
                    let count = if wide {
                        count.replace(':', " : ").replace('[', "[ ")
                    } else {
                        count
                    };
                    self.push(&count);
                }
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
    let is_count = |token: &str| token.starts_with('[') && token.ends_with(']') && token != "[]";
    matches!(left, "(" | "[" | "{")
        || is_count(right)
        || is_count(left) && opens_word
        || matches!(right, ")" | "," | "}" | ";")
        || is_postfix
        || is_prefix && opens_word
        || matches!(left, "start" | "end") && right == "("
}
