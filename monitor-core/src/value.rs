//! The values that variables take and events carry.
//!
//! Four types are enough for what properties compare. A string is shared, not copied, because one
//! value travels from the reader through the causality module into every property that reads it.

use std::{
    borrow::Borrow,
    fmt,
    hash::{Hash, Hasher},
    mem::discriminant,
    sync::Arc,
};

/// A value written to a variable, or carried by an event as an argument.
///
/// ```
/// use portent_monitor_core::{Type, Value};
///
/// assert_eq!(Value::from(3).type_of(), Type::Int);
/// assert_eq!(Value::from("open").to_string(), "\"open\"");
/// ```
#[derive(Clone, Debug, PartialEq, PartialOrd)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(untagged))]
pub enum Value {
    /// `true` or `false`.
    Bool(bool),
    /// A 64-bit signed integer.
    Int(i64),
    /// A 64-bit floating-point number.
    Float(f64),
    /// A text.
    Str(Arc<str>),
}

/// The type of a [`Value`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Type {
    /// See [`Value::Bool`].
    Bool,
    /// See [`Value::Int`].
    Int,
    /// See [`Value::Float`].
    Float,
    /// See [`Value::Str`].
    #[cfg_attr(feature = "serde", serde(rename = "string"))]
    Str,
}

impl Value {
    /// The type of this value.
    pub fn type_of(&self) -> Type {
        match self {
            Value::Bool(_) => Type::Bool,
            Value::Int(_) => Type::Int,
            Value::Float(_) => Type::Float,
            Value::Str(_) => Type::Str,
        }
    }
}

/// A value, or a reference to one, that equals another only if they are identical to the bit: NaN
/// equals itself, and zero is not minus zero. So it can be a key.
///
/// ```
/// use portent_monitor_core::{Exact, Value};
///
/// let nan = Value::from(f64::NAN);
/// assert_ne!(nan, nan);
/// assert_eq!(Exact(&nan), Exact(&nan));
/// assert_eq!(Value::from(0.0), Value::from(-0.0));
/// assert_ne!(Exact(Value::from(0.0)), Exact(Value::from(-0.0)));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Exact<V>(pub V);

impl<V: Borrow<Value>> PartialEq for Exact<V> {
    fn eq(&self, other: &Self) -> bool {
        match (self.0.borrow(), other.0.borrow()) {
            (Value::Float(one), Value::Float(other)) => one.to_bits() == other.to_bits(),
            (one, other) => one == other,
        }
    }
}

impl<V: Borrow<Value>> Eq for Exact<V> {}

impl<V: Borrow<Value>> Hash for Exact<V> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let value = self.0.borrow();
        discriminant(value).hash(state);
        match value {
            Value::Bool(value) => value.hash(state),
            Value::Int(number) => number.hash(state),
            Value::Float(number) => number.to_bits().hash(state),
            Value::Str(text) => text.hash(state),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Bool(b) => b.fmt(f),
            Value::Int(n) => n.fmt(f),
            // Keeps the decimal point of whole numbers, so that the output reads back as a float.
            Value::Float(x) => write!(f, "{x:?}"),
            Value::Str(s) => write!(f, "{s:?}"),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Type::Bool => "bool",
            Type::Int => "int",
            Type::Float => "float",
            Type::Str => "string",
        })
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Value::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Value::Int(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Value::Float(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Value::Str(value.into())
    }
}
