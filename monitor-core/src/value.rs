//! The values that variables take and events carry.
//!
//! Four types are enough for what properties compare. A string is shared, not copied, because one
//! value travels from the reader through the causality module into every property that reads it.

use std::{fmt, sync::Arc};

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

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Bool(b) => b.fmt(f),
            Value::Int(n) => n.fmt(f),
            // Keeps the decimal point of whole numbers, so that what is printed reads back as a float.
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
