//! The tables of published formulas with the sizes of their minimal monitors, and a reader for their formulas.

use super::formula::{Binary, Formula, Unary};

/// One row of a table.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// Table and line, for messages.
    pub(crate) place: String,
    /// Minimal states when every name is a boolean variable: with 3 verdicts, with 4.
    pub(crate) flags: [Option<usize>; 2],
    /// Minimal states when every name is an event: with 3 verdicts, with 4.
    pub(crate) events: [Option<usize>; 2],
    /// The verdicts that occur: `?` open, `F` violated, `T` satisfied.
    pub(crate) verdicts: String,
    /// Whether some finite run decides it.
    pub(crate) monitorable: bool,
    /// The formula as text.
    pub(crate) formula: String,
}

const TABLES: [(&str, &str); 4] = [
    ("dac.tsv", include_str!("../data/formulas/dac.tsv")),
    ("eh.tsv", include_str!("../data/formulas/eh.tsv")),
    ("p.tsv", include_str!("../data/formulas/p.tsv")),
    ("sb.tsv", include_str!("../data/formulas/sb.tsv")),
];

/// All rows of all tables.
pub(crate) fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for (name, text) in TABLES {
        for (i, line) in text
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.starts_with('#'))
        {
            let place = format!("{name}:{}", i + 1);
            let columns: Vec<&str> = line.split('\t').collect();
            let [
                flags3,
                flags4,
                events3,
                events4,
                verdicts,
                monitorable,
                formula,
            ] = columns[..]
            else {
                panic!("{place}: seven columns");
            };
            let count =
                |text: &str| (text != "-").then(|| text.parse().expect("a number of states"));
            rows.push(Row {
                flags: [count(flags3), count(flags4)],
                events: [count(events3), count(events4)],
                verdicts: verdicts.to_owned(),
                monitorable: match monitorable {
                    "monitorable" => true,
                    "non-mon" => false,
                    other => panic!("{place}: {other}"),
                },
                formula: formula.to_owned(),
                place,
            });
        }
    }
    rows
}

impl Row {
    /// The names in the formula: `p0`, `p1` and so on, as many as it needs.
    pub(crate) fn names(&self) -> Vec<String> {
        let used = self.formula().propositions();
        (0..32 - used.leading_zeros())
            .map(|p| format!("p{p}"))
            .collect()
    }

    /// The formula as a tree; name `pN` is proposition `N`.
    pub(crate) fn formula(&self) -> Formula {
        let spaced = ["(", ")", "!"]
            .iter()
            .fold(self.formula.clone(), |text, sign| {
                text.replace(sign, &format!(" {sign} "))
            });
        let mut tokens: Vec<&str> = spaced.split_whitespace().rev().collect();
        let formula = parse(&mut tokens, 0);
        assert!(tokens.is_empty(), "{}: rest {tokens:?}", self.place);
        formula
    }
}

/// Precedence climbing; the next token is the last of the list.
fn parse(tokens: &mut Vec<&str>, least: u8) -> Formula {
    let mut left = match tokens.pop().expect("a formula") {
        "(" => {
            let inner = parse(tokens, 0);
            assert_eq!(tokens.pop(), Some(")"));
            inner
        }
        "!" => Formula::unary(Unary::Not, parse(tokens, 5)),
        "X" => Formula::unary(Unary::Next, parse(tokens, 5)),
        "F" => Formula::unary(Unary::Eventually, parse(tokens, 5)),
        "G" => Formula::unary(Unary::Always, parse(tokens, 5)),
        name => Formula::Prop(
            name.strip_prefix('p')
                .and_then(|n| n.parse().ok())
                .expect("a name p0, p1 ..."),
        ),
    };
    loop {
        let (op, level) = match tokens.last() {
            Some(&"<->") => (Binary::Iff, 0),
            Some(&"->") => (Binary::Implies, 1),
            Some(&"|") => (Binary::Or, 2),
            Some(&"&") => (Binary::And, 3),
            Some(&"U") => (Binary::Until, 4),
            Some(&"W") => (Binary::WeakUntil, 4),
            Some(&"R") => (Binary::Release, 4),
            Some(&"M") => (Binary::StrongRelease, 4),
            _ => return left,
        };
        if level < least {
            return left;
        }
        tokens.pop();
        // Everything groups to the right.
        left = Formula::binary(op, left, parse(tokens, level));
    }
}
