//! Propositions as Rust expressions over the fields, read off the gauges that the library steps with.

use portent_monitor_core::Type;

use super::{Generator, spell::rust_float};
use crate::alphabet::{
    VariableId,
    arithmetic::{FloatTerm, Polynomial},
    gauge::{Gauge, GaugeReading},
};

impl Generator<'_> {
    /// A proposition as a Rust expression.
    pub(super) fn proposition(&self, index: usize) -> String {
        if let Some(event) = self.alphabet().propositions()[index].event() {
            return format!("event == Some(Event::{})", self.events[event.index()]);
        }
        for (gauge, place) in self.alphabet().gauges().iter().zip(1..) {
            let at = self.alphabet().propositions_at(place);
            if let Some((_, cells)) = at.iter().find(|(proposition, _)| *proposition == index) {
                return self.reading(gauge, cells);
            }
        }
        unreachable!("a proposition is an event or read off a gauge")
    }

    /// Whether a gauge stands in one of `cells`.
    fn reading(&self, gauge: &Gauge, cells: &[bool]) -> String {
        let holds: Vec<bool> = gauge
            .cell_at
            .iter()
            .map(|&cell| cells[cell as usize])
            .collect();
        if holds.iter().all(|&at| at == holds[0]) {
            return holds[0].to_string();
        }
        let field = |variable: &VariableId| format!("self.{}", self.fields[variable.index()]);
        let either = |yes: bool, text: String| if yes { text } else { format!("!({text})") };
        match &gauge.reading {
            GaugeReading::Bool(variable) => either(holds[1], field(variable)),
            GaugeReading::SameText(a, b) => {
                either(holds[1], format!("{} == {}", field(a), field(b)))
            }
            GaugeReading::Text(variable, literals) => {
                let other = holds[literals.len()];
                let is = |literal: &str| format!("{} == {literal:?}", field(variable));
                let listed = literals.iter().zip(&holds).filter(|(_, at)| **at != other);
                let listed: Vec<String> = listed.map(|(literal, _)| is(literal)).collect();
                either(!other, listed.join(" || "))
            }
            GaugeReading::Order(a, b) => {
                let (a, b) = (self.float_term(a), self.float_term(b));
                unless_nan(&holds, |holds| {
                    let signs = ["<", "==", ">"].into_iter().zip(holds);
                    let signs = signs.filter(|(_, at)| **at).map(|(sign, _)| sign);
                    let tests: Vec<String> = signs.map(|sign| format!("{a} {sign} {b}")).collect();
                    tests.join(" || ")
                })
            }
            GaugeReading::Integer(term, thresholds) => {
                let term = self.polynomial(term);
                runs(&holds, |from, to| {
                    let lower = from.map(|at| format!("{term} >= {}", thresholds[at - 1]));
                    let upper = to.map(|at| format!("{term} < {}", thresholds[at - 1]));
                    (lower, upper)
                })
            }
            GaugeReading::Float(term, points) => {
                let term = self.float_term(term);
                // Odd positions are points, even ones what lies between them.
                let lower = |at: usize| match at % 2 {
                    1 => format!("{term} >= {}", rust_float(points[at / 2])),
                    _ => format!("{term} > {}", rust_float(points[at / 2 - 1])),
                };
                let upper = |at: usize| match at % 2 {
                    1 => format!("{term} < {}", rust_float(points[at / 2])),
                    _ => format!("{term} <= {}", rust_float(points[at / 2 - 1])),
                };
                unless_nan(&holds, |holds| {
                    if holds.contains(&false) {
                        runs(holds, |from, to| match (from, to) {
                            (Some(from), Some(to)) if from % 2 == 1 && to == from + 1 => (
                                Some(format!("{term} == {}", rust_float(points[from / 2]))),
                                None,
                            ),
                            _ => (from.map(lower), to.map(upper)),
                        })
                    } else {
                        format!("{term} == {term}")
                    }
                })
            }
        }
    }

    fn polynomial(&self, term: &Polynomial) -> String {
        let products: Vec<String> = term
            .products()
            .map(|(variables, coefficient)| {
                let mut variables = variables.iter();
                let field = |variable: &VariableId| {
                    format!("i128::from(self.{})", self.fields[variable.index()])
                };
                let mut text = match (coefficient, variables.next()) {
                    (1, Some(first)) => field(first),
                    (_, None) => format!("{coefficient}i128"),
                    (_, Some(first)) => {
                        format!("{}.saturating_mul({coefficient})", field(first))
                    }
                };
                for variable in variables {
                    text = format!("{text}.saturating_mul({})", field(variable));
                }
                text
            })
            .collect();
        let (first, rest) = products.split_first().expect("a polynomial has a product");
        rest.iter().fold(first.clone(), |sum, next| {
            format!("{sum}.saturating_add({next})")
        })
    }

    fn float_term(&self, term: &FloatTerm) -> String {
        match term {
            FloatTerm::Constant(x) => rust_float(*x),
            FloatTerm::Variable(variable) => {
                let field = format!("self.{}", self.fields[variable.index()]);
                match self.alphabet().variables()[variable.index()].type_of {
                    Type::Float => field,
                    _ => format!("({field} as f64)"),
                }
            }
            FloatTerm::Negated(a) => format!("(-{})", self.float_term(a)),
            FloatTerm::Sum(a, b) => format!("({} + {})", self.float_term(a), self.float_term(b)),
            FloatTerm::Difference(a, b) => {
                format!("({} - {})", self.float_term(a), self.float_term(b))
            }
            FloatTerm::Product(a, b) => {
                format!("({} * {})", self.float_term(a), self.float_term(b))
            }
        }
    }
}

/// A test of floating-point numbers, where the last position is not-a-number. `numbers` makes a test
/// of the other positions from comparisons that are false there; if the whole is to hold there, it
/// is the negation of the opposite test.
fn unless_nan(holds: &[bool], numbers: impl Fn(&[bool]) -> String) -> String {
    let (nan, rest) = holds.split_last().expect("a position for not-a-number");
    if *nan {
        let opposite: Vec<bool> = rest.iter().map(|at| !at).collect();
        format!("!({})", numbers(&opposite))
    } else {
        numbers(rest)
    }
}

/// The runs of positions that hold, each as a lower and an upper bound, joined by "or". `bounds`
/// gets the first position of the run and the first after it; `None` where there is no bound.
fn runs(
    holds: &[bool],
    bounds: impl Fn(Option<usize>, Option<usize>) -> (Option<String>, Option<String>),
) -> String {
    let mut parts = Vec::new();
    let mut start = 0;
    while start < holds.len() {
        let end = (start..holds.len())
            .find(|&at| holds[at] != holds[start])
            .unwrap_or(holds.len());
        if holds[start] {
            let (lower, upper) = bounds(
                (start > 0).then_some(start),
                (end < holds.len()).then_some(end),
            );
            let bounds: Vec<String> = lower.into_iter().chain(upper).collect();
            parts.push(bounds.join(" && "));
        }
        start = end;
    }
    match parts.len() {
        1 => parts.swap_remove(0),
        _ => parts
            .iter()
            .map(|part| format!("({part})"))
            .collect::<Vec<_>>()
            .join(" || "),
    }
}
