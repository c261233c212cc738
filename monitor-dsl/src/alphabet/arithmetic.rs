//! The arithmetic that comparisons read.
//!
//! Over integers an expression is brought into a normal form, a polynomial, so that `x > y + 3` and
//! `y - x <= -4` are seen to be about the same quantity and their truth values are related. Floating
//! point keeps the shape that was written, because rounding makes rearranging wrong.

use portent_monitor_core::Value;
use std::collections::BTreeMap;

use super::VariableId;

/// A sum of products of integer variables, without its constant.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(into = "StoredSum", from = "StoredSum"))]
pub(crate) struct Polynomial(Vec<(Vec<VariableId>, i128)>);

/// A polynomial whose coefficients are in two halves: few formats have numbers of 128 bits.
#[cfg(feature = "serde")]
type StoredSum = Vec<(Vec<VariableId>, (i64, u64))>;

#[cfg(feature = "serde")]
impl From<Polynomial> for StoredSum {
    fn from(sum: Polynomial) -> StoredSum {
        let products = sum.0.into_iter();
        products
            .map(|(product, factor)| (product, halves(factor)))
            .collect()
    }
}

#[cfg(feature = "serde")]
impl From<StoredSum> for Polynomial {
    fn from(sum: StoredSum) -> Polynomial {
        let products = sum.into_iter();
        Polynomial(
            products
                .map(|(product, factor)| (product, whole(factor)))
                .collect(),
        )
    }
}

/// The upper and the lower half of a number.
#[cfg(feature = "serde")]
fn halves(number: i128) -> (i64, u64) {
    ((number >> 64) as i64, number as u64)
}

#[cfg(feature = "serde")]
fn whole((upper, lower): (i64, u64)) -> i128 {
    (i128::from(upper) << 64) | i128::from(lower)
}

/// Numbers of 128 bits, each in two halves.
#[cfg(feature = "serde")]
pub(crate) mod in_halves {
    use serde::{Deserialize, Deserializer, Serializer};

    use super::{halves, whole};

    pub(crate) fn serialize<S: Serializer>(numbers: &[i128], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(numbers.iter().map(|&number| halves(number)))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<i128>, D::Error> {
        let stored = Vec::<(i64, u64)>::deserialize(from)?;
        Ok(stored.into_iter().map(whole).collect())
    }
}

/// A [`Polynomial`] and a constant; what integer expressions are while they are being read.
#[derive(Clone, Debug, Default)]
pub(crate) struct IntegerSum {
    products: BTreeMap<Vec<VariableId>, i128>,
    constant: i128,
}

/// Multiplied out, an expression may have this many products.
pub(crate) const MAX_PRODUCTS: usize = 250;

/// What an integer expression outgrew while it was being read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Outgrown {
    /// 128 bits.
    Bits,
    /// [`MAX_PRODUCTS`].
    Products,
}

impl IntegerSum {
    pub(crate) fn constant(constant: impl Into<i128>) -> Self {
        IntegerSum {
            products: BTreeMap::new(),
            constant: constant.into(),
        }
    }

    pub(crate) fn variable(variable: VariableId) -> Self {
        IntegerSum {
            products: BTreeMap::from([(vec![variable], 1)]),
            constant: 0,
        }
    }

    pub(crate) fn scaled(&self, factor: i128) -> Result<Self, Outgrown> {
        let mut sum = IntegerSum {
            products: BTreeMap::new(),
            constant: self.constant.checked_mul(factor).ok_or(Outgrown::Bits)?,
        };
        for (product, coefficient) in &self.products {
            sum.add_product(
                product.clone(),
                coefficient.checked_mul(factor).ok_or(Outgrown::Bits)?,
            )?;
        }
        Ok(sum)
    }

    pub(crate) fn plus(&self, other: &Self) -> Result<Self, Outgrown> {
        let mut sum = self.clone();
        sum.constant = sum
            .constant
            .checked_add(other.constant)
            .ok_or(Outgrown::Bits)?;
        for (product, &coefficient) in &other.products {
            sum.add_product(product.clone(), coefficient)?;
        }
        Ok(sum)
    }

    pub(crate) fn times(&self, other: &Self) -> Result<Self, Outgrown> {
        let mut sum = self.scaled(other.constant)?;
        for (product, &coefficient) in &other.products {
            let shifted = self.constant.checked_mul(coefficient);
            sum.add_product(product.clone(), shifted.ok_or(Outgrown::Bits)?)?;
            for (left, &factor) in &self.products {
                let mut joint: Vec<VariableId> = left.iter().chain(product).copied().collect();
                joint.sort_unstable();
                sum.add_product(
                    joint,
                    factor.checked_mul(coefficient).ok_or(Outgrown::Bits)?,
                )?;
            }
        }
        Ok(sum)
    }

    fn add_product(&mut self, product: Vec<VariableId>, coefficient: i128) -> Result<(), Outgrown> {
        let known = self.products.get(&product).copied().unwrap_or(0);
        match known.checked_add(coefficient).ok_or(Outgrown::Bits)? {
            0 => drop(self.products.remove(&product)),
            sum => drop(self.products.insert(product, sum)),
        }
        if self.products.len() > MAX_PRODUCTS {
            Err(Outgrown::Products)
        } else {
            Ok(())
        }
    }

    /// Splits `sum >= 0` into a primitive polynomial and what it is compared with:
    /// `sum = scale * polynomial + constant`, where the polynomial's first coefficient is positive
    /// and its coefficients have no common divisor. No polynomial is left of a constant.
    pub(crate) fn normalised(self) -> (Option<Polynomial>, i128, i128) {
        let divisor = self
            .products
            .values()
            .fold(0u128, |gcd, c| greatest_common(gcd, *c));
        let Some(&leading) = self.products.values().next() else {
            return (None, 1, self.constant);
        };
        // A coefficient of i128::MIN cannot be negated; it is left as it is, which is only less tidy.
        let scale = match i128::try_from(divisor) {
            Ok(divisor) if leading < 0 => -divisor,
            Ok(divisor) => divisor,
            Err(_) => 1,
        };
        let products = self
            .products
            .into_iter()
            .map(|(product, c)| (product, c / scale))
            .collect();
        (Some(Polynomial(products)), scale, self.constant)
    }
}

fn greatest_common(a: u128, b: i128) -> u128 {
    let (mut a, mut b) = (a, b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

impl Polynomial {
    /// The variable, if the polynomial is nothing but one.
    pub(crate) fn as_variable(&self) -> Option<VariableId> {
        match self.0.as_slice() {
            [(product, 1)] if product.len() == 1 => Some(product[0]),
            _ => None,
        }
    }

    /// The products of the sum, each with its coefficient.
    pub(crate) fn products(&self) -> impl Iterator<Item = (&[VariableId], i128)> {
        self.0
            .iter()
            .map(|(product, coefficient)| (product.as_slice(), *coefficient))
    }

    pub(crate) fn variables(&self) -> impl Iterator<Item = VariableId> + '_ {
        self.0
            .iter()
            .flat_map(|(product, _)| product.iter().copied())
    }

    /// The value, exact as long as every intermediate result fits 128 bits, and the nearest
    /// 128-bit number otherwise (which takes a product of three 64-bit numbers).
    pub(crate) fn evaluate(&self, values: &[Value]) -> i128 {
        self.0.iter().fold(0i128, |sum, (product, coefficient)| {
            let product = product.iter().fold(*coefficient, |so_far, &variable| {
                so_far.saturating_mul(integer(&values[variable.index()]).into())
            });
            sum.saturating_add(product)
        })
    }
}

/// The integer in a value of an `int` variable.
pub(crate) fn integer(value: &Value) -> i64 {
    match value {
        Value::Int(n) => *n,
        Value::Bool(b) => (*b).into(),
        Value::Float(_) | Value::Str(_) => unreachable!("an int variable holds an integer"),
    }
}

/// The number in a value of an `int` or `float` variable.
pub(crate) fn float(value: &Value) -> f64 {
    match value {
        Value::Float(x) => *x,
        other => integer(other) as f64,
    }
}

/// An expression over floating-point numbers, in the shape in which it was written.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum FloatTerm {
    Constant(f64),
    Variable(VariableId),
    Negated(Box<FloatTerm>),
    Sum(Box<FloatTerm>, Box<FloatTerm>),
    Difference(Box<FloatTerm>, Box<FloatTerm>),
    Product(Box<FloatTerm>, Box<FloatTerm>),
}

impl FloatTerm {
    pub(crate) fn evaluate(&self, values: &[Value]) -> f64 {
        match self {
            FloatTerm::Constant(x) => *x,
            FloatTerm::Variable(variable) => float(&values[variable.index()]),
            FloatTerm::Negated(a) => -a.evaluate(values),
            FloatTerm::Sum(a, b) => a.evaluate(values) + b.evaluate(values),
            FloatTerm::Difference(a, b) => a.evaluate(values) - b.evaluate(values),
            FloatTerm::Product(a, b) => a.evaluate(values) * b.evaluate(values),
        }
    }

    /// The value, if no variable is read.
    pub(crate) fn as_constant(&self) -> Option<f64> {
        self.variables().is_empty().then(|| self.evaluate(&[]))
    }

    pub(crate) fn variables(&self) -> Vec<VariableId> {
        match self {
            FloatTerm::Constant(_) => Vec::new(),
            FloatTerm::Variable(variable) => vec![*variable],
            FloatTerm::Negated(a) => a.variables(),
            FloatTerm::Sum(a, b) | FloatTerm::Difference(a, b) | FloatTerm::Product(a, b) => {
                let mut variables = a.variables();
                variables.extend(b.variables());
                variables
            }
        }
    }
}
