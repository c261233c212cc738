//! Values as recordings have them: arguments of events and contents of variables.

use std::sync::Arc;

use portent_monitor_core::Value;

/// Converts a value to what properties see of it.
///
/// ```
/// use portent_hooks::ToValue;
/// use portent_monitor_core::Value;
///
/// assert_eq!(7u8.to_value(), Value::Int(7));
/// assert_eq!("bob".to_value(), Value::from("bob"));
/// assert_eq!(u64::MAX.to_value(), Value::Float(18446744073709551615.0));
/// ```
pub trait ToValue {
    /// The value. An integer that does not fit in 64 signed bits becomes the nearest float.
    fn to_value(&self) -> Value;
}

macro_rules! integers {
    ($($type:ty)*) => {$(
        impl ToValue for $type {
            #[inline]
            fn to_value(&self) -> Value {
                match i64::try_from(*self) {
                    Ok(value) => Value::Int(value),
                    Err(_) => Value::Float(*self as f64),
                }
            }
        }
    )*};
}

integers! { i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize }

impl ToValue for bool {
    #[inline]
    fn to_value(&self) -> Value {
        Value::Bool(*self)
    }
}

impl ToValue for f64 {
    #[inline]
    fn to_value(&self) -> Value {
        Value::Float(*self)
    }
}

impl ToValue for f32 {
    #[inline]
    fn to_value(&self) -> Value {
        Value::Float(f64::from(*self))
    }
}

impl ToValue for str {
    fn to_value(&self) -> Value {
        Value::from(self)
    }
}

impl ToValue for String {
    fn to_value(&self) -> Value {
        Value::from(self.as_str())
    }
}

impl ToValue for Arc<str> {
    fn to_value(&self) -> Value {
        Value::Str(Arc::clone(self))
    }
}

impl ToValue for char {
    fn to_value(&self) -> Value {
        Value::from(&*self.encode_utf8(&mut [0; 4]))
    }
}

impl ToValue for Value {
    fn to_value(&self) -> Value {
        self.clone()
    }
}

impl<T: ToValue + ?Sized> ToValue for &T {
    #[inline]
    fn to_value(&self) -> Value {
        (**self).to_value()
    }
}
