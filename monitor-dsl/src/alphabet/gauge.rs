//! Gauges: what a letter knows of the variables.
//!
//! A gauge reads one quantity (a variable, `x - y`, a string) and shows one of finitely many
//! *cells*, the sets of values that no proposition tells apart. `w > 26` and `w > 30` are two
//! propositions but one gauge with three cells, so that the impossible letter "above 30 but not
//! above 26" does not even have a name. Gauges of different quantities are taken as independent.

use portent_monitor_core::Value;
use std::{cmp::Ordering, sync::Arc};

use super::{
    StateVariable, VariableId,
    arithmetic::{FloatTerm, Polynomial},
    range::Range,
};
use crate::comparison::Comparison;

/// A condition on one quantity: what a proposition over variables comes down to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum GaugeCondition {
    Bool(VariableId),
    Integer(Polynomial, Comparison, i128),
    Float(FloatTerm, Comparison, f64),
    /// Two floating-point expressions, neither of them constant.
    Order(FloatTerm, Comparison, FloatTerm),
    /// Whether a string is a literal, or (if false) is not.
    Text(VariableId, Arc<str>, bool),
    /// Whether two strings are the same, or (if false) are not.
    SameText(VariableId, VariableId, bool),
}

/// Where a gauge gets its reading.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum GaugeReading {
    Bool(VariableId),
    /// The position is the number of thresholds that are at most the value.
    Integer(
        Polynomial,
        #[cfg_attr(feature = "serde", serde(with = "super::arithmetic::in_halves"))] Vec<i128>,
    ),
    /// The position is twice the number of points below the value, plus one on a point; what is
    /// not a number has the position after the last. All comparisons with it but `!=` are false.
    Float(FloatTerm, Vec<f64>),
    /// Position 0: less, 1: equal, 2: greater, 3: one of them is not a number.
    Order(FloatTerm, FloatTerm),
    /// The position of the literal, or past the last.
    Text(VariableId, Vec<Arc<str>>),
    /// Position 0: different, 1: the same.
    SameText(VariableId, VariableId),
}

/// A quantity and its cells.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Gauge {
    pub(crate) reading: GaugeReading,
    /// The cell of every position of the reading.
    pub(crate) cell_at: Vec<u32>,
    pub(crate) cells: u32,
}

impl Gauge {
    /// The gauge for `conditions`, all on the same quantity, and for each of them the cells in
    /// which it holds.
    pub(crate) fn new(
        conditions: &[&GaugeCondition],
        variables: &[StateVariable],
    ) -> (Gauge, Vec<Vec<bool>>) {
        let (reading, samples) = reading(conditions, variables);
        let mut signatures: Vec<Vec<bool>> = Vec::new();
        let mut cell_at: Vec<u32> = Vec::with_capacity(samples.len());
        for sample in &samples {
            // Where no value can be, any cell will do; the one before makes conditions simpler.
            let before = cell_at.last().map_or(0, |&cell| cell as usize);
            let cell = sample.as_ref().map_or(before, |sample| {
                let signature: Vec<bool> = conditions
                    .iter()
                    .map(|condition| sample.satisfies(condition))
                    .collect();
                signatures
                    .iter()
                    .position(|known| *known == signature)
                    .unwrap_or_else(|| {
                        signatures.push(signature);
                        signatures.len() - 1
                    })
            });
            cell_at.push(cell as u32);
        }
        let holds = (0..conditions.len())
            .map(|index| {
                signatures
                    .iter()
                    .map(|signature| signature[index])
                    .collect()
            })
            .collect();
        (
            Gauge {
                reading,
                cell_at,
                cells: signatures.len() as u32,
            },
            holds,
        )
    }

    /// The cell that the gauge shows.
    pub(crate) fn read(&self, values: &[Value]) -> u32 {
        let position = match &self.reading {
            GaugeReading::Bool(variable) => {
                usize::from(values[variable.index()] == Value::Bool(true))
            }
            GaugeReading::Integer(term, thresholds) => {
                let value = term.evaluate(values);
                thresholds.partition_point(|&threshold| threshold <= value)
            }
            GaugeReading::Float(term, points) => float_position(points, term.evaluate(values)),
            GaugeReading::Order(left, right) => {
                order_position(left.evaluate(values), right.evaluate(values))
            }
            GaugeReading::Text(variable, literals) => match &values[variable.index()] {
                Value::Str(text) => text_position(literals, text),
                _ => literals.len(),
            },
            GaugeReading::SameText(left, right) => {
                usize::from(values[left.index()] == values[right.index()])
            }
        };
        self.cell_at[position]
    }

    /// The variables that the reading depends on.
    pub(crate) fn variables(&self) -> Vec<VariableId> {
        let mut variables = match &self.reading {
            GaugeReading::Bool(variable) | GaugeReading::Text(variable, _) => vec![*variable],
            GaugeReading::Integer(term, _) => term.variables().collect(),
            GaugeReading::Float(term, _) => term.variables(),
            GaugeReading::Order(left, right) => {
                let mut variables = left.variables();
                variables.extend(right.variables());
                variables
            }
            GaugeReading::SameText(left, right) => vec![*left, *right],
        };
        variables.sort_unstable();
        variables.dedup();
        variables
    }

    /// The one integer variable that is compared with constants, and those constants as 64-bit
    /// numbers: the case that stepping treats specially.
    pub(crate) fn as_integer_scale(&self) -> Option<(VariableId, Vec<i64>)> {
        let GaugeReading::Integer(term, thresholds) = &self.reading else {
            return None;
        };
        let thresholds: Option<Vec<i64>> = thresholds
            .iter()
            .map(|&threshold| i64::try_from(threshold).ok())
            .collect();
        Some((term.as_variable()?, thresholds?))
    }
}

fn float_position(points: &[f64], value: f64) -> usize {
    if value.is_nan() {
        return 2 * points.len() + 1;
    }
    let below = points.partition_point(|&point| point < value);
    2 * below + usize::from(points.get(below) == Some(&value))
}

fn order_position(left: f64, right: f64) -> usize {
    match left.partial_cmp(&right) {
        Some(Ordering::Less) => 0,
        Some(Ordering::Equal) => 1,
        Some(Ordering::Greater) => 2,
        None => 3,
    }
}

fn text_position(literals: &[Arc<str>], text: &str) -> usize {
    literals
        .iter()
        .position(|literal| **literal == *text)
        .unwrap_or(literals.len())
}

/// A value of a quantity that stands for its position.
enum Sample<'a> {
    Bool(bool),
    Integer(i128),
    Float(f64),
    /// `None` if one of the two is not a number.
    Order(Option<Ordering>),
    Text(Option<&'a str>),
}

impl Sample<'_> {
    fn satisfies(&self, condition: &GaugeCondition) -> bool {
        match (self, condition) {
            (Sample::Bool(value), GaugeCondition::Bool(_)) => *value,
            (Sample::Bool(same), GaugeCondition::SameText(_, _, wanted)) => same == wanted,
            (Sample::Integer(value), GaugeCondition::Integer(_, comparison, constant)) => {
                comparison.holds(value, constant)
            }
            (Sample::Float(value), GaugeCondition::Float(_, comparison, constant)) => {
                comparison.holds(value, constant)
            }
            (Sample::Order(order), GaugeCondition::Order(_, comparison, _)) => order
                .map_or(*comparison == Comparison::NotEqual, |order| {
                    comparison.holds(order, Ordering::Equal)
                }),
            (Sample::Text(text), GaugeCondition::Text(_, literal, wanted)) => {
                (*text == Some(&**literal)) == *wanted
            }
            _ => unreachable!("conditions of one gauge are of one kind"),
        }
    }
}

/// The reading that all conditions share, and a sample for every position of it; `None` where no
/// value can be.
fn reading<'a>(
    conditions: &[&'a GaugeCondition],
    variables: &[StateVariable],
) -> (GaugeReading, Vec<Option<Sample<'a>>>) {
    match conditions[0] {
        GaugeCondition::Bool(variable) => (
            GaugeReading::Bool(*variable),
            vec![Some(Sample::Bool(false)), Some(Sample::Bool(true))],
        ),
        GaugeCondition::SameText(left, right, _) => (
            GaugeReading::SameText(*left, *right),
            vec![
                (left != right).then_some(Sample::Bool(false)),
                Some(Sample::Bool(true)),
            ],
        ),
        GaugeCondition::Order(left, _, right) => order_reading(left, right, variables),
        GaugeCondition::Integer(term, ..) => integer_reading(term, conditions),
        GaugeCondition::Float(term, ..) => float_reading(term, conditions, variables),
        GaugeCondition::Text(variable, ..) => {
            let mut literals: Vec<&'a Arc<str>> = conditions
                .iter()
                .filter_map(|condition| match condition {
                    GaugeCondition::Text(_, literal, _) => Some(literal),
                    _ => None,
                })
                .collect();
            literals.sort_unstable();
            literals.dedup();
            let mut samples: Vec<Option<Sample>> = literals
                .iter()
                .map(|literal| Some(Sample::Text(Some(literal))))
                .collect();
            samples.push(Some(Sample::Text(None)));
            (
                GaugeReading::Text(*variable, literals.into_iter().cloned().collect()),
                samples,
            )
        }
    }
}

fn integer_reading<'a>(
    term: &Polynomial,
    conditions: &[&GaugeCondition],
) -> (GaugeReading, Vec<Option<Sample<'a>>>) {
    let mut thresholds = Vec::new();
    for condition in conditions {
        let GaugeCondition::Integer(_, comparison, constant) = condition else {
            continue;
        };
        if !matches!(comparison, Comparison::Greater | Comparison::AtMost) {
            thresholds.push(*constant);
        }
        if !matches!(comparison, Comparison::Less | Comparison::AtLeast) {
            thresholds.push(constant.saturating_add(1));
        }
    }
    thresholds.sort_unstable();
    thresholds.dedup();
    // A single variable is a 64-bit number; nothing lies beyond.
    let (lowest, highest) = match term.as_variable() {
        Some(_) => (i64::MIN.into(), i64::MAX.into()),
        None => (i128::MIN, i128::MAX),
    };
    thresholds.retain(|&threshold| lowest < threshold && threshold <= highest);
    let mut samples = vec![Some(Sample::Integer(lowest))];
    samples.extend(
        thresholds
            .iter()
            .map(|&threshold| Some(Sample::Integer(threshold))),
    );
    (GaugeReading::Integer(term.clone(), thresholds), samples)
}

fn float_reading<'a>(
    term: &FloatTerm,
    conditions: &[&GaugeCondition],
    variables: &[StateVariable],
) -> (GaugeReading, Vec<Option<Sample<'a>>>) {
    let mut points: Vec<f64> = conditions
        .iter()
        .filter_map(|condition| match condition {
            GaugeCondition::Float(_, _, constant) => Some(*constant),
            _ => None,
        })
        .collect();
    points.sort_unstable_by(f64::total_cmp);
    points.dedup();
    let range = Range::of(term, variables);
    let between = |from: f64, to: f64| {
        let lowest = from.max(range.lowest);
        (lowest <= to.min(range.highest)).then_some(Sample::Float(lowest))
    };
    let mut samples = Vec::with_capacity(2 * points.len() + 2);
    let mut from = f64::NEG_INFINITY;
    for &point in &points {
        // Nothing lies below negative infinity, or between two neighbours.
        let below = (from < point).then(|| between(from, point.next_down()));
        samples.push(below.flatten());
        samples.push(between(point, point));
        from = point.next_up();
    }
    let above = points.last().is_none_or(|&last| last < f64::INFINITY);
    samples.push(above.then(|| between(from, f64::INFINITY)).flatten());
    samples.push(range.nan.then_some(Sample::Float(f64::NAN)));
    (GaugeReading::Float(term.clone(), points), samples)
}

fn order_reading<'a>(
    left: &FloatTerm,
    right: &FloatTerm,
    variables: &[StateVariable],
) -> (GaugeReading, Vec<Option<Sample<'a>>>) {
    let (a, b) = (Range::of(left, variables), Range::of(right, variables));
    let same = left == right;
    let possible = [
        (Some(Ordering::Less), !same && a.lowest < b.highest),
        (
            Some(Ordering::Equal),
            a.lowest <= b.highest && b.lowest <= a.highest,
        ),
        (Some(Ordering::Greater), !same && a.highest > b.lowest),
        (None, a.nan || b.nan),
    ];
    let samples = possible.map(|(order, possible)| possible.then_some(Sample::Order(order)));
    (
        GaugeReading::Order(left.clone(), right.clone()),
        samples.into(),
    )
}

/// Whether two conditions read the same quantity, and so share a gauge.
pub(crate) fn same_quantity(a: &GaugeCondition, b: &GaugeCondition) -> bool {
    match (a, b) {
        (GaugeCondition::Bool(x), GaugeCondition::Bool(y)) => x == y,
        (GaugeCondition::Integer(s, ..), GaugeCondition::Integer(t, ..)) => s == t,
        (GaugeCondition::Float(s, ..), GaugeCondition::Float(t, ..)) => s == t,
        (GaugeCondition::Order(s, _, u), GaugeCondition::Order(t, _, v)) => s == t && u == v,
        (GaugeCondition::Text(x, ..), GaugeCondition::Text(y, ..)) => x == y,
        (GaugeCondition::SameText(a, b, _), GaugeCondition::SameText(c, d, _)) => a == c && b == d,
        _ => false,
    }
}
