//! Monitors as data of a program: what a macro writes down when a program is compiled, and what a monitor is made of when it runs.
//!
//! Nothing is parsed then, neither the property nor a format: the data are constants of the program, and are copied to where a
//! monitor wants them. Only macros use this; it may change with every version.

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{
        IntoDeserializer, Visitor,
        value::{Error, MapAccessDeserializer, MapDeserializer, SeqDeserializer, StrDeserializer},
    },
    forward_to_deserialize_any,
};

use crate::monitor::{Monitor, SealedParts};

/// A monitor as data: a tree of constants.
#[derive(Clone, Copy, Debug)]
pub enum Data {
    /// Nothing.
    Null,
    /// A truth value.
    Bool(bool),
    /// A number.
    Int(i64),
    /// One that is too large for that.
    Large(u64),
    /// A fraction.
    Float(f64),
    /// A text.
    Str(&'static str),
    /// Values in their order.
    List(&'static [Data]),
    /// Values by their names.
    Map(&'static [(&'static str, Data)]),
}

/// What is to be written down of a monitor.
#[derive(Debug)]
pub struct Sealed<'a>(pub &'a Monitor);

impl Serialize for Sealed<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        SealedParts::from(self.0).serialize(to)
    }
}

/// The monitor that was written down.
///
/// # Panics
///
/// If that was done by another version.
pub fn unseal(data: &'static Data) -> Monitor {
    match SealedParts::deserialize(*data) {
        Ok(parts) => parts.into(),
        Err(error) => panic!("portent and portent-macros are of different versions: {error}"),
    }
}

impl IntoDeserializer<'static> for Data {
    type Deserializer = Data;

    fn into_deserializer(self) -> Data {
        self
    }
}

impl Data {
    fn entries(entries: &'static [(&'static str, Data)]) -> Entries {
        let entry: fn(&'static (&'static str, Data)) -> (&'static str, Data) = |entry| *entry;
        MapDeserializer::new(entries.iter().map(entry))
    }
}

type Entry = (&'static str, Data);
type Entries = MapDeserializer<
    'static,
    std::iter::Map<std::slice::Iter<'static, Entry>, fn(&'static Entry) -> Entry>,
    Error,
>;

impl Deserializer<'static> for Data {
    type Error = Error;

    fn deserialize_any<V: Visitor<'static>>(self, visitor: V) -> Result<V::Value, Error> {
        match self {
            Data::Null => visitor.visit_unit(),
            Data::Bool(value) => visitor.visit_bool(value),
            Data::Int(value) => visitor.visit_i64(value),
            Data::Large(value) => visitor.visit_u64(value),
            Data::Float(value) => visitor.visit_f64(value),
            Data::Str(value) => visitor.visit_borrowed_str(value),
            Data::List(values) => visitor.visit_seq(SeqDeserializer::new(values.iter().copied())),
            Data::Map(entries) => visitor.visit_map(Data::entries(entries)),
        }
    }

    fn deserialize_option<V: Visitor<'static>>(self, visitor: V) -> Result<V::Value, Error> {
        match self {
            Data::Null => visitor.visit_none(),
            some => visitor.visit_some(some),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'static>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'static>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self {
            Data::Str(variant) => {
                StrDeserializer::new(variant).deserialize_enum(name, variants, visitor)
            }
            Data::Map(entries) => MapAccessDeserializer::new(Data::entries(entries))
                .deserialize_enum(name, variants, visitor),
            other => other.deserialize_any(visitor),
        }
    }

    forward_to_deserialize_any! {
        <V: Visitor<'static>>
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}
