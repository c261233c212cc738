//! Values for the variables of a property, each of the type that is declared.

use portent_monitor_core::{Type, Value};
use portent_monitor_dsl::{Monitor, VariableId};

use crate::error::Error;

/// The initial values of the property's variables: those that `initial` gives by
/// name, or else those of the declarations.
pub(super) fn initial_values(
    monitor: &Monitor,
    mut initial: impl FnMut(&str) -> Option<Value>,
) -> Result<Vec<Value>, Error> {
    let alphabet = monitor.alphabet();
    let variables = alphabet.variables().iter();
    let values = variables.map(|variable| {
        let id = alphabet.variable(&variable.name);
        let value = initial(&variable.name).or_else(|| variable.initial.clone());
        let (Some(id), Some(value)) = (id, value) else {
            return Err(Error::NoInitialValue {
                property: monitor.property().name().to_owned(),
                variable: variable.name.clone(),
            });
        };
        fit(monitor, id, value, || "the header of the trace".to_owned())
    });
    values.collect()
}

/// The value as one of the variable's type; integers are numbers too.
pub(super) fn fit(
    monitor: &Monitor,
    variable: VariableId,
    value: Value,
    place: impl FnOnce() -> String,
) -> Result<Value, Error> {
    let declared = &monitor.alphabet().variables()[variable.index()];
    match (declared.type_of, value) {
        (Type::Float, Value::Int(n)) => Ok(Value::Float(n as f64)),
        (expected, value) if value.type_of() == expected => Ok(value),
        (expected, value) => Err(Error::WrongType {
            property: monitor.property().name().to_owned(),
            variable: declared.name.clone(),
            expected,
            found: value.type_of(),
            value: value.to_string(),
            place: place(),
        }),
    }
}
